#include "unit.h"

#include "base/id.h"

static void test_uuid7_form(void **state)
{
    (void)state;
    struct id_source ids;
    id_source_init_system(&ids);
    for (int round = 0; round < 200; round++) {
        char id[UUID_TEXT_BYTES];
        id_uuid7(&ids, 0x018BCFE56800, id);
        assert_int_equal(strlen(id), 36);
        assert_true(slice_starts(slice_of(id), SLICE("018bcfe5-6800-7")));
        assert_non_null(strchr("89ab", id[19]));
        for (int i = 0; i < 36; i++) {
            bool dash = i == 8 || i == 13 || i == 18 || i == 23;
            assert_true(dash ? id[i] == '-' : strchr("0123456789abcdef", id[i]) != NULL);
        }
    }
}

static void test_uuid7_sorts_by_time(void **state)
{
    (void)state;
    struct id_source ids;
    id_source_init_seeded(&ids, 1);
    char before[UUID_TEXT_BYTES], after[UUID_TEXT_BYTES];
    id_uuid7(&ids, 1000, before);
    for (int64_t wall_ms = 1001; wall_ms < 400000000000; wall_ms = wall_ms * 3 / 2) {
        id_uuid7(&ids, wall_ms, after);
        assert_true(strcmp(before, after) < 0);
        strcpy(before, after);
    }
}

static void test_token(void **state)
{
    (void)state;
    struct id_source ids;
    id_source_init_system(&ids);
    char one[TOKEN_TEXT_BYTES], two[TOKEN_TEXT_BYTES];
    id_token(&ids, "sj_", one);
    id_token(&ids, "sj_", two);
    assert_int_equal(strlen(one), 3 + 43);
    assert_true(slice_starts(slice_of(one), SLICE("sj_")));
    assert_string_not_equal(one, two);
    id_token(&ids, "", one);
    assert_int_equal(strlen(one), 43);
    id_token(&ids, "prefix", one);
    assert_int_equal(strlen(one), 4 + 43);
    for (const char *at = one; *at; at++) {
        assert_true((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                    *at == '-' || *at == '_');
    }
}

static void test_seeded_repeats(void **state)
{
    (void)state;
    struct id_source a, b, c;
    char from_a[TOKEN_TEXT_BYTES], from_b[TOKEN_TEXT_BYTES], from_c[TOKEN_TEXT_BYTES];
    id_source_init_seeded(&a, 7);
    id_source_init_seeded(&b, 7);
    id_source_init_seeded(&c, 8);
    for (int i = 0; i < 10; i++) {
        id_token(&a, "x", from_a);
        id_token(&b, "x", from_b);
        id_token(&c, "x", from_c);
        assert_string_equal(from_a, from_b);
        assert_string_not_equal(from_a, from_c);
    }
}

static void test_system_fills_all_bytes(void **state)
{
    (void)state;
    struct id_source ids;
    id_source_init_system(&ids);
    unsigned char seen[1000] = {0};
    for (int round = 0; round < 8; round++) {
        unsigned char bytes[1000];
        ids.fill(&ids, bytes, sizeof bytes);
        for (size_t i = 0; i < sizeof bytes; i++) {
            seen[i] |= bytes[i];
        }
    }
    for (size_t i = 0; i < sizeof seen; i++) {
        assert_int_not_equal(seen[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uuid7_form),
        cmocka_unit_test(test_uuid7_sorts_by_time),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_seeded_repeats),
        cmocka_unit_test(test_system_fills_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
