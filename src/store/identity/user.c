#include "store/statement.h"
#include "store/store.h"

static void read_user(struct query *query, struct arena *arena, struct user *out)
{
    out->id = column_copy(query, USER_COLUMN_ID, arena);
    out->email = column_copy(query, USER_COLUMN_EMAIL, arena);
    out->name = column_copy(query, USER_COLUMN_NAME, arena);
    out->password_hash = column_copy(query, USER_COLUMN_PASSWORD_HASH, arena);
    out->created_at_ms = query_i64(query, USER_COLUMN_CREATED_AT_MS);
    out->disabled_at_ms = query_i64(query, USER_COLUMN_DISABLED_AT_MS);
    out->sessions_max = query_i64(query, USER_COLUMN_SESSIONS_MAX);
}

enum status store_user_insert(struct db *db, const struct user *user, struct failure *failure)
{
    int64_t changed = 0;
    enum status status =
        statement_run(db,
                      sql_user_insert(.id = user->id, .email = user->email, .name = user->name,
                                      .password_hash = user->password_hash, .created_at_ms = user->created_at_ms,
                                      .disabled_at_ms = user->disabled_at_ms, .sessions_max = user->sessions_max),
                      &changed, failure);
    if (status == STATUS_OK && !changed) {
        return failure_set(failure, STATUS_CONFLICT, "user_exists", "A user with the id %.*s exists.",
                           SLICE_ARG(user->id));
    }
    return status;
}

enum status store_user_update(struct db *db, const struct user *user, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(
        db,
        sql_user_update(.id = user->id, .email = user->email, .name = user->name, .password_hash = user->password_hash,
                        .disabled_at_ms = user->disabled_at_ms, .sessions_max = user->sessions_max),
        &changed, failure);
    if (status == STATUS_OK && !changed) {
        return failure_set(failure, STATUS_NOT_FOUND, "user_not_found", "There is no user with the id %.*s.",
                           SLICE_ARG(user->id));
    }
    return status;
}

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct user *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_user(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_user_by_id(struct db *db, struct slice id, struct arena *arena, struct user *out,
                             struct failure *failure)
{
    return read_one(db, sql_user_by_id(.id = id), arena, out, failure);
}

enum status store_user_lock(struct db *db, struct slice id, struct arena *arena, struct user *out,
                            struct failure *failure)
{
    return read_one(db, sql_user_lock(.id = id), arena, out, failure);
}

static void read_account(struct query *query, struct arena *arena, void *item)
{
    read_user(query, arena, item);
}

enum status store_users_by_email(struct db *db, struct slice email, int64_t max, struct arena *arena, struct user **out,
                                 size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_users_by_email(.email = email, .limit = max), sizeof **out, read_account, arena, out,
                          out_count, failure);
}

enum status store_member_by_email(struct db *db, int64_t tenant_key, struct slice email, struct arena *arena,
                                  struct user *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_member_by_email(.tenant_key = tenant_key, .email = email), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_user(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

struct member {
    struct user user;
    enum member_role role;
};

static void read_member(struct query *query, struct arena *arena, void *item)
{
    struct member *out = item;
    read_user(query, arena, &out->user);
    out->role = (enum member_role)query_i64(query, USER_LIST_COLUMN_ROLE);
}

enum status store_user_list(struct db *db, int64_t tenant_key, struct arena *arena, struct user **out,
                            enum member_role **out_roles, size_t *out_count, struct failure *failure)
{
    struct member *found = NULL;
    size_t count = 0;
    enum status status = statement_rows(db, sql_user_list(.tenant_key = tenant_key), sizeof *found, read_member, arena,
                                        &found, &count, failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = arena_array(arena, count, sizeof **out);
    *out_roles = arena_array(arena, count, sizeof **out_roles);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = found[i].user;
        (*out_roles)[i] = found[i].role;
    }
    *out_count = count;
    return STATUS_OK;
}

enum status store_user_count(struct db *db, int64_t *out, struct failure *failure)
{
    return statement_number(db, sql_user_count(), 0, out, failure);
}
