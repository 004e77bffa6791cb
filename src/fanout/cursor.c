#include "fanout/cursor.h"

#include <inttypes.h>
#include <stdio.h>

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
                           "the cursor must be SEQ or SEQ.N, as in the id of a received frame");
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
                           "the cursor of the tenant's stream must be MAJOR-MINOR, as in the id of a received frame");
    }
    *out = position;
    return STATUS_OK;
}

struct slice cursor_format(struct cursor cursor, enum cursor_style style, char out[CURSOR_TEXT_BYTES])
{
    int len;
    if (style == CURSOR_FIREHOSE) {
        len = snprintf(out, CURSOR_TEXT_BYTES, "%" PRId64 "-%" PRId64, cursor.sequence, cursor.delta);
    } else if (cursor.delta) {
        len = snprintf(out, CURSOR_TEXT_BYTES, "%" PRId64 ".%" PRId64, cursor.sequence, cursor.delta);
    } else {
        len = snprintf(out, CURSOR_TEXT_BYTES, "%" PRId64, cursor.sequence);
    }
    return slice_from(out, (size_t)len);
}
