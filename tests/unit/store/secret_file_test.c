#include "unit.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/seal/secret_file.h"

#define KEY "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f"

static void put(const struct secret_place *place, const char *name, const char *value)
{
    struct failure failure;
    assert_status(secret_file_put(place, slice_of(name), slice_of(value), &failure), STATUS_OK);
}

static void assert_secret(const struct secret_place *place, const char *name, const char *value)
{
    struct secret_records records;
    struct failure failure;
    assert_status(secret_file_read(place, &records, &failure), STATUS_OK);
    struct slice found = secret_records_get(&records, slice_of(name));
    assert_int_equal(slice_present(found), value != NULL);
    assert_true(!value || slice_is(found, value));
    secret_records_release(&records);
}

static void remove_all(const char *directory)
{
    static const char *const names[] = {"secrets", "secret.key"};
    char path[100];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(directory), 0);
}

static void what_is_put_is_found(void **state)
{
    (void)state;
    char directory[] = "/tmp/secret_file_XXXXXX";
    struct failure failure;
    assert_non_null(mkdtemp(directory));
    struct secret_place place = {directory, NULL};
    assert_secret(&place, "A", NULL);
    put(&place, "A", "one");
    put(&place, "B", "two");
    put(&place, "A", "three");
    assert_secret(&place, "A", "three");
    assert_secret(&place, "B", "two");
    put(&place, "A", NULL);
    assert_secret(&place, "A", NULL);
    assert_status(secret_file_put(&place, SLICE("A"), (struct slice){0}, &failure), STATUS_NOT_FOUND);
    assert_string_equal(failure.code, "no_such_secret");
    remove_all(directory);
}

static void another_key_opens_nothing(void **state)
{
    (void)state;
    char directory[] = "/tmp/secret_file_XXXXXX";
    struct secret_records records;
    struct failure failure;
    assert_non_null(mkdtemp(directory));
    struct secret_place place = {directory, KEY};
    put(&place, "A", "one");
    assert_secret(&place, "A", "one");
    static const char *const others[] = {NULL, "", "12",
                                         "ff0102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        place.key = others[i];
        assert_status(secret_file_read(&place, &records, &failure), STATUS_INVALID);
        assert_string_equal(failure.code, "bad_secrets");
        assert_null(records.bytes);
    }
    remove_all(directory);
}

static void records_that_are_cut_end(void **state)
{
    (void)state;
    unsigned char bytes[] = {1, 0, 0, 0, 2, 0, 0, 0, 'A', 'x', 'y'};
    struct slice name, value;
    for (size_t len = 0; len <= sizeof bytes; len++) {
        struct secret_records records = {bytes, len};
        size_t at = 0;
        assert_int_equal(secret_records_next(&records, &at, &name, &value), len == sizeof bytes);
    }
}

static void names_are_names_of_variables(void **state)
{
    (void)state;
    static const char *const good[] = {"A", "_", "a1", "ANTHROPIC_API_KEY"};
    static const char *const bad[] = {"", "1A", "A-B", "A B", "Ä", "A="};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(secret_name_is_good(slice_of(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(secret_name_is_good(slice_of(bad[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found),
        cmocka_unit_test(another_key_opens_nothing),
        cmocka_unit_test(records_that_are_cut_end),
        cmocka_unit_test(names_are_names_of_variables),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
