#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#include "store/sqlite/connection.h"
#include "store/store.h"

enum { PAGES_PER_STEP = 1024, PATH_BYTES = 4096 };

struct backup {
    struct db *from;
    sqlite3 *to;
    char part_path[PATH_BYTES]; /* written here, renamed when whole */
};

static enum status cannot(const char *what, const char *path, const char *reason, struct failure *failure)
{
    return failure_set(failure, STATUS_UNAVAILABLE, "backup_failed", "Cannot %s %.200s: %s.", what, path, reason);
}

static enum status open_target(struct backup *backup, const char *to_path, struct failure *failure)
{
    if (access(to_path, F_OK) == 0) {
        return failure_set(failure, STATUS_CONFLICT, "backup_exists",
                           "%.200s exists. Name a file that does not exist yet.", to_path);
    }
    if (snprintf(backup->part_path, sizeof backup->part_path, "%s.part", to_path) >= (int)sizeof backup->part_path) {
        return cannot("write", to_path, "the path is too long", failure);
    }
    unlink(backup->part_path);
    sqlite_make_private(backup->part_path);
    if (sqlite3_open_v2(backup->part_path, &backup->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK) {
        return cannot("write", backup->part_path, sqlite3_errmsg(backup->to), failure);
    }
    return STATUS_OK;
}

/* The source stays in one read transaction, so the copy is one moment although the server goes on writing. */
static enum status copy_pages(struct backup *backup, void (*progress)(void *owner, int64_t done, int64_t total),
                              void *owner, struct failure *failure)
{
    sqlite3_backup *copy = sqlite3_backup_init(backup->to, "main", sqlite_db_of(backup->from)->handle, "main");
    int code = copy ? SQLITE_OK : SQLITE_ERROR;
    while (code == SQLITE_OK) {
        code = sqlite3_backup_step(copy, PAGES_PER_STEP);
        if (progress && (code == SQLITE_OK || code == SQLITE_DONE)) {
            int64_t total = sqlite3_backup_pagecount(copy);
            progress(owner, total - sqlite3_backup_remaining(copy), total);
        }
    }
    if (copy) {
        sqlite3_backup_finish(copy);
    }
    return code == SQLITE_DONE ? STATUS_OK : cannot("copy to", backup->part_path, sqlite3_errmsg(backup->to), failure);
}

/* The copy comes in WAL mode, in which even reading it would leave two files beside it; a server that opens it goes
 * back to WAL. */
static enum status leave_wal_mode(struct backup *backup, struct failure *failure)
{
    int code = sqlite3_exec(backup->to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : cannot("finish", backup->part_path, sqlite3_errmsg(backup->to), failure);
}

static enum status sync_path(const char *path, struct failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    enum status status = synced ? STATUS_OK : cannot("sync", path, strerror(errno), failure);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

static enum status publish(struct backup *backup, const char *to_path, struct failure *failure)
{
    char directory[PATH_BYTES];
    snprintf(directory, sizeof directory, "%s", to_path);
    enum status status = sync_path(backup->part_path, failure);
    if (status == STATUS_OK && rename(backup->part_path, to_path) != 0) {
        status = cannot("rename to", to_path, strerror(errno), failure);
    }
    return status != STATUS_OK ? status : sync_path(dirname(directory), failure);
}

static enum status run_backup(struct backup *backup, const char *to_path,
                              void (*progress)(void *owner, int64_t done, int64_t total), void *owner,
                              struct failure *failure)
{
    enum status status = open_target(backup, to_path, failure);
    if (status == STATUS_OK) {
        status = db_begin_read(backup->from, failure);
    }
    if (status == STATUS_OK) {
        status = copy_pages(backup, progress, owner, failure);
        db_end_read(backup->from);
    }
    if (status == STATUS_OK) {
        status = leave_wal_mode(backup, failure);
    }
    if (status == STATUS_OK && sqlite3_close(backup->to) != SQLITE_OK) {
        status = cannot("close", backup->part_path, sqlite3_errmsg(backup->to), failure);
    } else if (status != STATUS_OK) {
        sqlite3_close(backup->to);
    }
    return status != STATUS_OK ? status : publish(backup, to_path, failure);
}

enum status store_backup(const struct db_options *options, const char *to_path,
                         void (*progress)(void *owner, int64_t done, int64_t total), void *owner,
                         struct failure *failure)
{
    if (options->engine != DB_SQLITE) {
        return failure_set(failure, STATUS_UNSUPPORTED, "backup_unsupported",
                           "A PostgreSQL database is backed up with its own tools: pg_dump or pg_basebackup.");
    }
    struct db_options reading = *options;
    struct backup backup = {0};
    reading.read_only = reading.content_unread = true;
    enum status status = db_open(&reading, &backup.from, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = run_backup(&backup, to_path, progress, owner, failure);
    if (status != STATUS_OK && *backup.part_path) {
        unlink(backup.part_path);
    }
    db_close(backup.from);
    return status;
}
