#include "store/blob/blob.h"
#include "store/engine.h"
#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

/* Sealing what was stored before there was a master key. A session is sealed in one transaction: with its key, or not
 * at all. What was sealed is not read again, so that it goes on where it was cut off. */

enum { ROWS_PER_PAGE = 200, OWNERS_PER_PAGE = 500, CONTENTS_MAX = 9, NAMES = 2, ORPHANS_PER_ROUND = 1000 };

static const struct content {
    enum sql read, write;
    int columns;
    const char *first; /* sorts before the first word of any row */
} of_sessions[] =
    {
        {SQL_RESEAL_SESSION_READ, SQL_RESEAL_SESSION_WRITE, 7, ""},
        {SQL_RESEAL_ACTIVITY_READ, SQL_RESEAL_ACTIVITY_WRITE, 1, ""},
        {SQL_RESEAL_PARTIAL_READ, SQL_RESEAL_PARTIAL_WRITE, 1, ""},
        {SQL_RESEAL_KEPT_READ, SQL_RESEAL_KEPT_WRITE, 1, ""},
        {SQL_RESEAL_STEP_READ, SQL_RESEAL_STEP_WRITE, 1, ""},
        {SQL_RESEAL_EVENT_READ, SQL_RESEAL_EVENT_WRITE, 2, "0"},
        {SQL_RESEAL_PROMPT_READ, SQL_RESEAL_PROMPT_WRITE, 2, ""},
        {SQL_RESEAL_ASK_READ, SQL_RESEAL_ASK_WRITE, 9, ""},
        {SQL_RESEAL_RULE_READ, SQL_RESEAL_RULE_WRITE, 2, ""},
        {SQL_RESEAL_RUN_READ, SQL_RESEAL_RUN_WRITE, 1, ""},
        {SQL_RESEAL_TOOL_CALL_READ, SQL_RESEAL_TOOL_CALL_WRITE, 1, ""},
},
  of_tenants[] = {
      {SQL_RESEAL_RULE_READ, SQL_RESEAL_RULE_WRITE, 2, ""},
      {SQL_RESEAL_ENTITY_READ, SQL_RESEAL_ENTITY_WRITE, 1, ""},
      {SQL_RESEAL_TASK_READ, SQL_RESEAL_TASK_WRITE, 2, ""},
      {SQL_RESEAL_PERSONA_READ, SQL_RESEAL_PERSONA_WRITE, 2, ""},
      {SQL_RESEAL_MEMORY_READ, SQL_RESEAL_MEMORY_WRITE, 1, ""},
      {SQL_RESEAL_ANSWER_READ, SQL_RESEAL_ANSWER_WRITE, 1, ""},
};

struct plain_row {
    struct slice names[NAMES];
    struct slice contents[CONTENTS_MAX];
};

struct owner {
    int64_t tenant_key, session_key;
};

/* At most a page of rows, in the arena. */
static enum status read_page(struct db *db, const struct content *content, struct sql_call call, struct arena *arena,
                             struct plain_row *rows, size_t *out_count, struct failure *failure)
{
    struct query query;
    bool row = false;
    *out_count = 0;
    query_start(&query, db, call);
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        struct plain_row *one = &rows[(*out_count)++];
        for (int i = 0; i < NAMES; i++) {
            one->names[i] = column_copy(&query, i, arena);
        }
        for (int i = 0; i < content->columns; i++) {
            one->contents[i] = column_copy(&query, NAMES + i, arena);
        }
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    return status;
}

static enum status write_sealed(struct db *db, const struct content *content, const struct owner *owner,
                                const struct plain_row *row, int64_t *out_texts, struct failure *failure)
{
    struct sql_reseal_write values = {.tenant_key = owner->tenant_key,
                                      .session_key = owner->session_key,
                                      .name_1 = row->names[0],
                                      .name_2 = row->names[1]};
    int64_t plain = 0;
    for (int i = 0; i < content->columns; i++) {
        bool seals = slice_present(row->contents[i]) && !seal_is_sealed(db, row->contents[i]);
        values.contents[i] =
            seals ? seal_text(db, owner->tenant_key, owner->session_key, row->contents[i]) : row->contents[i];
        plain += seals;
    }
    *out_texts += plain;
    return plain ? statement_run(db, (struct sql_call){content->write, &values}, NULL, failure) : STATUS_OK;
}

/* Where a page ended. */
struct place {
    struct slice names[NAMES];
    struct buffer rooms[NAMES];
};

static void place_move(struct place *place, const struct plain_row *row)
{
    for (int i = 0; i < NAMES; i++) {
        place->rooms[i].len = 0;
        buffer_add(&place->rooms[i], row->names[i]);
        place->names[i] = place->rooms[i].len ? buffer_slice(&place->rooms[i]) : SLICE("");
    }
}

static enum status seal_page(struct db *db, const struct content *content, const struct owner *owner,
                             struct place *place, size_t *out_rows, int64_t *out_texts, struct failure *failure)
{
    struct arena arena = {0};
    struct plain_row *rows = arena_array(&arena, ROWS_PER_PAGE, sizeof *rows);
    enum status status =
        read_page(db, content,
                  sql_reseal_read(content->read, .tenant_key = owner->tenant_key, .session_key = owner->session_key,
                                  .after_1 = place->names[0], .after_2 = place->names[1], .limit = ROWS_PER_PAGE),
                  &arena, rows, out_rows, failure);
    for (size_t i = 0; status == STATUS_OK && i < *out_rows; i++) {
        status = write_sealed(db, content, owner, &rows[i], out_texts, failure);
    }
    if (status == STATUS_OK) {
        status = seal_check_commit(db, failure);
    }
    if (status == STATUS_OK && *out_rows > 0) {
        place_move(place, &rows[*out_rows - 1]);
    }
    arena_release(&arena);
    return status;
}

static enum status seal_table(struct db *db, const struct content *content, const struct owner *owner,
                              int64_t *out_texts, struct failure *failure)
{
    struct place place = {.names = {slice_of(content->first), SLICE("")}};
    size_t rows = ROWS_PER_PAGE;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && rows == ROWS_PER_PAGE) {
        status = seal_page(db, content, owner, &place, &rows, out_texts, failure);
    }
    for (int i = 0; i < NAMES; i++) {
        buffer_release(&place.rooms[i]);
    }
    return status;
}

static enum status seal_tables(struct db *db, const struct content *contents, size_t count, const struct owner *owner,
                               int64_t *out_texts, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = seal_table(db, &contents[i], owner, out_texts, failure);
    }
    return status;
}

static enum status seal_files(struct db *db, const struct blob_place *place, const struct owner *owner,
                              struct failure *failure)
{
    struct arena arena = {0};
    struct blob *blobs = NULL;
    size_t count = 0;
    enum status status =
        store_blob_list(db, owner->tenant_key, owner->session_key, INT64_MAX, &arena, &blobs, &count, failure);
    if (status == STATUS_OK) {
        status = seal_session(db, owner->tenant_key, owner->session_key, failure);
    }
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = store_blob_seal(db, place, owner->tenant_key, owner->session_key, &blobs[i], failure);
    }
    arena_release(&arena);
    return status;
}

static enum status seal_one_session(struct db *db, const struct blob_place *place, const struct owner *owner,
                                    struct reseal_report *report, struct failure *failure)
{
    enum status status = seal_files(db, place, owner, failure);
    report->sessions++;
    return status
               ? status
               : seal_tables(db, of_sessions, sizeof of_sessions / sizeof *of_sessions, owner, &report->texts, failure);
}

static enum status seal_one_tenant(struct db *db, const struct blob_place *place, const struct owner *owner,
                                   struct reseal_report *report, struct failure *failure)
{
    struct owner tenant = {owner->tenant_key, 0};
    (void)place;
    return seal_tables(db, of_tenants, sizeof of_tenants / sizeof *of_tenants, &tenant, &report->texts, failure);
}

static void read_owner(struct query *query, struct arena *arena, void *item)
{
    (void)arena;
    *(struct owner *)item = (struct owner){query_i64(query, RESEAL_PAGE_COLUMN_TENANT_KEY),
                                           query_i64(query, RESEAL_PAGE_COLUMN_SESSION_KEY)};
}

static enum status read_owners(struct db *db, enum sql page, int64_t after, struct arena *arena, struct owner **out,
                               size_t *out_count, struct failure *failure)
{
    enum status status = db_begin(db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = statement_rows(db, sql_reseal_page(page, .after_key = after, .limit = OWNERS_PER_PAGE), sizeof **out,
                            read_owner, arena, out, out_count, failure);
    db_rollback(db);
    return status;
}

static enum status
in_transaction(struct db *db, const struct blob_place *place, const struct owner *owner, struct reseal_report *report,
               enum status (*seal)(struct db *db, const struct blob_place *place, const struct owner *owner,
                                   struct reseal_report *report, struct failure *failure),
               struct failure *failure)
{
    enum status status = db_begin(db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = seal(db, place, owner, report, failure);
    if (status == STATUS_OK) {
        return db_commit(db, failure);
    }
    db_rollback(db);
    return status;
}

static enum status
seal_owners(struct db *db, const struct blob_place *place, enum sql page, struct reseal_report *report,
            enum status (*seal)(struct db *db, const struct blob_place *place, const struct owner *owner,
                                struct reseal_report *report, struct failure *failure),
            struct failure *failure)
{
    enum status status = STATUS_OK;
    int64_t after = 0;
    size_t count = OWNERS_PER_PAGE;
    while (status == STATUS_OK && count == OWNERS_PER_PAGE) {
        struct arena arena = {0};
        struct owner *owners = NULL;
        status = read_owners(db, page, after, &arena, &owners, &count, failure);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            status = in_transaction(db, place, &owners[i], report, seal, failure);
            after = owners[i].session_key;
        }
        arena_release(&arena);
    }
    return status;
}

/* Files that were kept in the clear have no use any more. */
static enum status drop_plain_files(struct db *db, const struct blob_place *place, struct failure *failure)
{
    size_t count = ORPHANS_PER_ROUND;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && count == ORPHANS_PER_ROUND) {
        struct arena arena = {0};
        struct blob_orphan *orphans;
        status = db_begin(db, failure);
        if (status != STATUS_OK) {
            return status;
        }
        status = blob_find_orphans(db, place, INT64_MAX, ORPHANS_PER_ROUND, &arena, &orphans, &count, failure);
        if (status == STATUS_OK) {
            status = store_blob_collect(db, place, INT64_MAX, orphans, count, failure);
        }
        if (status == STATUS_OK) {
            status = db_commit(db, failure);
        } else {
            db_rollback(db);
        }
        arena_release(&arena);
    }
    return status;
}

/* Pages that were given back still hold what stood there. PostgreSQL has tools of its own for that. */
static enum status forget_pages(struct db *db, struct failure *failure)
{
    return db->engine == DB_SQLITE ? db->vtable->script(db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE);", failure)
                                   : STATUS_OK;
}

enum status store_reseal(struct db *db, const struct blob_place *place, struct reseal_report *out,
                         struct failure *failure)
{
    *out = (struct reseal_report){0};
    if (!db->seal) {
        return failure_set(failure, STATUS_CONFLICT, "no_master_key",
                           "Nothing can be encrypted without a master key: give --master-key-file or "
                           "SOJOURN_MASTER_KEY.");
    }
    enum status status = seal_owners(db, place, SQL_RESEAL_SESSIONS, out, seal_one_session, failure);
    if (status == STATUS_OK) {
        status = seal_owners(db, place, SQL_RESEAL_TENANTS, out, seal_one_tenant, failure);
    }
    if (status == STATUS_OK) {
        status = drop_plain_files(db, place, failure);
    }
    return status != STATUS_OK ? status : forget_pages(db, failure);
}
