#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/erase.h"
#include "store/sqlite/log_vfs.h"
#include "store/store.h"

enum { STEPS_PER_PROGRESS = 100000, PATH_BYTES = 4096 };

struct backup {
    struct db *from;
    sqlite3 *to;
    char part_path[PATH_BYTES]; /* written here, renamed when whole */
    void (*progress)(void *owner, int64_t done, int64_t total);
    void *progress_owner;
    int64_t page_bytes, pages; /* of the source */
};

static enum status cannot(const char *what, const char *path, const char *reason, struct failure *failure)
{
    return failure_set(failure, STATUS_UNAVAILABLE, "backup_failed", "Cannot %s %.200s: %s.", what, path, reason);
}

static enum status make_target(struct backup *backup, const char *to_path, struct failure *failure)
{
    if (snprintf(backup->part_path, sizeof backup->part_path, "%s.part", to_path) >= (int)sizeof backup->part_path) {
        *backup->part_path = '\0';
        return cannot("write", to_path, "the path is too long", failure);
    }
    unlink(backup->part_path);
    sqlite_make_private(backup->part_path);
    return STATUS_OK;
}

static int on_steps(void *owner)
{
    struct backup *backup = owner;
    struct stat part;
    if (stat(backup->part_path, &part) == 0) {
        int64_t done = part.st_size / backup->page_bytes;
        backup->progress(backup->progress_owner, done < backup->pages ? done : backup->pages, backup->pages);
    }
    return 0;
}

/* The copy is one moment although the server goes on writing, and has no free pages in which something deleted could
 * be. */
static enum status copy_rows(struct backup *backup, struct failure *failure)
{
    struct sqlite_db *from = sqlite_db_of(backup->from);
    enum status status = sqlite_read_number(from, "PRAGMA page_size", &backup->page_bytes, failure);
    if (status == STATUS_OK) {
        status = sqlite_read_number(from, "PRAGMA page_count", &backup->pages, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (backup->progress) {
        sqlite3_progress_handler(from->handle, STEPS_PER_PROGRESS, on_steps, backup);
    }
    sqlite3_exec(from->handle, "PRAGMA query_only = OFF", NULL, NULL, NULL); /* it forbids to write the copy, too */
    char *text = sqlite3_mprintf("VACUUM INTO %Q", backup->part_path);
    int code = sqlite3_exec(from->handle, text, NULL, NULL, NULL);
    sqlite3_free(text);
    sqlite3_progress_handler(from->handle, 0, NULL, NULL);
    if (code == SQLITE_OK && backup->progress) {
        backup->progress(backup->progress_owner, backup->pages, backup->pages);
    }
    return code == SQLITE_OK ? STATUS_OK : cannot("copy to", backup->part_path, sqlite3_errmsg(from->handle), failure);
}

/* In WAL mode even reading the copy would leave two files beside it; a server that opens it goes back to WAL. */
static enum status finish_target(struct backup *backup, struct failure *failure)
{
    char script[100];
    snprintf(script, sizeof script, "PRAGMA journal_mode = DELETE; PRAGMA user_version = %d", WITHOUT_REMAINS);
    bool done = sqlite3_open_v2(backup->part_path, &backup->to, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(backup->to, script, NULL, NULL, NULL) == SQLITE_OK;
    enum status status = done ? STATUS_OK : cannot("finish", backup->part_path, sqlite3_errmsg(backup->to), failure);
    if (sqlite3_close(backup->to) != SQLITE_OK && status == STATUS_OK) {
        status = cannot("close", backup->part_path, sqlite3_errmsg(backup->to), failure);
    }
    return status;
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

static enum status write_target(struct backup *backup, const char *to_path, struct failure *failure)
{
    enum status status = make_target(backup, to_path, failure);
    if (status == STATUS_OK) {
        status = copy_rows(backup, failure);
    }
    return status == STATUS_OK ? finish_target(backup, failure) : status;
}

static void forget_target(const struct backup *backup)
{
    if (*backup->part_path) {
        unlink(backup->part_path);
    }
}

static enum status only_sqlite(const struct db_options *options, const char *tools, struct failure *failure)
{
    return options->engine == DB_SQLITE ? STATUS_OK
                                        : failure_set(failure, STATUS_UNSUPPORTED, "backup_unsupported",
                                                      "A PostgreSQL database has its own tools for that: %s.", tools);
}

enum status store_backup(const struct db_options *options, const char *to_path,
                         void (*progress)(void *owner, int64_t done, int64_t total), void *owner,
                         struct failure *failure)
{
    struct db_options reading = *options;
    struct backup backup = {.progress = progress, .progress_owner = owner};
    reading.read_only = reading.content_unread = true;
    reading.vfs = log_vfs_over(options->vfs); /* the copy is opened by it too: a clean file */
    enum status status = only_sqlite(options, "pg_dump or pg_basebackup", failure);
    if (status == STATUS_OK && access(to_path, F_OK) == 0) {
        status = failure_set(failure, STATUS_CONFLICT, "backup_exists",
                             "%.200s exists. Name a file that does not exist yet.", to_path);
    }
    if (status == STATUS_OK) {
        status = db_open(&reading, &backup.from, failure);
    }
    if (status == STATUS_OK) {
        status = write_target(&backup, to_path, failure);
    }
    db_close(backup.from);
    if (status == STATUS_OK) {
        status = publish(&backup, to_path, failure);
    }
    if (status != STATUS_OK) {
        forget_target(&backup);
    }
    return status;
}

/* The log of the old file must be gone before another file takes its place: it would be applied to that one. */
static enum status check_no_log(const char *path, struct failure *failure)
{
    char log_path[PATH_BYTES + 8];
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    return access(log_path, F_OK) == 0 ? cannot("replace", path, "another program has it open", failure) : STATUS_OK;
}

enum status store_compact(const struct db_options *options, void (*progress)(void *owner, int64_t done, int64_t total),
                          void *owner, struct failure *failure)
{
    struct db_options writing = *options;
    struct backup backup = {.progress = progress, .progress_owner = owner};
    writing.read_only = false;
    writing.content_unread = true;
    enum status status = only_sqlite(options, "VACUUM FULL", failure);
    if (status == STATUS_OK) {
        status = db_open(&writing, &backup.from, failure);
    }
    if (status == STATUS_OK) {
        status = write_target(&backup, options->path, failure);
    }
    db_close(backup.from); /* brings its log into the file and removes it */
    if (status == STATUS_OK) {
        status = check_no_log(options->path, failure);
    }
    if (status == STATUS_OK) {
        status = publish(&backup, options->path, failure);
    }
    if (status != STATUS_OK) {
        forget_target(&backup);
    }
    return status;
}
