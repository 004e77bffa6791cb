#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "fanout/live_output.h"

static void assert_fold(struct live_output *fold, const char *expected)
{
    struct buffer text = {0};
    live_output_write(fold, &text);
    buffer_add_byte(&text, 0);
    assert_string_equal(text.ptr, expected);
    buffer_release(&text);
}

static void texts_are_joined_by_kind_and_message(void **state)
{
    (void)state;
    struct live_output fold = {0};
    assert_fold(&fold, "[]");
    live_output_add(&fold, SLICE("{\"kind\":\"text\",\"message_id\":\"1\",\"text\":\"a\"}"), 1000);
    live_output_add(&fold, SLICE("{\"kind\":\"tool_output\",\"text\":\"x\"}"), 1000);
    live_output_add(&fold, SLICE("{\"kind\":\"text\",\"text\":\"b\\n\",\"message_id\":\"1\"}"), 1000);
    live_output_add(&fold, SLICE("{\"kind\":\"text\",\"message_id\":\"2\",\"text\":\"c\"}"), 1000);
    assert_fold(&fold, "[{\"kind\":\"text\",\"message_id\":\"1\",\"text\":\"ab\\n\"},"
                       "{\"kind\":\"tool_output\",\"text\":\"x\"},"
                       "{\"kind\":\"text\",\"message_id\":\"2\",\"text\":\"c\"}]");
    live_output_release(&fold);
}

/* What continues the newest part is read without the rest of the object, and must come out the same. */
static void what_continues_the_newest_part(void **state)
{
    static const char *const added[] = {
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\"a\"}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\" \\\"b\\\" \\u00e4}\"}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\"\"}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\"c\",\"dropped_bytes\":3}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\"not closed}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":7}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\"d\",\"more\":1}",
        "{\"kind\":\"text\",\"id\":\"1\",\"text\":\"e\"}",
    };
    (void)state;
    struct live_output fold = {0};
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        live_output_add(&fold, slice_of(added[i]), 1000);
    }
    assert_fold(&fold, "[{\"kind\":\"text\",\"id\":\"1\",\"text\":\"a \\\"b\\\" \xc3\xa4}ce\",\"dropped_bytes\":3},"
                       "{\"kind\":\"text\",\"id\":\"1\",\"text\":7},"
                       "{\"kind\":\"text\",\"id\":\"1\",\"more\":1,\"text\":\"d\"}]");
    live_output_release(&fold);
}

static void what_was_written_can_be_added(void **state)
{
    (void)state;
    struct live_output fold = {0}, again = {0};
    struct buffer text = {0};
    live_output_add(&fold, SLICE("{\"kind\":\"text\",\"text\":\"a\"}"), 1000);
    live_output_add(&fold, SLICE("{\"kind\":\"mark\"}"), 1000);
    live_output_write(&fold, &text);
    live_output_add(&again, buffer_slice(&text), 1000);
    live_output_add(&again, SLICE("{\"kind\":\"text\",\"text\":\"b\"}"), 1000);
    assert_fold(&again, "[{\"kind\":\"text\",\"text\":\"ab\"},{\"kind\":\"mark\"}]");
    buffer_release(&text);
    live_output_release(&fold);
    live_output_release(&again);
}

static void too_much_text_loses_its_beginning(void **state)
{
    (void)state;
    struct live_output fold = {0};
    for (int i = 0; i < 40; i++) {
        live_output_add(&fold, SLICE("{\"kind\":\"text\",\"text\":\"\xc3\xa4\"}"), 60);
        assert_true(fold.bytes <= 60);
    }
    struct buffer text = {0};
    live_output_write(&fold, &text);
    buffer_add_byte(&text, 0);
    assert_true(slice_is_utf8(slice_of(text.ptr)));
    assert_non_null(strstr(text.ptr, "\"dropped_bytes\":"));
    buffer_release(&text);
    live_output_release(&fold);
}

static void number_of_parts_is_bounded(void **state)
{
    (void)state;
    struct live_output fold = {0};
    for (int i = 0; i < 3000; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"kind\":\"text\",\"n\":%d,\"text\":\"a\"}", i);
        live_output_add(&fold, slice_of(json), 1 << 20);
    }
    assert_true(fold.count <= 1024);
    live_output_add(&fold, SLICE("not json"), 1 << 20);
    live_output_add(&fold, SLICE("7"), 1 << 20);
    assert_true(fold.count <= 1024);
    live_output_release(&fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_joined_by_kind_and_message), cmocka_unit_test(what_continues_the_newest_part),
        cmocka_unit_test(what_was_written_can_be_added),        cmocka_unit_test(too_much_text_loses_its_beginning),
        cmocka_unit_test(number_of_parts_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
