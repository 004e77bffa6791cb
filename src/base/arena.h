/* An arena owns everything allocated from it and is thrown away whole. Running out of memory ends the process:
 * the log is durable, and half-handled allocation failures are worse than a restart. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/slice.h"

struct arena_block;

struct arena {
    struct arena_block *block;
    size_t used_bytes; /* in all blocks, for limits */
};

/* An arena of zeroes is empty and ready. */
void arena_init(struct arena *arena);
void arena_release(struct arena *arena);
/* Keeps the newest block for reuse. */
void arena_reset(struct arena *arena);

/* The first block is of just this size: for the few bytes of something that is made very often, or kept for long.
 * Nothing when there is a block. */
void arena_reserve(struct arena *arena, size_t size);

/* Aligned to 16 bytes, zeroed. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);
/* Bytes not zeroed and not aligned, for text. */
char *arena_bytes(struct arena *arena, size_t size);
/* Copies keep "missing" missing; the copy is followed by a zero byte. */
struct slice arena_copy(struct arena *arena, struct slice s);
struct slice arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct slice arena_vformat(struct arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* malloc and friends that end the process instead of returning NULL. */
void *memory_alloc(size_t size);
void *memory_zeroed(size_t size);
void *memory_resize(void *old, size_t size);

#endif
