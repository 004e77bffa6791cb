#include "unit.h"

#include <stdlib.h>
#include <time.h>

#include "cli/event_line.h"

static struct arena arena;

static const struct json *parse(const char *text)
{
    const struct json *json;
    struct failure failure;
    assert_status(json_parse(&arena, slice_of(text), &json, &failure), STATUS_OK);
    return json;
}

static const struct {
    const char *event;
    const char *text;
} rows[] = {
    {"{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":\"two\"}]}", "one two"},
    {"{\"content\":[{\"type\":\"tool_use\",\"name\":\"ls\"}]}", "[tool_use ls]"},
    {"{\"content\":[{\"type\":\"image\"}]}", "[image]"},
    {"{\"type\":\"agent.tool_call\",\"content\":[{\"type\":\"tool_call\",\"name\":\"ls\",\"input\":{\"a\":\"-l\"}}]}",
     "ls {\"a\":\"-l\"}"},
    {"{\"content\":[{\"type\":\"tool_call\",\"name\":\"ls\",\"input\":{}}]}", "ls"},
    {"{\"content\":[{\"type\":\"tool_result\",\"output\":\"a b\",\"is_error\":false}]}", "✓ a b"},
    {"{\"content\":[{\"type\":\"tool_result\",\"output\":{\"n\":1},\"is_error\":true}]}", "✗ {\"n\":1}"},
    {"{\"type\":\"ask.requested\",\"metadata\":{\"ask\":{\"id\":\"q\",\"kind\":\"approval\",\"tool\":\"rm\",\"text\":"
     "\"Go\","
     "\"arguments\":{\"p\":1},\"details\":{\"risk\":\"high\"}}}}",
     "approval q risk high: rm {\"p\":1}: Go"},
    {"{\"type\":\"ask.answered\",\"metadata\":{\"id\":\"q\",\"kind\":\"approval\",\"tool\":\"rm\",\"decision\":"
     "\"deny\","
     "\"reason\":\"no\",\"by\":\"user:1\"}}",
     "approval q rm: deny, no, by user:1"},
    {"{\"type\":\"turn.ended\",\"metadata\":{\"turn\":3,\"stop_reason\":\"error\",\"error\":{\"message\":\"no key\"},"
     "\"usage\":{\"input_tokens\":12345,\"output_tokens\":7,\"cost_microcents\":1234567}}}",
     "turn 3 ended: error: no key; 12.3k in, 7 out, $0.0123"},
    {"{\"type\":\"session.status_change\",\"metadata\":{\"from\":\"idle\",\"to\":\"pending\",\"reason\":\"prompt\"}}",
     "idle → pending: prompt"},
    {"{\"content\":[{\"type\":\"text\",\"text\":\"said\"}],\"metadata\":{\"a\":1}}", "said"},
    {"{\"content\":[],\"metadata\":{\"from\":\"idle\",\"n\":2,\"deep\":{\"x\":[]}}}", "from=idle n=2 deep={\"x\":[]}"},
    {"{\"content\":[],\"metadata\":{}}", ""},
    {"{\"content\":\"odd\"}", ""},
    {"{}", ""},
};

static void test_what_an_event_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buffer text = {0};
        event_text(parse(rows[i].event), &text);
        assert_row(rows[i].event, slice_is(buffer_slice(&text), rows[i].text));
        buffer_release(&text);
    }
}

static void expect_line(const char *event, struct event_line_style style, const char *expected)
{
    struct buffer line = {0};
    event_line_write(parse(event), &style, &line);
    assert_slice(buffer_slice(&line), expected);
    buffer_release(&line);
}

#define EVENT                                                                                                          \
    "{\"session_id\":\"s\",\"sequence\":12,\"type\":\"user.message\",\"role\":\"user\","                               \
    "\"created_at\":\"2026-11-15T08:54:27.348Z\",\"content\":[{\"type\":\"text\",\"text\":\"good\\nday\"}]}"

#define CALL                                                                                                           \
    "{\"sequence\":1,\"type\":\"agent.tool_call\",\"role\":\"agent\",\"content\":[{\"type\":\"tool_call\","            \
    "\"name\":\"sh\",\"input\":{\"c\":"                                                                                \
    "\"\u202E0123456789012345678901234567890123456789012345678901234567890123456789\"}}]}"

static void test_the_line(void **state)
{
    (void)state;
    expect_line(EVENT, (struct event_line_style){0},
                "    12  2026-11-15 08:54:27  user    user.message              good day\n");
    expect_line(EVENT, (struct event_line_style){.columns = 50}, "    12  08:54:27  user.message           good day\n");
    expect_line(EVENT, (struct event_line_style){.columns = 30}, "    12  08:54:27  user.message\n    good day\n");
    expect_line(EVENT, (struct event_line_style){.columns = 50, .has_colours = true},
                "\033[36m    12  08:54:27  user.message           good day\033[0m\n");
    expect_line(
        EVENT, (struct event_line_style){.with_session = true},
        "s                                         12  2026-11-15 08:54:27  user    user.message              good "
        "day\n");
    expect_line("{}", (struct event_line_style){0}, "     0\n");
    expect_line(CALL, (struct event_line_style){0},
                "     1                       agent   agent.tool_call           sh "
                "{\"c\":\"⟨U+202E⟩0123456789012345678901234567"
                "890123456789012345678901234567890123456789\"}\n");
    expect_line(CALL, (struct event_line_style){.columns = 30},
                "     1            agent.tool_c\n    all        sh {\"c\":\"⟨U+202\n    E⟩012345678901234567890123\n"
                "    45678901234567890123456789\n    01234567890123456789\"}\n");
    expect_line(CALL, (struct event_line_style){.columns = 25},
                "     1            agent.t\n    ool_call        sh {\"\n    c\":\"⟨U+202E⟩012345678\n"
                "    901234567890123456789\n    … 42 more bytes; --json shows all\n");
}

static int set_up(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    return 0;
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_an_event_says), cmocka_unit_test(test_the_line)};
    return cmocka_run_group_tests(tests, set_up, release);
}
