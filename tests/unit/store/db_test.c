#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/db.h"
#include "store/engine.h"
#include "store/sqlite/caseless.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

static char directory[] = "/tmp/store_db_XXXXXX";
static char path[64];

static int make_directory(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/test.db", mkdtemp(directory));
    return 0;
}

static int remove_directory(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static struct db_options options_of(bool read_only)
{
    return (struct db_options){.engine = DB_SQLITE, .path = path, .read_only = read_only};
}

static void run_plain(const char *sql)
{
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
}

static void opens_and_opens_again(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false), reading = options_of(true);
    struct db *writer = NULL, *reader = NULL;
    assert_status(db_open(&reading, &reader, &failure), STATUS_UNAVAILABLE); /* there is no file yet */
    assert_status(db_open(&writing, &writer, &failure), STATUS_OK);
    assert_status(db_open(&reading, &reader, &failure), STATUS_OK);
    assert_status(store_migrate(writer, &failure), STATUS_OK);
    db_close(reader);
    db_close(writer);
    assert_status(db_open(&writing, &writer, &failure), STATUS_OK);
    db_close(writer);
}

static void a_newer_schema_is_refused(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false), reading = options_of(true);
    struct db *db = NULL;
    run_plain("INSERT INTO meta SELECT 'kept_version', value FROM meta WHERE name = 'schema_version'");
    run_plain("UPDATE meta SET value = '4711' WHERE name = 'schema_version'");
    assert_status(db_open(&writing, &db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "schema_too_new");
    assert_non_null(strstr(failure.detail, "4711"));
    assert_non_null(strstr(failure.members, "\"schema\":4711"));
    assert_status(db_open(&reading, &db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "schema_too_new");
    run_plain("UPDATE meta SET value = '0' WHERE name = 'schema_version'");
    assert_status(db_open(&reading, &db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "schema_too_old");
    run_plain("UPDATE meta SET value = (SELECT value FROM meta WHERE name = 'kept_version')"
              " WHERE name = 'schema_version'");
    assert_status(db_open(&reading, &db, &failure), STATUS_OK);
    db_close(db);
}

static void a_wrong_statement_is_named(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false);
    struct db *db = NULL;
    run_plain("ALTER TABLE timers RENAME COLUMN due_ms TO wrong");
    assert_status(db_open(&writing, &db, &failure), STATUS_UNAVAILABLE);
    assert_non_null(strstr(failure.detail, "timer_put"));
    run_plain("ALTER TABLE timers RENAME COLUMN wrong TO due_ms");
}

static void what_is_no_database_is_refused(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false);
    struct db *db = NULL;
    char other[80];
    snprintf(other, sizeof other, "%s/text", directory);
    FILE *file = fopen(other, "w");
    for (int i = 0; i < 400; i++) {
        fputs("this is not a database ", file);
    }
    fclose(file);
    writing.path = other;
    assert_status(db_open(&writing, &db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "storage_failed");
    writing.path = "/nonexistent/directory/db";
    assert_status(db_open(&writing, &db, &failure), STATUS_UNAVAILABLE);
}

static void a_reader_cannot_write(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false), reading = options_of(true);
    struct db *writer = NULL, *reader = NULL;
    assert_status(db_open(&writing, &writer, &failure), STATUS_OK);
    assert_status(db_open(&reading, &reader, &failure), STATUS_OK);
    struct tenant tenant = {.id = SLICE("t"), .name = SLICE("t")};
    assert_status(store_tenant_insert(reader, &tenant, &failure), STATUS_UNAVAILABLE);
    db_close(reader);
    db_close(writer);
}

static void settings_are_durable(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false);
    struct db *db = NULL;
    assert_status(db_open(&writing, &db, &failure), STATUS_OK);
    const struct {
        const char *check, *name;
    } rows[] = {{"journal_mode = wal", "SELECT 1 / (journal_mode = 'wal') FROM pragma_journal_mode"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].check, db->vtable->script(db, rows[i].name, &failure) == STATUS_OK);
    }
    db_close(db);
}

/* Every list is answered from an index in list order: nothing is scanned or sorted. */
static int check_plan(void *owner, int columns, char **values, char **names)
{
    (void)names;
    const char *plan = values[columns - 1];
    bool scans = strstr(plan, "SCAN") && strcmp(plan, "SCAN CONSTANT ROW") != 0; /* such a row is in no table */
    bool sorts = strstr(plan, "TEMP B-TREE");
    if (scans || sorts) {
        print_error("%s: %s\n", (const char *)owner, plan);
    }
    return scans || sorts;
}

static void lists_are_neither_scanned_nor_sorted(void **state)
{
    (void)state;
    sqlite3 *handle = NULL;
    static const char *const indexed[] = {"session_list_", "claim_candidates",         "timer_due",
                                          "timer_next",    "session_count_concurrent", "session_active_human"};
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite_add_caseless(handle), SQLITE_OK);
    for (int i = 0; i < SQL_COUNT; i++) {
        for (size_t n = 0; n < COUNT_OF(indexed); n++) {
            if (strncmp(sql_texts[i].name, indexed[n], strlen(indexed[n])) != 0) {
                continue;
            }
            char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql_texts[i].sqlite);
            assert_int_equal(sqlite3_exec(handle, sql, check_plan, (void *)sql_texts[i].name, NULL), SQLITE_OK);
            sqlite3_free(sql);
        }
    }
    sqlite3_close(handle);
}

/* Writes are counted by what tools/sql_to_c.py read in the texts; SQLite knows better. */
static void statements_that_write_are_known(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options writing = options_of(false);
    struct db *db = NULL;
    int writes = 0;
    assert_status(db_open(&writing, &db, &failure), STATUS_OK);
    for (int i = 0; i < SQL_COUNT; i++) {
        sqlite3_stmt *statement = sqlite_db_of(db)->statements[i];
        assert_row(sql_texts[i].name, !statement || !sqlite3_stmt_readonly(statement) == sql_texts[i].writes);
        writes += sql_texts[i].writes;
    }
    assert_in_range(writes, SQL_COUNT / 4, SQL_COUNT * 3 / 4);
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_and_opens_again),
        cmocka_unit_test(a_newer_schema_is_refused),
        cmocka_unit_test(a_wrong_statement_is_named),
        cmocka_unit_test(what_is_no_database_is_refused),
        cmocka_unit_test(a_reader_cannot_write),
        cmocka_unit_test(settings_are_durable),
        cmocka_unit_test(lists_are_neither_scanned_nor_sorted),
        cmocka_unit_test(statements_that_write_are_known),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
