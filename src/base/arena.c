#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_BLOCK_BYTES = 4096 - 64, ARENA_BLOCK_BYTES_MAX = 1 << 20, ARENA_ALIGN = 16 };

struct arena_block {
    struct arena_block *older;
    size_t size;
    size_t used;
    _Alignas(ARENA_ALIGN) char bytes[];
};

static void out_of_memory(void)
{
    fputs("sojourn: out of memory\n", stderr);
    abort();
}

void *memory_alloc(size_t size)
{
    void *ptr = malloc(size ? size : 1);
    if (!ptr) {
        out_of_memory();
    }
    return ptr;
}

void *memory_zeroed(size_t size)
{
    void *ptr = calloc(1, size ? size : 1);
    if (!ptr) {
        out_of_memory();
    }
    return ptr;
}

void *memory_resize(void *old, size_t size)
{
    void *ptr = realloc(old, size ? size : 1);
    if (!ptr) {
        out_of_memory();
    }
    return ptr;
}

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

void arena_release(struct arena *arena)
{
    while (arena->block) {
        struct arena_block *older = arena->block->older;
        free(arena->block);
        arena->block = older;
    }
    arena->used_bytes = 0;
}

void arena_reset(struct arena *arena)
{
    struct arena_block *keep = arena->block;
    if (!keep) {
        return;
    }
    arena->block = keep->older;
    arena_release(arena);
    keep->older = NULL;
    keep->used = 0;
    arena->block = keep;
}

static struct arena_block *block_new(struct arena_block *older, size_t size)
{
    struct arena_block *block = memory_alloc(sizeof *block + size);
    block->older = older;
    block->size = size;
    block->used = 0;
    return block;
}

/* Twice the last one; after a small one, which arena_reserve made, the ordinary size. */
static size_t room_for(const struct arena_block *last, size_t size)
{
    size_t room = last && last->size >= ARENA_BLOCK_BYTES ? last->size * 2 : ARENA_BLOCK_BYTES;
    room = room < ARENA_BLOCK_BYTES_MAX ? room : ARENA_BLOCK_BYTES_MAX;
    return room > size ? room : size;
}

static void *arena_take(struct arena *arena, size_t size, size_t align)
{
    struct arena_block *block = arena->block;
    size_t start = block ? (block->used + align - 1) & ~(align - 1) : 0;
    if (!block || start > block->size || block->size - start < size) {
        arena->block = block = block_new(block, room_for(block, size));
        start = 0;
    }
    block->used = start + size;
    arena->used_bytes += size;
    return block->bytes + start;
}

void arena_reserve(struct arena *arena, size_t size)
{
    if (!arena->block) {
        arena->block = block_new(NULL, size);
    }
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return memset(arena_take(arena, size, ARENA_ALIGN), 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        out_of_memory();
    }
    return arena_alloc(arena, count * size);
}

char *arena_bytes(struct arena *arena, size_t size)
{
    return arena_take(arena, size, 1);
}

struct slice arena_copy(struct arena *arena, struct slice s)
{
    if (!slice_present(s)) {
        return s;
    }
    char *copy = arena_bytes(arena, s.len + 1);
    memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return slice_from(copy, s.len);
}

struct slice arena_vformat(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = arena_bytes(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return slice_from(text, (size_t)len);
}

struct slice arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct slice text = arena_vformat(arena, format, args);
    va_end(args);
    return text;
}
