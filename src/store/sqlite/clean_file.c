#include "store/sqlite/clean_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* See https://www.sqlite.org/fileformat2.html, "B-tree Pages". */
enum {
    FILE_HEADER_BYTES = 100, /* before the header of the first page */
    LEAF_HEADER_BYTES = 8,
    INNER_HEADER_BYTES = 12,
    AT_CELL_COUNT = 3,
    AT_CONTENT = 5,
    PAGE_BYTES_MIN = 512,
    PAGE_BYTES_MAX = 65536,
};

/* SQLite allocates it; the underlying file stands behind it. */
struct clean_file {
    sqlite3_file head; /* first: SQLite sees this */
    unsigned char *page;
};

static struct clean_file *clean_of(sqlite3_file *file)
{
    return (struct clean_file *)file;
}

static sqlite3_file *under(sqlite3_file *file)
{
    return (sqlite3_file *)(clean_of(file) + 1);
}

static int number_at(const unsigned char *at)
{
    return at[0] << 8 | at[1];
}

/* 0 when it is not a page of a b-tree. Pages of other kinds begin with the number of a page, so with a zero or a one in
 * every file of less than 128 GiB, or hold nothing but zeroes. */
static int header_bytes(unsigned char kind)
{
    switch (kind) {
    case 0x02:
    case 0x05:
        return INNER_HEADER_BYTES;
    case 0x0a:
    case 0x0d:
        return LEAF_HEADER_BYTES;
    default:
        return 0;
    }
}

int clean_page(unsigned char *page, int len, sqlite3_int64 offset)
{
    const unsigned char *header = page + (offset == 0 ? FILE_HEADER_BYTES : 0);
    int header_len = header_bytes(header[0]);
    int content = number_at(header + AT_CONTENT) ? number_at(header + AT_CONTENT) : PAGE_BYTES_MAX;
    int begin = (int)(header - page) + header_len + 2 * number_at(header + AT_CELL_COUNT);
    if (header_len == 0 || content > len || begin > content) {
        return false;
    }
    memset(page + begin, 0, (size_t)(content - begin));
    return true;
}

static bool is_page(int len, sqlite3_int64 offset)
{
    bool is_power = (len & (len - 1)) == 0;
    return is_power && len >= PAGE_BYTES_MIN && len <= PAGE_BYTES_MAX && offset % len == 0;
}

static int clean_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    struct clean_file *clean = clean_of(file);
    if (is_page(len, offset)) {
        memcpy(clean->page, bytes, (size_t)len);
        bytes = clean_page(clean->page, len, offset) ? clean->page : bytes;
    }
    return under(file)->pMethods->xWrite(under(file), bytes, len, offset);
}

static int clean_close(sqlite3_file *file)
{
    free(clean_of(file)->page);
    return under(file)->pMethods->xClose(under(file));
}

/* --- passed on --- */

static int clean_read(sqlite3_file *file, void *out, int len, sqlite3_int64 offset)
{
    return under(file)->pMethods->xRead(under(file), out, len, offset);
}

static int clean_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return under(file)->pMethods->xTruncate(under(file), size);
}

static int clean_sync(sqlite3_file *file, int flags)
{
    return under(file)->pMethods->xSync(under(file), flags);
}

static int clean_size(sqlite3_file *file, sqlite3_int64 *out)
{
    return under(file)->pMethods->xFileSize(under(file), out);
}

static int clean_lock(sqlite3_file *file, int level)
{
    return under(file)->pMethods->xLock(under(file), level);
}

static int clean_unlock(sqlite3_file *file, int level)
{
    return under(file)->pMethods->xUnlock(under(file), level);
}

static int clean_check_lock(sqlite3_file *file, int *out)
{
    return under(file)->pMethods->xCheckReservedLock(under(file), out);
}

static int clean_control(sqlite3_file *file, int operation, void *argument)
{
    return under(file)->pMethods->xFileControl(under(file), operation, argument);
}

static int clean_sector_size(sqlite3_file *file)
{
    return under(file)->pMethods->xSectorSize(under(file));
}

static int clean_characteristics(sqlite3_file *file)
{
    return under(file)->pMethods->xDeviceCharacteristics(under(file));
}

static int clean_shm_map(sqlite3_file *file, int region, int len, int extend, void volatile **out)
{
    return under(file)->pMethods->xShmMap(under(file), region, len, extend, out);
}

static int clean_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return under(file)->pMethods->xShmLock(under(file), offset, count, flags);
}

static void clean_shm_barrier(sqlite3_file *file)
{
    under(file)->pMethods->xShmBarrier(under(file));
}

static int clean_shm_unmap(sqlite3_file *file, int delete)
{
    return under(file)->pMethods->xShmUnmap(under(file), delete);
}

static const sqlite3_io_methods clean_methods = {
    .iVersion = 2, /* nothing is read by mapping */
    .xClose = clean_close,
    .xRead = clean_read,
    .xWrite = clean_write,
    .xTruncate = clean_truncate,
    .xSync = clean_sync,
    .xFileSize = clean_size,
    .xLock = clean_lock,
    .xUnlock = clean_unlock,
    .xCheckReservedLock = clean_check_lock,
    .xFileControl = clean_control,
    .xSectorSize = clean_sector_size,
    .xDeviceCharacteristics = clean_characteristics,
    .xShmMap = clean_shm_map,
    .xShmLock = clean_shm_lock,
    .xShmBarrier = clean_shm_barrier,
    .xShmUnmap = clean_shm_unmap,
};

int clean_file_bytes(void)
{
    return (int)sizeof(struct clean_file);
}

int clean_file_open(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    *clean_of(file) = (struct clean_file){0};
    int code = base->xOpen(base, name, under(file), flags, out_flags);
    if (code == SQLITE_OK) {
        clean_of(file)->page = memory_alloc(PAGE_BYTES_MAX);
        file->pMethods = &clean_methods;
    }
    return code;
}
