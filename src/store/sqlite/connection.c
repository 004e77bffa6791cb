#include "store/sqlite/connection.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/log.h"
#include "store/sqlite/caseless.h"
#include "store/sqlite/erase.h"
#include "store/sqlite/log_vfs.h"
#include "store/statement.h"

enum {
    PAGE_BYTES = 4096,
    BUSY_DEFAULT_MS = 5000,
    CHECKPOINT_FRAMES_DEFAULT = 4096, /* 16 MiB of log */
    CACHE_KIB_DEFAULT = 16384,
};

static const struct {
    int code;
    enum status status;
    const char *name;
} failure_codes[] = {
    {SQLITE_FULL, STATUS_UNAVAILABLE, "storage_full"},
    {SQLITE_CONSTRAINT, STATUS_CONFLICT, "exists"},
    {SQLITE_BUSY, STATUS_UNAVAILABLE, "storage_busy"},
};

enum status sqlite_failure(struct sqlite_db *self, int code, const char *doing, struct failure *failure)
{
    const char *reason = self->handle ? sqlite3_errmsg(self->handle) : sqlite3_errstr(code);
    int extended = self->handle ? sqlite3_extended_errcode(self->handle) : code;
    if (code == SQLITE_NOMEM) {
        abort();
    }
    for (size_t i = 0; i < sizeof failure_codes / sizeof failure_codes[0]; i++) {
        if (failure_codes[i].code == (code & 0xff)) {
            return failure_set(failure, failure_codes[i].status, failure_codes[i].name,
                               "The database refused %s: %s (SQLite %d).", doing, reason, extended);
        }
    }
    return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "The database failed at %s: %s (SQLite %d).",
                       doing, reason, extended);
}

/* --- transactions --- */

static enum status run_plain(struct sqlite_db *self, sqlite3_stmt *statement, const char *doing,
                             struct failure *failure)
{
    int code = sqlite3_step(statement);
    enum status status = code == SQLITE_DONE ? STATUS_OK : sqlite_failure(self, code, doing, failure);
    sqlite3_reset(statement);
    return status;
}

static int note_wal_frames(void *owner, sqlite3 *handle, const char *name, int frames)
{
    struct sqlite_db *self = owner;
    (void)handle, (void)name;
    erase_log_later(self);
    if (frames < self->wal_frames) { /* the log began anew */
        self->checkpoint_at = self->checkpoint_frames;
    }
    self->wal_frames = frames;
    return SQLITE_OK;
}

/* Called when the next group begins: the replies of the last one have left by then and do not wait for it. A checkpoint
 * that fails loses nothing: the log stays, and after a quarter of its usual length it is tried again. So it is when a
 * reader of an old state keeps the log from beginning anew. */
static void checkpoint_when_due(struct sqlite_db *self)
{
    if (self->wal_frames < self->checkpoint_at) {
        return;
    }
    int code = sqlite3_wal_checkpoint_v2(self->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    self->checkpoint_at = self->wal_frames + self->checkpoint_frames / 4 + 1;
    if (code != SQLITE_OK && code != SQLITE_BUSY) {
        log_warn("checkpoint_failed", LOG_TEXT("reason", slice_of(sqlite3_errmsg(self->handle))));
    }
}

/* A deleted file takes writes as before, and loses them with the process. */
static enum status check_in_place(struct sqlite_db *self, struct failure *failure)
{
    int moved = 0;
    sqlite3_file_control(self->handle, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved) {
        return failure_set(failure, STATUS_UNAVAILABLE, "storage_moved",
                           "The database file was removed or replaced while it was in use; put it back or restart.");
    }
    return STATUS_OK;
}

static enum status sqlite_begin(struct db *db, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    assert(!self->read_only);
    enum status status = check_in_place(self, failure);
    if (status != STATUS_OK) {
        return status;
    }
    checkpoint_when_due(self);
    erase_log_when_due(self);
    return run_plain(self, self->begin, "begin", failure);
}

static void sqlite_rollback(struct db *db)
{
    struct sqlite_db *self = sqlite_db_of(db);
    /* Some errors have rolled back already; asking again would be one more. */
    if (!sqlite3_get_autocommit(self->handle) && run_plain(self, self->rollback, "rollback", NULL)) {
        log_error("rollback_failed", LOG_TEXT("reason", slice_of(sqlite3_errmsg(self->handle))));
    }
    if (!self->read_only) {
        tails_forget(self);
    }
}

/* When only the sync failed, the log's file holds the whole commit: SQLite takes it back, but a crash before the next
 * commit writes over it could bring it to light. */
static enum status run_commit(struct sqlite_db *self, struct failure *failure)
{
    enum status status = run_plain(self, self->commit, "commit", failure);
    if (status != STATUS_OK && sqlite3_extended_errcode(self->handle) == SQLITE_IOERR_FSYNC) {
        return failure_set(failure, STATUS_UNCERTAIN, "commit_unknown",
                           "The disk did not confirm the commit (SQLite %d); whether it is kept is not known. Read "
                           "before you try again.",
                           SQLITE_IOERR_FSYNC);
    }
    return status;
}

static enum status sqlite_commit(struct db *db, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    if (sqlite3_get_autocommit(self->handle)) {
        tails_forget(self);
        return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed",
                           "The database gave the transaction up after an error.");
    }
    enum status status = tails_flush(self, failure);
    if (status == STATUS_OK) {
        status = run_commit(self, failure);
    }
    if (status != STATUS_OK) {
        sqlite_rollback(db);
    } else {
        tails_keep(self);
    }
    return status;
}

static enum status sqlite_end_read(struct db *db, struct failure *failure)
{
    (void)failure;
    sqlite_rollback(db);
    return STATUS_OK;
}

static enum status sqlite_begin_read(struct db *db, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    return run_plain(self, self->begin_read, "begin", failure);
}

/* --- opening --- */

static enum status sqlite_script(struct db *db, const char *sql, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    int code = sqlite3_exec(self->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : sqlite_failure(self, code, "a script", failure);
}

enum status sqlite_read_number(struct sqlite_db *self, const char *sql, int64_t *out, struct failure *failure)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(self->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    *out = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    enum status status = STATUS_OK;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = sqlite_failure(self, code, "reading the schema", failure);
    }
    sqlite3_finalize(statement);
    return status;
}

static enum status sqlite_schema_version(struct db *db, int64_t *out, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    int64_t has_meta = 0;
    enum status status = sqlite_read_number(
        self, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'", &has_meta, failure);
    *out = 0;
    if (status != STATUS_OK || !has_meta) {
        return status;
    }
    return sqlite_read_number(self, "SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'schema_version'", out,
                              failure);
}

enum status sqlite_prepare_text(struct sqlite_db *self, const char *name, const char *text, sqlite3_stmt **out,
                                struct failure *failure)
{
    int code = sqlite3_prepare_v3(self->handle, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? STATUS_OK : sqlite_failure(self, code, name, failure);
}

/* A reader prepares what it uses when it first does: the writer has tried every text, and a megabyte per reader stays
 * free. */
static enum status sqlite_prepare(struct db *db, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    if (self->read_only) {
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    for (int i = 0; status == STATUS_OK && !self->prepares_late && i < SQL_COUNT; i++) {
        if (sql_texts[i].sqlite) {
            status = sqlite_prepare_text(self, sql_texts[i].name, sql_texts[i].sqlite, &self->statements[i], failure);
        }
    }
    if (status == STATUS_OK) {
        status = statement_number(db, sql_event_position_last(), 0, &self->tails.last_position, failure);
    }
    return status;
}

static void sqlite_close(struct db *db)
{
    struct sqlite_db *self = sqlite_db_of(db);
    for (int i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(self->statements[i]);
    }
    sqlite3_finalize(self->begin);
    sqlite3_finalize(self->begin_read);
    sqlite3_finalize(self->commit);
    sqlite3_finalize(self->rollback);
    sqlite3_close(self->handle);
    free(self);
}

static const struct db_vtable sqlite_vtable = {
    .close = sqlite_close,
    .schema_version = sqlite_schema_version,
    .prepare = sqlite_prepare,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .begin_read = sqlite_begin_read,
    .end_read = sqlite_end_read,
    .start = sqlite_start,
    .bind_i64 = sqlite_bind_i64,
    .bind_text = sqlite_bind_text,
    .bind_bytes = sqlite_bind_bytes,
    .bind_null = sqlite_bind_null,
    .run = sqlite_run,
    .run_guarded = sqlite_run_guarded,
    .step = sqlite_step,
    .get_i64 = sqlite_get_i64,
    .get_text = sqlite_get_text,
    .end = sqlite_end,
    .event_insert = sqlite_event_insert,
    .session_touch = sqlite_session_touch,
    .events_delete = sqlite_events_delete,
    .script = sqlite_script,
};

enum { OPERATIONS_PER_LOOK = 1000, STEPS_PER_LOOK = 250 };

/* Nonzero ends the running query. */
static int count_operations(void *unused)
{
    (void)unused;
    return !budget_spend(STEPS_PER_LOOK);
}

/* A reader neither writes nor checkpoints: with two connections doing so, this SQLite can lose the log (3.40.1 carries
 * the WAL-reset bug). */
static enum status configure(struct sqlite_db *self, const struct db_options *options, struct failure *failure)
{
    char script[512];
    snprintf(script, sizeof script,
             "%s PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;"
             " PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = %lld;"
             " PRAGMA cache_size = -%lld; PRAGMA secure_delete = ON;", /* what was deleted is in no free page */
             options->read_only ? "PRAGMA query_only = ON;" : "PRAGMA journal_mode = WAL;",
             2LL * self->checkpoint_frames * PAGE_BYTES,
             (long long)(options->cache_kib > 0 ? options->cache_kib : CACHE_KIB_DEFAULT));
    enum status status = sqlite_script(&self->base, script, failure);
    /* Without this SQLite plans a statement anew whenever a value could match the condition of a partial index. */
    sqlite3_db_config(self->handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
    if (status == STATUS_OK && options->read_only) {
        sqlite3_db_config(self->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_progress_handler(self->handle, OPERATIONS_PER_LOOK, count_operations, NULL);
    }
    if (status == STATUS_OK && !options->read_only) {
        sqlite3_wal_hook(self->handle, note_wal_frames, self);
    }
    return status;
}

static enum status prepare_transactions(struct sqlite_db *self, struct failure *failure)
{
    enum status status = sqlite_prepare_text(self, "begin", "BEGIN IMMEDIATE", &self->begin, failure);
    if (status == STATUS_OK) {
        status = sqlite_prepare_text(self, "begin", "BEGIN", &self->begin_read, failure);
    }
    if (status == STATUS_OK) {
        status = sqlite_prepare_text(self, "commit", "COMMIT", &self->commit, failure);
    }
    if (status == STATUS_OK) {
        status = sqlite_prepare_text(self, "rollback", "ROLLBACK", &self->rollback, failure);
    }
    return status;
}

/* Once, before SQLite is first used: counting every allocation takes a lock that all threads share. */
static void set_up_library(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void sqlite_make_private(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
    }
}

enum status sqlite_open(const struct db_options *options, struct db **out, struct failure *failure)
{
    static pthread_once_t library_once = PTHREAD_ONCE_INIT;
    pthread_once(&library_once, set_up_library);
    struct sqlite_db *self = memory_zeroed(sizeof *self);
    self->base = (struct db){.vtable = &sqlite_vtable, .engine = DB_SQLITE};
    self->read_only = options->read_only;
    self->prepares_late = options->prepare_late;
    self->checkpoint_frames =
        options->checkpoint_pages > 0 ? (int)options->checkpoint_pages : CHECKPOINT_FRAMES_DEFAULT;
    self->checkpoint_at = self->checkpoint_frames;
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (options->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const char *vfs = options->read_only ? options->vfs : log_vfs_over(options->vfs);
    if (!options->read_only && !options->vfs && options->path[0] != ':') {
        sqlite_make_private(options->path);
    }
    int code = sqlite3_open_v2(options->path, &self->handle, flags, vfs ? vfs : options->vfs);
    enum status status = STATUS_OK;
    if (code != SQLITE_OK) {
        status = sqlite_failure(self, code, options->path, failure);
    }
    if (status == STATUS_OK) {
        self->busy_ms = (int)(options->busy_ms > 0 ? options->busy_ms : BUSY_DEFAULT_MS);
        self->log_ms = options->sqlite_log_ms;
        sqlite3_busy_timeout(self->handle, self->busy_ms);
        status = configure(self, options, failure);
    }
    if (status == STATUS_OK && !options->read_only) {
        status = remains_begin(self, failure);
    }
    if (status == STATUS_OK && sqlite_add_positions(self) != SQLITE_OK) {
        status = sqlite_failure(self, SQLITE_ERROR, "event_positions", failure);
    }
    if (status == STATUS_OK && sqlite_add_caseless(self->handle) != SQLITE_OK) {
        status = sqlite_failure(self, SQLITE_ERROR, "caseless", failure);
    }
    if (status == STATUS_OK) {
        status = prepare_transactions(self, failure);
    }
    if (status != STATUS_OK) {
        sqlite_close(&self->base);
        return status;
    }
    *out = &self->base;
    return STATUS_OK;
}
