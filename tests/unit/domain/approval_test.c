#include "domain/approval.h"
#include "domain_unit.h"

static void a_tool_call(void **state)
{
    static const char *const same[] = {
        ("{\"kind\":\"tool\",\"paused_tool_call\":{\"tool_call_id\":\"c\",\"tool_name\":\"n\",\"tool_input\":{\"a\":1}"
         "}}"),
        "{\"kind\":\"tool\",\"pausedToolCall\":{\"toolCallId\":\"c\",\"toolName\":\"n\",\"toolInput\":{\"a\":1}}}",
        "{\"pausedToolCall\":{\"toolCallId\":\"c\",\"toolName\":\"n\",\"toolInput\":{\"a\":1}}}", /* before `kind` */
        "{\"kind\":null,\"pausedToolCall\":{\"toolCallId\":\"c\",\"toolName\":\"n\",\"toolInput\":{\"a\":1}}}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct approval approval = {0};
        assert_row(same[i], approval_read(json_of(same[i]), &approval));
        assert_int_equal(approval.kind, APPROVAL_OF_TOOL);
        assert_slice(approval.tool_call_id, "c");
        assert_slice(approval.tool_name, "n");
        assert_slice(approval.tool_input->raw, "{\"a\":1}");
    }
}

static void an_output(void **state)
{
    struct approval approval = {0};
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    (void)state;
    json_begin_object(&out);
    approval_write_output(&out, SLICE("{\"a\":1}"), 3, SLICE("[\"risk\"]"));
    json_end_object(&out);
    buffer_add_byte(&text, '\0');
    assert_true(approval_read(json_of(text.ptr), &approval));
    assert_int_equal(approval.kind, APPROVAL_OF_OUTPUT);
    assert_slice(approval.output->raw, "{\"a\":1}");
    assert_int_equal(approval.score, 3);
    assert_slice(approval.flags->raw, "[\"risk\"]");
    assert_true(approval_read(json_of("{\"kind\":\"output\",\"stagedOutput\":{}}"), &approval));
    assert_int_equal(approval.score, 0);
    assert_null(approval.flags);
    buffer_release(&text);
}

static void what_is_malformed_is_none(void **state)
{
    static const char *const wrong[] = {
        "null",
        "[]",
        "{}",
        "{\"kind\":1}",
        "{\"kind\":\"other\",\"stagedOutput\":{}}",
        "{\"kind\":\"output\"}",
        "{\"kind\":\"output\",\"stagedOutput\":[]}",
        "{\"kind\":\"output\",\"stagedOutput\":{},\"criteriaScore\":\"3\"}",
        "{\"kind\":\"output\",\"stagedOutput\":{},\"safetyFlags\":{}}",
        "{\"kind\":\"tool\"}",
        "{\"pausedToolCall\":{\"toolCallId\":\"c\"}}",
        "{\"pausedToolCall\":{\"toolCallId\":\"\",\"toolName\":\"n\"}}",
        "{\"pausedToolCall\":{\"toolCallId\":\"c\",\"toolName\":\"n\",\"toolInput\":[]}}",
    };
    struct approval untouched = {.score = 77};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_row(wrong[i], !approval_read(json_of(wrong[i]), &untouched) && untouched.score == 77);
    }
    assert_false(approval_read(NULL, &untouched));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_call),
        cmocka_unit_test(an_output),
        cmocka_unit_test(what_is_malformed_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
