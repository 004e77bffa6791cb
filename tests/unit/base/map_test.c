#include "unit.h"

#include <stdio.h>

#include "base/map.h"

enum { MANY = 5000 };

static char names[MANY][16];

static void make_names(void)
{
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "key-%d", i);
    }
}

static void test_put_get_remove(void **state)
{
    (void)state;
    struct map map = {0};
    int one = 1, two = 2;
    assert_null(map_get(&map, SLICE("a")));
    assert_null(map_remove(&map, SLICE("a")));
    assert_null(map_put(&map, SLICE("a"), &one));
    assert_null(map_put(&map, SLICE(""), &two));
    assert_int_equal(map.count, 2);
    assert_ptr_equal(map_get(&map, SLICE("a")), &one);
    assert_ptr_equal(map_get(&map, SLICE("")), &two);
    assert_ptr_equal(map_put(&map, SLICE("a"), &two), &one);
    assert_int_equal(map.count, 2);
    assert_ptr_equal(map_remove(&map, SLICE("a")), &two);
    assert_null(map_get(&map, SLICE("a")));
    assert_null(map_remove(&map, SLICE("a")));
    assert_int_equal(map.count, 1);
    map_release(&map);
    assert_int_equal(map.count, 0);
    map_release(&map);
}

/* Every key stays reachable while others come and go, in an order that makes long runs and holes. */
static void test_many(void **state)
{
    (void)state;
    struct map map = {0};
    make_names();
    for (int i = 0; i < MANY; i++) {
        assert_null(map_put(&map, slice_of(names[i]), names[i]));
    }
    for (int step = 0; step < 3; step++) {
        for (int i = step; i < MANY; i += 3) {
            assert_ptr_equal(map_remove(&map, slice_of(names[i])), names[i]);
        }
        for (int i = 0; i < MANY; i++) {
            assert_ptr_equal(map_get(&map, slice_of(names[i])), i % 3 <= step ? NULL : names[i]);
        }
    }
    assert_int_equal(map.count, 0);
    map_release(&map);
}

static void test_next_visits_each_once(void **state)
{
    (void)state;
    struct map map = {0};
    make_names();
    bool seen[100] = {false};
    for (int i = 0; i < 100; i++) {
        map_put(&map, slice_of(names[i]), names[i]);
    }
    size_t cursor = 0;
    int count = 0;
    for (char *name; (name = map_next(&map, &cursor)); count++) {
        size_t index = (size_t)(name - names[0]) / sizeof names[0];
        assert_false(seen[index]);
        seen[index] = true;
    }
    assert_int_equal(count, 100);
    assert_null(map_next(&map, &cursor));
    map_release(&map);
    cursor = 0;
    assert_null(map_next(&map, &cursor));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_get_remove),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_next_visits_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
