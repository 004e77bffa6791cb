#include "domain/agent_fields.h"

#include <string.h>

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* What stands between two stars, found in linear time: a pattern comes from one person, the text from an agent. */
static bool find_part(struct slice text, struct slice part, size_t *out_end)
{
    const char *at = part.len <= text.len ? memmem(text.ptr, text.len, part.ptr, part.len) : NULL;
    if (part.len == 0) {
        *out_end = 0;
        return true;
    }
    *out_end = at ? (size_t)(at - text.ptr) + part.len : 0;
    return at != NULL;
}

static bool ends_with(struct slice text, struct slice end)
{
    return end.len == 0 || (text.len >= end.len && memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0);
}

/* The first place where a part fits is as good as any later one. */
static bool matches(struct slice pattern, struct slice text)
{
    struct slice part, rest;
    if (!slice_cut(pattern, '*', &part, &rest)) {
        return slice_eq(pattern, text);
    }
    if (!slice_starts(text, part)) {
        return false;
    }
    text = slice_after(text, part.len);
    while (slice_cut(rest, '*', &part, &rest)) {
        size_t end;
        if (!find_part(text, part, &end)) {
            return false;
        }
        text = slice_after(text, end);
    }
    return ends_with(text, part);
}

bool agent_glob_matches(struct slice pattern, struct slice text)
{
    return matches(pattern, text);
}

static struct slice folded_copy(struct buffer *to, struct slice text)
{
    buffer_reserve(to, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        buffer_add_byte(to, folded(text.ptr[i]));
    }
    return buffer_slice(to);
}

bool agent_glob_matches_nocase(struct slice pattern, struct slice text)
{
    struct buffer small_pattern = {0}, small_text = {0};
    bool found = matches(folded_copy(&small_pattern, pattern), folded_copy(&small_text, text));
    buffer_release(&small_pattern);
    buffer_release(&small_text);
    return found;
}
