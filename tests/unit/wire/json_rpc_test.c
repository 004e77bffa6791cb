#include "wire/json_rpc.h"
#include "unit.h"

static enum status read(struct arena *arena, const char *line, struct rpc_message *out, struct failure *failure)
{
    return rpc_read(arena, slice_of(line), out, failure);
}

static void test_the_four_kinds(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rpc_message m;
    assert_int_equal(read(&arena, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a/b\",\"params\":{\"x\":1}}", &m, NULL),
                     STATUS_OK);
    assert_int_equal(m.kind, RPC_REQUEST);
    assert_true(slice_is(m.id, "7") && slice_is(m.method, "a/b") && json_i64_of(m.params, "x") == 1);
    assert_int_equal(read(&arena, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"more\":true}", &m, NULL), STATUS_OK);
    assert_int_equal(m.kind, RPC_NOTIFICATION);
    assert_null(m.params);
    assert_int_equal(read(&arena, "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":null}", &m, NULL), STATUS_OK);
    assert_int_equal(m.kind, RPC_RESULT);
    assert_true(slice_is(m.id, "\"s\"") && json_is(m.result, JSON_NULL));
    assert_int_equal(read(&arena,
                          "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"m\",\"data\":[]}}", &m,
                          NULL),
                     STATUS_OK);
    assert_int_equal(m.kind, RPC_ERROR);
    assert_true(m.error_code == -1 && slice_is(m.error_message, "m") && json_is(m.error_data, JSON_ARRAY));
    arena_release(&arena);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "{\"id\":1,\"result\":1}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":1}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"jsonrpc\":\"2.0\",\"result\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":3}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"result\":3}",
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct failure failure = {0};
        struct rpc_message m;
        if (read(&arena, lines[i], &m, &failure) != STATUS_INVALID || failure.detail[0] == '\0') {
            fail_msg("accepted: %s", lines[i]);
        }
    }
    arena_release(&arena);
}

static void test_what_is_written(void **state)
{
    (void)state;
    struct buffer to = {0};
    rpc_write_request(&to, 3, "session/new", SLICE("{\n\"cwd\":\r\"/\"}"));
    rpc_write_notification(&to, "session/cancel", (struct slice){0});
    rpc_write_result(&to, SLICE("\"x\""), SLICE("{}"));
    rpc_write_error(&to, SLICE("9"), RPC_METHOD_NOT_FOUND, SLICE("no \"such\" method"));
    assert_string_equal(
        (buffer_add_byte(&to, '\0'), to.ptr),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/new\",\"params\":{ \"cwd\": \"/\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":\"no \\\"such\\\" method\"}}\n");
    buffer_release(&to);
}

static void hear(struct rpc_lines *lines, const char *piece, struct buffer *heard, enum rpc_step expected)
{
    struct slice bytes = slice_of(piece), line;
    enum rpc_step step;
    while ((step = rpc_lines_next(lines, &bytes, &line)) == RPC_LINE) {
        buffer_add(heard, line);
        buffer_add_byte(heard, '|');
    }
    assert_int_equal(step, expected);
}

static void test_lines_in_pieces(void **state)
{
    (void)state;
    struct rpc_lines lines;
    struct buffer heard = {0};
    rpc_lines_init(&lines, 8);
    hear(&lines, "ab", &heard, RPC_MORE);
    hear(&lines, "cd\nef\n\n  \ngh", &heard, RPC_MORE);
    hear(&lines, "\n12345678\n", &heard, RPC_MORE);
    assert_true(slice_is(buffer_slice(&heard), "abcd|ef|gh|12345678|"));
    hear(&lines, "12345", &heard, RPC_MORE);
    hear(&lines, "6789\n", &heard, RPC_TOO_LONG);
    rpc_lines_release(&lines);
    rpc_lines_init(&lines, 8);
    hear(&lines, "123456789", &heard, RPC_TOO_LONG);
    rpc_lines_release(&lines);
    buffer_release(&heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_four_kinds),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_what_is_written),
        cmocka_unit_test(test_lines_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
