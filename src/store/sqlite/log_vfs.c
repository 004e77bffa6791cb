#include "store/sqlite/log_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/sqlite/clean_file.h"

enum {
    GATHERED_BYTES_MAX = 120 * 1024, /* SQLite's own file system writes less than 128 KiB at a time */
    BASES_MAX = 4,
    NAME_BYTES_MAX = 64,
};

/* SQLite allocates it; the underlying file stands behind it. */
struct log_file {
    sqlite3_file head; /* first: SQLite sees this */
    char *gathered;    /* bytes that belong at `offset` */
    sqlite3_int64 offset;
    int len;
};

struct log_vfs {
    sqlite3_vfs head;
    sqlite3_vfs *base;
    char name[NAME_BYTES_MAX];
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)file;
}

static sqlite3_file *under(sqlite3_file *file)
{
    return (sqlite3_file *)(log_of(file) + 1);
}

/* What fails is lost with its transaction: SQLite rolls back and writes the same place anew. */
static int flush(sqlite3_file *file)
{
    struct log_file *log = log_of(file);
    if (log->len == 0) {
        return SQLITE_OK;
    }
    int len = log->len;
    log->len = 0;
    return under(file)->pMethods->xWrite(under(file), log->gathered, len, log->offset);
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    struct log_file *log = log_of(file);
    bool fits = offset == log->offset + log->len && len <= GATHERED_BYTES_MAX - log->len;
    int code = fits ? SQLITE_OK : flush(file);
    if (code != SQLITE_OK) {
        return code;
    }
    if (len > GATHERED_BYTES_MAX) {
        return under(file)->pMethods->xWrite(under(file), bytes, len, offset);
    }
    if (log->len == 0) {
        log->offset = offset;
    }
    memcpy(log->gathered + log->len, bytes, (size_t)len);
    log->len += len;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *out, int len, sqlite3_int64 offset)
{
    int code = flush(file);
    return code == SQLITE_OK ? under(file)->pMethods->xRead(under(file), out, len, offset) : code;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = flush(file);
    return code == SQLITE_OK ? under(file)->pMethods->xTruncate(under(file), size) : code;
}

static int log_sync(sqlite3_file *file, int flags)
{
    int code = flush(file);
    return code == SQLITE_OK ? under(file)->pMethods->xSync(under(file), flags) : code;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *out)
{
    int code = flush(file);
    return code == SQLITE_OK ? under(file)->pMethods->xFileSize(under(file), out) : code;
}

static int log_close(sqlite3_file *file)
{
    int code = flush(file);
    int closed = under(file)->pMethods->xClose(under(file));
    free(log_of(file)->gathered);
    return code == SQLITE_OK ? closed : code;
}

static int log_lock(sqlite3_file *file, int level)
{
    return under(file)->pMethods->xLock(under(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return under(file)->pMethods->xUnlock(under(file), level);
}

static int log_check_lock(sqlite3_file *file, int *out)
{
    return under(file)->pMethods->xCheckReservedLock(under(file), out);
}

static int log_control(sqlite3_file *file, int operation, void *argument)
{
    return under(file)->pMethods->xFileControl(under(file), operation, argument);
}

static int log_sector_size(sqlite3_file *file)
{
    return under(file)->pMethods->xSectorSize(under(file));
}

static int log_characteristics(sqlite3_file *file)
{
    return under(file)->pMethods->xDeviceCharacteristics(under(file));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

static int log_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    sqlite3_vfs *base = ((struct log_vfs *)vfs)->base;
    if (flags & SQLITE_OPEN_MAIN_DB) {
        return clean_file_open(base, name, file, flags, out_flags);
    }
    if (!(flags & SQLITE_OPEN_WAL)) {
        return base->xOpen(base, name, file, flags, out_flags);
    }
    *log_of(file) = (struct log_file){0};
    int code = base->xOpen(base, name, under(file), flags, out_flags);
    if (code == SQLITE_OK) {
        log_of(file)->gathered = memory_alloc(GATHERED_BYTES_MAX);
        file->pMethods = &log_methods;
    }
    return code;
}

/* The other methods are the base's, given a copy of it: none of them keeps anything behind its sqlite3_vfs. */
static const char *add(struct log_vfs *vfs, sqlite3_vfs *base)
{
    vfs->base = base;
    vfs->head = *base;
    snprintf(vfs->name, sizeof vfs->name, "%.40s-log", base->zName);
    vfs->head.zName = vfs->name;
    vfs->head.pNext = NULL;
    int more = (int)sizeof(struct log_file);
    vfs->head.szOsFile = base->szOsFile + (more > clean_file_bytes() ? more : clean_file_bytes());
    vfs->head.xOpen = log_vfs_open;
    return sqlite3_vfs_register(&vfs->head, 0) == SQLITE_OK ? vfs->name : NULL;
}

const char *log_vfs_over(const char *base)
{
    static struct log_vfs known[BASES_MAX];
    static size_t count;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    sqlite3_vfs *under_it = sqlite3_vfs_find(base);
    const char *name = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !name; i++) {
        name = known[i].base == under_it ? known[i].name : NULL;
    }
    if (!name && under_it && count < BASES_MAX) {
        name = add(&known[count++], under_it);
    }
    pthread_mutex_unlock(&lock);
    return name;
}
