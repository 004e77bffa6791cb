#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

/* Entities belong to no session: their fields are sealed with the common key. */
static void read_entity(struct query *query, struct arena *arena, void *item)
{
    struct entity *out = item;
    *out = (struct entity){
        .id = column_copy(query, ENTITY_COLUMN_ID, arena),
        .type = column_copy(query, ENTITY_COLUMN_TYPE, arena),
        .fields = column_open(query, ENTITY_COLUMN_FIELDS, arena),
        .version = query_i64(query, ENTITY_COLUMN_VERSION),
        .created_at_ms = query_i64(query, ENTITY_COLUMN_CREATED_AT_MS),
        .updated_at_ms = query_i64(query, ENTITY_COLUMN_UPDATED_AT_MS),
        .updated_by = column_copy(query, ENTITY_COLUMN_UPDATED_BY, arena),
    };
}

enum status store_entity_insert(struct db *db, int64_t tenant_key, const struct entity *entity, struct failure *failure)
{
    int64_t inserted = 0;
    enum status status =
        statement_run(db,
                      sql_entity_insert(.tenant_key = tenant_key, .id = entity->id, .type = entity->type,
                                        .fields = seal_text(db, tenant_key, 0, entity->fields),
                                        .version = entity->version, .created_at_ms = entity->created_at_ms,
                                        .updated_at_ms = entity->updated_at_ms, .updated_by = entity->updated_by),
                      &inserted, failure);
    if (status == STATUS_OK && inserted != 1) {
        return failure_set(failure, STATUS_CONFLICT, "entity_exists",
                           "There is an entity with this id already; change that one, or choose another id.");
    }
    return status;
}

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct entity *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_entity(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_entity_get(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                             struct entity *out, struct failure *failure)
{
    return read_one(db, sql_entity_get(.tenant_key = tenant_key, .id = id), arena, out, failure);
}

enum status store_entity_lock(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                              struct entity *out, struct failure *failure)
{
    return read_one(db, sql_entity_lock(.tenant_key = tenant_key, .id = id), arena, out, failure);
}

enum status store_entity_update(struct db *db, int64_t tenant_key, const struct entity *entity, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(
        db,
        sql_entity_update(.tenant_key = tenant_key, .id = entity->id, .type = entity->type,
                          .fields = seal_text(db, tenant_key, 0, entity->fields), .version = entity->version,
                          .updated_at_ms = entity->updated_at_ms, .updated_by = entity->updated_by),
        &changed, failure);
    if (status == STATUS_OK && changed != 1) {
        return failure_set(failure, STATUS_STALE, "entity_changed", "The entity was changed at the same moment.");
    }
    return status;
}

enum status store_entity_delete(struct db *db, int64_t tenant_key, struct slice id, int64_t version, bool *out_deleted,
                                struct failure *failure)
{
    int64_t deleted = 0;
    enum status status =
        statement_run(db, sql_entity_delete(.tenant_key = tenant_key, .id = id, .version = version), &deleted, failure);
    if (status == STATUS_OK) {
        *out_deleted = deleted > 0;
    }
    return status;
}

enum status store_entity_list(struct db *db, int64_t tenant_key, struct slice after, struct slice type, int64_t limit,
                              struct arena *arena, struct entity **out, size_t *out_count, struct failure *failure)
{
    struct slice from = slice_present(after) ? after : SLICE("");
    return statement_rows(db, sql_entity_list(.tenant_key = tenant_key, .after = from, .type = type, .limit = limit),
                          sizeof **out, read_entity, arena, out, out_count, failure);
}
