#include "unit.h"

#include "base/json.h"

static struct buffer buffer;
static struct json_out out;

static int setup(void **state)
{
    (void)state;
    buffer_init(&buffer);
    out = json_out_to(&buffer);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buffer_release(&buffer);
    return 0;
}

static void test_commas(void **state)
{
    (void)state;
    json_begin_object(&out);
    json_key(&out, "empty");
    json_begin_array(&out);
    json_end_array(&out);
    json_key(&out, "list");
    json_begin_array(&out);
    json_i64(&out, 1);
    json_begin_object(&out);
    json_end_object(&out);
    json_begin_array(&out);
    json_null(&out);
    json_bool(&out, true);
    json_bool(&out, false);
    json_end_array(&out);
    json_text(&out, SLICE("x"));
    json_end_array(&out);
    json_key_slice(&out, SLICE("k\""));
    json_raw(&out, SLICE("{\"raw\":1}"));
    json_end_object(&out);
    assert_slice(buffer_slice(&buffer), "{\"empty\":[],\"list\":[1,{},[null,true,false],\"x\"],\"k\\\"\":{\"raw\":1}}");
}

static void test_escapes(void **state)
{
    (void)state;
    json_text(&out, SLICE("a\"b\\c\nd\re\tf\x01g\0h/\x7F\xC3\xA9"));
    assert_slice(buffer_slice(&buffer), "\"a\\\"b\\\\c\\nd\\re\\tf\\u0001g\\u0000h/\x7F\xC3\xA9\"");
}

static void test_absent_is_null(void **state)
{
    (void)state;
    json_begin_array(&out);
    json_text(&out, (struct slice){NULL, 0});
    json_raw(&out, (struct slice){NULL, 0});
    json_time(&out, 0);
    json_text(&out, SLICE(""));
    json_end_array(&out);
    assert_slice(buffer_slice(&buffer), "[null,null,null,\"\"]");
}

static void test_put(void **state)
{
    (void)state;
    json_begin_object(&out);
    json_put_text(&out, "text", SLICE("x"));
    json_put_i64(&out, "number", INT64_MIN);
    json_put_bool(&out, "flag", true);
    json_put_raw(&out, "raw", SLICE("[1]"));
    json_put_time(&out, "time", 1700000000123);
    json_maybe_text(&out, "no", (struct slice){NULL, 0});
    json_maybe_raw(&out, "no", (struct slice){NULL, 0});
    json_maybe_text(&out, "maybe", SLICE("m"));
    json_maybe_raw(&out, "maybe_raw", SLICE("{}"));
    json_end_object(&out);
    assert_slice(buffer_slice(&buffer), "{\"text\":\"x\",\"number\":-9223372036854775808,\"flag\":true,\"raw\":[1],"
                                        "\"time\":\"2023-11-14T22:13:20.123Z\",\"maybe\":\"m\",\"maybe_raw\":{}}");
}

/* Every byte that JSON text can hold survives writing and reading. */
static void test_round_trip(void **state)
{
    (void)state;
    char every[127];
    for (int i = 0; i < 127; i++) {
        every[i] = (char)(i + 1);
    }
    json_text(&out, slice_from(every, sizeof every));
    struct arena arena = {0};
    const struct json *value = NULL;
    assert_status(json_parse(&arena, buffer_slice(&buffer), &value, NULL), STATUS_OK);
    assert_true(slice_eq(value->text, slice_from(every, sizeof every)));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commas, setup, teardown),
        cmocka_unit_test_setup_teardown(test_escapes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(test_put, setup, teardown),
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
