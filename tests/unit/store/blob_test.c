#include "unit.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/blob/blob.h"
#include "store/seal/seal.h"
#include "store/store.h"

enum { TENANT = 1, NOW_MS = 5000 };

static char directory[] = "/tmp/store_blob_XXXXXX";
static char path[64], blobs[64];
static unsigned char key[MASTER_KEY_BYTES];

static int make_directory(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/test.db", mkdtemp(directory));
    snprintf(blobs, sizeof blobs, "%s/blobs", directory);
    return sodium_init() < 0;
}

static int remove_directory(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static struct db *open_db(bool sealed)
{
    struct db *db = NULL;
    struct failure failure;
    struct db_options options = {.engine = DB_SQLITE, .path = path, .master_key = sealed ? key : NULL};
    unlink(path);
    assert_status(db_open(&options, &db, &failure), STATUS_OK);
    assert_status(db_begin(db, &failure), STATUS_OK);
    for (int64_t session = 1; session <= 2; session++) {
        assert_status(seal_session(db, TENANT, session, &failure), STATUS_OK);
    }
    return db;
}

static struct blob file_of(const char *content)
{
    struct blob blob = {.content = slice_of(content), .media_type = SLICE("text/plain"), .name = SLICE("n")};
    blob.sha256 = hash_of(blob.content);
    return blob;
}

static int64_t disk_now_ms(void)
{
    struct stat info;
    char probe[80];
    snprintf(probe, sizeof probe, "%s/probe", directory);
    FILE *file = fopen(probe, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(stat(probe, &info), 0);
    return info.st_mtim.tv_sec * 1000;
}

static void read_back(struct db *db, const struct blob_place *place, int64_t session, const char *content)
{
    struct arena arena = {0};
    struct failure failure;
    struct blob wanted = file_of(content), found;
    assert_status(store_blob_read(db, place, TENANT, session, &wanted.sha256, &arena, &found, &failure), STATUS_OK);
    assert_true(slice_is(found.content, content));
    assert_true(slice_is(found.name, "n"));
    arena_release(&arena);
}

static void each_session_its_own(void **state)
{
    struct failure failure;
    struct arena arena = {0};
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct blob_place place = {way & 1, blobs};
        struct db *db = open_db(way & 2);
        struct blob blob = file_of("shared"), empty = file_of(""), found;
        bool is_new;
        int64_t count;
        assert_status(blob_keep(db, &place, TENANT, 1, &blob, &failure), STATUS_OK);
        assert_status(store_blob_put(db, &place, TENANT, 1, &blob, NOW_MS, &is_new, &failure), STATUS_OK);
        assert_true(is_new);
        assert_status(store_blob_put(db, &place, TENANT, 1, &blob, NOW_MS, &is_new, &failure), STATUS_OK);
        assert_false(is_new);
        assert_status(store_blob_put(db, &place, TENANT, 1, &empty, NOW_MS, NULL, &failure), STATUS_OK);
        assert_status(store_blob_get(db, TENANT, 2, &blob.sha256, &arena, &found, &failure), STATUS_NOT_FOUND);
        assert_status(store_blob_put(db, &place, TENANT, 2, &blob, NOW_MS, NULL, &failure), STATUS_OK);
        assert_status(store_blob_count(db, TENANT, 1, &count, &failure), STATUS_OK);
        assert_int_equal(count, 2);
        for (int64_t session = 1; session <= 2; session++) {
            read_back(db, &place, session, "shared");
        }
        read_back(db, &place, 1, "");
        struct blob_place other = {!place.in_database, blobs};
        read_back(db, &other, 1, "shared");
        db_rollback(db);
        db_close(db);
    }
    arena_release(&arena);
}

static void only_old_orphans_go(void **state)
{
    struct failure failure;
    struct arena arena = {0};
    struct blob_orphan *orphans;
    size_t count;
    struct blob_place place = {false, blobs};
    struct blob kept = file_of("kept"), orphan = file_of("orphan");
    (void)state;
    struct db *db = open_db(false);
    assert_status(store_blob_put(db, &place, TENANT, 1, &kept, NOW_MS, NULL, &failure), STATUS_OK);
    assert_status(blob_keep(db, &place, TENANT, 1, &orphan, &failure), STATUS_OK);
    int64_t now_ms = disk_now_ms(), later_ms = now_ms + 3600000;
    assert_status(blob_find_orphans(db, &place, now_ms - 60000, 10, &arena, &orphans, &count, &failure), STATUS_OK);
    assert_int_equal(count, 0); /* it is young: somebody may be about to refer to it */
    assert_status(blob_find_orphans(db, &place, later_ms, 10, &arena, &orphans, &count, &failure), STATUS_OK);
    bool named = false;
    for (size_t i = 0; i < count; i++) {
        assert_false(hash_equal(hash_slice(&orphans[i].address), hash_slice(&kept.sha256)));
        named |= hash_equal(hash_slice(&orphans[i].address), hash_slice(&orphan.sha256));
    }
    assert_true(named);
    /* Referred to between the look and the deletion. */
    assert_status(store_blob_put(db, &place, TENANT, 2, &orphan, NOW_MS, NULL, &failure), STATUS_OK);
    assert_status(store_blob_collect(db, &place, later_ms, orphans, count, &failure), STATUS_OK);
    read_back(db, &place, 2, "orphan");
    read_back(db, &place, 1, "kept");
    db_rollback(db);
    db_close(db);
    arena_release(&arena);
}

static void what_was_collected_is_written_again(void **state)
{
    struct failure failure;
    struct arena arena = {0};
    struct blob_orphan gone = {.tenant_key = TENANT};
    struct blob_place place = {false, blobs};
    struct blob blob = file_of("comes again");
    (void)state;
    struct db *db = open_db(false);
    assert_status(blob_keep(db, &place, TENANT, 1, &blob, &failure), STATUS_OK);
    gone.address = blob.sha256;
    assert_status(store_blob_collect(db, &place, disk_now_ms() + 3600000, &gone, 1, &failure), STATUS_OK);
    assert_status(store_blob_put(db, &place, TENANT, 1, &blob, NOW_MS, NULL, &failure), STATUS_OK);
    read_back(db, &place, 1, "comes again");
    db_rollback(db);
    db_close(db);
    arena_release(&arena);
}

static void handles(void **state)
{
    char text[BLOB_HANDLE_BYTES];
    struct hash hash = hash_of(SLICE("x")), parsed;
    (void)state;
    blob_handle(&hash, text);
    assert_true(blob_handle_parse(slice_of(text), &parsed));
    assert_memory_equal(&hash, &parsed, sizeof hash);
    assert_true(blob_handle_parse(slice_after(slice_of(text), 5), &parsed));
    text[10] = 'G';
    assert_false(blob_handle_parse(slice_of(text), &parsed));
    assert_false(blob_handle_parse(SLICE("blob:"), &parsed));
}

/* --- sealing --- */

static void sealed_texts(void **state)
{
    struct arena arena = {0};
    struct failure failure;
    struct slice plain = SLICE("what was said");
    (void)state;
    struct db *db = open_db(true);
    for (int64_t session = 0; session <= 2; session++) {
        struct slice sealed = seal_text(db, TENANT, session, plain);
        assert_true(sealed.len > plain.len && sealed.ptr[0] == '\x01');
        assert_false(slice_eq(sealed, seal_text(db, TENANT, session, plain))); /* never the same twice */
        assert_true(slice_eq(seal_text_open(db, sealed, &arena), plain));
        assert_true(slice_eq(seal_slot_open(db, sealed, 1), plain));
        assert_status(seal_check(db, &failure), STATUS_OK);
    }
    assert_false(slice_present(seal_text(db, TENANT, 1, (struct slice){0})));
    assert_true(slice_eq(seal_text(db, TENANT, 3, plain), plain)); /* from before there was a key */
    assert_status(seal_check_commit(db, &failure), STATUS_OK);
    struct slice sealed = arena_copy(&arena, seal_text(db, TENANT, 1, plain));
    ((char *)sealed.ptr)[3] = '2'; /* "1.2:": the box of another session */
    assert_false(slice_present(seal_text_open(db, sealed, &arena)));
    assert_status(seal_check(db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "sealed_unreadable");
    db_rollback(db);
    db_close(db);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_session_its_own),
        cmocka_unit_test(only_old_orphans_go),
        cmocka_unit_test(what_was_collected_is_written_again),
        cmocka_unit_test(handles),
        cmocka_unit_test(sealed_texts),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
