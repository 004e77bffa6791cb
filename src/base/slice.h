/* A slice borrows bytes that somebody else owns; it is not terminated by a zero byte. */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

#define SLICE(literal) ((struct slice){("" literal), sizeof(literal) - 1})
/* For printf's "%.*s". */
#define SLICE_ARG(s) ((int)(s).len), ((s).ptr ? (s).ptr : "")

static inline struct slice slice_of(const char *text)
{
    return text ? (struct slice){text, strlen(text)} : (struct slice){NULL, 0};
}

static inline struct slice slice_from(const void *ptr, size_t len)
{
    return (struct slice){(const char *)ptr, len};
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_eq(a, slice_of(text));
}

/* A missing value has no pointer; an empty value has a pointer and no length. */
static inline bool slice_present(struct slice s)
{
    return s.ptr != NULL;
}

static inline struct slice slice_after(struct slice s, size_t skip)
{
    return skip >= s.len ? (struct slice){s.ptr ? s.ptr + s.len : NULL, 0} : (struct slice){s.ptr + skip, s.len - skip};
}

bool slice_eq_nocase(struct slice a, struct slice b);
bool slice_starts(struct slice s, struct slice prefix);
struct slice slice_trim(struct slice s);
int slice_cmp(struct slice a, struct slice b);
/* Splits at the first `mark`; false (and everything in `head`) when there is none. */
bool slice_cut(struct slice s, char mark, struct slice *out_head, struct slice *out_tail);
/* Whole decimal number, optional minus; false when anything else stands there or it does not fit. */
bool slice_to_i64(struct slice s, int64_t *out);
/* The longest prefix of at most `max` bytes that does not split a UTF-8 character. */
struct slice slice_utf8_prefix(struct slice s, size_t max);
bool slice_is_utf8(struct slice s);
uint64_t slice_hash(struct slice s);
/* Makes the hashes of this process its own, so that nobody can choose names that meet. Before the first map is filled.
 */
void slice_hash_seed(uint64_t start, uint64_t factor);
/* Copies the bytes to *at and moves *at behind them; a missing value stays missing. */
struct slice slice_place(struct slice s, char **at);

#endif
