#include "cli/completing.h"

#include <stdlib.h>

#include "base/arena.h"
#include "cli/glyph.h"
#include "cli/terminal.h"

enum { LISTED_MAX = 60, GAP = 2 };

/* --- which word --- */

static const struct {
    const char *start;
    enum completes kind;
} arguments[] = {
    {"/resume ", COMPLETES_SESSION},
    {"/new ", COMPLETES_AGENT},
};

static struct completing word_from(struct slice text, size_t start, size_t cursor, enum completes kind)
{
    return (struct completing){kind, start, slice_from(text.ptr + start, cursor - start)};
}

static size_t word_start(struct slice text, size_t cursor)
{
    while (cursor > 0 && text.ptr[cursor - 1] != ' ' && text.ptr[cursor - 1] != '\n') {
        cursor--;
    }
    return cursor;
}

bool completing_find(struct slice text, size_t cursor, struct completing *out)
{
    struct slice before = slice_from(text.ptr, cursor);
    size_t start = word_start(text, cursor);
    if (start == 0 && slice_starts(before, SLICE("/"))) {
        *out = word_from(text, 1, cursor, COMPLETES_COMMAND);
        return true;
    }
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        size_t length = strlen(arguments[i].start);
        if (start == length && slice_starts(before, slice_of(arguments[i].start))) {
            *out = word_from(text, length, cursor, arguments[i].kind);
            return true;
        }
    }
    if (start < cursor && text.ptr[start] == '@') {
        *out = word_from(text, start + 1, cursor, COMPLETES_FILE);
        return true;
    }
    return false;
}

/* --- candidates --- */

void candidates_release(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        free(candidates->items[i].text);
    }
    free(candidates->items);
    *candidates = (struct candidates){0};
}

static bool can_be_typed(struct slice text)
{
    bool is_plain = text.len > 0;
    while (text.len && is_plain) {
        struct glyph glyph = glyph_take(&text);
        is_plain = glyph.kind == GLYPH_SHOWN || glyph.kind == GLYPH_MARK;
    }
    return is_plain;
}

void candidates_add(struct candidates *candidates, struct slice text, const char *end)
{
    if (!can_be_typed(text)) {
        return;
    }
    if (candidates->count == candidates->room) {
        candidates->room = candidates->room ? candidates->room * 2 : 32;
        candidates->items = memory_resize(candidates->items, candidates->room * sizeof candidates->items[0]);
    }
    char *copy = memory_alloc(text.len + 1);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    candidates->items[candidates->count++] = (struct candidate){copy, end};
}

static int compare(const void *a, const void *b)
{
    const struct candidate *one = a, *other = b;
    return strcmp(one->text, other->text);
}

void candidates_keep(struct candidates *candidates, struct slice typed)
{
    size_t kept = 0;
    if (candidates->count) {
        qsort(candidates->items, candidates->count, sizeof candidates->items[0], compare);
    }
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate one = candidates->items[i];
        bool is_repeat = kept && strcmp(candidates->items[kept - 1].text, one.text) == 0;
        if (slice_starts(slice_of(one.text), typed) && !is_repeat) {
            candidates->items[kept++] = one;
        } else {
            free(one.text);
        }
    }
    candidates->count = kept;
}

static size_t common_length(struct slice a, struct slice b)
{
    size_t at = 0;
    while (at < a.len && at < b.len && a.ptr[at] == b.ptr[at]) {
        at++;
    }
    while (at > 0 && at < a.len && ((unsigned char)a.ptr[at] & 0xC0) == 0x80) {
        at--; /* not inside a character */
    }
    return at;
}

bool candidates_common(const struct candidates *candidates, struct slice typed, struct buffer *out)
{
    if (candidates->count == 0) {
        return false;
    }
    struct slice first = slice_of(candidates->items[0].text);
    size_t length = first.len;
    for (size_t i = 1; i < candidates->count; i++) {
        size_t common = common_length(slice_from(first.ptr, length), slice_of(candidates->items[i].text));
        length = common < length ? common : length;
    }
    buffer_add(out, slice_from(first.ptr, length));
    if (candidates->count == 1) {
        buffer_add(out, slice_of(candidates->items[0].end));
    }
    return out->len > typed.len;
}

/* --- the list --- */

static struct slice shown_name(const struct candidate *candidate)
{
    const char *slash = strrchr(candidate->text, '/');
    return slice_of(slash && slash[1] ? slash + 1 : candidate->text);
}

void candidates_list(const struct candidates *candidates, size_t columns, struct buffer *out)
{
    size_t width = 1, shown = candidates->count < LISTED_MAX ? candidates->count : LISTED_MAX;
    for (size_t i = 0; i < shown; i++) {
        size_t used = text_columns(shown_name(&candidates->items[i]));
        width = used > width ? used : width;
    }
    size_t per_row = columns / (width + GAP) ? columns / (width + GAP) : 1;
    for (size_t i = 0; i < shown; i++) {
        struct slice name = shown_name(&candidates->items[i]);
        buffer_add(out, i == 0 ? SLICE("") : i % per_row ? SLICE("  ") : SLICE("\n"));
        buffer_add(out, name);
        for (size_t used = text_columns(name); used < width && (i + 1) % per_row; used++) {
            buffer_add_byte(out, ' ');
        }
    }
    if (candidates->count > shown) {
        buffer_format(out, "\nand %zu more", candidates->count - shown);
    }
}
