#include "domain/agent_fields.h"

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool same_char(char a, char b, bool any_case)
{
    return a == b || (any_case && folded(a) == folded(b));
}

static bool matches(struct slice pattern, struct slice text, bool any_case)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && same_char(pattern.ptr[p], text.ptr[t], any_case)) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

bool agent_glob_matches(struct slice pattern, struct slice text)
{
    return matches(pattern, text, false);
}

bool agent_glob_matches_nocase(struct slice pattern, struct slice text)
{
    return matches(pattern, text, true);
}
