#include "unit.h"

#include "base/hash.h"

static void a_known_hash_there_and_back(void **state)
{
    (void)state;
    static const char known[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct hash hash = hash_of(SLICE("abc")), back;
    char text[HASH_TEXT_BYTES];
    hash_text(&hash, text);
    assert_string_equal(text, known);
    assert_true(hash_parse(slice_of(text), &back));
    assert_true(hash_equal(hash_slice(&hash), hash_slice(&back)));
    assert_false(hash_parse(slice_from(known, 63), &back));
}

static void a_border_that_moves_changes_the_hash(void **state)
{
    (void)state;
    struct slice a[] = {SLICE("ab"), SLICE("c")}, b[] = {SLICE("a"), SLICE("bc")};
    struct hash of_a = hash_of_parts(a, 2), of_b = hash_of_parts(b, 2);
    assert_false(hash_equal(hash_slice(&of_a), hash_slice(&of_b)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_hash_there_and_back),
        cmocka_unit_test(a_border_that_moves_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
