/* Every session has a key of its own, and what is sealed with it opens for no other. */
#include <sodium.h>
#include <stdlib.h>

#include "store/seal/seal.h"
#include "store/statement.h"
#include "unit.h"

enum { KEY_BYTES = 32, NONCE_BYTES = 24, TAG_BYTES = 16, SESSIONS = 3 };

static const unsigned char master[KEY_BYTES] = {1, 2, 3};

struct place {
    char directory[32], path[64];
    struct db *db;
};

static struct place *place_new(void)
{
    struct failure failure = {0};
    struct place *place = memory_zeroed(sizeof *place);
    assert_true(sodium_init() >= 0);
    strcpy(place->directory, "/tmp/sojourn-unit-XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    snprintf(place->path, sizeof place->path, "%s/db", place->directory);
    struct db_options options = {.engine = DB_SQLITE, .path = place->path, .master_key = master};
    assert_int_equal(db_open(&options, &place->db, &failure), STATUS_OK);
    assert_int_equal(db_begin(place->db, &failure), STATUS_OK);
    for (int64_t key = 1; key <= SESSIONS; key++) {
        assert_int_equal(seal_session(place->db, 1, key, &failure), STATUS_OK);
    }
    return place;
}

static void place_free(struct place *place)
{
    char command[128];
    db_rollback(place->db);
    db_close(place->db);
    snprintf(command, sizeof command, "rm -rf '%s'", place->directory);
    assert_int_equal(system(command), 0);
    free(place);
}

/* As whoever has the master key could. */
static void unwrap(struct db *db, int64_t session_key, unsigned char out[KEY_BYTES])
{
    struct query query;
    struct failure failure = {0};
    char name[48];
    int len = snprintf(name, sizeof name, "1.%lld", (long long)session_key);
    assert_int_equal(
        statement_first(&query, db, sql_session_key_get(.tenant_key = 1, .session_key = session_key), &failure),
        STATUS_OK);
    struct slice box = query_text(&query, 0);
    assert_int_equal(box.len, NONCE_BYTES + KEY_BYTES + TAG_BYTES);
    const unsigned char *bytes = (const unsigned char *)box.ptr;
    assert_int_equal(
        crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, bytes + NONCE_BYTES, box.len - (size_t)NONCE_BYTES,
                                                   (const unsigned char *)name, (unsigned long long)len, bytes, master),
        0);
    query_end(&query);
}

static void each_session_has_its_own_key(void **state)
{
    struct place *place = place_new();
    unsigned char keys[SESSIONS][KEY_BYTES];
    (void)state;
    for (int i = 0; i < SESSIONS; i++) {
        unwrap(place->db, i + 1, keys[i]);
        assert_memory_not_equal(keys[i], master, KEY_BYTES);
        for (int before = 0; before < i; before++) {
            assert_memory_not_equal(keys[i], keys[before], KEY_BYTES);
        }
    }
    place_free(place);
}

/* Who can write to the database cannot pass one session's content off as another's. */
static void a_box_is_of_its_session(void **state)
{
    struct place *place = place_new();
    struct arena arena = {0};
    (void)state;
    struct slice sealed = arena_copy(&arena, seal_text(place->db, 1, 1, SLICE("a word")));
    assert_true(slice_starts(sealed, SLICE("\x01"
                                           "1.1:")));
    assert_null(memmem(sealed.ptr, sealed.len, "a word", 6));
    assert_true(slice_is(seal_text_open(place->db, sealed, &arena), "a word"));
    struct failure failure = {0};
    assert_int_equal(seal_check(place->db, &failure), STATUS_OK);
    struct slice moved = arena_format(&arena, "\x01%s%.*s", "1.2:", SLICE_ARG(slice_after(sealed, 5)));
    assert_false(slice_present(seal_text_open(place->db, moved, &arena)));
    assert_int_equal(seal_check(place->db, &failure), STATUS_UNAVAILABLE);
    arena_release(&arena);
    place_free(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_session_has_its_own_key),
        cmocka_unit_test(a_box_is_of_its_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
