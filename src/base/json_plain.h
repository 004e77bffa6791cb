/* What of a JSON string stands for itself. Only for the reader and the writer. */
#ifndef BASE_JSON_PLAIN_H
#define BASE_JSON_PLAIN_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Marks the top bit of each of eight bytes that is a quote, a backslash or a control character. Only the lowest mark is
 * sure: a borrow can mark bytes above it. */
static inline uint64_t json_mark_special(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t quote = word ^ ones * '"';
    uint64_t backslash = word ^ ones * '\\';
    uint64_t marks = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash);
    return marks & ones * 0x80;
}

/* Text is most of what arrives, so it is passed over eight bytes at a time. */
static inline const char *json_skip_plain(const char *at, const char *end)
{
    uint64_t word;
    for (; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        uint64_t marks = json_mark_special(le64toh(word));
        if (marks) {
            return at + __builtin_ctzll(marks) / 8;
        }
    }
    while (at < end && (unsigned char)*at >= 0x20 && *at != '"' && *at != '\\') {
        at++;
    }
    return at;
}

#endif
