/* The log's writes are gathered: fewer calls below, the same bytes, and nothing is held back over a sync or a read. */
#include "unit.h"

#include <sqlite3.h>
#include <string.h>

#include "store/sqlite/clean_file.h"
#include "store/sqlite/log_vfs.h"

enum { DISK_BYTES = 1024 * 1024 };

/* A file system of one file in memory that counts. */
static char disk[DISK_BYTES];
static int writes, synced_writes, fail_write_at;

static int count_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    (void)file;
    writes++;
    if (writes == fail_write_at) {
        return SQLITE_FULL;
    }
    memcpy(disk + offset, bytes, (size_t)len);
    return SQLITE_OK;
}

static int count_read(sqlite3_file *file, void *out, int len, sqlite3_int64 offset)
{
    (void)file;
    memcpy(out, disk + offset, (size_t)len);
    return SQLITE_OK;
}

static int count_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    synced_writes = writes;
    return SQLITE_OK;
}

static int count_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static const sqlite3_io_methods count_methods = {
    .iVersion = 1, .xClose = count_close, .xRead = count_read, .xWrite = count_write, .xSync = count_sync};

static int count_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    (void)vfs;
    (void)name;
    (void)flags;
    (void)out_flags;
    file->pMethods = &count_methods;
    return SQLITE_OK;
}

static union {
    sqlite3_file file;
    char room[256];
} opened;

static sqlite3_file *open_log(void)
{
    static sqlite3_vfs counting = {
        .iVersion = 1, .szOsFile = sizeof(sqlite3_file), .mxPathname = 64, .zName = "counting", .xOpen = count_open};
    sqlite3_vfs_register(&counting, 0);
    sqlite3_vfs *vfs = sqlite3_vfs_find(log_vfs_over("counting"));
    assert_non_null(vfs);
    assert_true((size_t)vfs->szOsFile <= sizeof opened);
    assert_int_equal(vfs->xOpen(vfs, "log", &opened.file, SQLITE_OPEN_WAL, NULL), SQLITE_OK);
    writes = synced_writes = fail_write_at = 0;
    memset(disk, 0, sizeof disk);
    return &opened.file;
}

static void write_frames(sqlite3_file *log, int from, int count)
{
    char page[4096];
    for (int i = from; i < from + count; i++) {
        memset(page, 'a' + i % 26, sizeof page);
        sqlite3_int64 at = (sqlite3_int64)i * (24 + (int)sizeof page);
        assert_int_equal(log->pMethods->xWrite(log, page, 24, at), SQLITE_OK);
        assert_int_equal(log->pMethods->xWrite(log, page, sizeof page, at + 24), SQLITE_OK);
    }
}

static void test_a_commit_is_one_write(void **state)
{
    (void)state;
    sqlite3_file *log = open_log();
    write_frames(log, 0, 20);
    assert_int_equal(writes, 0);
    assert_int_equal(log->pMethods->xSync(log, SQLITE_SYNC_NORMAL), SQLITE_OK);
    assert_int_equal(synced_writes, 1);
    for (int i = 0; i < 20 * 4120; i++) {
        assert_int_equal(disk[i], 'a' + i / 4120 % 26);
    }
    log->pMethods->xClose(log);
}

static void test_a_long_commit_and_a_read_find_everything(void **state)
{
    (void)state;
    sqlite3_file *log = open_log();
    char page[4096];
    write_frames(log, 0, 100);
    assert_true(writes > 1 && writes < 10);
    assert_int_equal(log->pMethods->xRead(log, page, sizeof page, 99 * 4120 + 24), SQLITE_OK);
    assert_int_equal(page[0], 'a' + 99 % 26);
    write_frames(log, 3, 1); /* the log began anew */
    assert_int_equal(log->pMethods->xRead(log, page, sizeof page, 4 * 4120 + 24), SQLITE_OK);
    assert_int_equal(page[0], 'a' + 4);
    log->pMethods->xClose(log);
}

static void test_a_failed_write_fails_the_sync_and_is_not_kept(void **state)
{
    (void)state;
    sqlite3_file *log = open_log();
    fail_write_at = 1;
    write_frames(log, 0, 2);
    assert_int_equal(log->pMethods->xSync(log, SQLITE_SYNC_NORMAL), SQLITE_FULL);
    assert_int_equal(synced_writes, 0);
    write_frames(log, 0, 1);
    assert_int_equal(log->pMethods->xSync(log, SQLITE_SYNC_NORMAL), SQLITE_OK);
    assert_int_equal(disk[0], 'a');
    assert_int_equal(disk[4120], 0);
    log->pMethods->xClose(log);
}

static void test_other_files_are_left_alone(void **state)
{
    (void)state;
    sqlite3_vfs *vfs = sqlite3_vfs_find(log_vfs_over("counting"));
    assert_int_equal(vfs->xOpen(vfs, "journal", &opened.file, SQLITE_OPEN_MAIN_JOURNAL, NULL), SQLITE_OK);
    assert_ptr_equal(opened.file.pMethods, &count_methods);
    assert_string_equal(log_vfs_over("counting"), log_vfs_over("counting"));
    assert_null(log_vfs_over("no such file system"));
}

enum { PAGE = 4096 };

/* A leaf with `cells` cells whose content begins at `content`; everything else is 'x'. */
static unsigned char *page_of(unsigned char kind, int header, int cells, int content)
{
    static unsigned char page[PAGE];
    memset(page, 'x', sizeof page);
    page[header] = kind;
    page[header + 3] = (unsigned char)(cells >> 8);
    page[header + 4] = (unsigned char)cells;
    page[header + 5] = (unsigned char)(content >> 8);
    page[header + 6] = (unsigned char)content;
    return page;
}

static void expect_zeroes(const unsigned char *page, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        assert_int_equal(page[i], 0);
    }
    assert_int_equal(page[begin - 1], 'x');
    assert_true(end == PAGE || page[end] == 'x');
}

static void test_the_middle_of_a_page_is_zeroes_in_the_file(void **state)
{
    (void)state;
    sqlite3_vfs *vfs = sqlite3_vfs_find(log_vfs_over("counting"));
    assert_int_equal(vfs->xOpen(vfs, "main", &opened.file, SQLITE_OPEN_MAIN_DB, NULL), SQLITE_OK);
    sqlite3_file *file = &opened.file;
    fail_write_at = -1;
    assert_int_equal(file->pMethods->xWrite(file, page_of(0x0d, 0, 3, 1000), PAGE, PAGE), SQLITE_OK);
    expect_zeroes((unsigned char *)disk + PAGE, 8 + 6, 1000);
    assert_int_equal(file->pMethods->xWrite(file, page_of(0x05, 100, 2, 4000), PAGE, 0), SQLITE_OK);
    expect_zeroes((unsigned char *)disk, 100 + 12 + 4, 4000);
    file->pMethods->xClose(file);
}

static void test_what_is_no_page_of_a_tree_is_written_as_it_is(void **state)
{
    (void)state;
    static const struct {
        unsigned char kind;
        int cells, content;
    } others[] = {{0, 3, 1000}, {1, 3, 1000}, {0x0d, 3, PAGE + 1}, {0x0d, 600, 1000}, {0x0d, 65535, 65535}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        unsigned char before[PAGE];
        unsigned char *page = page_of(others[i].kind, 0, others[i].cells, others[i].content);
        memcpy(before, page, PAGE);
        assert_false(clean_page(page, PAGE, PAGE));
        assert_memory_equal(before, page, PAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_commit_is_one_write),
        cmocka_unit_test(test_a_long_commit_and_a_read_find_everything),
        cmocka_unit_test(test_a_failed_write_fails_the_sync_and_is_not_kept),
        cmocka_unit_test(test_other_files_are_left_alone),
        cmocka_unit_test(test_the_middle_of_a_page_is_zeroes_in_the_file),
        cmocka_unit_test(test_what_is_no_page_of_a_tree_is_written_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
