#include "unit.h"

#include "cli/option.h"

static const char *const colour_names[] = {"red", "green", "blue"};

struct values {
    const char *text;
    const char *secret;
    int64_t count, time, size;
    bool flag;
    int colour;
    struct text_list list;
};

#define FIELD(field, type) OPTION_FIELD(struct values, field, type)
enum { TEXT, SECRET, COUNT, TIME, SIZE, FLAG, COLOUR, LIST };
static const struct option table[] = {
    [TEXT] = {.name = "text", .type = OPTION_TEXT, .offset = FIELD(text, const char *), .value = "FILE"},
    [SECRET] = {.name = "secret", .type = OPTION_TEXT, .offset = FIELD(secret, const char *), .secret = true},
    [COUNT] =
        {.name = "count", .type = OPTION_NUMBER, .offset = FIELD(count, int64_t), .min = 1, .max = 64, .fallback = "3"},
    [TIME] = {.name = "time",
              .type = OPTION_NUMBER,
              .offset = FIELD(time, int64_t),
              .max = INT64_MAX,
              .unit = UNIT_MS,
              .fallback = "15s"},
    [SIZE] =
        {.name = "size", .type = OPTION_NUMBER, .offset = FIELD(size, int64_t), .max = 1 << 30, .unit = UNIT_BYTES},
    [FLAG] = {.name = "flag", .type = OPTION_SWITCH, .offset = FIELD(flag, bool)},
    [COLOUR] = {.name = "colour",
                .type = OPTION_CHOICE,
                .offset = FIELD(colour, int),
                .choices = &(const struct enum_names){colour_names, 3},
                .fallback = "green"},
    [LIST] = {.name = "list", .type = OPTION_LIST, .offset = FIELD(list, struct text_list), .fallback = "one"},
    {0},
};

static struct arena arena;

static enum status set(struct values *values, int row, const char *text, struct failure *failure)
{
    return option_set(&table[row], values, slice_of(text), "--it", &arena, failure);
}

static void expect_number(int row, const char *text, int64_t expected)
{
    struct values values = {0};
    struct failure failure;
    enum status status = set(&values, row, text, &failure);
    int64_t got = row == COUNT ? values.count : row == TIME ? values.time : values.size;
    if (status != STATUS_OK || got != expected) {
        fail_msg("%s: %s, got %lld", text, status == STATUS_OK ? "ok" : failure.detail, (long long)got);
    }
}

static void expect_refused(int row, const char *text, const char *accepted)
{
    struct values before, values;
    memset(&before, 0x5A, sizeof before);
    values = before;
    struct failure failure;
    assert_int_equal(set(&values, row, text, &failure), STATUS_INVALID);
    assert_memory_equal(&values, &before, sizeof values);
    if (!strstr(failure.detail, "--it: ") || !strstr(failure.detail, accepted)) {
        fail_msg("\"%s\" does not say \"%s\"", failure.detail, accepted);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    expect_number(COUNT, "1", 1);
    expect_number(COUNT, "64", 64);
    expect_number(TIME, "250", 250);
    expect_number(TIME, "250ms", 250);
    expect_number(TIME, "15s", 15000);
    expect_number(TIME, "2m", 120000);
    expect_number(TIME, "12h", 43200000);
    expect_number(TIME, "7d", 604800000);
    expect_number(TIME, "7 d", 604800000);
    expect_number(SIZE, "4MiB", 4 << 20);
    expect_number(SIZE, "1GiB", 1 << 30);
    expect_number(SIZE, "3KiB", 3072);
}

static void test_numbers_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "0", "65", "-1", "x", "1x", "1.5", "1e1", "0x1", "1s", " ", "1 2", "99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        expect_refused(COUNT, wrong[i], "give 1 to 64");
    }
    expect_refused(TIME, "s", "milliseconds");
    expect_refused(TIME, "200000000000d", "milliseconds");
    expect_refused(TIME, "1MiB", "milliseconds");
    expect_refused(SIZE, "2GiB", "0 to 1GiB");
    expect_refused(SIZE, "1MB", "KiB, MiB or GiB");
}

static void test_switches_and_choices(void **state)
{
    (void)state;
    struct values values = {0};
    static const char *const truths[] = {"true", "yes", "on", "1"};
    static const char *const lies[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < 4; i++) {
        values.flag = false;
        assert_int_equal(set(&values, FLAG, truths[i], NULL), STATUS_OK);
        assert_true(values.flag);
        assert_int_equal(set(&values, FLAG, lies[i], NULL), STATUS_OK);
        assert_false(values.flag);
    }
    expect_refused(FLAG, "maybe", "true or false");
    assert_int_equal(set(&values, COLOUR, "blue", NULL), STATUS_OK);
    assert_int_equal(values.colour, 2);
    expect_refused(COLOUR, "BLUE", "red, green or blue");
}

static void test_texts_and_lists(void **state)
{
    (void)state;
    struct values values = {0};
    char text[] = "changes";
    assert_int_equal(option_set(&table[TEXT], &values, slice_of(text), "--it", &arena, NULL), STATUS_OK);
    text[0] = 'X';
    assert_string_equal(values.text, "changes");
    assert_int_equal(set(&values, LIST, "a", NULL), STATUS_OK);
    assert_int_equal(set(&values, LIST, "b", NULL), STATUS_OK);
    assert_int_equal(values.list.count, 2);
    assert_string_equal(values.list.items[0], "a");
    assert_string_equal(values.list.items[1], "b");
    expect_refused(TEXT, "", "FILE that is not empty");
    expect_refused(LIST, "", "not empty");
    assert_int_equal(option_set(&table[TEXT], &values, slice_from("a\0b", 3), "--it", &arena, NULL), STATUS_INVALID);
}

static void test_fallbacks(void **state)
{
    (void)state;
    struct values values = {0};
    options_set_fallbacks(table, &values, &arena);
    assert_int_equal(values.count, 3);
    assert_int_equal(values.time, 15000);
    assert_int_equal(values.size, 0);
    assert_int_equal(values.colour, 1);
    assert_null(values.text);
    assert_int_equal(values.list.count, 1);
}

static void expect_shown(const struct values *values, int row, const char *expected)
{
    struct buffer out = {0};
    option_show(&table[row], values, &out);
    assert_slice(buffer_slice(&out), expected);
    buffer_release(&out);
}

static void test_show(void **state)
{
    (void)state;
    const char *items[] = {"a", "b"};
    struct values values = {.text = "x",
                            .secret = "hush",
                            .count = 5,
                            .time = 90000,
                            .size = 1536,
                            .flag = true,
                            .colour = 2,
                            .list = {items, 2}};
    expect_shown(&values, TEXT, "x");
    expect_shown(&values, SECRET, "***");
    expect_shown(&values, COUNT, "5");
    expect_shown(&values, TIME, "90s");
    expect_shown(&values, SIZE, "1536");
    expect_shown(&values, FLAG, "true");
    expect_shown(&values, COLOUR, "blue");
    expect_shown(&values, LIST, "a,b");
    values = (struct values){.text = "postgres://me:hush@host/db", .time = 7 * 86400000LL};
    expect_shown(&values, TEXT, "postgres://me:***@host/db");
    expect_shown(&values, TIME, "7d");
    expect_shown(&values, SIZE, "0");
    values.text = "postgres://me@host:5432/db";
    expect_shown(&values, TEXT, "postgres://me@host:5432/db");
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
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_refused),
        cmocka_unit_test(test_switches_and_choices),
        cmocka_unit_test(test_texts_and_lists),
        cmocka_unit_test(test_fallbacks),
        cmocka_unit_test(test_show),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
