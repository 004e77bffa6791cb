#include "unit.h"

#include "cli/table.h"

static const struct table_column columns[] = {{"ID", false, 2}, {"TITLE", false, 1}, {"COUNT", true, 0}, {0}};
static struct arena arena;

static void fill(struct table *table)
{
    arena_reset(&arena);
    table_init(table, columns, &arena);
    table_add(table, SLICE("first"));
    table_add(table, SLICE("a long title of words"));
    table_add(table, SLICE("7"));
    table_add(table, SLICE("identifier"));
    table_add_coloured(table, SLICE("日本"), COLOUR_RED);
    table_add(table, SLICE("12345"));
}

static void expect(size_t width, bool has_colours, const char *expected)
{
    struct table table;
    struct buffer out = {0};
    fill(&table);
    table_write(&table, width, has_colours, &out);
    assert_slice(buffer_slice(&out), expected);
    buffer_release(&out);
}

static void test_as_wide_as_it_is(void **state)
{
    (void)state;
    expect(0, false,
           "ID          TITLE                  COUNT\n"
           "first       a long title of words      7\n"
           "identifier  日本                   12345\n");
}

static void test_shrinks_in_order(void **state)
{
    (void)state;
    expect(30, false,
           "ID          TITLE        COUNT\n"
           "first       a long tit…      7\n"
           "identifier  日本         12345\n");
    expect(21, false,
           "ID      TITLE   COUNT\n"
           "first   a lon…      7\n"
           "ident…  日本    12345\n");
}

static void test_what_can_not_shrink_stays(void **state)
{
    (void)state;
    expect(1, false,
           "ID      TITLE   COUNT\n"
           "first   a lon…      7\n"
           "ident…  日本    12345\n");
}

static void test_columns_without_values(void **state)
{
    (void)state;
    struct table table;
    for (size_t width = 0; width <= 40; width += 40) {
        struct buffer out = {0};
        arena_reset(&arena);
        table_init(&table, columns, &arena);
        table_add(&table, SLICE("one"));
        table_add(&table, SLICE(""));
        table_add(&table, SLICE("1"));
        table_write(&table, width, false, &out);
        assert_slice(buffer_slice(&out), width ? "ID   COUNT\none      1\n" : "ID   TITLE  COUNT\none             1\n");
        buffer_release(&out);
    }
}

static void test_colours_take_no_room(void **state)
{
    (void)state;
    expect(0, true,
           "\033[1mID\033[0m          \033[1mTITLE\033[0m                  \033[1mCOUNT\033[0m\n"
           "first       a long title of words      7\n"
           "identifier  \033[31m日本\033[0m                   12345\n");
}

static void test_no_row_no_head(void **state)
{
    (void)state;
    struct table table;
    struct buffer out = {0};
    table_init(&table, columns, &arena);
    table_write(&table, 80, false, &out);
    assert_int_equal(out.len, 0);
}

static void test_many_rows(void **state)
{
    (void)state;
    struct table table;
    struct buffer out = {0};
    arena_reset(&arena);
    table_init(&table, columns, &arena);
    for (int i = 0; i < 3000; i++) {
        table_add(&table, SLICE("cell"));
    }
    table_write(&table, 80, false, &out);
    size_t lines = 0;
    for (size_t i = 0; i < out.len; i++) {
        lines += out.ptr[i] == '\n';
    }
    assert_int_equal(lines, 1001);
    buffer_release(&out);
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_wide_as_it_is),
        cmocka_unit_test(test_shrinks_in_order),
        cmocka_unit_test(test_what_can_not_shrink_stays),
        cmocka_unit_test(test_columns_without_values),
        cmocka_unit_test(test_colours_take_no_room),
        cmocka_unit_test(test_no_row_no_head),
        cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
