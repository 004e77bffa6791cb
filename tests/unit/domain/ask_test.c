#include "domain/ask.h"
#include "domain_unit.h"

static struct ask approval(void)
{
    return (struct ask){.id = SLICE("1"),
                        .kind = ASK_APPROVAL,
                        .turn = 4,
                        .tool = SLICE("run_command"),
                        .call_id = SLICE("c1"),
                        .arguments = SLICE("{\"command\":\"make\",\"deep\":{\"n\":1},\"list\":[1],\"flag\":true}"),
                        .editable = true,
                        .text = SLICE("May it?"),
                        .role = ACCESS_COLLABORATOR,
                        .quorum = 1};
}

static struct ask question(const char *options)
{
    return (struct ask){.id = SLICE("q"),
                        .kind = ASK_QUESTION,
                        .text = SLICE("Which?\nsecond line"),
                        .options = slice_of(options),
                        .role = ACCESS_COLLABORATOR,
                        .quorum = 1};
}

static void the_same_question_whoever_asks(void **state)
{
    struct ask stored = approval(), same = approval(), other[5];
    (void)state;
    same.id = SLICE("2");
    same.turn = 9;
    same.call_id = SLICE("another");
    same.arguments = SLICE("{\"command\": \"make\", \"deep\": {\"n\": 1}, \"list\": [1], \"flag\": true}");
    assert_true(ask_is_same(&test_arena, &stored, &same));
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        other[i] = same;
    }
    other[0].arguments = SLICE("{\"command\":\"make install\"}");
    other[1].tool = SLICE("write_file");
    other[2].role = ACCESS_OWNER;
    other[3].quorum = 2;
    other[4].text = SLICE("Really?");
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        assert_false(ask_is_same(&test_arena, &stored, &other[i]));
    }
}

static void an_ask_is_complete_or_refused(void **state)
{
    struct failure failure;
    (void)state;
    struct ask good[] = {approval(), question(NULL), question("[\"a\",\"b\"]"), approval()};
    good[3].tool = (struct slice){0};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_status(ask_check(&test_arena, &good[i], 1000, &failure), STATUS_OK);
    }
    struct ask bad[12];
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        bad[i] = i < 7 ? approval() : question("[\"a\"]");
    }
    bad[0].id = SLICE("");
    bad[1].text = (struct slice){0};
    bad[2].arguments = SLICE("[]");
    bad[3].quorum = 0;
    bad[4].options = SLICE("[\"a\"]");
    bad[5].schema = SLICE("{}");
    bad[6].tool = bad[6].arguments = (struct slice){0};
    bad[7].options = SLICE("[\"a\",\"a\"]");
    bad[8].options = SLICE("[]");
    bad[9].quorum = 2;
    bad[10].kind = ASK_ELICITATION;
    bad[11].details = SLICE("1");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char row[8];
        snprintf(row, sizeof row, "%zu", i);
        assert_row(row, ask_check(&test_arena, &bad[i], 1000, &failure) == STATUS_INVALID);
    }
    struct ask large = approval();
    assert_status(ask_check(&test_arena, &large, 10, &failure), STATUS_TOO_LARGE);
}

static void people_answer_and_nobody_else(void **state)
{
    (void)state;
    static const bool approves[PRINCIPAL_COUNT] = {
        [PRINCIPAL_USER] = true, [PRINCIPAL_CHANNEL] = true, [PRINCIPAL_SYSTEM] = true};
    struct ask tool = approval(), knows = question(NULL);
    for (int kind = 0; kind < PRINCIPAL_COUNT; kind++) {
        struct principal who = {.kind = (enum principal_kind)kind};
        bool answers = approves[kind] || kind == PRINCIPAL_SHARE_LINK;
        const char *name = principal_kind_enum.names[kind];
        assert_row(name, (ask_check_person(&who, ACCESS_OWNER, false, &tool, NULL) == STATUS_OK) == approves[kind]);
        assert_row(name, (ask_check_person(&who, ACCESS_OWNER, false, &knows, NULL) == STATUS_OK) == answers);
        assert_row(name, ask_check_person(&who, ACCESS_OWNER, true, &tool, NULL) == STATUS_FORBIDDEN);
        assert_row(name, ask_check_person(&who, ACCESS_VIEWER, false, &tool, NULL) == STATUS_FORBIDDEN);
    }
}

static void edits_keep_the_shape(void **state)
{
    (void)state;
    static const struct {
        const char *edited;
        bool fits;
    } rows[] = {
        {"{\"command\":\"x\",\"deep\":{\"n\":2},\"list\":[],\"flag\":false}", true},
        {"{\"flag\":true,\"list\":[\"a\"],\"deep\":{\"n\":0},\"command\":\"\"}", true},
        {"{\"command\":1,\"deep\":{\"n\":2},\"list\":[],\"flag\":false}", false},
        {"{\"command\":\"x\",\"deep\":{\"m\":2},\"list\":[],\"flag\":false}", false},
        {"{\"command\":\"x\",\"deep\":{\"n\":2},\"list\":[]}", false},
        {"{\"command\":\"x\",\"deep\":{\"n\":2},\"list\":[],\"flag\":null}", false},
        {"[]", false},
    };
    struct ask ask = approval(), fixed = approval(), several = approval();
    fixed.editable = false;
    several.quorum = 2;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ask_reply reply = {.decision = DECISION_ONCE, .answer = json_of(rows[i].edited)};
        assert_row(rows[i].edited, (ask_check_reply(&test_arena, &ask, &reply, NULL) == STATUS_OK) == rows[i].fits);
        assert_row(rows[i].edited, ask_check_reply(&test_arena, &fixed, &reply, NULL) == STATUS_INVALID);
        assert_row(rows[i].edited, ask_check_reply(&test_arena, &several, &reply, NULL) == STATUS_INVALID);
    }
}

static void every_kind_has_its_decisions(void **state)
{
    (void)state;
    struct ask asks[] = {approval(), approval(), approval(), question(NULL)};
    asks[1].tool = (struct slice){0}; /* of an output */
    asks[2].quorum = 3;
    static const bool allowed[4][DECISION_COUNT] = {
        {false, true, true, true, true},
        {false, true, false, false, true},
        {false, true, false, false, true},
        {false, false, false, false, true}, /* without an answer */
    };
    for (size_t i = 0; i < COUNT_OF(asks); i++) {
        for (int decision = 0; decision < DECISION_COUNT; decision++) {
            struct ask_reply reply = {.decision = (enum ask_decision)decision};
            bool ok = ask_check_reply(&test_arena, &asks[i], &reply, NULL) == STATUS_OK;
            assert_row(ask_decision_enum.names[decision], ok == allowed[i][decision]);
        }
    }
}

static struct ask_reply reply_of(enum ask_decision decision, const char *answer, const char *by)
{
    return (struct ask_reply){
        .decision = decision, .answer = answer ? json_of(answer) : NULL, .by = slice_of(by), .voter = slice_of(by)};
}

static void it_is_decided_once(void **state)
{
    (void)state;
    struct ask ask = question("[\"a\",\"b\"]");
    struct ask_reply a = reply_of(DECISION_NONE, "\"a\"", "user:1"), other = reply_of(DECISION_NONE, "\"b\"", "user:1"),
                     others = reply_of(DECISION_NONE, "\"a\"", "user:2"), no = reply_of(DECISION_DENY, NULL, "user:1");
    enum ask_effect effect;
    struct failure failure = {0};
    assert_false(ask_reply_repeats(&test_arena, &ask, &a));
    assert_status(ask_apply(&test_arena, &ask, &a, 5, &effect, &failure), STATUS_OK);
    assert_int_equal(effect, ASK_WAS_ANSWERED);
    assert_int_equal(ask.state, ASK_ANSWERED);
    assert_int_equal(ask.decision, DECISION_ONCE);
    assert_slice(ask.answer, "\"a\"");
    assert_slice(ask.answered_by, "user:1");
    assert_int_equal(ask.answered_at_ms, 5);
    assert_true(ask_reply_repeats(&test_arena, &ask, &a));
    assert_false(ask_reply_repeats(&test_arena, &ask, &other));
    assert_false(ask_reply_repeats(&test_arena, &ask, &others));
    assert_false(ask_reply_repeats(&test_arena, &ask, &no));
    assert_status(ask_apply(&test_arena, &ask, &other, 6, &effect, &failure), STATUS_CONFLICT);
    assert_string_equal(failure.code, "ask_not_pending");
    assert_non_null(strstr(failure.members, "\"state\":\"answered\""));
}

static void several_agree_or_one_denies(void **state)
{
    (void)state;
    enum ask_effect effect;
    for (int denies = 0; denies < 2; denies++) {
        struct ask ask = approval();
        ask.quorum = 3;
        struct ask_reply one = reply_of(DECISION_ONCE, NULL, "user:1"), two = reply_of(DECISION_ONCE, NULL, "user:2"),
                         last = reply_of(denies ? DECISION_DENY : DECISION_ONCE, NULL, denies ? "user:1" : "user:3");
        assert_status(ask_apply(&test_arena, &ask, &one, 1, &effect, NULL), STATUS_OK);
        assert_int_equal(effect, ASK_WAS_VOTED);
        assert_status(ask_apply(&test_arena, &ask, &one, 2, &effect, NULL), STATUS_OK);
        assert_int_equal(effect, ASK_WAS_REPEATED);
        assert_status(ask_apply(&test_arena, &ask, &two, 3, &effect, NULL), STATUS_OK);
        assert_int_equal(effect, ASK_WAS_VOTED);
        assert_int_equal(ask.state, ASK_PENDING);
        assert_status(ask_apply(&test_arena, &ask, &last, 4, &effect, NULL), STATUS_OK);
        assert_int_equal(effect, ASK_WAS_ANSWERED);
        assert_int_equal(ask.decision, denies ? DECISION_DENY : DECISION_ONCE);
        assert_int_equal(json_of(ask.votes.ptr)->count, 3);
    }
}

static void rules_match_what_they_say(void **state)
{
    (void)state;
    struct session session = create_in(TYPE_AGENT, NULL);
    session.key = 5;
    session.agent = SLICE("coder");
    session.owner = SLICE("u1");
    struct ask ask = approval();
    struct ask_rule rules[8];
    static const bool matches[] = {true, true, true, false, false, false, false, false};
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        rules[i] =
            (struct ask_rule){.tenant_key = session.tenant_key, .agent = SLICE("coder"), .tool = SLICE("run_command")};
    }
    rules[1].session_key = 5;
    rules[1].user_id = SLICE("u1");
    rules[2].arguments = SLICE("{\"flag\":true,\"list\":[1.0],\"deep\":{\"n\":1},\"command\":\"make\"}");
    rules[3].session_key = 6;
    rules[4].user_id = SLICE("u2");
    rules[5].arguments = SLICE("{\"command\":\"make\"}");
    rules[6].agent = (struct slice){0};
    rules[7].tenant_key++;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        char row[8];
        snprintf(row, sizeof row, "%zu", i);
        assert_row(row, ask_rule_matches(&test_arena, &rules[i], &session, &ask) == matches[i]);
    }
    ask.quorum = 2;
    assert_false(ask_rule_matches(&test_arena, &rules[0], &session, &ask));
}

static void the_wait_says_what_for(void **state)
{
    (void)state;
    struct ask asks[] = {approval(), question(NULL), approval()};
    asks[2].tool = (struct slice){0};
    assert_int_equal(ask_waits_in(asks, 1), SESSION_AWAITING_TOOL);
    assert_slice(ask_reason(&test_arena, asks, 1), "Approval of run_command");
    assert_int_equal(ask_waits_in(asks, 2), SESSION_WAITING_HUMAN);
    assert_slice(ask_reason(&test_arena, asks, 2), "Question: Which?");
    assert_int_equal(ask_waits_in(asks + 2, 1), SESSION_WAITING_HUMAN);
    assert_slice(ask_reason(&test_arena, asks + 2, 1), "Approval of its output: May it?");
}

static void the_log_tells_it(void **state)
{
    (void)state;
    struct ask ask = approval();
    struct changes changes = {0};
    ask.fields = SLICE("{\"secret\":1}");
    change_ask_requested(&test_arena, &ask, &changes);
    ask.state = ASK_ANSWERED;
    ask.decision = DECISION_DENY;
    ask.reason = SLICE("no");
    change_ask_over(&test_arena, &ask, &changes);
    assert_int_equal(changes.count, 2);
    assert_slice(event_type(&changes.events[0]), "ask.requested");
    assert_null(strstr(changes.events[0].metadata.ptr, "secret"));
    const struct json *told = json_of(changes.events[0].metadata.ptr);
    assert_slice(json_text_of(told, "id"), "1");
    assert_slice(json_text_of(json_get(told, "ask"), "state"), "pending");
    assert_slice(event_type(&changes.events[1]), "ask.answered");
    assert_slice(changes.events[1].metadata, "{\"id\":\"1\",\"kind\":\"approval\",\"turn\":4,\"tool\":\"run_command\","
                                             "\"call_id\":\"c1\",\"decision\":\"deny\",\"reason\":\"no\"}");
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
        cmocka_unit_test(an_ask_is_complete_or_refused), cmocka_unit_test(the_same_question_whoever_asks),
        cmocka_unit_test(people_answer_and_nobody_else), cmocka_unit_test(edits_keep_the_shape),
        cmocka_unit_test(every_kind_has_its_decisions),  cmocka_unit_test(it_is_decided_once),
        cmocka_unit_test(several_agree_or_one_denies),   cmocka_unit_test(rules_match_what_they_say),
        cmocka_unit_test(the_wait_says_what_for),        cmocka_unit_test(the_log_tells_it),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
