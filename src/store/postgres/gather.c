#include "store/postgres/gather.h"

#include <stdlib.h>

/* The cells of a gathered update that matter here. */
static int cell_new(void)
{
    return 0;
}

static int cell_keys(const struct gather *gather)
{
    return gather->parameter_count - 3;
}

static int cell_old(const struct gather *gather)
{
    return gather->parameter_count - 1;
}

static struct slice copy_of(struct gather *gather, const struct parameter *value)
{
    const char *bytes = parameter_bytes(value);
    return bytes ? arena_copy(&gather->arena, slice_from(bytes, (size_t)value->len)) : (struct slice){0};
}

/* Both keys as one; they are numbers of fixed width. */
static struct slice row_key(struct gather *gather, const struct parameter *values)
{
    const struct parameter *first = &values[cell_keys(gather)], *second = first + 1;
    size_t len = (size_t)(first->len + second->len);
    char *key = arena_bytes(&gather->arena, len);
    memcpy(key, parameter_bytes(first), (size_t)first->len);
    memcpy(key + first->len, parameter_bytes(second), (size_t)second->len);
    return slice_from(key, len);
}

static struct slice *row_new(struct gather *gather)
{
    size_t width = (size_t)gather->parameter_count;
    if (gather->row_count == gather->row_room) {
        gather->row_room = gather->row_room ? gather->row_room * 2 : 64;
        gather->cells = memory_resize(gather->cells, gather->row_room * width * sizeof *gather->cells);
    }
    return gather->cells + gather->row_count++ * width;
}

static bool row_merge(struct gather *gather, struct slice *row, const struct parameter *values)
{
    const struct parameter *old = &values[cell_old(gather)];
    if (!slice_eq(slice_from(parameter_bytes(old), (size_t)old->len), row[cell_new()])) {
        return false;
    }
    for (int i = 0; i < cell_keys(gather); i++) {
        row[i] = copy_of(gather, &values[i]);
    }
    return true;
}

bool gather_add(struct gather *gather, const struct parameter *values)
{
    struct slice key = {0};
    if (gather->updates) {
        key = row_key(gather, values);
        /* rows are numbered from 1: the map holds no empty values, and the cells move when they grow */
        size_t known = (size_t)(uintptr_t)map_get(&gather->rows, key);
        if (known) {
            return row_merge(gather, gather->cells + (known - 1) * (size_t)gather->parameter_count, values);
        }
    }
    struct slice *row = row_new(gather);
    for (int i = 0; i < gather->parameter_count; i++) {
        row[i] = copy_of(gather, &values[i]);
    }
    if (gather->updates) {
        map_put(&gather->rows, key, (void *)(uintptr_t)gather->row_count);
    }
    return true;
}

bool gather_is_full(const struct gather *gather)
{
    return gather->row_count >= GATHER_ROWS_MAX || gather->arena.used_bytes >= GATHER_BYTES_MAX;
}

static void add_be32(struct buffer *to, size_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        buffer_add_byte(to, (char)(number >> shift & 0xff));
    }
}

static bool column_has_null(const struct gather *gather, int column)
{
    for (size_t row = 0; row < gather->row_count; row++) {
        if (!slice_present(gather->cells[row * (size_t)gather->parameter_count + (size_t)column])) {
            return true;
        }
    }
    return false;
}

/* One dimension, first index 1, then each element behind its length; -1 stands for NULL. */
static void column_write(struct gather *gather, int column, Oid element_type)
{
    struct buffer *to = &gather->arrays;
    add_be32(to, 1);
    add_be32(to, column_has_null(gather, column) ? 1 : 0);
    add_be32(to, element_type);
    add_be32(to, gather->row_count);
    add_be32(to, 1);
    for (size_t row = 0; row < gather->row_count; row++) {
        struct slice cell = gather->cells[row * (size_t)gather->parameter_count + (size_t)column];
        add_be32(to, slice_present(cell) ? cell.len : UINT32_MAX);
        buffer_add(to, cell);
    }
}

void gather_write(struct gather *gather, const Oid *array_types, const char **out_values, int *out_lengths)
{
    gather->arrays.len = 0;
    for (int i = 0; i < gather->parameter_count; i++) {
        size_t start = gather->arrays.len;
        column_write(gather, i, array_element_type(array_types[i]));
        out_lengths[i] = (int)(gather->arrays.len - start);
    }
    const char *at = gather->arrays.ptr; /* only now: the buffer moved while it grew */
    for (int i = 0; i < gather->parameter_count; i++) {
        out_values[i] = at;
        at += out_lengths[i];
    }
}

void gather_reset(struct gather *gather)
{
    bool was_huge = gather->arena.used_bytes > GATHER_BYTES_MAX;
    gather->row_count = 0;
    if (was_huge) { /* one large event must not hold its memory for ever */
        arena_release(&gather->arena);
        buffer_release(&gather->arrays);
    } else {
        arena_reset(&gather->arena);
    }
    map_release(&gather->rows);
}

void gather_release(struct gather *gather)
{
    gather_reset(gather);
    arena_release(&gather->arena);
    buffer_release(&gather->arrays);
    free(gather->cells);
    *gather = (struct gather){0};
}
