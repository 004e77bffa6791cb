#include "fanout/cursor.h"

static bool number_parse(struct slice text, int64_t *out)
{
    return text.len > 0 && text.ptr[0] != '-' && slice_to_i64(text, out);
}

enum status cursor_parse(struct slice text, struct cursor *out, struct failure *failure)
{
    struct slice sequence, delta;
    struct cursor cursor = {0, 0};
    bool has_delta = slice_cut(text, '.', &sequence, &delta);
    if (!number_parse(sequence, &cursor.sequence) || (has_delta && !number_parse(delta, &cursor.delta))) {
        return failure_set(failure, STATUS_INVALID, "invalid_cursor",
                           "The cursor must be SEQ or SEQ.N, as in the id of a received frame.");
    }
    *out = cursor;
    return STATUS_OK;
}

enum status position_parse(struct slice text, struct position *out, struct failure *failure)
{
    struct slice major, minor;
    struct position position = {0, 0};
    if (!slice_cut(text, '-', &major, &minor) || !number_parse(major, &position.major) ||
        !number_parse(minor, &position.minor)) {
        return failure_set(failure, STATUS_INVALID, "invalid_cursor",
                           "The cursor of the tenant's stream must be MAJOR-MINOR, as in the id of a received frame.");
    }
    *out = position;
    return STATUS_OK;
}

/* Every frame has one, so no printf. Written before `end`; where it begins. */
static size_t number_put(char *out, size_t end, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        out[--end] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) {
        out[--end] = '-';
    }
    return end;
}

struct slice cursor_format(struct cursor cursor, enum cursor_style style, char out[CURSOR_TEXT_BYTES])
{
    size_t at = CURSOR_TEXT_BYTES;
    if (style == CURSOR_FIREHOSE || cursor.delta) {
        at = number_put(out, at, cursor.delta);
        out[--at] = style == CURSOR_FIREHOSE ? '-' : '.';
    }
    at = number_put(out, at, cursor.sequence);
    return slice_from(out + at, CURSOR_TEXT_BYTES - at);
}
