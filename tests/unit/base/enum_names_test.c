#include "unit.h"

#include "base/enum_names.h"

static const char *const colour_names[] = {"red", "green", "blue"};
static const struct enum_names colours = {colour_names, 3};

static void test_find(void **state)
{
    (void)state;
    assert_int_equal(enum_names_find(colours, SLICE("red")), 0);
    assert_int_equal(enum_names_find(colours, SLICE("blue")), 2);
    assert_int_equal(enum_names_find(colours, SLICE("Blue")), -1);
    assert_int_equal(enum_names_find(colours, SLICE("blu")), -1);
    assert_int_equal(enum_names_find(colours, SLICE("")), -1);
    assert_int_equal(enum_names_find(colours, (struct slice){NULL, 0}), -1);
}

static void test_list(void **state)
{
    (void)state;
    char text[64];
    enum_names_list(colours, text, sizeof text);
    assert_string_equal(text, "red, green, blue");
    enum_names_list((struct enum_names){colour_names, 0}, text, sizeof text);
    assert_string_equal(text, "");
}

static void test_list_is_bounded(void **state)
{
    (void)state;
    for (size_t room = 1; room < 20; room++) {
        char text[24];
        memset(text, '#', sizeof text);
        enum_names_list(colours, text, room);
        assert_true(strlen(text) < room);
        assert_memory_equal(text, "red, green, blue", strlen(text));
        assert_int_equal(text[room], '#');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
