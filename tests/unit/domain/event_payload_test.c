#include "domain/event_payload.h"
#include "domain_unit.h"

struct row {
    const char *type;
    const char *members; /* what follows the type in the event object */
};

static enum status read_row(const struct row *row, struct failure *failure)
{
    struct slice text =
        arena_format(&test_arena, "{\"type\":\"%s\"%s%s}", row->type, *row->members ? "," : "", row->members);
    struct event event;
    return event_read(json_of(text.ptr), &event, failure);
}

#define AT "\"at\":\"2026-11-15T07:49:07.123Z\""
#define UUID "\"0190163d-8694-739b-aea5-966c26f8ad91\""
#define TARGET "\"target\":{\"kind\":\"view\",\"id\":\"v1\"}"

static void good_payloads_are_accepted(void **state)
{
    static const struct row rows[] = {
        {"tool.session_started", "\"metadata\":{\"tool_name\":\"scorer\"}"},
        {"tool.session_started", "\"metadata\":{\"toolName\":\"scorer\",\"input\":{},\"more\":1}"},
        {"tool.field_changed", "\"metadata\":{\"field\":\"name\",\"value\":null}"},
        {"tool.field_changed", "\"metadata\":{\"field\":\"name\",\"value\":[1],\"previous\":2}"},
        {"tool.invocation_started", "\"metadata\":{\"invocation_id\":\"i\",\"tool_name\":\"t\",\"input\":{}}"},
        {"tool.invocation_completed", "\"metadata\":{\"invocation_id\":\"i\",\"output\":{},\"duration_ms\":0}"},
        {"tool.invocation_failed", "\"metadata\":{\"invocationId\":\"i\",\"error\":\"no\",\"code\":\"E\"}"},
        {"tool.composition_step.started", "\"metadata\":{\"step\":\"a\",\"child_session_id\":\"tool:1\",\"index\":2}"},
        {"tool.composition_step.completed", "\"metadata\":{\"step\":\"a\",\"childSessionId\":\"tool:1\"}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]}"},
        {"state.patch", "\"metadata\":{\"target\":{\"kind\":\"entity\",\"id\":\"e\",\"path\":\"/x~0y\"},\"origin\":"
                        "\"agent\",\"client_id\":\"c\",\"ops\":[{\"op\":\"remove\",\"path\":\"\"},{\"op\":\"replace\","
                        "\"path\":\"/a\",\"value\":1},{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"},{\"op\":"
                        "\"copy\",\"from\":\"/a\",\"path\":\"/b\"},{\"op\":\"test\",\"path\":\"/a\",\"value\":{}}]}"},
        {"human.navigate", "\"metadata\":{\"pathname\":\"/t/x\"," AT "}"},
        {"human.navigate", "\"metadata\":{\"pathname\":\"/\",\"at\":1700000000000}"},
        {"human.entity_view",
         "\"metadata\":{\"entityId\":" UUID ",\"entityType\":\"note\",\"pathname\":\"/entities/x\"," AT "}"},
        {"human.entity_view",
         "\"metadata\":{\"entity_id\":" UUID ",\"entity_type\":\"note\",\"pathname\":\"/entities/x\"," AT "}"},
        {"human.marker", "\"content\":[{\"type\":\"text\",\"text\":\"sent the mail\"}],\"metadata\":{" AT "}"},
        {"human.marker", "\"content\":[\"sent the mail\"],\"metadata\":{" AT "}"},
        {"human.task_switch", "\"metadata\":{\"taskId\":\"t2\"," AT "}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        if (read_row(&rows[i], &failure) != STATUS_OK) {
            fail_msg("%s {%s}: %s", rows[i].type, rows[i].members, failure.detail);
        }
    }
}

static void bad_payloads_are_refused(void **state)
{
    static const struct row rows[] = {
        {"tool.session_started", ""},
        {"tool.session_started", "\"metadata\":{\"tool_name\":\"\"}"},
        {"tool.session_started", "\"metadata\":{\"tool_name\":7}"},
        {"tool.session_started", "\"metadata\":{\"ToolName\":\"x\"}"},
        {"tool.field_changed", "\"metadata\":{\"field\":\"a\"}"},
        {"tool.field_changed", "\"metadata\":{\"value\":1}"},
        {"tool.invocation_started", "\"metadata\":{\"tool_name\":\"t\"}"},
        {"tool.invocation_started", "\"metadata\":{\"invocation_id\":\"i\"}"},
        {"tool.invocation_completed", "\"metadata\":{}"},
        {"tool.invocation_completed", "\"metadata\":{\"invocation_id\":\"i\",\"duration_ms\":-1}"},
        {"tool.invocation_failed", "\"metadata\":{\"invocation_id\":\"i\"}"},
        {"tool.invocation_failed", "\"metadata\":{\"invocation_id\":\"i\",\"error\":{}}"},
        {"tool.composition_step.started", "\"metadata\":{\"step\":\"a\"}"},
        {"tool.composition_step.completed", "\"metadata\":{\"step\":\"a\",\"child_session_id\":\"no way\"}"},
        {"state.patch", "\"metadata\":{" TARGET "}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":{}}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[1]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"set\",\"path\":\"/a\"}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"add\",\"path\":\"/a\"}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"remove\",\"path\":\"/a~2\"}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"remove\",\"path\":\"/a~\"}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"remove\"}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"ops\":[{\"op\":\"move\",\"path\":\"/a\"}]}"},
        {"state.patch", "\"metadata\":{" TARGET ",\"origin\":\"system\",\"ops\":[{\"op\":\"remove\",\"path\":\"/\"}]}"},
        {"state.patch", "\"metadata\":{\"target\":{\"kind\":\"row\",\"id\":\"v\"},\"ops\":[{\"op\":\"remove\",\"path\":"
                        "\"/\"}]}"},
        {"state.patch", "\"metadata\":{\"target\":\"view\",\"ops\":[{\"op\":\"remove\",\"path\":\"/\"}]}"},
        {"state.patch", "\"metadata\":{\"ops\":[{\"op\":\"remove\",\"path\":\"/\"}]}"},
        {"human.navigate", "\"metadata\":{" AT "}"},
        {"human.navigate", "\"metadata\":{\"pathname\":\"t/x\"," AT "}"},
        {"human.navigate", "\"metadata\":{\"pathname\":\"/t\"}"},
        {"human.navigate", "\"metadata\":{\"pathname\":\"/t\",\"at\":\"yesterday\"}"},
        {"human.navigate", "\"metadata\":{\"pathname\":\"/t\",\"at\":0}"},
        {"human.entity_view",
         "\"metadata\":{\"entityId\":\"my-slug\",\"entityType\":\"n\",\"pathname\":\"/e\"," AT "}"},
        {"human.entity_view", "\"metadata\":{\"entityId\":" UUID ",\"pathname\":\"/e\"," AT "}"},
        {"human.marker", "\"metadata\":{" AT "}"},
        {"human.marker", "\"content\":[{\"type\":\"text\",\"text\":\"  \"}],\"metadata\":{" AT "}"},
        {"human.marker", "\"content\":[{\"type\":\"text\",\"text\":\"x\"}]"},
        {"human.task_switch", "\"metadata\":{" AT "}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        if (read_row(&rows[i], &failure) != STATUS_INVALID) {
            fail_msg("%s {%s} was not refused", rows[i].type, rows[i].members);
        }
        assert_string_equal(failure.code, "invalid_payload");
        assert_true(strlen(failure.detail) > 10);
    }
}

static enum status read_patch_of(int count)
{
    struct buffer text = {0};
    buffer_format(&text, "{\"type\":\"state.patch\",\"metadata\":{" TARGET ",\"ops\":[");
    for (int i = 0; i < count; i++) {
        buffer_format(&text, "%s{\"op\":\"remove\",\"path\":\"/%d\"}", i ? "," : "", i);
    }
    buffer_format(&text, "]}}");
    buffer_add_byte(&text, '\0');
    struct event event;
    enum status status = event_read(json_of(arena_copy(&test_arena, buffer_slice(&text)).ptr), &event, NULL);
    buffer_release(&text);
    return status;
}

static void operations_per_patch_are_limited(void **state)
{
    (void)state;
    assert_status(read_patch_of(PATCH_OPS_MAX), STATUS_OK);
    assert_status(read_patch_of(PATCH_OPS_MAX + 1), STATUS_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_payloads_are_accepted),
        cmocka_unit_test(bad_payloads_are_refused),
        cmocka_unit_test(operations_per_patch_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
