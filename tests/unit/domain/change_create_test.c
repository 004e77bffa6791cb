#include "domain/change.h"
#include "domain_unit.h"

static struct session_input plain(const char *type)
{
    return (struct session_input){.type = slice_of(type), .ttl_ms = -1};
}

static enum status create(struct session_input input, const char *id, const char *owner, struct session *out,
                          struct failure *failure)
{
    struct changes changes = {0};
    enum status status =
        change_create(&test_arena, &input, &test_limits, slice_of(id), slice_of(owner), START_MS, &changes, failure);
    *out = (struct session){.tenant_key = TENANT};
    apply_changes(out, &changes, START_MS);
    bool says_it = slice_present(input.prompt) && status == STATUS_OK && session_is_conversation(out);
    assert_int_equal(changes.count, status != STATUS_OK ? 0 : says_it ? 2 : 1);
    if (says_it) {
        assert_slice(event_type(&changes.events[1]), "user.message");
        assert_int_equal(changes.events[1].role, ROLE_USER);
    }
    return status;
}

static void refuse(struct session_input input, const char *owner, const char *code, const char *mentions)
{
    struct session session;
    struct failure failure = {0};
    enum status status = create(input, "s1", owner, &session, &failure);
    if (status == STATUS_OK || strcmp(failure.code, code) != 0 || !strstr(failure.detail, mentions)) {
        fail_msg("got %s %s \"%s\", expected %s with \"%s\"", status_name(status), failure.code, failure.detail, code,
                 mentions);
    }
}

static void everything_given_is_kept(void **state)
{
    struct session_input input = {
        .type = SLICE("agent"),
        .status = SLICE("pending"),
        .agent = SLICE("coder"),
        .title = SLICE("Title \"x\""),
        .workspace = SLICE("home"),
        .source = json_of("{\"kind\":\"web\",\"interactive\":false,\"type\":\"direct\","
                          "\"platform\":\"p\",\"trigger_id\":\"t\"}"),
        .metadata = json_of("{\"a\":1,\"b\":\"x\",\"c\":true,\"d\":null}"),
        .details = json_of("{\"repo_id\":\"r\"}"),
        .parent_id = SLICE("p1"),
        .task_id = SLICE("t1"),
        .entity_id = SLICE("e1"),
        .visibility = SLICE("org_joinable"),
        .prompt = SLICE("please\ndo"),
        .purpose = SLICE("orchestrator"),
        .queue_mode = SLICE("reject"),
        .retry_of = SLICE("s0"),
        .priority = -3,
        .attempt = 2,
        .ttl_ms = 60000,
        .anonymous = true,
    };
    struct session session;
    (void)state;
    assert_status(create(input, "s1", "u1", &session, NULL), STATUS_OK);
    assert_slice(session.id, "s1");
    assert_slice(session.owner, "u1");
    assert_int_equal(session.status, SESSION_PENDING);
    assert_slice(session.agent, "coder");
    assert_slice(session.title, "Title \"x\"");
    assert_slice(session.workspace, "home");
    assert_slice(session.source_kind, "web");
    assert_false(session.source_interactive);
    assert_int_equal(session.source_type, CHAT_DIRECT);
    assert_slice(session.metadata, "{\"a\":1,\"b\":\"x\",\"c\":true}");
    assert_slice(session.details, "{\"repo_id\":\"r\"}");
    assert_slice(session.parent_id, "p1");
    assert_slice(session.task_id, "t1");
    assert_slice(session.entity_id, "e1");
    assert_int_equal(session.visibility, VISIBILITY_ORG_JOINABLE);
    assert_slice(session.initial_prompt, "please\ndo");
    assert_int_equal(session.purpose, PURPOSE_ORCHESTRATOR);
    assert_int_equal(session.queue_mode, QUEUE_REJECT);
    assert_slice(session.retry_of, "s0");
    assert_int_equal(session.priority, -3);
    assert_int_equal(session.attempt, 2);
    assert_int_equal(session.expires_at_ms, START_MS + 60000);
    assert_true(session.anonymous);
}

static void defaults_are_quiet(void **state)
{
    struct session session;
    (void)state;
    assert_status(create(plain("agent"), "s1", NULL, &session, NULL), STATUS_OK);
    assert_int_equal(session.status, SESSION_IDLE);
    assert_slice(session.source_kind, "api");
    assert_true(session.source_interactive);
    assert_int_equal(session.attempt, 1);
    assert_int_equal(session.visibility, VISIBILITY_PRIVATE);
    assert_int_equal(session.queue_mode, QUEUE_FOLLOWUP);
    assert_int_equal(session.expires_at_ms, 0);
    assert_absent(session.owner);
    assert_absent(session.title);
    assert_absent(session.metadata);
    assert_absent(session.details);
}

static void every_initial_state_follows_the_type(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            for (int approval = 0; approval < 2; approval++) {
                struct session_input input = plain(session_type_enum.names[type]);
                struct session session;
                struct failure failure = {0};
                input.status = slice_of(session_status_enum.names[work]);
                input.purpose = approval ? SLICE("approval") : (struct slice){NULL, 0};
                bool allowed = session_status_is_initial((enum session_type)type, approval, (enum session_status)work);
                enum status status = create(input, "s1", "u1", &session, &failure);
                assert_status(status, allowed ? STATUS_OK : STATUS_INVALID);
                assert_true(!allowed || session.status == (enum session_status)work);
                assert_true(allowed || strcmp(failure.code, "invalid_initial_status") == 0);
            }
        }
    }
}

static void work_to_do_is_queued_at_once(void **state)
{
    struct session_input prompted = plain("agent"), tasked = plain("agent"), form = plain("response");
    struct session_input approval = plain("mixed");
    struct session session;
    (void)state;
    prompted.prompt = SLICE("do");
    assert_status(create(prompted, "s1", NULL, &session, NULL), STATUS_OK);
    assert_int_equal(session.status, SESSION_PENDING);
    assert_int_equal(session.queued_at_ms, START_MS);
    tasked.task_id = SLICE("t");
    assert_status(create(tasked, "s1", NULL, &session, NULL), STATUS_OK);
    assert_int_equal(session.status, SESSION_PENDING);
    form.task_id = SLICE("t");
    assert_status(create(form, "s1", NULL, &session, NULL), STATUS_OK);
    assert_int_equal(session.status, SESSION_DRAFT);
    approval.purpose = SLICE("approval");
    assert_status(create(approval, "s1", NULL, &session, NULL), STATUS_OK);
    assert_int_equal(session.status, SESSION_WAITING_HUMAN);
}

static void ids_say_where_they_come_from(void **state)
{
    static const struct {
        const char *id, *kind, *platform, *trigger;
        bool interactive;
    } rows[] = {
        {"cli:home", "cli", NULL, NULL, true},
        {"web:device1", "web", NULL, NULL, true},
        {"telegram:2026-01-01-x", "channel", "telegram", NULL, true},
        {"discord:2026-01-01-x", "channel", "discord", NULL, true},
        {"slack:2026-01-01-x", "channel", "slack", NULL, true},
        {"schedule:nightly", "schedule", NULL, "nightly", false},
        {"0190163d-8694-739b-aea5-966c26f8ad91", "api", NULL, NULL, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session;
        assert_status(create(plain("agent"), rows[i].id, NULL, &session, NULL), STATUS_OK);
        assert_slice(session.source_kind, rows[i].kind);
        assert_true(slice_is(session.source_platform, rows[i].platform ? rows[i].platform : ""));
        assert_true(slice_is(session.source_trigger_id, rows[i].trigger ? rows[i].trigger : ""));
        assert_int_equal(session.source_interactive, rows[i].interactive);
    }
    struct session_input named = plain("agent");
    struct session session;
    named.source = json_of("\"my-bot\"");
    assert_status(create(named, "telegram:1", NULL, &session, NULL), STATUS_OK);
    assert_slice(session.source_kind, "my-bot");
    named.source = json_of("{\"kind\":\"channel\",\"type\":\"group\"}");
    assert_status(create(named, "telegram:1", NULL, &session, NULL), STATUS_OK);
    assert_slice(session.source_platform, "telegram");
    assert_int_equal(session.source_type, CHAT_GROUP);
}

static void a_human_session_has_a_person_and_a_task(void **state)
{
    struct session_input input = plain("mixed");
    struct session session;
    (void)state;
    input.source = json_of("{\"kind\":\"human-session-bridge\"}");
    refuse(input, "u1", "invalid_human_session", "task_id");
    input.task_id = SLICE("t1");
    refuse(input, NULL, "invalid_human_session", "owner");
    assert_status(create(input, "s1", "u1", &session, NULL), STATUS_OK);
    assert_int_equal(session.status, SESSION_RUNNING);
    assert_true(session_is_human_bridge(&session));
    input.type = SLICE("agent");
    refuse(input, "u1", "invalid_human_session", "mixed");
}

static void wrong_words_are_refused_with_the_accepted_ones(void **state)
{
    struct session_input input = plain(NULL);
    (void)state;
    refuse(input, NULL, "type_missing", "agent, response, tool or mixed");
    input = plain("chat");
    refuse(input, NULL, "invalid_value", "agent, response, tool, mixed");
    input = plain("agent");
    input.status = SLICE("sleeping");
    refuse(input, NULL, "invalid_value", "draft, pending");
    input = plain("agent");
    input.visibility = SLICE("public");
    refuse(input, NULL, "invalid_value", "private, org_visible, org_joinable");
    input = plain("agent");
    input.queue_mode = SLICE("");
    refuse(input, NULL, "invalid_value", "followup, steer, collect, reject");
    input = plain("agent");
    input.purpose = SLICE("x");
    refuse(input, NULL, "invalid_value", "interactive");
    input = plain("agent");
    input.source = json_of("{\"type\":\"crowd\"}");
    refuse(input, NULL, "invalid_value", "one of: direct, group");
}

static struct slice letters(size_t count)
{
    char *text = arena_bytes(&test_arena, count);
    memset(text, 'x', count);
    return slice_from(text, count);
}

static void lengths_are_limited(void **state)
{
    struct session session;
    struct session_input input = plain("agent");
    (void)state;
    input.title = letters(200);
    assert_status(create(input, "s1", NULL, &session, NULL), STATUS_OK);
    input.title = letters(201);
    refuse(input, NULL, "invalid_length", "`title`");
    input = plain("agent");
    input.workspace = letters(100);
    assert_status(create(input, "s1", NULL, &session, NULL), STATUS_OK);
    input.workspace = letters(101);
    refuse(input, NULL, "invalid_length", "`workspace`");
    input.workspace = SLICE("");
    refuse(input, NULL, "invalid_length", "1 to 100");
    input = plain("agent");
    input.prompt = letters(1001);
    refuse(input, NULL, "invalid_length", "`prompt`");
    input = plain("agent");
    input.title = SLICE("日本");
    assert_status(create(input, "s1", NULL, &session, NULL), STATUS_OK);
    input = plain("agent");
    input.agent = SLICE("two words");
    refuse(input, NULL, "invalid_value", "`agent`");
    input = plain("agent");
    input.task_id = letters(201);
    refuse(input, NULL, "invalid_value", "`task_id`");
    input = plain("agent");
    input.parent_id = SLICE("a/b");
    refuse(input, NULL, "invalid_id", "`parent_id`");
    input = plain("agent");
    input.retry_of = SLICE("");
    refuse(input, NULL, "invalid_id", "`retry_of`");
    assert_status(create(plain("agent"), "a b", NULL, &session, NULL), STATUS_INVALID);
}

static void metadata_is_flat_and_small(void **state)
{
    static const char *const bad[] = {"[]", "\"x\"", "{\"a\":{}}", "{\"a\":[]}", "{\"\":1}"};
    struct session_input input = plain("agent");
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        input.metadata = json_of(bad[i]);
        refuse(input, NULL, "invalid_metadata", "metadata");
    }
    struct slice big = arena_format(&test_arena, "{\"a\":\"%.*s\"}", SLICE_ARG(letters(400)));
    input.metadata = json_of(big.ptr);
    refuse(input, NULL, "metadata_too_large", "at most 400");
}

static void sources_and_details_are_checked(void **state)
{
    static const char *const bad[] = {"5", "[]", "{\"kind\":5}", "{\"interactive\":\"yes\"}", "{\"color\":\"red\"}"};
    struct session_input input = plain("agent");
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        input.source = json_of(bad[i]);
        refuse(input, NULL, "invalid_source", "source");
    }
    input = plain("agent");
    input.source = json_of("{\"kind\":\"a b\"}");
    refuse(input, NULL, "invalid_value", "source");
    input = plain("agent");
    input.details = json_of("{\"color\":\"red\"}");
    refuse(input, NULL, "unknown_detail", "snapshot_id");
}

static void expiry_comes_from_the_client_or_the_type(void **state)
{
    struct session_limits limits = test_limits;
    struct session_input input = plain("agent");
    struct changes changes;
    struct session session = {0};
    (void)state;
    limits.ttl_ms[TYPE_AGENT] = 5000;
    assert_status(change_create(&test_arena, &input, &limits, SLICE("s"), SLICE("u"), START_MS, &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS);
    assert_int_equal(session.expires_at_ms, START_MS + 5000);
    input.ttl_ms = 0;
    assert_status(change_create(&test_arena, &input, &limits, SLICE("s"), SLICE("u"), START_MS, &changes, NULL),
                  STATUS_OK);
    session = (struct session){0};
    apply_changes(&session, &changes, START_MS);
    assert_int_equal(session.expires_at_ms, 0);
    input.ttl_ms = TTL_MS_MAX + 1;
    refuse(input, NULL, "invalid_ttl", "ttl_ms");
}

static void the_agent_is_frozen(void **state)
{
    struct agent agent;
    struct session_input input = {.type = SLICE("agent"), .agent = SLICE("coder"), .ttl_ms = -1, .definition = &agent};
    (void)state;
    agent_set_undefined(&agent, SLICE("coder"));
    agent.version = 4;
    agent.driver = DRIVER_MODEL;
    agent.queue_mode = QUEUE_COLLECT;
    struct session session = create_with(input, "s1", "u1");
    assert_int_equal(session.agent_version, 4);
    assert_int_equal(session.driver, DRIVER_MODEL);
    assert_int_equal(session.queue_mode, QUEUE_COLLECT);
    assert_absent(session.agent_config);
    input.queue_mode = SLICE("followup");
    input.agent_config = json_of("{\"turns_max\": 7}");
    session = create_with(input, "s1", "u1");
    assert_int_equal(session.queue_mode, QUEUE_FOLLOWUP);
    assert_slice(session.agent_config, "{\"turns_max\": 7}");
    input.agent_config = json_of("{\"turns_max\": 51}");
    refuse(input, NULL, "widens_agent", "50");
    input.definition = NULL;
    refuse(input, NULL, "agent_not_defined", "agent_config");
    input.agent_config = NULL;
    session = create_with(input, "s1", "u1");
    assert_int_equal(session.agent_version, 0);
    assert_int_equal(session.driver, DRIVER_WORKER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_given_is_kept),
        cmocka_unit_test(defaults_are_quiet),
        cmocka_unit_test(every_initial_state_follows_the_type),
        cmocka_unit_test(work_to_do_is_queued_at_once),
        cmocka_unit_test(ids_say_where_they_come_from),
        cmocka_unit_test(a_human_session_has_a_person_and_a_task),
        cmocka_unit_test(wrong_words_are_refused_with_the_accepted_ones),
        cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(metadata_is_flat_and_small),
        cmocka_unit_test(sources_and_details_are_checked),
        cmocka_unit_test(the_agent_is_frozen),
        cmocka_unit_test(expiry_comes_from_the_client_or_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
