#include "store/statement.h"

#include "domain/session.h"
#include "store/seal/seal.h"

enum status statement_run(struct db *db, struct sql_call call, int64_t *out_changed, struct failure *failure)
{
    struct query query;
    query_start(&query, db, call);
    enum status status = query_run(&query, out_changed, failure);
    query_end(&query);
    return status;
}

enum status statement_first(struct query *query, struct db *db, struct sql_call call, struct failure *failure)
{
    bool row = false;
    query_start(query, db, call);
    enum status status = query_step(query, &row, failure);
    if (status == STATUS_OK && !row) {
        status = failure_set(failure, STATUS_NOT_FOUND, "not_found", "There is no such row.");
    }
    if (status != STATUS_OK) {
        query_end(query);
    }
    return status;
}

enum status statement_number(struct db *db, struct sql_call call, int64_t none, int64_t *out, struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, call);
    enum status status = query_step(&query, &row, failure);
    if (status == STATUS_OK) {
        *out = row ? query_i64(&query, 0) : none;
    }
    query_end(&query);
    return status;
}

struct row_list {
    char *items;
    size_t count, room, size;
};

static void *row_list_add(struct row_list *list, struct arena *arena)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        char *items = arena_array(arena, room, list->size);
        if (list->count) {
            memcpy(items, list->items, list->count * list->size);
        }
        list->items = items;
        list->room = room;
    }
    return list->items + list->size * list->count++;
}

enum status statement_rows(struct db *db, struct sql_call call, size_t size,
                           void (*read)(struct query *query, struct arena *arena, void *item), struct arena *arena,
                           void *out_items, size_t *out_count, struct failure *failure)
{
    struct row_list list = {.size = size};
    struct query query;
    bool row = false;
    query_start(&query, db, call);
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        read(&query, arena, row_list_add(&list, arena));
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    if (status == STATUS_OK) {
        status = seal_check(db, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(out_items, &list.items, sizeof list.items);
    *out_count = list.count;
    return STATUS_OK;
}

struct slice column_copy(struct query *query, int column, struct arena *arena)
{
    return arena_copy(arena, query_text(query, column));
}

struct slice column_open(struct query *query, int column, struct arena *arena)
{
    return seal_text_open(query->db, query_text(query, column), arena);
}

/* A prefix that no id can have must match nothing, not everything. */
void id_range_of(struct slice prefix, struct id_range *out)
{
    *out = (struct id_range){0};
    if (!slice_present(prefix) || !prefix.len) {
        return;
    }
    out->from = out->to = SLICE("");
    if (!session_id_is_valid(prefix)) {
        return;
    }
    out->from = prefix;
    memcpy(out->end, prefix.ptr, prefix.len);
    out->end[prefix.len - 1]++; /* ids are ASCII: the next character sorts after all longer ids */
    out->to = slice_from(out->end, prefix.len);
}
