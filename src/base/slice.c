#include "base/slice.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool slice_eq_nocase(struct slice a, struct slice b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

bool slice_starts(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

struct slice slice_trim(struct slice s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t' || s.ptr[0] == '\r' || s.ptr[0] == '\n')) {
        s = slice_after(s, 1);
    }
    while (s.len > 0) {
        char last = s.ptr[s.len - 1];
        if (last != ' ' && last != '\t' && last != '\r' && last != '\n') {
            break;
        }
        s.len--;
    }
    return s;
}

int slice_cmp(struct slice a, struct slice b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.ptr, b.ptr, shared) : 0;
    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool slice_cut(struct slice s, char mark, struct slice *out_head, struct slice *out_tail)
{
    const char *at = s.len ? memchr(s.ptr, mark, s.len) : NULL;
    if (!at) {
        *out_head = s;
        *out_tail = (struct slice){NULL, 0};
        return false;
    }
    size_t head = (size_t)(at - s.ptr);
    *out_head = slice_from(s.ptr, head);
    *out_tail = slice_from(at + 1, s.len - head - 1);
    return true;
}

bool slice_to_i64(struct slice s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    struct slice digits = slice_after(s, negative ? 1 : 0);
    if (digits.len == 0 || digits.len > 19) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        if (c < '0' || c > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(c - '0');
    }
    if (value > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

struct slice slice_utf8_prefix(struct slice s, size_t max)
{
    if (s.len <= max) {
        return s;
    }
    size_t len = max;
    while (len > 0 && ((unsigned char)s.ptr[len] & 0xC0) == 0x80) {
        len--;
    }
    return slice_from(s.ptr, len);
}

/* The length of the well-formed UTF-8 character at `at`, or 0. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    unsigned char lead = at[0];
    if (lead < 0x80) {
        return 1;
    }
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || left < need) {
        return 0;
    }
    for (size_t i = 1; i < need; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (lead == 0xE0 && at[1] < 0xA0) || (lead == 0xF0 && at[1] < 0x90);
    bool surrogate = lead == 0xED && at[1] >= 0xA0;
    bool beyond = lead == 0xF4 && at[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : need;
}

bool slice_is_utf8(struct slice s)
{
    const unsigned char *at = (const unsigned char *)s.ptr;
    size_t left = s.len;
    while (left > 0) {
        uint64_t word;
        if (left >= sizeof word && (memcpy(&word, at, sizeof word), (word & 0x8080808080808080u) == 0)) {
            at += sizeof word;
            left -= sizeof word;
            continue;
        }
        size_t len = utf8_length(at, left);
        if (len == 0) {
            return false;
        }
        at += len;
        left -= len;
    }
    return true;
}

/* Secret while a server runs: clients choose the names that stand in its maps. */
static uint64_t hash_start = 0xcbf29ce484222325u, hash_factor = 0x9E3779B97F4A7C15u;

void slice_hash_seed(uint64_t start, uint64_t factor)
{
    hash_start = start;
    hash_factor = factor | 1;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * hash_factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t slice_hash(struct slice s)
{
    uint64_t hash = hash_start ^ s.len, word;
    size_t i = 0;
    for (; i + sizeof word <= s.len; i += sizeof word) {
        memcpy(&word, s.ptr + i, sizeof word);
        hash = mix(hash, word);
    }
    if (i < s.len) {
        word = 0;
        memcpy(&word, s.ptr + i, s.len - i);
        hash = mix(hash, word);
    }
    return mix(hash, hash_start);
}

struct slice slice_place(struct slice s, char **at)
{
    if (!s.ptr) {
        return s;
    }
    struct slice copy = slice_from(*at, s.len);
    memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return copy;
}
