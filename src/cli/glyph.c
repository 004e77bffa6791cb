#include "cli/glyph.h"

#include "cli/glyph_table.h"

enum { ZERO_WIDTH_JOINER = 0x200D };

static size_t utf8_length(unsigned char first)
{
    return first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
}

/* -1 for a byte that is not UTF-8. */
static int32_t take_code(struct slice *rest, struct slice *out_bytes)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *bytes = (const unsigned char *)rest->ptr;
    size_t length = utf8_length(bytes[0]);
    bool is_whole = length <= rest->len && slice_is_utf8(slice_from(bytes, length));
    *out_bytes = slice_from(bytes, is_whole ? length : 1);
    *rest = slice_after(*rest, out_bytes->len);
    if (!is_whole) {
        return -1;
    }
    int32_t code = bytes[0] & masks[length];
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | (bytes[i] & 0x3F);
    }
    return code;
}

static const struct glyph_range *find_range(int32_t code)
{
    size_t low = 0, high = sizeof glyph_ranges / sizeof glyph_ranges[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > glyph_ranges[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_found = low < sizeof glyph_ranges / sizeof glyph_ranges[0] && code >= glyph_ranges[low].first;
    return is_found ? &glyph_ranges[low] : NULL;
}

struct glyph glyph_take(struct slice *rest)
{
    struct glyph glyph = {.kind = GLYPH_SHOWN, .columns = 1};
    glyph.code = take_code(rest, &glyph.bytes);
    if (glyph.code >= 0x20 && glyph.code < 0x7F) {
        return glyph;
    }
    const struct glyph_range *range = glyph.code < 0 ? NULL : find_range(glyph.code);
    if (glyph.code < 0) {
        glyph.kind = GLYPH_STEERING;
        glyph.columns = 0;
    } else if (range) {
        glyph.kind = range->kind;
        glyph.columns = range->columns;
    }
    return glyph;
}

static bool goes_with_the_one_before(const struct glyph *glyph)
{
    bool is_line_end = glyph->code == '\n';
    return glyph->columns == 0 && glyph->code != '\t' && !is_line_end;
}

size_t glyph_after(struct slice text, size_t at)
{
    struct slice rest = slice_after(text, at);
    bool joins = false;
    for (size_t count = 0; rest.len; count++) {
        size_t here = text.len - rest.len;
        struct glyph glyph = glyph_take(&rest);
        if (count && !joins && !goes_with_the_one_before(&glyph)) {
            return here;
        }
        joins = glyph.code == ZERO_WIDTH_JOINER;
        if (glyph.code == '\n') {
            break;
        }
    }
    return text.len - rest.len;
}

size_t glyph_before(struct slice text, size_t at)
{
    size_t start = at;
    while (start > 0 && text.ptr[start - 1] != '\n') {
        start--;
    }
    if (start == at) {
        return at ? at - 1 : 0;
    }
    for (size_t next = glyph_after(text, start); next < at; next = glyph_after(text, next)) {
        start = next;
    }
    return start;
}
