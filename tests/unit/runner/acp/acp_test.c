/* The acp driver against a scripted agent (acp_agent.py): every way a turn can go. */
#include "runner/acp/acp.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/fake_host.h"
#include "runner/process/sandbox_base.h"
#include "unit.h"

enum { TURNS_MAX = 8 };

struct fixture {
    struct loop *loop;
    struct acp *acp;
    struct acp_options options;
    struct driver driver;
    struct agent agent;
    struct slice command[3];
    char directory[64], memory[96];
    struct turn turns[TURNS_MAX];
    size_t turn_count;
    struct sandbox sandbox;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->directory, "/tmp/acp_test.XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->memory, sizeof f->memory, "%s/memory", f->directory);
    f->loop = loop_new(0);
    f->options = (struct acp_options){
        .limits.start_ms = 20000,
        .limits.cancel_ms = 10000,
        .limits.silence_ms = 20000,
        .limits.line_bytes_max = 1 << 20,
        .limits.file_bytes_max = 1000,
        .directory = f->directory,
    };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    for (size_t i = 0; i < f->turn_count; i++) {
        fake_turn_release(&f->turns[i]);
    }
    f->driver.close(f->acp);
    loop_free(f->loop); /* runs until the last process is gone */
    acp_free(f->acp);
    snprintf(command, sizeof command, "rm -rf %s", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static struct turn *turn_new(struct fixture *f, const char *said)
{
    struct turn *turn = &f->turns[f->turn_count++];
    assert_true(f->turn_count <= TURNS_MAX);
    fake_turn_init(turn, f->loop);
    turn->brief.number = (int64_t)f->turn_count;
    turn->brief.agent = &f->agent;
    turn->brief.said = slice_of(said);
    turn->brief.sandbox = f->sandbox.root.len > 0 ? &f->sandbox : NULL;
    return turn;
}

static void make_driver(struct fixture *f, const char *agent_options)
{
    f->command[0] = SLICE("python3");
    f->command[1] = SLICE(ACP_AGENT);
    f->command[2] = slice_of(agent_options);
    f->agent.command = f->command;
    f->agent.command_length = 3;
    if (!f->acp) {
        f->acp = acp_new(&f->options);
        f->driver = acp_driver(f->acp);
    }
}

static struct turn *start_in(struct fixture *f, const char *agent_options, const char *thread, const char *said)
{
    struct turn *turn = turn_new(f, said);
    turn->brief.thread_id = thread ? slice_of(thread) : (struct slice){0};
    make_driver(f, agent_options);
    if (f->turn_count > 1) {
        turn->brief.kept = f->turns[f->turn_count - 2].kept;
    }
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    return turn;
}

static struct turn *start(struct fixture *f, const char *agent_options, const char *said)
{
    return start_in(f, agent_options, NULL, said);
}

static void check_log(const struct turn *turn, const char *part)
{
    if (!memmem(turn->log.ptr, turn->log.len, part, strlen(part))) {
        print_error("not said: %s\nsaid:\n%.*s\n", part, SLICE_ARG(buffer_slice(&turn->log)));
        fail();
    }
}

static void check_unsaid(const struct turn *turn, const char *part)
{
    if (memmem(turn->log.ptr, turn->log.len, part, strlen(part))) {
        print_error("said: %s\n%.*s\n", part, SLICE_ARG(buffer_slice(&turn->log)));
        fail();
    }
}

static void check_end(const struct turn *turn, enum turn_stop_reason stop, enum turn_error error)
{
    if (turn->end_count != 1 || turn->end.stop != stop || turn->end.error != error || turn->end.to != SESSION_IDLE) {
        print_error("ended %d times\n%.*s\n", turn->end_count, SLICE_ARG(buffer_slice(&turn->log)));
        fail();
    }
}

/* --- what is said --- */

static void test_text_and_what_is_kept(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = start(f, "{}", "echo hello");
    check_end(turn, TURN_STOP, TURN_OK);
    check_log(turn, "keep {\"acp_session_id\":\"ses-1\",\"cost_microcents\":0,\"cwd\":\"/tmp/acp_test");
    check_log(turn, "delta text m1.1 [{\"type\": \"text\", \"text\": \"echo hello\"}]");
    assert_int_equal(fake_turn_events(turn, "agent.message"), 1);
    check_log(turn, "event agent.message [{\"type\":\"text\",\"text\":\"[{\\\"type\\\": \\\"text\\\"");
    assert_false(slice_present(turn->end.usage));
}

static void test_every_kind_of_update(void **state)
{
    struct turn *turn = start(*state, "{}", "kinds");
    check_end(turn, TURN_STOP, TURN_OK);
    check_log(turn, "event agent.thinking [{\"type\":\"text\",\"text\":\"Let me think.\"}]");
    check_log(turn, "delta reasoning");
    check_log(turn, "event agent.message [{\"type\":\"text\",\"text\":\"One. \"}]");
    check_log(turn, "event agent.message [{\"type\":\"text\",\"text\":\"Two.\"},{\"type\": \"image\"");
    check_log(turn, "event agent.plan [{\"type\":\"plan\",\"entries\":[{\"content\": \"do\"");
    check_log(turn, "\"mode\":\"build\",\"commands\":[{\"name\": \"init\"");
    check_unsaid(turn, "nobody knows");
    check_unsaid(turn, "you said");
    check_unsaid(turn, "lost");
    assert_true(slice_is(turn->end.usage,
                         "{\"input_tokens\":5,\"output_tokens\":7,\"total_tokens\":12,\"cost_microcents\":25000000,"
                         "\"context\":{\"used_tokens\":10,\"size_tokens\":100}}"));
}

static void test_cost_is_the_growth_of_the_agents_sum(void **state)
{
    struct fixture *f = *state;
    start(f, "{}", "kinds");
    struct turn *second = start(f, "{}", "kinds");
    check_unsaid(second, "cost_microcents\":25000000}");
    assert_null(memmem(second->end.usage.ptr, second->end.usage.len, "cost", 4));
}

static void test_tool_calls(void **state)
{
    struct turn *turn = start(*state, "{}", "tool");
    check_end(turn, TURN_STOP, TURN_OK);
    assert_int_equal(fake_turn_events(turn, "agent.tool_call"), 2);
    assert_int_equal(fake_turn_events(turn, "agent.tool_result"), 2);
    check_log(turn, "event agent.message [{\"type\":\"text\",\"text\":\"Before. \"}] \nevent agent.tool_call "
                    "[{\"type\":\"tool_call\",\"tool_call_id\":\"c1\",\"name\":\"edit\",\"title\":\"Edit a.txt\","
                    "\"kind\":\"edit\",\"input\":{\"path\": \"a.txt\"},\"locations\":[{\"path\": \"/w/a.txt\"");
    check_log(turn, "delta tool_output c1 one\ndelta tool_output c1 \ntwo\n");
    check_log(
        turn,
        "\"output\":\"one\\ntwo\\nthree\",\"is_error\":false,\"diffs\":[{\"path\":\"/w/a.txt\",\"old_text\":\"xxx");
    check_log(turn, "\"new_text\":\"new\",\"truncated\":true}]");
    check_log(turn, "\"name\":\"fetch\",\"title\":\"Fetch it\"");
    check_log(turn, "bytes left out");
    assert_true(fake_turn_event(turn, "agent.tool_result", 0)->content.len < 52000);
    assert_true(fake_turn_event(turn, "agent.tool_result", 1)->content.len < 52000);
}

static void test_stop_reasons(void **state)
{
    static const struct {
        const char *said;
        enum turn_stop_reason stop;
        enum turn_error error;
    } rows[] = {
        {"stop max_tokens", TURN_LENGTH, TURN_OK},
        {"stop max_turn_requests", TURN_ERROR, TURN_LIMIT},
        {"stop refusal", TURN_CONTENT_FILTER, TURN_FILTERED},
        {"stop cancelled", TURN_ABORTED, TURN_CANCELLED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_end(start(*state, "{}", rows[i].said), rows[i].stop, rows[i].error);
    }
}

static void test_errors_of_the_agent(void **state)
{
    struct turn *turn = start(*state, "{}", "error -32603");
    check_end(turn, TURN_ERROR, TURN_INTERNAL);
    assert_true(slice_is(turn->end.error_message, "The agent failed: no model (at 1)"));
    check_end(start(*state, "{}", "error -32000"), TURN_ERROR, TURN_PROVIDER_AUTH);
    check_end(start(*state, "{}", "stop whatever"), TURN_ERROR, TURN_INTERNAL);
}

static void test_one_process_for_all_turns(void **state)
{
    struct fixture *f = *state;
    struct turn *first = start(f, "{}", "pid"), *second = start(f, "{}", "pid");
    assert_true(slice_eq(buffer_slice(&first->text), buffer_slice(&second->text)));
    f->driver.release_session(f->acp, 1, 1);
    struct turn *third = start(f, "{}", "pid");
    assert_false(slice_eq(buffer_slice(&first->text), buffer_slice(&third->text)));
}

static void test_the_environment_is_built_explicitly(void **state)
{
    struct fixture *f = *state;
    static const struct name_value environment[] = {{SLICE("GIVEN"), SLICE("1")}, {SLICE("LANG"), SLICE("C")}};
    static const struct slice passed[] = {SLICE("ACP_PASSED"), SLICE("ACP_ABSENT")};
    setenv("ACP_PASSED", "p", 1);
    setenv("ACP_SECRET", "s", 1);
    f->agent.environment = environment;
    f->agent.environment_count = 2;
    f->agent.pass_environment = passed;
    f->agent.pass_environment_count = 2;
    struct turn *turn = start(f, "{}", "environment");
    check_log(turn, "\"ACP_PASSED\": \"p\"");
    check_log(turn, "\"GIVEN\": \"1\"");
    check_log(turn, "\"LANG\": \"C\"");
    check_log(turn, "\"HOME\": \"/tmp/acp_test");
    check_log(turn, "/1-1\"}\n");
    check_unsaid(turn, "ACP_SECRET");
    check_unsaid(turn, "ACP_ABSENT");
}

/* --- prompts --- */

/* Beside the words, also of messages that were collected. */
static void test_attachments(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = turn_new(f, "echo");
    const struct event message = {
        .kind = EVENT_USER_MESSAGE,
        .metadata = SLICE("{\"attachments\":[{\"type\":\"image\",\"media_type\":\"image/png\",\"data\":\"QUJD\"}],"
                          "\"prompts\":[{\"prompt_id\":\"1\",\"metadata\":{}},{\"prompt_id\":\"2\",\"metadata\":"
                          "{\"attachments\":[{\"type\":\"pdf\",\"url\":\"https://a.example/b.pdf\"}]}}]}"),
    };
    make_driver(f, "{\"image\":true}");
    turn->brief.message = &message;
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    check_log(turn, "\"mimeType\": \"image/png\", \"data\": \"QUJD\"");
    check_log(turn, "{\"type\": \"resource_link\", \"uri\": \"https://a.example/b.pdf\"");
}

static void test_prompt_parts(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = turn_new(f, "");
    make_driver(f, "{\"image\":true}");
    turn->brief.prompt =
        SLICE("[{\"type\":\"image\",\"media_type\":\"image/png\",\"data\":\"QUJD\"},"
              "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/gif\",\"data\":\"REVG\"}},"
              "{\"type\":\"image\",\"url\":\"data:image/webp;base64,R0hJ\"},"
              "{\"type\":\"file\",\"url\":\"file:///w/a.txt\",\"filename\":\"a.txt\"},"
              "{\"type\":\"video\"},{\"type\":\"text\",\n\"text\":\"echo\"}]");
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    check_log(turn, "{\"type\": \"image\", \"mimeType\": \"image/png\", \"data\": \"QUJD\"}");
    check_log(turn, "\"mimeType\": \"image/gif\", \"data\": \"REVG\"");
    check_log(turn, "\"mimeType\": \"image/webp\", \"data\": \"R0hJ\"");
    check_log(turn, "{\"type\": \"resource_link\", \"uri\": \"file:///w/a.txt\", \"name\": \"a.txt\"}");
    check_log(turn, "[Something was attached that can't be shown to this agent.]");
}

static void test_instructions_and_history_for_a_new_session(void **state)
{
    struct fixture *f = *state;
    f->agent.system_prompt = SLICE("Be brief.");
    struct turn *turn = turn_new(f, "echo");
    make_driver(f, "{}");
    fake_turn_history(turn, "user.message", ROLE_USER, "[{\"type\":\"text\",\"text\":\"My name is ```Ada.\"}]", NULL);
    fake_turn_history(turn, "agent.tool_call", ROLE_AGENT, "[{\"name\":\"ls\",\"input\":{\"p\":1}}]", NULL);
    fake_turn_history(turn, "agent.tool_result", ROLE_AGENT, "[{\"output\":\"a b\"}]", NULL);
    fake_turn_history(turn, "agent.message", ROLE_AGENT, "[{\"type\":\"text\",\"text\":\"Hello Ada.\"}]", NULL);
    fake_turn_history(turn, "session.claimed", ROLE_SYSTEM, "[{\"type\":\"text\",\"text\":\"hidden\"}]", NULL);
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    check_log(turn, "\"text\": \"Be brief.\"}");
    check_log(turn,
              "````earlier-conversation\\nuser: My name is ```Ada.\\nyou called: ls {\\\"p\\\":1}\\nresult: a b\\n"
              "you: Hello Ada.\\n````\\n");
    check_unsaid(turn, "hidden");
    struct turn *second = start(f, "{}", "echo");
    check_unsaid(second, "Be brief.");
    check_unsaid(second, "Ada");
}

static void test_a_turn_that_was_cut_is_told_so(void **state)
{
    struct fixture *f = *state;
    static const struct event since[] = {
        {.kind = EVENT_AGENT_MESSAGE, .content = SLICE("[{\"type\":\"text\",\"text\":\"Half of it.\"}]")}};
    struct turn *turn = turn_new(f, "echo");
    make_driver(f, "{}");
    turn->brief.was_cut = true;
    turn->brief.since = since;
    turn->brief.since_count = 1;
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    check_log(turn, "user: echo\\nyou: Half of it.\\n");
    check_log(turn, "was cut off by a restart");
}

/* --- people --- */

static void test_permission(void **state)
{
    static const struct {
        enum ask_decision decision;
        const char *answer, *options, *outcome;
        bool is_error;
    } rows[] = {
        {DECISION_ONCE, NULL, "{}", "selected\\\", \\\"optionId\\\": \\\"yes\\\"", false},
        {DECISION_ALWAYS, NULL, "{}", "\\\"yes\\\"", false},
        {DECISION_ALWAYS, NULL, "{\"offer\":[\"allow_always\"]}", "\\\"cancelled\\\"", true},
        {DECISION_ONCE, NULL, "{\"offer\":[\"allow_always\",\"reject_once\"]}", "\\\"cancelled\\\"", true},
        {DECISION_DENY, NULL, "{}", "\\\"no\\\"", true},
        {DECISION_ONCE, "{\"command\":\"other\"}", "{}", "\\\"no\\\"", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture *f = *state;
        struct turn *turn = start(f, rows[i].options, "permit ls -l");
        assert_int_equal(turn->ask_count, 1);
        check_log(turn, "ask approval t");
        assert_true(slice_is(turn->asks[0].tool, "bash") && slice_is(turn->asks[0].text, "run it"));
        assert_true(slice_is(turn->asks[0].call_id, "c1"));
        assert_true(slice_is(turn->asks[0].arguments, "{\"command\": \"ls -l\"}"));
        fake_turn_answer(turn, rows[i].decision, rows[i].answer, NULL);
        fake_turn_run(turn);
        check_end(turn, TURN_STOP, TURN_OK);
        check_log(turn, rows[i].outcome);
        check_log(turn, rows[i].is_error ? "\"is_error\":true" : "\"is_error\":false");
        f->driver.release_session(f->acp, 1, 1);
    }
}

static void test_the_same_arguments_are_no_edit(void **state)
{
    struct turn *turn = start(*state, "{}", "permit ls");
    fake_turn_answer(turn, DECISION_ONCE, "{ \"command\" : \"ls\" }", NULL);
    fake_turn_run(turn);
    check_log(turn, "\\\"yes\\\"");
}

static void test_expired_and_cancelled_permissions(void **state)
{
    static const struct {
        enum ask_state to;
        const char *outcome;
    } rows[] = {{ASK_EXPIRED, "\\\"no\\\""}, {ASK_CANCELLED, "{\\\"outcome\\\": \\\"cancelled\\\"}"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture *f = *state;
        struct turn *turn = start(f, "{}", "permit ls");
        turn->asks[0].state = rows[i].to;
        f->driver.answer(turn->state, &turn->asks[0]);
        fake_turn_run(turn);
        check_log(turn, rows[i].outcome);
    }
}

/* A rule that allows knows the tool by its programmatic name only. */
static void test_rules_decide_before_people(void **state)
{
    struct fixture *f = *state;
    static const struct permission_rule rules[] = {
        {.tool = SLICE("bash"), .argument = SLICE("*rm *"), .then = PERMISSION_DENY},
        {.tool = SLICE("bash"), .then = PERMISSION_ALLOW},
        {.tool = SLICE("execute"), .then = PERMISSION_ALLOW},
    };
    f->agent.permissions = rules;
    f->agent.permission_count = COUNT_OF(rules);
    struct turn *turn = start(f, "{\"name\":\"bash\"}", "permit ls");
    check_end(turn, TURN_STOP, TURN_OK);
    assert_int_equal(turn->ask_count, 0);
    check_log(turn, "\\\"yes\\\"");
    turn = start(f, "{}", "permit rm -r x");
    assert_int_equal(turn->ask_count, 0);
    check_log(turn, "\\\"no\\\"");
    f->driver.release_session(f->acp, 1, 1);
    turn = start(f, "{}", "permit ls"); /* titled "bash", of the kind "execute" */
    assert_int_equal(turn->ask_count, 1);
    fake_turn_answer(turn, DECISION_DENY, NULL, NULL);
    fake_turn_run(turn);
}

/* A path is what it leads to, and what is too long to be looked through is not let through. */
static void test_no_way_around_the_rules(void **state)
{
    struct fixture *f = *state;
    static const struct permission_rule rules[] = {
        {.tool = SLICE("*"), .then = PERMISSION_ALLOW},
        {.path = SLICE("/secret/*"), .then = PERMISSION_DENY},
        {.tool = SLICE("bash"), .argument = SLICE("*rm *"), .then = PERMISSION_DENY},
    };
    static const char *const paths[] = {"/secret/a", "/open/x/../../secret//./a", "file:///%73ecret/a",
                                        "/proc/self/root/secret/a"};
    f->agent.permissions = rules;
    f->agent.permission_count = COUNT_OF(rules);
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        char options[200];
        snprintf(options, sizeof options, "{\"input\":{\"path\":\"%s\"}}", paths[i]);
        struct turn *turn = turn_new(f, "permit ls");
        make_driver(f, options);
        fake_turn_start(turn, &f->driver);
        fake_turn_run(turn);
        check_log(turn, "\\\"no\\\"");
        f->driver.release_session(f->acp, 1, 1);
    }
    struct turn *turn = start(f, "{\"input\":{\"path\":\"/open/a\"}}", "permit ls");
    check_log(turn, "\\\"yes\\\"");
    f->driver.release_session(f->acp, 1, 1);
    turn = start(f, "{}", "permit rm -r x pad");
    assert_int_equal(turn->ask_count, 1);
    assert_false(slice_present(turn->asks[0].arguments)); /* what was cut is not what was seen */
    fake_turn_answer(turn, DECISION_DENY, NULL, NULL);
    fake_turn_run(turn);
}

#define NO_INPUT "\"toolCallId\":\"g1\",\"title\":\"echo hello\",\"kind\":\"execute\",\"status\":\"pending\""

/* What agents send that show no input: nothing of it is an allowed or an empty input. */
static void test_calls_that_show_no_input(void **state)
{
    static const struct permission_rule denies[] = {
        {.tool = SLICE("*"), .then = PERMISSION_ALLOW},
        {.argument = SLICE("*rm -r*"), .then = PERMISSION_DENY},
    };
    static const struct permission_rule allows[] = {
        {.argument = SLICE("echo *"), .then = PERMISSION_ALLOW}, {.tool = SLICE("read"), .then = PERMISSION_ALLOW},
        {.tool = SLICE("execute"), .then = PERMISSION_ALLOW},    {.path = SLICE("/w/*"), .then = PERMISSION_ALLOW},
        {.command = SLICE("*"), .then = PERMISSION_ALLOW},
    };
    static const struct {
        const char *options;
        const struct permission_rule *rules;
        size_t count;
    } rows[] = {
        {"{\"call\":{" NO_INPUT ",\"content\":[],\"locations\":[]}}", denies, COUNT_OF(denies)},
        {"{\"call\":{" NO_INPUT ",\"content\":[],\"locations\":[]}}", allows, COUNT_OF(allows)},
        {"{\"call\":{\"toolCallId\":\"r1\",\"title\":\"read\",\"kind\":\"read\",\"rawInput\":{}}}", allows,
         COUNT_OF(allows)},
        {"{\"call\":{\"toolCallId\":\"e1\",\"title\":\"Edit files\",\"kind\":\"edit\",\"rawInput\":{},\"content\":"
         "[{\"type\":\"diff\",\"path\":\"/w/a\",\"newText\":\"x\"}]}}",
         allows, COUNT_OF(allows)},
        {"{\"call\":{\"toolCallId\":\"o1\",\"title\":\"bash\",\"kind\":\"execute\",\"rawInput\":{\"cwd\":\"/w\"}}}",
         allows, COUNT_OF(allows)},
        /* of a call that is done, under the same id, nothing counts any more */
        {"{\"done_before\":{\"toolCallId\":\"g1\",\"title\":\"t\",\"status\":\"completed\",\"rawInput\":{\"command\":"
         "\"echo hello\"}},\"call\":{" NO_INPUT "}}",
         allows, COUNT_OF(allows)},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        f->agent.permissions = rows[i].rules;
        f->agent.permission_count = rows[i].count;
        struct turn *turn = turn_new(f, "raw");
        make_driver(f, rows[i].options);
        fake_turn_start(turn, &f->driver);
        fake_turn_run(turn);
        assert_row(rows[i].options, turn->ask_count == 1);
        assert_row(rows[i].options, i == 4 || !slice_present(turn->asks[0].arguments));
        fake_turn_answer(turn, DECISION_DENY, NULL, NULL);
        fake_turn_run(turn);
        f->driver.release_session(f->acp, 1, 1);
    }
}

/* Diffs, locations, text and options belong to what is asked. */
static void test_what_is_asked_is_shown(void **state)
{
    struct turn *turn =
        start(*state,
              "{\"call\":{\"toolCallId\":\"e1\",\"title\":\"Edit files\",\"kind\":\"edit\",\"rawInput\":{},"
              "\"locations\":[{\"path\":\"/w/a\"}],\"content\":[{\"type\":\"diff\",\"path\":\"/w/a\","
              "\"oldText\":\"x\",\"newText\":\"y\"},{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":"
              "\"because\"}}]}}",
              "raw");
    static const char *const shown[] = {
        "\"title\":\"Edit files\",\"action\":\"edit\",\"input_seen\":false,\"locations\":[{\"path\": \"/w/a\"}]",
        "\"diffs\":[{\"path\":\"/w/a\",\"old_text\":\"x\",\"new_text\":\"y\"}],\"content\":\"because\",\"evidence\":",
        "\"options\":[{\"name\":\"Once\",\"kind\":\"allow_once\"},"};
    struct slice details = turn->asks[0].details;
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        assert_row(shown[i], memmem(details.ptr, details.len, shown[i], strlen(shown[i])) != NULL);
    }
    fake_turn_answer(turn, DECISION_ONCE, NULL, NULL);
    fake_turn_run(turn);
    check_log(turn, "\\\"yes\\\"");
}

static void test_a_withdrawn_permission(void **state)
{
    struct turn *turn = start(*state, "{}", "withdraw");
    fake_turn_run_lines(turn, 100);
    check_log(turn, "unask t1.1");
    check_end(turn, TURN_STOP, TURN_OK);
}

static void test_forms(void **state)
{
    struct turn *turn = start(*state, "{}", "form form");
    assert_int_equal(turn->asks[0].kind, ASK_ELICITATION);
    assert_true(slice_is(turn->asks[0].text, "Who?"));
    assert_true(turn->asks[0].schema.len > 10);
    fake_turn_answer(turn, DECISION_NONE, "{\"name\":\n\"Ada\"}", NULL);
    fake_turn_run(turn);
    check_log(turn, "{\\\"action\\\": \\\"accept\\\", \\\"content\\\": {\\\"name\\\": \\\"Ada\\\"}}");
    turn = start(*state, "{}", "form form");
    fake_turn_answer(turn, DECISION_DENY, NULL, NULL);
    fake_turn_run(turn);
    check_log(turn, "decline");
    turn = start(*state, "{}", "form url");
    check_end(turn, TURN_STOP, TURN_OK);
    check_log(turn, "decline");
}

/* --- interrupts --- */

static void test_interrupt(void **state)
{
    static const char *const said[] = {"hang", "hang finish", "hang late"};
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        struct fixture *f = *state;
        struct turn *turn = turn_new(f, said[i]);
        make_driver(f, "{}");
        turn->brief.kept = i > 0 ? f->turns[i - 1].kept : (struct slice){0};
        fake_turn_start(turn, &f->driver);
        while (turn->text.len == 0) {
            uv_run(loop_uv(f->loop), UV_RUN_ONCE);
        }
        fake_turn_interrupt(turn, false);
        fake_turn_interrupt(turn, false);
        fake_turn_run(turn);
        check_end(turn, TURN_ABORTED, TURN_CANCELLED);
        assert_int_equal(fake_turn_events(turn, "agent.tool_result"), 1);
        check_log(turn, i == 1 ? "\"is_error\":true}]" : "\"interrupted\":true,\"outcome\":\"ambiguous\"");
        check_log(turn, "event agent.message [{\"type\":\"text\",\"text\":\"Hanging.\"}]");
    }
    struct fixture *f = *state;
    struct turn *next = start(f, "{}", "recall"); /* the same process */
    check_log(next, "hang finish");
}

static void test_interrupt_of_a_deaf_agent(void **state)
{
    struct fixture *f = *state;
    f->options.limits.cancel_ms = 100;
    struct turn *turn = turn_new(f, "hang deaf");
    make_driver(f, "{}");
    fake_turn_start(turn, &f->driver);
    while (turn->text.len == 0) {
        uv_run(loop_uv(f->loop), UV_RUN_ONCE);
    }
    fake_turn_interrupt(turn, false);
    fake_turn_run(turn);
    check_end(turn, TURN_ABORTED, TURN_CANCELLED);
    check_log(turn, "\"outcome\":\"ambiguous\"");
    check_end(start(f, "{}", "echo"), TURN_STOP, TURN_OK);
}

static void test_interrupt_while_a_person_is_asked(void **state)
{
    struct turn *turn = start(*state, "{}", "permit ls");
    fake_turn_interrupt(turn, false);
    fake_turn_run_lines(turn, 1000);
    check_end(turn, TURN_ABORTED, TURN_CANCELLED);
    check_log(turn, "unask t1.1");
    check_log(turn, "cancelled");
}

static void test_interrupt_before_the_agent_is_there(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = turn_new(f, "echo");
    make_driver(f, "{}");
    fake_turn_start(turn, &f->driver);
    fake_turn_interrupt(turn, false);
    check_end(turn, TURN_ABORTED, TURN_CANCELLED);
    check_end(start(f, "{}", "echo"), TURN_STOP, TURN_OK);
}

static void test_a_turn_that_is_gone_says_nothing(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = start(f, "{}", "permit ls");
    size_t said = turn->log.len;
    fake_turn_interrupt(turn, true);
    for (int i = 0; i < 10; i++) {
        uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
    }
    assert_int_equal(turn->log.len, said);
    check_end(start(f, "{}", "echo"), TURN_STOP, TURN_OK);
}

/* --- ends nobody wanted --- */

static void test_death_in_a_turn(void **state)
{
    struct turn *turn = start(*state, "{}", "die 7");
    check_end(turn, TURN_ERROR, TURN_INTERNAL);
    check_log(turn, "exit code 7: fatal: token [redacted] is no good");
    check_log(turn, "\"is_error\":true,\"interrupted\":true,\"outcome\":\"ambiguous\"");
    check_unsaid(turn, "ghp_");
    turn = start(*state, "{}", "die kill");
    check_end(turn, TURN_ABORTED, TURN_CANCELLED);
    check_log(turn, "signal 9: fatal: token [redacted] is no good");
    check_log(turn, "agent_killed");
    assert_int_equal(fake_turn_events(turn, "agent.tool_call"), 1);
    assert_int_equal(fake_turn_events(turn, "agent.tool_result"), 0); /* its host writes that */
}

static void test_load_after_death(void **state)
{
    struct fixture *f = *state;
    char options[200];
    snprintf(options, sizeof options, "{\"load\":true,\"memory\":\"%s\"}", f->memory);
    struct turn *turn = start(f, options, "die kill");
    check_end(turn, TURN_ABORTED, TURN_CANCELLED);
    turn = start(f, options, "recall");
    check_end(turn, TURN_STOP, TURN_OK);
    check_log(turn, "[\\\"die kill\\\"]");
    check_unsaid(turn, "replayed");
    assert_int_equal(fake_turn_events(turn, "agent.tool_call"), 0);
    assert_int_equal(fake_turn_events(turn, "agent.message"), 1);
}

static void test_each_thread_has_a_session_of_the_agent(void **state)
{
    struct fixture *f = *state;
    char options[200];
    snprintf(options, sizeof options, "{\"load\":true,\"memory\":\"%s\"}", f->memory);
    check_log(start_in(f, options, NULL, "echo main"), "keep {\"acp_session_id\":\"ses-1\"");
    struct turn *turn = start_in(f, options, "a", "recall");
    check_log(turn, "\"threads\":[{\"thread_id\":\"a\",\"acp_session_id\":\"ses-2\",");
    check_log(turn, "delta text m2.1 []\n");
    f->driver.release_session(f->acp, 1, 1);
    check_log(start_in(f, options, "a", "recall"), "delta text m3.1 [\"recall\"]\n");
    check_log(start_in(f, options, NULL, "recall"), "delta text m4.1 [\"echo main\"]\n");
    check_log(start_in(f, options, "b", "recall"), "delta text m5.1 []\n");
    turn = start_in(f, options, "a", "recall");
    check_log(turn, "delta text m6.1 [\"recall\", \"recall\"]\n");
    check_unsaid(turn, "keep"); /* its session was open: nothing new */
}

static void test_a_session_that_can_not_be_loaded(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = turn_new(f, "echo");
    char kept[200];
    make_driver(f, "{\"load\":true}");
    snprintf(kept, sizeof kept, "{\"acp_session_id\":\"old\",\"cwd\":\"%s/1-1\"}", f->directory);
    turn->brief.kept = slice_of(kept);
    fake_turn_history(turn, "user.message", ROLE_USER, "[{\"type\":\"text\",\"text\":\"My name is Ada.\"}]", NULL);
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    check_end(turn, TURN_STOP, TURN_OK);
    check_log(turn, "user: My name is Ada.");
    check_log(turn, "keep {\"acp_session_id\":\"ses-1\"");
}

static void test_a_load_that_kills_is_not_tried_again(void **state)
{
    struct fixture *f = *state;
    char options[200];
    snprintf(options, sizeof options, "{\"load\":\"die\",\"memory\":\"%s\"}", f->memory);
    check_end(start(f, options, "echo"), TURN_STOP, TURN_OK);
    f->driver.release_session(f->acp, 1, 1);
    check_end(start(f, options, "echo"), TURN_ERROR, TURN_INTERNAL);
    check_end(start(f, options, "echo"), TURN_STOP, TURN_OK);
}

static void test_death_while_a_person_is_asked(void **state)
{
    struct fixture *f = *state;
    char options[200];
    snprintf(options, sizeof options, "{\"load\":true,\"memory\":\"%s\"}", f->memory);
    struct turn *turn = start(f, options, "permit ls");
    assert_int_equal(turn->ask_count, 1);
    assert_non_null(f->acp);
    fake_turn_interrupt(turn, true); /* as a server that dies: the process is killed, nothing more is said */
    struct turn *next = start(f, options, "recall");
    check_log(next, "[\\\"permit ls\\\"]");
}

static void test_starts_that_fail(void **state)
{
    static const struct {
        const char *options;
        enum turn_error error;
        const char *message;
    } rows[] = {
        {"{\"start\":\"die\"}", TURN_INTERNAL, "exit code 3: cannot find the model"},
        {"{\"start\":\"version\"}", TURN_INTERNAL, "does not speak version 1"},
        {"{\"start\":\"refuse\"}", TURN_INTERNAL, "not today"},
        {"{\"start\":\"auth\"}", TURN_PROVIDER_AUTH, "Authentication required (Give the agent its key: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct turn *turn = start(*state, rows[i].options, "echo");
        check_end(turn, TURN_ERROR, rows[i].error);
        check_log(turn, rows[i].message);
    }
}

static void test_a_start_that_takes_too_long(void **state)
{
    struct fixture *f = *state;
    f->options.limits.start_ms = 200;
    struct turn *turn = start(f, "{\"start\":\"hang\"}", "echo");
    check_end(turn, TURN_ERROR, TURN_TIMEOUT);
    check_log(turn, "not ready within 200 ms");
}

static void test_no_command_and_no_place(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = turn_new(f, "echo");
    make_driver(f, "{}");
    f->agent.command_length = 0;
    fake_turn_start(turn, &f->driver);
    check_end(turn, TURN_ERROR, TURN_SANDBOX_ERROR);
    f->agent.command_length = 3;
    f->command[0] = SLICE("/no/such/program");
    turn = turn_new(f, "echo");
    fake_turn_start(turn, &f->driver);
    fake_turn_run(turn);
    assert_int_equal(turn->end.stop, TURN_ERROR);
}

static void test_without_a_place_nothing_runs(void **state)
{
    struct fixture *f = *state;
    f->options.directory = NULL;
    struct turn *turn = start(f, "{}", "echo");
    check_end(turn, TURN_ERROR, TURN_SANDBOX_ERROR);
    check_log(turn, "needs a sandbox");
}

static void test_who_wants_a_sandbox_runs_nowhere_else(void **state)
{
    struct fixture *f = *state;
    f->agent.sandbox.kind = SANDBOX_LOCAL;
    check_end(start(f, "{}", "echo"), TURN_ERROR, TURN_SANDBOX_ERROR);
}

static void test_silence(void **state)
{
    struct fixture *f = *state;
    f->options.limits.silence_ms = 300;
    struct turn *turn = start(f, "{}", "silent");
    check_end(turn, TURN_ERROR, TURN_TIMEOUT);
    check_log(turn, "said nothing for 300 ms");
}

static void test_an_idle_agent_goes(void **state)
{
    struct fixture *f = *state;
    f->agent.idle_timeout_ms = 1;
    struct turn *first = start(f, "{}", "pid");
    pid_t pid = (pid_t)number_of(buffer_slice(&first->text));
    while (kill(pid, 0) == 0) { /* until it was reaped */
        uv_run(loop_uv(f->loop), UV_RUN_ONCE);
    }
    struct turn *second = start(f, "{}", "pid");
    assert_false(slice_eq(buffer_slice(&first->text), buffer_slice(&second->text)));
}

static void on_timer(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void test_people_may_take_their_time(void **state)
{
    struct fixture *f = *state;
    f->options.limits.silence_ms = 300;
    struct turn *turn = start(f, "{}", "permit ls");
    uv_timer_t timer;
    uv_timer_init(loop_uv(f->loop), &timer);
    uv_timer_start(&timer, on_timer, 700, 0);
    uv_run(loop_uv(f->loop), UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
    assert_int_equal(turn->end_count, 0);
    fake_turn_answer(turn, DECISION_ONCE, NULL, NULL);
    fake_turn_run(turn);
    check_end(turn, TURN_STOP, TURN_OK);
}

static void test_wrong_words(void **state)
{
    struct fixture *f = *state;
    f->options.limits.line_bytes_max = 2000;
    struct turn *turn = start(f, "{}", "garbage");
    check_end(turn, TURN_ERROR, TURN_INTERNAL);
    check_log(turn, "can't be understood");
    turn = start(f, "{}", "long 1000");
    check_end(turn, TURN_STOP, TURN_OK);
    turn = start(f, "{}", "long 3000");
    check_end(turn, TURN_ERROR, TURN_INTERNAL);
    check_log(turn, "more than 2000 bytes");
}

static void test_much_text_is_cut_into_events(void **state)
{
    struct turn *turn = start(*state, "{}", "long 600000");
    check_end(turn, TURN_STOP, TURN_OK);
    assert_int_equal(turn->text.len, 600000);
    assert_int_equal(fake_turn_events(turn, "agent.message"), 3);
}

static void relieve(uv_timer_t *timer)
{
    struct turn *turn = timer->data;
    turn->is_full = false;
}

static void test_a_full_host_slows_the_agent(void **state)
{
    struct fixture *f = *state;
    struct turn *turn = turn_new(f, "flood 20000");
    make_driver(f, "{}");
    turn->is_full = true;
    uv_timer_t timer = {.data = turn};
    uv_timer_init(loop_uv(f->loop), &timer);
    uv_timer_start(&timer, relieve, 300, 0);
    fake_turn_start(turn, &f->driver);
    while (turn->is_full) {
        uv_run(loop_uv(f->loop), UV_RUN_ONCE);
    }
    assert_int_equal(turn->end_count, 0);
    assert_true(turn->text.len < 2000000);
    fake_turn_run(turn);
    check_end(turn, TURN_STOP, TURN_OK);
    assert_int_equal(turn->text.len, 2000000);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

/* --- files --- */

static enum status prepare(struct sandbox *sandbox, const struct process_spec *spec, struct launch *launch,
                           struct failure *failure)
{
    (void)sandbox, (void)failure;
    launch_plain(launch, spec);
    launch->directory = sandbox->root.ptr;
    return STATUS_OK;
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static struct turn *in_sandbox(struct fixture *f, const char *said)
{
    static const struct slice passed[] = {SLICE("PATH")};
    f->agent.pass_environment = passed;
    f->agent.pass_environment_count = 1;
    f->sandbox.kind = SANDBOX_LOCAL;
    f->sandbox.root = slice_of(f->directory);
    f->sandbox.limits = process_limits_usual;
    f->sandbox.prepare = prepare;
    return start(f, "{}", said);
}

static void test_files_are_read_in_the_sandbox(void **state)
{
    struct fixture *f = *state;
    char said[200];
    write_file(f->directory, "a.txt", "one\ntwo\nthree\nfour\n");
    snprintf(said, sizeof said, "read %s/a.txt 2 2", f->directory);
    check_log(in_sandbox(f, said), "{\\\"content\\\": \\\"two\\\\nthree\\\\n\\\"}");
    snprintf(said, sizeof said, "read %s/../../etc/passwd", f->directory);
    check_log(in_sandbox(f, said), "-32602");
    check_log(in_sandbox(f, "read /etc/passwd"), "\\\"code\\\"");
}

static void test_links_do_not_lead_out(void **state)
{
    struct fixture *f = *state;
    char said[200], link[128];
    snprintf(link, sizeof link, "%s/out", f->directory);
    assert_int_equal(symlink("/etc", link), 0);
    snprintf(said, sizeof said, "read %s/out/passwd", f->directory);
    struct turn *turn = in_sandbox(f, said);
    check_log(turn, "\\\"code\\\"");
    check_unsaid(turn, "root:");
    snprintf(said, sizeof said, "write %s/out/acp_test_written x", f->directory);
    check_log(in_sandbox(f, said), "\\\"code\\\"");
    assert_int_not_equal(access("/etc/acp_test_written", F_OK), 0);
}

/* Nor past a rule: what is served is what the link leads to. */
static void test_links_do_not_lead_past_rules(void **state)
{
    static const struct permission_rule rules[] = {{.path = SLICE("secrets/*"), .then = PERMISSION_DENY}};
    static const char *const acts[] = {"read %s/near/key", "read %s/secrets/key", "read %s/SECRETS/../secrets/key",
                                       "write %s/near/new x"};
    struct fixture *f = *state;
    char said[200], path[128], command[300];
    snprintf(command, sizeof command, "mkdir %s/secrets && echo found > %s/secrets/key", f->directory, f->directory);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/near", f->directory);
    assert_int_equal(symlink("secrets", path), 0);
    f->agent.permissions = rules;
    f->agent.permission_count = 1;
    for (size_t i = 0; i < COUNT_OF(acts); i++) {
        snprintf(said, sizeof said, acts[i], f->directory);
        struct turn *turn = in_sandbox(f, said);
        check_log(turn, "\\\"code\\\"");
        check_unsaid(turn, "found");
    }
    snprintf(path, sizeof path, "%s/secrets/new", f->directory);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_files_are_written_in_the_sandbox(void **state)
{
    struct fixture *f = *state;
    char said[1400], path[128], text[64] = "";
    snprintf(path, sizeof path, "%s/deep/er/b.txt", f->directory);
    snprintf(said, sizeof said, "write %s hello there", path);
    check_log(in_sandbox(f, said), "event agent.message [{\"type\":\"text\",\"text\":\"{}\"}]");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "hello there");
    snprintf(said, sizeof said, "write %s %01100d", path, 1);
    check_log(in_sandbox(f, said), "\\\"code\\\"");
}

static void test_without_a_sandbox_no_files_are_served(void **state)
{
    struct fixture *f = *state;
    write_file(f->directory, "a.txt", "one\n");
    char said[200];
    snprintf(said, sizeof said, "read %s/a.txt", f->directory);
    check_log(start(f, "{}", said), "-32602");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_text_and_what_is_kept),
        CASE(test_every_kind_of_update),
        CASE(test_cost_is_the_growth_of_the_agents_sum),
        CASE(test_tool_calls),
        CASE(test_stop_reasons),
        CASE(test_errors_of_the_agent),
        CASE(test_one_process_for_all_turns),
        CASE(test_the_environment_is_built_explicitly),
        CASE(test_attachments),
        CASE(test_prompt_parts),
        CASE(test_instructions_and_history_for_a_new_session),
        CASE(test_a_turn_that_was_cut_is_told_so),
        CASE(test_permission),
        CASE(test_the_same_arguments_are_no_edit),
        CASE(test_expired_and_cancelled_permissions),
        CASE(test_rules_decide_before_people),
        CASE(test_no_way_around_the_rules),
        CASE(test_calls_that_show_no_input),
        CASE(test_what_is_asked_is_shown),
        CASE(test_a_withdrawn_permission),
        CASE(test_forms),
        CASE(test_interrupt),
        CASE(test_interrupt_of_a_deaf_agent),
        CASE(test_interrupt_while_a_person_is_asked),
        CASE(test_interrupt_before_the_agent_is_there),
        CASE(test_a_turn_that_is_gone_says_nothing),
        CASE(test_death_in_a_turn),
        CASE(test_load_after_death),
        CASE(test_each_thread_has_a_session_of_the_agent),
        CASE(test_a_session_that_can_not_be_loaded),
        CASE(test_a_load_that_kills_is_not_tried_again),
        CASE(test_death_while_a_person_is_asked),
        CASE(test_starts_that_fail),
        CASE(test_a_start_that_takes_too_long),
        CASE(test_no_command_and_no_place),
        CASE(test_without_a_place_nothing_runs),
        CASE(test_who_wants_a_sandbox_runs_nowhere_else),
        CASE(test_silence),
        CASE(test_an_idle_agent_goes),
        CASE(test_people_may_take_their_time),
        CASE(test_wrong_words),
        CASE(test_much_text_is_cut_into_events),
        CASE(test_a_full_host_slows_the_agent),
        CASE(test_files_are_read_in_the_sandbox),
        CASE(test_links_do_not_lead_out),
        CASE(test_links_do_not_lead_past_rules),
        CASE(test_files_are_written_in_the_sandbox),
        CASE(test_without_a_sandbox_no_files_are_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
