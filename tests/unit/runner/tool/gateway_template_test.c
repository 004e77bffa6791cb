#include "unit.h"

#include "base/json.h"
#include "runner/tool/gateway_template.h"

/* The file of a tool says what its declaration says: words, arguments and the name it is called by. */
static void test_files_follow_the_declarations(void **state)
{
    (void)state;
    size_t count = 0;
    for (int id = 0; id < TOOL_COUNT; id++) {
        const struct tool_spec *spec = &tool_specs[id];
        struct arena arena = {0};
        struct buffer text = {0}, wanted = {0};
        const struct json *schema = NULL;
        assert_row(spec->name, (gateway_tool_find(slice_of(spec->name)) != NULL) == spec->for_gateway);
        assert_row(spec->name, (spec->when != NULL) == spec->for_gateway);
        assert_int_equal(json_parse(&arena, slice_of(spec->schema), &schema, NULL), STATUS_OK);
        gateway_template_write(&text, spec);
        buffer_format(&wanted, "  description: \"%s\",\n  args: %.*s,\n", spec->description,
                      SLICE_ARG(json_raw_of(schema, "properties")));
        buffer_format(&wanted, "  execute: (args, context) => callGatewayTool(\"%s\", args, context),\n}\n",
                      spec->name);
        buffer_add_byte(&text, '\0');
        buffer_add_byte(&wanted, '\0');
        assert_row(spec->name, !strchr(spec->description, '"') && strstr(text.ptr, wanted.ptr));
        count += spec->for_gateway;
        buffer_release(&text);
        buffer_release(&wanted);
        arena_release(&arena);
    }
    assert_true(count > 0);
}

static void test_the_prompt_names_them(void **state)
{
    (void)state;
    const struct slice names[] = {SLICE("automation.complete"), SLICE("set_title")};
    struct agent agent = {.gateway_tools = names, .gateway_tool_count = 2};
    struct buffer text = {0};
    gateway_template_explain(&text, &agent);
    buffer_add_byte(&text, '\0');
    assert_non_null(strstr(text.ptr, "`automation_complete`"));
    assert_non_null(strstr(text.ptr, tool_specs[TOOL_SET_TITLE].description));
    assert_non_null(strstr(text.ptr, tool_specs[TOOL_SET_TITLE].when));
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_follow_the_declarations),
        cmocka_unit_test(test_the_prompt_names_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
