#include "unit.h"

#include "cli/option.h"

static const struct option table[] = {
    {.name = "Heading", .type = OPTION_SECTION},
    {.name = "log-level", .type = OPTION_TEXT},
    {.name = "loop-threads", .type = OPTION_NUMBER},
    {.name = "listen", .type = OPTION_LIST},
    {0},
};

static void test_find(void **state)
{
    (void)state;
    assert_ptr_equal(option_find(table, SLICE("log-level")), &table[1]);
    assert_ptr_equal(option_find(table, SLICE("listen")), &table[3]);
    assert_null(option_find(table, SLICE("Heading")));
    assert_null(option_find(table, SLICE("log")));
    assert_null(option_find(table, SLICE("")));
}

static void test_names(void **state)
{
    (void)state;
    char name[64];
    option_environment_name(&table[1], name, sizeof name);
    assert_string_equal(name, "SOJOURN_LOG_LEVEL");
    option_file_key(&table[1], name, sizeof name);
    assert_string_equal(name, "log_level");
}

static void test_closest(void **state)
{
    (void)state;
    assert_ptr_equal(option_closest(table, SLICE("log-levl")), &table[1]);
    assert_ptr_equal(option_closest(table, SLICE("log_level")), &table[1]);
    assert_ptr_equal(option_closest(table, SLICE("log")), &table[1]);
    assert_ptr_equal(option_closest(table, SLICE("threads-loop")), NULL);
    assert_ptr_equal(option_closest(table, SLICE("loopthreads")), &table[2]);
    assert_null(option_closest(table, SLICE("zzzzzz")));
    char longer[200];
    memset(longer, 'l', sizeof longer);
    assert_null(option_closest(table, slice_from(longer, sizeof longer)));
}

static void test_closest_prefers_the_nearest(void **state)
{
    (void)state;
    const char *const names[] = {"sessions list", "sessions show", "serve"};
    assert_string_equal(closest_name(SLICE("sessions lst"), names, 3), "sessions list");
    assert_string_equal(closest_name(SLICE("serv"), names, 3), "serve");
    assert_null(closest_name(SLICE("x"), names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_closest),
        cmocka_unit_test(test_closest_prefers_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
