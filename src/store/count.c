#include "store/count.h"

#include <string.h>

#include "store/engine.h"
#include "store/statement.h"
#include "store/store.h"

enum status counts_flush(struct db *db, struct failure *failure)
{
    struct count_changes *changes = &db->count_changes;
    int64_t writes = db->writes;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < changes->count && status == STATUS_OK; i++) {
        const struct count_change *at = &changes->items[i];
        if (at->add) {
            status = statement_run(
                db,
                sql_count_add(.tenant_key = at->tenant_key, .type = at->type, .work = at->work, .sessions = at->add),
                NULL, failure);
        }
    }
    changes->count = 0;
    db->writes = writes; /* counted with what made them change */
    return status;
}

static struct count_change *find(struct count_changes *changes, int64_t tenant_key, int type, int work)
{
    for (size_t i = 0; i < changes->count; i++) {
        struct count_change *at = &changes->items[i];
        if (at->tenant_key == tenant_key && at->type == type && at->work == work) {
            return at;
        }
    }
    return NULL;
}

enum status count_add(struct db *db, int64_t tenant_key, int type, int work, int64_t add, struct failure *failure)
{
    struct count_changes *changes = &db->count_changes;
    struct count_change *known = find(changes, tenant_key, type, work);
    if (known) {
        known->add += add;
        return STATUS_OK;
    }
    enum status status = changes->count == COUNT_CHANGES_MAX ? counts_flush(db, failure) : STATUS_OK;
    changes->items[changes->count++] = (struct count_change){tenant_key, type, work, add};
    return status;
}

/* Adds what the statement counts, `times` times. */
static enum status add_counts(struct db *db, struct sql_call call, int64_t times,
                              int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT], struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, call);
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        int64_t type = query_i64(&query, COUNTS_COLUMN_TYPE), work = query_i64(&query, COUNTS_COLUMN_WORK);
        if (type >= 0 && type < TYPE_COUNT && work >= 0 && work < SESSION_STATUS_COUNT) {
            counts[type][work] += times * query_i64(&query, COUNTS_COLUMN_SESSIONS);
        }
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    return status;
}

enum status store_counts(struct db *db, const struct session_filter *who,
                         int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT], struct failure *failure)
{
    memset(counts, 0, sizeof(int64_t) * TYPE_COUNT * SESSION_STATUS_COUNT);
    bool is_bounded = slice_present(who->visible_to);
    struct sql_call call = sql_counts(is_bounded ? SQL_COUNT_REACHED : SQL_COUNT_LIST, .tenant_key = who->tenant_key,
                                      .visible_to = who->visible_to, .private_of = who->private_of);
    enum status status = counts_flush(db, failure);
    if (status == STATUS_OK) {
        status = add_counts(db, call, 1, counts, failure);
    }
    if (status == STATUS_OK && !is_bounded && slice_present(who->private_of)) {
        call.sql = SQL_COUNT_PRIVATE;
        status = add_counts(db, call, -1, counts, failure);
    }
    return status;
}
