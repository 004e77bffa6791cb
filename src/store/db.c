#include "store/db.h"

#include <assert.h>
#include <stdio.h>

#include "base/budget.h"
#include "store/engine.h"
#include "store/seal/seal.h"
#include "store/session/session_row.h"
#include "store/store.h"

static const struct sql_migration *migrations_of(const struct db *db)
{
    return db->engine == DB_SQLITE ? sql_migrations_sqlite : sql_migrations_postgres;
}

static int64_t newest_migration(const struct db *db)
{
    const struct sql_migration *migration = migrations_of(db);
    while (migration[1].number) {
        migration++;
    }
    return migration->number;
}

static enum status too_new(int64_t found, int64_t known, struct failure *failure)
{
    enum status status = failure_set(
        failure, STATUS_UNAVAILABLE, "schema_too_new",
        "The database has schema %lld, this program knows schemas up to %lld. Use the program that wrote it "
        "or a newer one; an older one cannot open it.",
        (long long)found, (long long)known);
    if (failure) {
        failure_members(failure, "\"schema\":%lld,\"known\":%lld", (long long)found, (long long)known);
    }
    return status;
}

static enum status apply_migration(struct db *db, const struct sql_migration *migration, struct failure *failure)
{
    char note[160];
    enum status status = db->vtable->script(db, migration->text, failure);
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(note, sizeof note,
             "INSERT INTO meta (name, value) VALUES ('schema_version', '%d')"
             " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
             migration->number);
    return db->vtable->script(db, note, failure);
}

static enum status apply_missing(struct db *db, struct failure *failure)
{
    int64_t version = 0;
    enum status status = db->vtable->schema_version(db, &version, failure);
    if (status == STATUS_OK && version > newest_migration(db)) {
        status = too_new(version, newest_migration(db), failure);
    }
    for (const struct sql_migration *m = migrations_of(db); status == STATUS_OK && m->number; m++) {
        if (m->number > version) {
            status = apply_migration(db, m, failure);
        }
    }
    return status;
}

enum status store_migrate(struct db *db, struct failure *failure)
{
    enum status status = db_begin(db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = apply_missing(db, failure);
    if (status == STATUS_OK) {
        return db_commit(db, failure);
    }
    db_rollback(db);
    return status;
}

static enum status check_schema(struct db *db, struct failure *failure)
{
    int64_t version = 0;
    int64_t known = newest_migration(db);
    enum status status = db->vtable->schema_version(db, &version, failure);
    if (status != STATUS_OK || version == known) {
        return status;
    }
    if (version > known) {
        return too_new(version, known, failure);
    }
    return failure_set(
        failure, STATUS_UNAVAILABLE, "schema_too_old",
        "The database has schema %lld, this program needs %lld. Start the server once: it brings the schema "
        "up to date.",
        (long long)version, (long long)known);
}

enum status db_open(const struct db_options *options, struct db **out, struct failure *failure)
{
    struct db *db = NULL;
    enum status status =
        options->engine == DB_SQLITE ? sqlite_open(options, &db, failure) : postgres_open(options, &db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = options->read_only ? check_schema(db, failure) : store_migrate(db, failure);
    if (status == STATUS_OK) {
        status = db->vtable->prepare(db, failure);
    }
    if (status == STATUS_OK) {
        status = seal_open(db, options, failure);
    }
    if (status != STATUS_OK) {
        db_close(db);
        return status;
    }
    *out = db;
    return STATUS_OK;
}

void db_close(struct db *db)
{
    if (!db) {
        return;
    }
    seal_close(db);
    db->vtable->close(db);
}

enum db_engine db_engine(const struct db *db)
{
    return db->engine;
}

bool db_has_other_writers(const struct db *db)
{
    return db->engine == DB_POSTGRES;
}

bool db_commits_gather(const struct db *db)
{
    return db->engine == DB_SQLITE;
}

enum db_engine db_engine_of(const char *url)
{
    return url ? DB_POSTGRES : DB_SQLITE;
}

bool db_options_have_other_writers(const struct db_options *options)
{
    return options->engine == DB_POSTGRES;
}

enum status db_begin(struct db *db, struct failure *failure)
{
    assert(db->scope == DB_IDLE);
    db->writes = 0;
    seal_reset(db);
    enum status status = db->vtable->begin(db, failure);
    db->scope = status == STATUS_OK ? DB_WRITES : DB_IDLE;
    return status;
}

enum status db_commit(struct db *db, struct failure *failure)
{
    assert(db->scope == DB_WRITES);
    enum status status = seal_check_commit(db, failure);
    if (status == STATUS_OK) {
        status = counts_flush(db, failure);
    }
    if (status == STATUS_OK) {
        db->scope = DB_IDLE;
        return db->vtable->commit(db, failure);
    }
    db_rollback(db);
    return status;
}

void db_rollback(struct db *db)
{
    db->count_changes.count = 0;
    db->scope = DB_IDLE;
    db->vtable->rollback(db);
    seal_reset(db);
    seal_forget(db);
}

int64_t db_writes(const struct db *db)
{
    return db->writes;
}

bool db_must_run_again(const struct db *db)
{
    return db->vtable->must_run_again && db->vtable->must_run_again(db);
}

enum status db_begin_read(struct db *db, struct failure *failure)
{
    assert(db->scope == DB_IDLE);
    seal_reset(db);
    enum status status = db->vtable->begin_read(db, failure);
    db->scope = status == STATUS_OK ? DB_READS : DB_IDLE;
    return status;
}

enum status db_end_read(struct db *db, struct failure *failure)
{
    assert(db->scope != DB_IDLE);
    db->scope = DB_IDLE;
    return db->vtable->end_read(db, failure);
}

static void bind(struct query *query, const struct sql_parameter *parameter, const char *values)
{
    const struct db_vtable *vtable = query->db->vtable;
    const void *value = values + parameter->offset;
    const struct sql_optional *optional = value;
    switch (parameter->kind) {
    case SQL_I64:
        vtable->bind_i64(query, *(const int64_t *)value);
        break;
    case SQL_OPTIONAL:
        optional->given ? vtable->bind_i64(query, optional->number) : vtable->bind_null(query);
        break;
    case SQL_BOOL:
        vtable->bind_i64(query, *(const bool *)value);
        break;
    case SQL_TEXT:
        vtable->bind_text(query, *(const struct slice *)value);
        break;
    case SQL_BYTES:
        vtable->bind_bytes(query, *(const struct slice *)value);
        break;
    case SQL_SESSION:
        session_bind(query, *(const struct session *const *)value, parameter->field);
        break;
    }
}

void query_start(struct query *query, struct db *db, struct sql_call call)
{
    const struct sql_text *text = &sql_texts[call.sql];
    *query = (struct query){.db = db, .sql = call.sql};
    db->vtable->start(query);
    for (int i = 0; i < text->parameter_count; i++) {
        bind(query, &text->parameters[i], call.values);
    }
}

/* Every statement passes here before it runs. Whether it finds a row to change is known too late on PostgreSQL. */
static void note_run(struct query *query)
{
    assert(query->bound == sql_texts[query->sql].parameter_count);
    query->db->writes += sql_texts[query->sql].writes && !query->ran;
    query->ran = true;
}

enum status query_run(struct query *query, int64_t *out_changed, struct failure *failure)
{
    note_run(query);
    return query->db->vtable->run(query, out_changed, failure);
}

enum status query_run_guarded(struct query *query, struct failure *failure)
{
    note_run(query);
    return query->db->vtable->run_guarded(query, failure);
}

/* An engine that was stopped by the budget only knows that it was stopped. */
static enum status keep_reason(enum status status, struct failure *failure)
{
    enum status reason = budget_check(failure);
    return reason == STATUS_OK ? status : reason;
}

enum status query_step(struct query *query, bool *out_row, struct failure *failure)
{
    note_run(query);
    if (!budget_spend(1)) {
        return budget_check(failure);
    }
    enum status status = query->db->vtable->step(query, out_row, failure);
    return status == STATUS_OK ? status : keep_reason(status, failure);
}

int64_t query_i64(struct query *query, int column)
{
    return query->db->vtable->get_i64(query, column);
}

struct slice query_text(struct query *query, int column)
{
    struct slice text = query->db->vtable->get_text(query, column);
    budget_spend_bytes(text.len);
    return text;
}

void query_end(struct query *query)
{
    query->db->vtable->end(query);
}

void db_touch(struct db *db, int64_t tenant_key, int64_t session_key)
{
    if (db->vtable->touch) {
        db->vtable->touch(db, tenant_key, session_key);
    }
}
