#include "domain/event.h"
#include "domain_unit.h"

static void types_are_sorted_and_found(void **state)
{
    (void)state;
    for (int kind = EVENT_CUSTOM + 1; kind < EVENT_KIND_COUNT; kind++) {
        const char *name = event_kinds[kind].name;
        assert_true(event_type_is_valid(slice_of(name)));
        assert_row(name, event_kind_find(slice_of(name)) == (enum event_kind)kind);
        assert_row(name, kind + 1 == EVENT_KIND_COUNT || strcmp(name, event_kinds[kind + 1].name) < 0);
    }
    assert_int_equal(EVENT_CUSTOM, event_kind_find(SLICE("agent.messag")));
    assert_int_equal(EVENT_CUSTOM, event_kind_find(SLICE("agent.messages")));
    assert_int_equal(EVENT_CUSTOM, event_kind_find(SLICE("")));
    assert_int_equal(EVENT_CUSTOM, event_kind_find(SLICE("zzz")));
}

static void every_required_type_is_there(void **state)
{
    static const char *const required[] = {
        "user.message",
        "user.tool_result",
        "user.tool_confirmation",
        "user.form_submit",
        "user.form_draft",
        "agent.message",
        "agent.tool_call",
        "agent.tool_result",
        "agent.thinking",
        "session.created",
        "session.claimed",
        "session.status_change",
        "session.error",
        "session.completed",
        "session.context_injected",
        "external.event",
        "state.patch",
        "tool.session_started",
        "tool.field_changed",
        "tool.invocation_started",
        "tool.invocation_completed",
        "tool.invocation_failed",
        "tool.composition_step.started",
        "tool.composition_step.completed",
        "human.navigate",
        "human.entity_view",
        "human.marker",
        "human.task_switch",
        "session.waiting_approval",
        "user.output_approval",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(required); i++) {
        assert_row(required[i], event_kind_find(slice_of(required[i])) != EVENT_CUSTOM);
    }
}

static void types_count_and_audit_as_written(void **state)
{
    (void)state;
    for (int kind = EVENT_CUSTOM + 1; kind < EVENT_KIND_COUNT; kind++) {
        const struct event_kind_row *type = &event_kinds[kind];
        struct slice name = slice_of(type->name);
        bool message = slice_is(name, "user.message") || slice_is(name, "agent.message");
        bool call = slice_is(name, "agent.tool_call") || slice_is(name, "tool.invocation_started");
        assert_row(type->name, ((type->flags & COUNTS_MESSAGE) != 0) == message);
        assert_row(type->name, ((type->flags & COUNTS_TOOL) != 0) == call);
        assert_row(type->name, !slice_starts(name, SLICE("session.")) || type->flags & AUDITED);
        bool parts = message || slice_is(name, "agent.thinking");
        bool files = slice_is(name, "agent.files_changed") || slice_is(name, "external.files_changed");
        bool structured = slice_starts(name, SLICE("tool.")) || slice_starts(name, SLICE("human.")) ||
                          slice_is(name, "state.patch") || parts || files;
        assert_row(type->name, (type->check != NULL) == structured);
    }
}

static void names_are_checked(void **state)
{
    static const char *const good[] = {"a", "build.progress", "x_1.y2", "a.."};
    static const char *const bad[] = {"", "A", "1a", ".a", "_a", "a-b", "a b", "é", "aB"};
    char longest[66];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_row(good[i], event_type_is_valid(slice_of(good[i])));
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_row(bad[i], !event_type_is_valid(slice_of(bad[i])));
    }
    memset(longest, 'a', sizeof longest);
    assert_true(event_type_is_valid(slice_from(longest, 64)));
    assert_false(event_type_is_valid(slice_from(longest, 65)));
}

static void prefixes_guard_custom_types(void **state)
{
    static const struct {
        const char *type;
        enum event_writers writers;
    } rows[] = {
        {"session.anything", WRITERS_SERVER},
        {"prompt.queued", WRITERS_SERVER},
        {"approval.requested", WRITERS_SERVER},
        {"question.asked", WRITERS_SERVER},
        {"participant.added", WRITERS_SERVER},
        {"share.created", WRITERS_SERVER},
        {"lease.lost", WRITERS_SERVER},
        {"watchdog.stuck", WRITERS_SERVER},
        {"turn.ended", WRITERS_SERVER},
        {"agent.custom", WRITERS_HOLDER},
        {"tool.custom", WRITERS_HOLDER},
        {"state.custom", WRITERS_HOLDER},
        {"human.custom", WRITERS_HUMAN},
        {"user.custom", WRITERS_PEOPLE},
        {"external.github", WRITERS_ANYONE},
        {"build.progress", WRITERS_ANYONE},
        {"sessions", WRITERS_ANYONE},
        {"session", WRITERS_ANYONE},
        {"agent.message", WRITERS_HOLDER},
        {"user.message", WRITERS_PEOPLE},
        {"session.created", WRITERS_SERVER},
        {"human.marker", WRITERS_HUMAN},
        {"state.patch", WRITERS_ANYONE},
        {"tool.field_changed", WRITERS_ANYONE},
        {"user.output_approval", WRITERS_SERVER},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].type, event_type_writers(slice_of(rows[i].type)) == rows[i].writers);
    }
}

static enum status read_text(const char *text, struct event *event)
{
    struct failure failure = {0};
    enum status status = event_read(json_of(text), event, &failure);
    assert_true(status == STATUS_OK || (failure.code[0] && failure.detail[0]));
    return status;
}

static void an_event_is_read(void **state)
{
    struct event event = {0};
    (void)state;
    assert_status(read_text("{\"type\":\"user.message\",\"content\":[ {\"type\":\"text\",\"text\":\"hi\"}],"
                            "\"metadata\":{\"a\":1},\"thread_id\":\"t\",\"external_event_id\":\"e\",\"role\":\"user\"}",
                            &event),
                  STATUS_OK);
    assert_slice(event_type(&event), "user.message");
    assert_slice(event.content, "[ {\"type\":\"text\",\"text\":\"hi\"}]");
    assert_slice(event.metadata, "{\"a\":1}");
    assert_slice(event.thread_id, "t");
    assert_slice(event.external_id, "e");
    assert_int_equal(event.role, ROLE_USER);
}

static void roles_have_defaults(void **state)
{
    static const struct {
        const char *type;
        enum event_role role;
    } rows[] = {
        {"user.message", ROLE_USER}, {"agent.message", ROLE_AGENT}, {"external.event", ROLE_SYSTEM},
        {"user.custom", ROLE_USER},  {"agent.custom", ROLE_AGENT},  {"build.progress", ROLE_SYSTEM},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[80];
        struct event event = {0};
        snprintf(text, sizeof text, "{\"type\":\"%s\"}", rows[i].type);
        assert_status(read_text(text, &event), STATUS_OK);
        assert_row(rows[i].type, event.role == rows[i].role);
        assert_absent(event.content);
        assert_absent(event.metadata);
    }
}

static void null_members_are_absent(void **state)
{
    struct event event = {0};
    (void)state;
    assert_status(read_text("{\"type\":\"x.y\",\"role\":null,\"content\":null,\"metadata\":null,\"thread_id\":null,"
                            "\"external_event_id\":null}",
                            &event),
                  STATUS_OK);
    assert_absent(event.content);
    assert_absent(event.external_id);
}

static void wrong_events_are_refused(void **state)
{
    static const char *const bad[] = {
        "[]",
        "\"user.message\"",
        "{}",
        "{\"type\":1}",
        "{\"type\":\"Bad\"}",
        "{\"type\":null}",
        "{\"type\":\"x\",\"role\":\"tool\"}",
        "{\"type\":\"x\",\"role\":1}",
        "{\"type\":\"x\",\"content\":\"text\"}",
        "{\"type\":\"x\",\"content\":{}}",
        "{\"type\":\"x\",\"metadata\":[]}",
        "{\"type\":\"x\",\"thread_id\":\"\"}",
        "{\"type\":\"x\",\"thread_id\":5}",
        "{\"type\":\"x\",\"external_event_id\":\"\"}",
        "{\"type\":\"x\",\"sequence\":1}",
        "{\"type\":\"x\",\"actor\":\"user:root\"}",
        "{\"type\":\"user.message\",\"role\":\"agent\"}",
        "{\"type\":\"agent.message\",\"role\":\"user\"}",
        "{\"type\":\"human.navigate\"}",
        "{\"type\":\"state.patch\",\"metadata\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct event event = {.sequence = 42};
        assert_row(bad[i], read_text(bad[i], &event) == STATUS_INVALID);
        assert_int_equal(event.sequence, 42);
    }
}

static void an_event_is_written(void **state)
{
    struct buffer buffer = {0};
    struct event event = {.sequence = 3,
                          .at_ms = START_MS + 5,
                          .kind = EVENT_USER_MESSAGE,
                          .content = SLICE("[1]"),
                          .actor = SLICE("user:u1")};
    (void)state;
    event_write(&buffer, SLICE("cli:home"), &event);
    assert_slice(buffer_slice(&buffer),
                 "{\"session_id\":\"cli:home\",\"sequence\":3,\"type\":\"user.message\",\"role\":\"user\",\"actor\":"
                 "\"user:u1\",\"content\":[1],\"metadata\":{},\"created_at\":\"2023-11-14T22:13:20.005Z\"}");
    buffer.len = 0;
    event = (struct event){.sequence = 4,
                           .at_ms = START_MS,
                           .custom = SLICE("x"),
                           .role = ROLE_SYSTEM,
                           .metadata = SLICE("{\"a\":1}"),
                           .thread_id = SLICE("t\"1"),
                           .external_id = SLICE("e")};
    event_write(&buffer, SLICE("s"), &event);
    assert_slice(buffer_slice(&buffer),
                 "{\"session_id\":\"s\",\"sequence\":4,\"type\":\"x\",\"role\":\"system\",\"content\":[],\"metadata\":"
                 "{\"a\":1},\"thread_id\":\"t\\\"1\",\"external_event_id\":\"e\",\"created_at\":\"2023-11-14T22:13:20."
                 "000Z\"}");
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_sorted_and_found),
        cmocka_unit_test(every_required_type_is_there),
        cmocka_unit_test(types_count_and_audit_as_written),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(prefixes_guard_custom_types),
        cmocka_unit_test(an_event_is_read),
        cmocka_unit_test(roles_have_defaults),
        cmocka_unit_test(null_members_are_absent),
        cmocka_unit_test(wrong_events_are_refused),
        cmocka_unit_test(an_event_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
