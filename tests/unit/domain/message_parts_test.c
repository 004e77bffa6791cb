#include "domain/message_parts.h"
#include "domain_unit.h"

static enum status check(const char *part, struct failure *failure)
{
    return parts_check(json_of(arena_format(&test_arena, "[%s]", part).ptr), failure);
}

static void every_kind_is_accepted(void **state)
{
    static const char *const parts[] = {
        "\"just text\"",
        "{\"text\":\"no type\"}",
        "{\"type\":\"text\",\"text\":\"\"}",
        "{\"type\":\"reasoning\",\"text\":\"because\",\"providerOptions\":{}}",
        "{\"type\":\"file\",\"mediaType\":\"application/pdf\",\"url\":\"https://x/y.pdf\"}",
        "{\"type\":\"image\",\"image\":\"iVBOR\"}",
        "{\"type\":\"source\",\"url\":\"https://x\"}",
        "{\"type\":\"source-url\",\"sourceId\":\"1\",\"url\":\"https://x\"}",
        "{\"type\":\"source-document\",\"title\":\"T\"}",
        "{\"type\":\"step-start\"}",
        "{\"type\":\"dynamic-tool\",\"toolCallId\":\"1\",\"toolName\":\"ls\"}",
        "{\"type\":\"tool-call\",\"toolCallId\":\"1\",\"toolName\":\"ls\",\"input\":{}}",
        "{\"type\":\"tool_call\",\"id\":\"1\",\"name\":\"ls\"}",
        "{\"type\":\"tool-result\",\"tool_call_id\":\"1\",\"output\":null}",
        "{\"type\":\"tool-error\",\"toolCallId\":\"1\"}",
        "{\"type\":\"tool-approval-request\",\"approvalId\":\"1\"}",
        "{\"type\":\"tool-approval-response\",\"approvalId\":\"1\",\"approved\":true}",
        "{\"type\":\"tool-weather\",\"toolCallId\":\"1\",\"state\":\"output-available\"}",
        "{\"type\":\"data-chart\",\"data\":[1,2]}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct failure failure = {0};
        if (check(parts[i], &failure) != STATUS_OK) {
            fail_msg("%s: %s", parts[i], failure.detail);
        }
    }
}

static void others_are_refused_with_what_is_missing(void **state)
{
    static const struct {
        const char *part, *said;
    } rows[] = {
        {"1", "not a number"},
        {"{}", "is no kind of part"},
        {"{\"type\":5}", "is no kind of part"},
        {"{\"type\":\"\"}", "is no kind of part"},
        {"{\"type\":\"txt\",\"text\":\"x\"}", "text, reasoning, file"},
        {"{\"type\":\"textual\",\"text\":\"x\"}", "data-NAME"},
        {"{\"type\":\"text\"}", "needs `text`"},
        {"{\"type\":\"text\",\"text\":1}", "must be a string"},
        {"{\"type\":\"file\",\"mediaType\":\"a/b\"}", "needs `url|data|handle`"},
        {"{\"type\":\"tool-call\",\"toolCallId\":\"1\"}", "needs `tool_name|name`"},
        {"{\"type\":\"tool-weather\"}", "needs `tool_call_id`"},
        {"{\"type\":\"data-\",\"data\":1}", "is no kind of part"},
        {"{\"type\":\"data-chart\",\"data\":null}", "needs `data`"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        assert_int_equal(check(rows[i].part, &failure), STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_part");
        if (!strstr(failure.detail, rows[i].said)) {
            fail_msg("%s: %s", rows[i].part, failure.detail);
        }
    }
}

/* Longer names of exact kinds and prefixes cannot hide one another. */
static void exact_kinds_stand_before_their_prefix(void **state)
{
    (void)state;
    for (const struct part_kind *kind = part_kinds; kind->name; kind++) {
        size_t len = strlen(kind->name);
        for (const struct part_kind *later = kind + 1; kind->name[len - 1] == '*' && later->name; later++) {
            assert_true(strncmp(later->name, kind->name, len - 1) != 0);
        }
    }
}

static void only_messages_are_held_to_parts(void **state)
{
    struct event event;
    struct failure failure = {0};
    (void)state;
    static const char *const held[] = {"user.message", "agent.message", "agent.thinking"};
    for (size_t i = 0; i < COUNT_OF(held); i++) {
        struct slice text = arena_format(&test_arena, "{\"type\":\"%s\",\"content\":[{\"type\":\"x\"}]}", held[i]);
        assert_int_equal(event_read(json_of(text.ptr), &event, &failure), STATUS_INVALID);
    }
    assert_int_equal(event_read(json_of("{\"type\":\"note.own\",\"content\":[{\"type\":\"x\"}]}"), &event, &failure),
                     STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_accepted),
        cmocka_unit_test(others_are_refused_with_what_is_missing),
        cmocka_unit_test(exact_kinds_stand_before_their_prefix),
        cmocka_unit_test(only_messages_are_held_to_parts),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
