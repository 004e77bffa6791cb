#include "store/statement.h"
#include "store/store.h"

static void read_tenant(struct query *query, struct arena *arena, void *item)
{
    struct tenant *out = item;
    out->key = query_i64(query, TENANT_COLUMN_KEY);
    out->id = column_copy(query, TENANT_COLUMN_ID, arena);
    out->name = column_copy(query, TENANT_COLUMN_NAME, arena);
    out->created_at_ms = query_i64(query, TENANT_COLUMN_CREATED_AT_MS);
}

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct tenant *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_tenant(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_tenant_insert(struct db *db, struct tenant *tenant, struct failure *failure)
{
    int64_t key = 0;
    enum status status = statement_number(
        db,
        sql_tenant_insert(.id = tenant->id, .name = slice_present(tenant->name) ? tenant->name : tenant->id,
                          .created_at_ms = tenant->created_at_ms),
        0, &key, failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (!key) {
        return failure_set(failure, STATUS_CONFLICT, "tenant_exists", "A tenant with the id %.*s exists.",
                           SLICE_ARG(tenant->id));
    }
    tenant->key = key;
    return STATUS_OK;
}

enum status store_tenant_by_id(struct db *db, struct slice id, struct arena *arena, struct tenant *out,
                               struct failure *failure)
{
    return read_one(db, sql_tenant_by_id(.id = id), arena, out, failure);
}

enum status store_tenant_by_key(struct db *db, int64_t key, struct arena *arena, struct tenant *out,
                                struct failure *failure)
{
    return read_one(db, sql_tenant_by_key(.key = key), arena, out, failure);
}

enum status store_tenant_list(struct db *db, struct arena *arena, struct tenant **out, size_t *out_count,
                              struct failure *failure)
{
    return statement_rows(db, sql_tenant_list(), sizeof **out, read_tenant, arena, out, out_count, failure);
}

/* --- memberships --- */

enum status store_membership_put(struct db *db, int64_t tenant_key, struct slice user_id, enum member_role role,
                                 struct failure *failure)
{
    if (role == MEMBER_NONE) {
        return statement_run(db, sql_membership_delete(.tenant_key = tenant_key, .user_id = user_id), NULL, failure);
    }
    return statement_run(db, sql_membership_put(.tenant_key = tenant_key, .user_id = user_id, .role = role), NULL,
                         failure);
}

static enum status read_role(struct db *db, struct sql_call call, enum member_role *out, struct failure *failure)
{
    int64_t role = MEMBER_NONE;
    enum status status = statement_number(db, call, MEMBER_NONE, &role, failure);
    if (status == STATUS_OK) {
        *out = (enum member_role)role;
    }
    return status;
}

enum status store_membership_get(struct db *db, int64_t tenant_key, struct slice user_id, enum member_role *out,
                                 struct failure *failure)
{
    return read_role(db, sql_membership_get(.tenant_key = tenant_key, .user_id = user_id), out, failure);
}

enum status store_membership_lock(struct db *db, int64_t tenant_key, struct slice user_id, enum member_role *out,
                                  struct failure *failure)
{
    return read_role(db, sql_membership_lock(.tenant_key = tenant_key, .user_id = user_id), out, failure);
}

struct membership {
    struct tenant tenant;
    enum member_role role;
};

static void read_membership(struct query *query, struct arena *arena, void *item)
{
    struct membership *out = item;
    read_tenant(query, arena, &out->tenant);
    out->role = (enum member_role)query_i64(query, MEMBERSHIP_LIST_COLUMN_ROLE);
}

enum status store_membership_list(struct db *db, struct slice user_id, struct arena *arena, struct tenant **out,
                                  enum member_role **out_roles, size_t *out_count, struct failure *failure)
{
    struct membership *found = NULL;
    size_t count = 0;
    enum status status = statement_rows(db, sql_membership_list(.user_id = user_id), sizeof *found, read_membership,
                                        arena, &found, &count, failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = arena_array(arena, count, sizeof **out);
    *out_roles = arena_array(arena, count, sizeof **out_roles);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = found[i].tenant;
        (*out_roles)[i] = found[i].role;
    }
    *out_count = count;
    return STATUS_OK;
}
