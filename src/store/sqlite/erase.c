#include "store/sqlite/erase.h"

#include <stdio.h>
#include <time.h>

#include "base/log.h"

enum { READERS_WAIT_MS = 20, TRY_AGAIN_MS = 500 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum status remains_begin(struct sqlite_db *self, struct failure *failure)
{
    int64_t pages = 0, mark = 0;
    char script[64];
    erase_log_later(self); /* of a former life */
    enum status status = sqlite_read_number(self, "SELECT COUNT(*) FROM sqlite_master", &pages, failure);
    if (status == STATUS_OK) {
        status = sqlite_read_number(self, "PRAGMA user_version", &mark, failure);
    }
    if (status != STATUS_OK || mark == WITHOUT_REMAINS) {
        return status;
    }
    if (pages > 0) {
        log_warn("sqlite_remains", LOG_TEXT("detail", SLICE("An older version wrote this database. What it deleted may "
                                                            "still be in free pages of the file, though not in new "
                                                            "backups; stop the server and run: sojourn compact")));
        return STATUS_OK;
    }
    snprintf(script, sizeof script, "PRAGMA user_version = %d", WITHOUT_REMAINS);
    return self->base.vtable->script(&self->base, script, failure);
}

void erase_log_later(struct sqlite_db *self)
{
    if (self->log_ms > 0 && self->erase_log_at_ms == 0) {
        self->erase_log_at_ms = now_ms() + self->log_ms;
    }
}

/* Readers that begin once everything is in the file do not stand in the way; those that began earlier are gone soon. */
void erase_log_when_due(struct sqlite_db *self)
{
    if (self->erase_log_at_ms == 0 || now_ms() < self->erase_log_at_ms) {
        return;
    }
    sqlite3_busy_timeout(self->handle, READERS_WAIT_MS);
    int code = sqlite3_wal_checkpoint_v2(self->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(self->handle, self->busy_ms);
    if (code == SQLITE_OK) {
        self->erase_log_at_ms = 0;
        self->wal_frames = 0;
        self->checkpoint_at = self->checkpoint_frames;
        sqlite3_db_release_memory(self->handle); /* pages in memory may hold what those in the file do not any more */
        return;
    }
    self->erase_log_at_ms = now_ms() + TRY_AGAIN_MS;
    if (code != SQLITE_BUSY) {
        log_warn("checkpoint_failed", LOG_TEXT("reason", slice_of(sqlite3_errmsg(self->handle))));
    }
}
