#include "domain/prompt.h"
#include "domain_unit.h"

static struct session in_state(enum session_type type, enum session_status work, const char *agent)
{
    struct session session = create_in(type, NULL);
    session.status = work;
    session.agent = slice_of(agent);
    return session;
}

static void every_state_says_what_a_prompt_meets(void **state)
{
    (void)state;
    static const struct {
        enum session_status work;
        enum status status;
        enum prompt_admission meets;
    } rows[] = {
        {SESSION_DRAFT, STATUS_OK, PROMPT_DISPATCHES},     {SESSION_PENDING, STATUS_OK, PROMPT_QUEUES},
        {SESSION_RUNNING, STATUS_OK, PROMPT_QUEUES},       {SESSION_WAITING_HUMAN, STATUS_OK, PROMPT_QUEUES},
        {SESSION_AWAITING_TOOL, STATUS_OK, PROMPT_QUEUES}, {SESSION_IDLE, STATUS_OK, PROMPT_DISPATCHES},
        {SESSION_COMPLETED, STATUS_OK, PROMPT_REOPENS},    {SESSION_FAILED, STATUS_CONFLICT, PROMPT_QUEUES},
        {SESSION_EXPIRED, STATUS_OK, PROMPT_REOPENS},      {SESSION_ABANDONED, STATUS_OK, PROMPT_REOPENS},
    };
    assert_int_equal(COUNT_OF(rows), SESSION_STATUS_COUNT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = in_state(TYPE_AGENT, rows[i].work, "a");
        enum prompt_admission meets = PROMPT_QUEUES;
        struct failure failure = {0};
        assert_row(session_status_enum.names[rows[i].work], prompt_admit(&session, &meets, &failure) == rows[i].status);
        assert_row(session_status_enum.names[rows[i].work], meets == rows[i].meets);
    }
}

static void who_takes_no_prompt_says_why(void **state)
{
    (void)state;
    struct session archived = in_state(TYPE_AGENT, SESSION_IDLE, "a"),
                   failed = in_state(TYPE_AGENT, SESSION_FAILED, "a"), alone = in_state(TYPE_AGENT, SESSION_IDLE, NULL),
                   form = in_state(TYPE_RESPONSE, SESSION_DRAFT, "a"),
                   human = in_state(TYPE_MIXED, SESSION_RUNNING, "a");
    archived.archived_at_ms = START_MS;
    human.source_kind = SLICE(SOURCE_HUMAN_BRIDGE);
    const struct {
        const struct session *session;
        const char *code;
    } rows[] = {{&archived, "session_archived"},
                {&failed, "session_failed"},
                {&alone, "no_agent"},
                {&form, "not_a_conversation"},
                {&human, "not_a_conversation"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum prompt_admission meets;
        struct failure failure = {0};
        assert_row(rows[i].code, prompt_admit(rows[i].session, &meets, &failure) == STATUS_CONFLICT);
        assert_string_equal(failure.code, rows[i].code);
    }
}

static void turns_have_a_limit(void **state)
{
    (void)state;
    static const struct {
        enum session_status work;
        int64_t turns, turns_max;
        bool refused;
    } rows[] = {{SESSION_IDLE, 1, 2, false},   {SESSION_IDLE, 2, 2, true},       {SESSION_RUNNING, 1, 2, true},
                {SESSION_PENDING, 1, 2, true}, {SESSION_IDLE, 1000, 0, false},   {SESSION_COMPLETED, 2, 2, true},
                {SESSION_DRAFT, 0, 1, false},  {SESSION_COMPLETED, 1, 2, false}, {SESSION_WAITING_HUMAN, 1, 2, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = in_state(TYPE_AGENT, rows[i].work, "a");
        struct failure failure = {0};
        session.turn_count = rows[i].turns;
        assert_status(prompt_check_turns(&session, 0, rows[i].turns_max, &failure),
                      rows[i].refused ? STATUS_LIMITED : STATUS_OK);
    }
}

static void prompts_that_wait_take_turns_too(void **state)
{
    (void)state;
    static const struct {
        const char *queue; /* a letter per prompt, its thread; lower case is collected */
        char next;
        int64_t ahead;
    } rows[] = {{"", 'A', 0},   {"A", 'A', 1},   {"AA", 'A', 2}, {"aa", 'A', 1},  {"aa", 'a', 0},  {"aAa", 'a', 2},
                {"ab", 'a', 1}, {"aba", 'b', 1}, {"aA", 'a', 2}, {"aBa", 'A', 2}, {"ABab", 'b', 3}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prompt prompts[5] = {0};
        size_t count = strlen(rows[i].queue);
        char names[5][2] = {{0}};
        for (size_t at = 0; at <= count; at++) {
            char c = at < count ? rows[i].queue[at] : rows[i].next;
            names[at][0] = (char)(c & ~0x20);
            prompts[at].thread_id = slice_of(names[at]);
            prompts[at].mode = c & 0x20 ? QUEUE_COLLECT : QUEUE_FOLLOWUP;
        }
        assert_int_equal(prompt_turns_ahead(prompts, count, &prompts[count]), rows[i].ahead);
    }
}

static void dispatching_says_it_and_queues_the_work(void **state)
{
    (void)state;
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE, "a");
    struct prompt prompt = {.id = SLICE("p1"),
                            .actor = SLICE("user:u2"),
                            .content = prompt_content_of(&test_arena, SLICE("say \"hi\"")),
                            .metadata = SLICE("{\"k\":[1, 2]}"),
                            .thread_id = SLICE("t")};
    struct changes changes = {0};
    struct failure failure = {0};
    assert_status(change_dispatch(&test_arena, &session, &prompt, 1, &changes, &failure), STATUS_OK);
    assert_int_equal(changes.count, 2);
    assert_slice(event_type(&changes.events[0]), "user.message");
    assert_int_equal(changes.events[0].role, ROLE_USER);
    assert_slice(changes.events[0].actor, "user:u2");
    assert_slice(changes.events[0].thread_id, "t");
    assert_slice(changes.events[0].content, "[{\"type\":\"text\",\"text\":\"say \\\"hi\\\"\"}]");
    assert_slice(changes.events[0].metadata, "{\"prompt_id\":\"p1\",\"k\":[1, 2]}");
    apply_changes(&session, &changes, START_MS + 1);
    assert_int_equal(session.status, SESSION_PENDING);
    assert_int_equal(session.message_count, 1);
    assert_slice(session.status_reason, "prompt");
    session.status = SESSION_FAILED;
    assert_status(change_dispatch(&test_arena, &session, &prompt, 1, &changes, &failure), STATUS_CONFLICT);
    assert_int_equal(changes.count, 0);
}

static void collected_prompts_are_one_message(void **state)
{
    (void)state;
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE, "a");
    struct prompt prompts[] = {
        {.id = SLICE("p1"),
         .mode = QUEUE_COLLECT,
         .actor = SLICE("user:u1"),
         .content = SLICE("[\"a\", \"b\"]"),
         .created_at_ms = 1000},
        {.id = SLICE("p2"),
         .mode = QUEUE_COLLECT,
         .actor = SLICE("user:u2"),
         .content = SLICE("[ {\"text\":\"c\"}]"),
         .metadata = SLICE("{\"k\":1}"),
         .created_at_ms = 2000},
    };
    struct changes changes = {0};
    struct failure failure = {0};
    assert_status(change_dispatch(&test_arena, &session, prompts, 2, &changes, &failure), STATUS_OK);
    assert_int_equal(changes.count, 2);
    assert_slice(changes.events[0].content, "[\"a\",\"b\",{\"text\":\"c\"}]");
    assert_slice(changes.events[0].metadata,
                 "{\"prompts\":[{\"prompt_id\":\"p1\",\"actor\":\"user:u1\",\"created_at\":"
                 "\"1970-01-01T00:00:01.000Z\",\"parts\":2,\"metadata\":{}},{\"prompt_id\":\"p2\",\"actor\":"
                 "\"user:u2\",\"created_at\":\"1970-01-01T00:00:02.000Z\",\"parts\":1,\"metadata\":{\"k\":1}}]}");
    apply_changes(&session, &changes, START_MS + 1);
    assert_int_equal(session.status, SESSION_PENDING);
}

static void the_queue_is_in_the_log(void **state)
{
    (void)state;
    struct prompt prompt = {.id = SLICE("p1"), .mode = QUEUE_FOLLOWUP};
    struct changes changes = {0};
    change_queue(&test_arena, &prompt, 3, &changes);
    assert_int_equal(changes.count, 1);
    assert_slice(event_type(&changes.events[0]), "prompt.queued");
    assert_slice(changes.events[0].metadata, "{\"prompt_id\":\"p1\",\"mode\":\"followup\",\"position\":3}");
    change_withdraw(&test_arena, &prompt, "cleared", &changes);
    assert_int_equal(changes.count, 1);
    assert_slice(event_type(&changes.events[0]), "prompt.withdrawn");
    assert_slice(changes.events[0].metadata, "{\"prompt_id\":\"p1\",\"reason\":\"cleared\"}");
    for (size_t i = 0; i < 2; i++) {
        struct slice types[] = {SLICE("prompt.queued"), SLICE("prompt.withdrawn")};
        assert_int_equal(event_type_writers(types[i]), WRITERS_SERVER);
        assert_true(event_kind_has(event_kind_find(types[i]), AUDITED));
    }
}

static void text_of_content(void **state)
{
    (void)state;
    static const struct {
        const char *content, *text;
    } rows[] = {{"[{\"type\":\"text\",\"text\":\"a\"}]", "a"},
                {"[\"a\",{\"type\":\"image\"},{\"text\":\"b\"}]", "a\nb"},
                {"[]", ""},
                {"[{\"text\":5}]", ""},
                {NULL, ""}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].text, slice_is(prompt_text_of(&test_arena, slice_of(rows[i].content)), rows[i].text));
    }
}

static void what_was_only_appended_begins_no_turn(void **state)
{
    (void)state;
    static const struct {
        const char *type, *metadata;
        bool begins;
    } rows[] = {{"user.message", "{\"prompt_id\":\"p\"}", true},
                {"user.message", NULL, true},
                {"user.message", "{\"appended\":true}", false},
                {"user.message", "not json", true},
                {"agent.message", NULL, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct event event = {.kind = event_kind_find(slice_of(rows[i].type)),
                              .custom = slice_of(rows[i].type),
                              .metadata = slice_of(rows[i].metadata)};
        assert_true(prompt_begins_turn(&event) == rows[i].begins);
    }
}

static void prompt_id_is_the_servers(void **state)
{
    (void)state;
    struct failure failure = {0};
    assert_status(prompt_check_metadata(json_of("{\"prompt_id\":1}"), &failure), STATUS_INVALID);
    assert_status(prompt_check_metadata(json_of("{\"other\":1}"), &failure), STATUS_OK);
    assert_status(prompt_check_metadata(NULL, &failure), STATUS_OK);
}

static int release(void **state)
{
    (void)state;
    arena_release(&test_arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_says_what_a_prompt_meets),
        cmocka_unit_test(who_takes_no_prompt_says_why),
        cmocka_unit_test(turns_have_a_limit),
        cmocka_unit_test(prompts_that_wait_take_turns_too),
        cmocka_unit_test(dispatching_says_it_and_queues_the_work),
        cmocka_unit_test(collected_prompts_are_one_message),
        cmocka_unit_test(the_queue_is_in_the_log),
        cmocka_unit_test(text_of_content),
        cmocka_unit_test(what_was_only_appended_begins_no_turn),
        cmocka_unit_test(prompt_id_is_the_servers),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
