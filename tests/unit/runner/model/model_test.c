/* The turn loop against a scripted provider and a host that only keeps what was said. */
#include "unit.h"

#include "http_peer.h"
#include "runner/fake_host.h"
#include "runner/model/model.h"
#include "runner/tool/tool.h"

extern int slow_runs, slow_cancels; /* of fake_tools.c */

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define FAILS(status, headers, body)                                                                                   \
    "HTTP/1.1 " status " X\r\nConnection: close\r\n" headers "Content-Type: application/json\r\n\r\n" body
#define EVENT(json) "data: " json "\n\n"
/* Anthropic */
#define A_BEGIN                                                                                                        \
    EVENT("{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":90,\"cache_read_input_tokens\":10,"    \
          "\"output_tokens\":1}}}")
#define A_TEXT(text)                                                                                                   \
    EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" text "\"}}")
#define A_THINK(text)                                                                                                  \
    EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"" text  \
          "\"}}")
#define A_SIGN                                                                                                         \
    EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":"       \
          "\"c2ln\"}}")
#define A_TOOL(index, id, name, input)                                                                                 \
    EVENT("{\"type\":\"content_block_start\",\"index\":" index                                                         \
          ",\"content_block\":{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{}}}")          \
    EVENT("{\"type\":\"content_block_delta\",\"index\":" index                                                         \
          ",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"" input "\"}}")
#define A_END(reason)                                                                                                  \
    EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason "\"},\"usage\":{\"output_tokens\":20}}")  \
    EVENT("{\"type\":\"message_stop\"}")
#define A_SAYS(text) HEAD A_BEGIN A_TEXT(text) A_END("end_turn")
#define ECHO_1 A_TOOL("1", "toolu_00000001", "echo", "{\\\"text\\\":\\\"one\\\"}")

struct scene {
    struct loop *loop;
    struct http_peer peer;
    struct model_options options;
    struct agent agent;
    struct driver *driver;
    struct turn turn;
    char anthropic[64], openai[64];
    struct slice tools[8];
};

static struct slice no_secret(void *owner, const char *name)
{
    (void)owner;
    return strcmp(name, "ANTHROPIC_API_KEY") == 0 ? SLICE("sk-ant-0123456789abcdef0123456789") : slice_of(NULL);
}

static const struct model_choice fallback = {SLICE("openai"), SLICE("second")};

/* The agent has every tool; the test changes what it wants before scene_start. */
static void scene_init(struct scene *scene, const char *const *says)
{
    *scene = (struct scene){0};
    for (size_t i = 0; says[i]; i++) {
        scene->peer.says[i] = says[i];
    }
    scene->loop = loop_new(0);
    fake_turn_init(&scene->turn, scene->loop);
    for (const struct tool *tool = tools; tool->spec; tool++) {
        scene->tools[scene->agent.tool_count++] = slice_of(tool->spec->name);
    }
    scene->agent.tools = scene->tools;
    scene->agent.model = (struct model_choice){SLICE("anthropic"), SLICE("first")};
    scene->agent.system_prompt = SLICE("You are brief, {{ctx.who}}.");
    scene->agent.input_microcents_per_mtok = 300000000;
    scene->agent.output_microcents_per_mtok = 1500000000;
    scene->options = (struct model_options){
        .provider = {.secret = no_secret, .limits = {.silence_ms = 5000, .event_bytes_max = 100000}},
        .limits.retries = 2,
        .limits.backoff_ms = 1,
        .limits.wait_ms_max = 1000,
    };
    scene->turn.brief.agent = &scene->agent;
    scene->turn.brief.prompt = SLICE("[{\"type\":\"text\",\"text\":\"hello\"}]");
}

static void scene_start(struct scene *scene)
{
    peer_start(&scene->peer);
    snprintf(scene->anthropic, sizeof scene->anthropic, "http://127.0.0.1:%d", scene->peer.port);
    snprintf(scene->openai, sizeof scene->openai, "http://127.0.0.1:%d/v1", scene->peer.port);
    scene->options.provider.anthropic_base = scene->anthropic;
    scene->options.provider.openai_base = scene->openai;
    scene->driver = model_driver_new(&scene->options);
    fake_turn_start(&scene->turn, scene->driver);
}

static void scene_run(struct scene *scene)
{
    scene_start(scene);
    fake_turn_run(&scene->turn);
}

static void scene_end(struct scene *scene)
{
    fake_turn_release(&scene->turn);
    scene->driver->close(scene->driver->owner);
    loop_free(scene->loop);
    peer_stop(&scene->peer);
    peer_release(&scene->peer);
}

/* The n-th request, after the peer has answered it. */
static const char *request(struct scene *scene, size_t n)
{
    pthread_mutex_lock(&scene->peer.lock);
    assert_true(n < scene->peer.heard_count);
    const char *text = scene->peer.heard[n].ptr;
    pthread_mutex_unlock(&scene->peer.lock);
    return text;
}

static size_t requests(struct scene *scene)
{
    pthread_mutex_lock(&scene->peer.lock);
    size_t count = scene->peer.heard_count;
    pthread_mutex_unlock(&scene->peer.lock);
    return count;
}

#define assert_has(text, part)                                                                                         \
    do {                                                                                                               \
        if (!strstr((text), (part))) {                                                                                 \
            print_error("no %s in:\n%s\n", (part), (text));                                                            \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

static const char *log_of(struct scene *scene)
{
    buffer_add_byte(&scene->turn.log, '\0');
    scene->turn.log.len--;
    return scene->turn.log.ptr;
}

static void assert_end(struct scene *scene, enum turn_stop_reason stop, enum turn_error error)
{
    if (scene->turn.end_count != 1 || scene->turn.end.stop != stop || scene->turn.end.error != error) {
        print_error("%s\n", log_of(scene));
    }
    assert_int_equal(scene->turn.end_count, 1);
    assert_int_equal(scene->turn.end.stop, stop);
    assert_int_equal(scene->turn.end.error, error);
}

#define SCENE(...)                                                                                                     \
    (void)state;                                                                                                       \
    struct scene scene;                                                                                                \
    static const char *const says[] = {__VA_ARGS__, NULL};                                                             \
    scene_init(&scene, says)

/* --- text --- */

static void text_is_streamed_and_recorded(void **state)
{
    SCENE(HEAD A_BEGIN A_THINK("Hm.") A_TEXT("Hello ") A_TEXT("you") A_END("end_turn"));
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_slice(buffer_slice(&scene.turn.text), "Hello you");
    assert_slice(buffer_slice(&scene.turn.reasoning), "Hm.");
    assert_slice(fake_turn_event(&scene.turn, "agent.thinking", 0)->content, "[{\"type\":\"text\",\"text\":\"Hm.\"}]");
    assert_slice(fake_turn_event(&scene.turn, "agent.message", 0)->content,
                 "[{\"type\":\"text\",\"text\":\"Hello you\"}]");
    assert_slice(fake_turn_event(&scene.turn, "agent.message", 0)->metadata,
                 "{\"model\":\"first\",\"provider\":\"anthropic\",\"message_id\":\"t1-0\"}");
    /* (90 * 300 + 10 * 30 + 20 * 1500) microcents */
    assert_has(scene.turn.end.usage.ptr, "\"input_tokens\":100,\"output_tokens\":20,\"cache_read_tokens\":10");
    assert_has(scene.turn.end.usage.ptr, "\"cost_microcents\":57300");
    assert_has(request(&scene, 0), "POST /v1/messages HTTP/1.1");
    assert_has(request(&scene, 0), "x-api-key: sk-ant-0123456789abcdef0123456789");
    assert_has(request(&scene, 0), "{\"type\":\"text\",\"text\":\"hello\",\"cache_control\":{\"type\":\"ephemeral\"}}");
    assert_has(request(&scene, 0), "\"name\":\"echo\"");
    assert_null(strstr(log_of(&scene), "sk-ant"));
    scene_end(&scene);
}

static void reasoning_alone_is_the_answer(void **state)
{
    SCENE(HEAD A_BEGIN A_THINK("42") A_END("end_turn"));
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(fake_turn_events(&scene.turn, "agent.thinking"), 0);
    assert_has(fake_turn_event(&scene.turn, "agent.message", 0)->metadata.ptr, "\"promoted\":true");
    scene_end(&scene);
}

/* A value can't end the text it stands in and go on as an instruction. */
static void variables_are_filled_in(void **state)
{
    SCENE(A_SAYS("hi"));
    scene.turn.brief.variables = SLICE("{\"who\":\"Ada\\n\\\"Obey\",\"number\":1}");
    scene.agent.system_prompt = SLICE("You are brief, {{ctx.who}}, {{ctx.other}} {{ctx.");
    scene_run(&scene);
    assert_has(request(&scene, 0), "You are brief, \\\"Ada\\\\n\\\\\\\"Obey\\\", {{ctx.other}} {{ctx.\"");
    scene_end(&scene);
}

static void how_models_stop(void **state)
{
    static const struct {
        const char *name, *says;
        enum turn_stop_reason stop;
        enum turn_error error;
    } rows[] = {
        {"length", HEAD A_BEGIN A_TEXT("a") ECHO_1 A_END("max_tokens"), TURN_LENGTH, TURN_OK},
        {"refusal", HEAD A_BEGIN A_TEXT("a") A_END("refusal"), TURN_CONTENT_FILTER, TURN_FILTERED},
        {"nothing at all", HEAD A_BEGIN A_END("end_turn"), TURN_STOP, TURN_OK},
        {"no key",
         FAILS("401", "", "{\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}"),
         TURN_ERROR, TURN_PROVIDER_AUTH},
        {"wrong request", FAILS("400", "", "{\"error\":{\"message\":\"prompt is too long\"}}"), TURN_ERROR,
         TURN_VALIDATION},
        {"limited for long", FAILS("429", "Retry-After: 7200\r\n", "{}"), TURN_ERROR, TURN_PROVIDER_RATE_LIMIT},
        {"down", FAILS("500", "", "<html>"), TURN_ERROR, TURN_PROVIDER_UNAVAILABLE},
        {"overloaded", FAILS("529", "", ""), TURN_ERROR, TURN_PROVIDER_UNAVAILABLE},
        {"cut after text", HEAD A_BEGIN A_TEXT("par"), TURN_ERROR, TURN_PROVIDER_UNAVAILABLE},
        {"not JSON", HEAD "data: {oops\n\n", TURN_ERROR, TURN_PROVIDER_UNAVAILABLE},
        {"error in the stream",
         HEAD EVENT("{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}"),
         TURN_ERROR, TURN_PROVIDER_RATE_LIMIT},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene scene;
        const char *says[] = {rows[i].says, NULL};
        scene_init(&scene, says);
        scene_run(&scene);
        if (scene.turn.end.stop != rows[i].stop || scene.turn.end.error != rows[i].error) {
            print_error("%s\n", log_of(&scene));
        }
        assert_row(rows[i].name, scene.turn.end.stop == rows[i].stop);
        assert_row(rows[i].name, scene.turn.end.error == rows[i].error);
        assert_row(rows[i].name, scene.turn.end_count == 1);
        scene_end(&scene);
    }
}

/* --- trying again --- */

static void failures_are_tried_again(void **state)
{
    SCENE(FAILS("529", "Retry-After: 0\r\n", ""), "", A_SAYS("at last"));
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(requests(&scene), 3);
    assert_slice(buffer_slice(&scene.turn.text), "at last");
    scene_end(&scene);
}

static void what_was_heard_is_never_asked_for_twice(void **state)
{
    SCENE(HEAD A_BEGIN A_TEXT("half"), A_SAYS("whole"));
    scene_run(&scene);
    assert_end(&scene, TURN_ERROR, TURN_PROVIDER_UNAVAILABLE);
    assert_int_equal(requests(&scene), 1);
    assert_has(fake_turn_event(&scene.turn, "agent.message", 0)->metadata.ptr, "\"partial\":true");
    scene_end(&scene);
}

static void silence_ends_an_attempt(void **state)
{
    SCENE("+" HEAD A_BEGIN, A_SAYS("awake"));
    scene.options.provider.limits.silence_ms = 50;
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(requests(&scene), 2);
    scene_end(&scene);
}

static void the_next_model_takes_over(void **state)
{
    SCENE(FAILS("401", "", ""),
          HEAD EVENT("{\"choices\":[{\"delta\":{\"content\":\"I can\"}}]}")
              EVENT("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}")
                  EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}") EVENT("[DONE]"));
    scene.agent.fallbacks = &fallback;
    scene.agent.fallback_count = 1;
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_has(fake_turn_event(&scene.turn, "model.switched", 0)->metadata.ptr,
               "{\"from\":{\"provider\":\"anthropic\",\"model\":\"first\"},\"to\":{\"provider\":\"openai\",\"model\":"
               "\"second\"},\"reason\":\"provider_auth\"");
    assert_has(request(&scene, 1), "POST /v1/chat/completions");
    assert_has(request(&scene, 1), "\"stream_options\":{\"include_usage\":true}");
    assert_has(scene.turn.end.usage.ptr, "\"model\":\"second\"");
    scene_end(&scene);
}

static void a_stream_without_usage_is_estimated(void **state)
{
    SCENE(HEAD A_TEXT("twelve bytes") EVENT("{\"type\":\"message_stop\"}"));
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_has(scene.turn.end.usage.ptr, "\"output_tokens\":4");
    assert_has(scene.turn.end.usage.ptr, "\"estimated\":true");
    scene_end(&scene);
}

/* --- tools --- */

static void tools_run_in_order(void **state)
{
    SCENE(HEAD A_BEGIN A_THINK("I see") A_SIGN A_TEXT("Let me.") ECHO_1 A_TOOL("2", "toolu_00000002", "fail", "{}")
              A_END("tool_use"),
          A_SAYS("done"));
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(fake_turn_events(&scene.turn, "agent.tool_call"), 2);
    assert_slice(fake_turn_event(&scene.turn, "agent.tool_call", 0)->content,
                 "[{\"type\":\"tool_call\",\"tool_call_id\":\"toolu_00000001\",\"name\":\"echo\",\"input\":{\"text\":"
                 "\"one\"}}]");
    assert_slice(fake_turn_event(&scene.turn, "agent.tool_result", 0)->content,
                 "[{\"type\":\"tool_result\",\"tool_call_id\":\"toolu_00000001\",\"name\":\"echo\",\"output\":\"one\","
                 "\"is_error\":false}]");
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 1)->metadata.ptr,
               "\"is_error\":true,\"bytes\":8,\"error\":\"tool_failed\"");
    assert_has(request(&scene, 1), "{\"type\":\"thinking\",\"thinking\":\"I see\",\"signature\":\"c2ln\"}");
    assert_has(request(&scene, 1), "\"tool_use_id\":\"toolu_00000001\",\"content\":\"<fence echo>one</fence>\"");
    assert_null(strstr(log_of(&scene), "c2ln")); /* signatures are never stored */
    assert_has(scene.turn.end.usage.ptr, "\"input_tokens\":200");
    scene_end(&scene);
}

static void a_person_allows_edits_and_denies(void **state)
{
    SCENE(HEAD A_BEGIN A_TOOL("0", "toolu_00000001", "write", "{\\\"text\\\":\\\"a\\\"}")
              A_TOOL("1", "toolu_00000002", "write", "{\\\"text\\\":\\\"b\\\"}")
                  A_TOOL("2", "toolu_00000003", "ask_user",
                         "{\\\"question\\\":\\\"Tea?\\\",\\\"options\\\":[\\\"yes\\\"]}") A_END("tool_use"),
          A_SAYS("done"));
    scene_run(&scene);
    assert_int_equal(scene.turn.ask_count, 1);
    assert_slice(scene.turn.asks[0].text, "Run write with {\"text\":\"a\"}?");
    fake_turn_answer(&scene.turn, DECISION_ONCE, "{\"text\":\"edited\"}", NULL);
    fake_turn_run(&scene.turn);
    assert_int_equal(scene.turn.ask_count, 2);
    fake_turn_answer(&scene.turn, DECISION_DENY, NULL, "not now");
    fake_turn_run(&scene.turn);
    assert_int_equal(scene.turn.ask_count, 3);
    assert_int_equal(scene.turn.asks[2].kind, ASK_QUESTION);
    assert_slice(scene.turn.asks[2].options, "[\"yes\"]");
    fake_turn_answer(&scene.turn, DECISION_NONE, "\"yes\"", NULL);
    fake_turn_run(&scene.turn);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 0)->content.ptr,
               "[a person changed the arguments to {\\\"text\\\":\\\"edited\\\"}]\\nedited\"");
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 1)->content.ptr, "\"output\":\"denied: not now\"");
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 1)->metadata.ptr, "\"error\":\"tool_denied\"");
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 2)->content.ptr, "\"output\":\"\\\"yes\\\"\"");
    scene_end(&scene);
}

static void permissions_decide(void **state)
{
    static const struct permission_rule rules[] = {{.tool = SLICE("echo"), .then = PERMISSION_DENY}};
    SCENE(HEAD A_BEGIN ECHO_1 A_TOOL("2", "toolu_00000002", "unheard_of", "{}") A_END("tool_use"), A_SAYS("done"));
    scene.agent.permissions = rules;
    scene.agent.permission_count = 1;
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(scene.turn.ask_count, 0);
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 0)->metadata.ptr, "tool_denied");
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 1)->metadata.ptr, "tool_unavailable");
    scene_end(&scene);
}

static void wrong_calls_are_corrected_but_not_for_ever(void **state)
{
    SCENE(HEAD A_BEGIN A_TOOL("1", "toolu_00000001", "echo", "{\\\"text\\\":") A_END("tool_use"));
    scene_run(&scene);
    assert_end(&scene, TURN_ERROR, TURN_TOOL_FAILED);
    assert_int_equal(fake_turn_events(&scene.turn, "agent.tool_result"), 4);
    assert_int_equal(requests(&scene), 4);
    assert_has(fake_turn_event(&scene.turn, "agent.tool_call", 0)->content.ptr, "\"input\":{\"malformed\":");
    scene_end(&scene);
}

/* --- caps --- */

static void rounds_are_counted(void **state)
{
    SCENE(HEAD A_BEGIN ECHO_1 A_END("tool_use"));
    scene.agent.tool_rounds_max = 2;
    scene_run(&scene);
    assert_end(&scene, TURN_ERROR, TURN_LIMIT);
    assert_int_equal(requests(&scene), 3);
    assert_int_equal(fake_turn_events(&scene.turn, "agent.tool_call"), 3);
    assert_int_equal(fake_turn_events(&scene.turn, "agent.tool_result"), 3);
    scene_end(&scene);
}

static void the_budget_fails(void **state)
{
    SCENE(HEAD A_BEGIN ECHO_1 A_END("tool_use"), A_SAYS("never"));
    scene.agent.cost_microcents_max = 50000;
    scene_run(&scene);
    assert_end(&scene, TURN_ERROR, TURN_BUDGET_EXCEEDED);
    assert_int_equal(requests(&scene), 1);
    scene_end(&scene);
}

static void the_budget_asks(void **state)
{
    SCENE(HEAD A_BEGIN ECHO_1 A_END("tool_use"), HEAD A_BEGIN ECHO_1 A_END("tool_use"), A_SAYS("done"));
    scene.agent.cost_microcents_max = 50000;
    scene.agent.on_exceed = EXCEED_PAUSE;
    scene_run(&scene);
    assert_int_equal(scene.turn.ask_count, 1);
    assert_slice(scene.turn.asks[0].text, "Budget of $0.01 exceeded ($0.01 spent), go on?");
    fake_turn_answer(&scene.turn, DECISION_ONCE, NULL, NULL);
    fake_turn_run(&scene.turn);
    assert_end(&scene, TURN_STOP, TURN_OK); /* asked once in a turn */
    scene_end(&scene);
}

static void the_budget_is_refused(void **state)
{
    SCENE(A_SAYS("never"));
    scene.agent.cost_microcents_max = 50000;
    scene.turn.brief.cost_microcents = 50000;
    scene.agent.on_exceed = EXCEED_PAUSE;
    scene_run(&scene);
    fake_turn_answer(&scene.turn, DECISION_DENY, NULL, NULL);
    assert_end(&scene, TURN_ERROR, TURN_BUDGET_EXCEEDED);
    assert_int_equal(requests(&scene), 0);
    scene_end(&scene);
}

static void the_budget_warns(void **state)
{
    SCENE(HEAD A_BEGIN ECHO_1 A_END("tool_use"), A_SAYS("done"));
    scene.agent.cost_microcents_max = 1;
    scene.turn.brief.cost_microcents = 5;
    scene.agent.on_exceed = EXCEED_WARN;
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(fake_turn_events(&scene.turn, "turn.budget_warning"), 1);
    scene_end(&scene);
}

/* --- interrupts --- */

static void an_interrupt_keeps_what_was_said(void **state)
{
    SCENE("+" HEAD A_BEGIN A_TEXT("so far"));
    scene_start(&scene);
    fake_turn_run_lines(&scene.turn, 1);
    fake_turn_interrupt(&scene.turn, false);
    assert_end(&scene, TURN_ABORTED, TURN_CANCELLED);
    assert_has(fake_turn_event(&scene.turn, "agent.message", 0)->content.ptr, "so far");
    assert_has(fake_turn_event(&scene.turn, "agent.message", 0)->metadata.ptr, "\"partial\":true");
    fake_turn_interrupt(&scene.turn, false); /* late, and nothing more */
    assert_int_equal(scene.turn.end_count, 1);
    scene_end(&scene);
}

static void an_interrupt_stops_a_tool(void **state)
{
    SCENE(HEAD A_BEGIN A_TOOL("0", "toolu_00000001", "slow", "{}") ECHO_1 A_END("tool_use"));
    int runs = slow_runs, cancels = slow_cancels;
    scene_start(&scene);
    while (slow_runs == runs) {
        uv_run(loop_uv(scene.loop), UV_RUN_ONCE);
    }
    fake_turn_interrupt(&scene.turn, false);
    assert_end(&scene, TURN_ABORTED, TURN_CANCELLED);
    assert_int_equal(slow_cancels, cancels + 1);
    assert_has(fake_turn_event(&scene.turn, "agent.tool_result", 0)->metadata.ptr, "\"ambiguous\":true");
    assert_null(strstr(fake_turn_event(&scene.turn, "agent.tool_result", 1)->metadata.ptr, "ambiguous"));
    scene_end(&scene);
}

static void an_interrupt_withdraws_a_question(void **state)
{
    SCENE(HEAD A_BEGIN A_TOOL("0", "toolu_00000001", "write", "{\\\"text\\\":\\\"a\\\"}") A_END("tool_use"));
    scene_run(&scene);
    fake_turn_interrupt(&scene.turn, false);
    assert_int_equal(scene.turn.asks[0].state, ASK_CANCELLED);
    assert_end(&scene, TURN_ABORTED, TURN_CANCELLED);
    scene_end(&scene);
}

static void a_turn_that_is_gone_says_nothing(void **state)
{
    SCENE("+" HEAD A_BEGIN A_TEXT("so far"));
    scene_start(&scene);
    fake_turn_run_lines(&scene.turn, 1);
    fake_turn_interrupt(&scene.turn, true);
    assert_int_equal(scene.turn.end_count, 0);
    assert_int_equal(scene.turn.event_count, 0);
    scene_end(&scene);
}

/* --- the context --- */

static void add_exchange(struct scene *scene, const char *user, const char *agent)
{
    fake_turn_history(&scene->turn, "user.message", ROLE_USER, user, NULL);
    fake_turn_history(&scene->turn, "agent.message", ROLE_AGENT, agent, NULL);
}

static void history_is_told_in_full(void **state)
{
    SCENE(A_SAYS("done"));
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q1\"}]", "[{\"type\":\"text\",\"text\":\"a1\"}]");
    fake_turn_history(&scene.turn, "agent.tool_call", ROLE_AGENT,
                      "[{\"type\":\"tool_call\",\"tool_call_id\":\"c1\",\"name\":\"echo\",\"input\":{\"text\":\"x\"}}]",
                      NULL);
    fake_turn_history(&scene.turn, "agent.tool_call", ROLE_AGENT,
                      "[{\"type\":\"tool_call\",\"tool_call_id\":\"c2\",\"name\":\"slow\",\"input\":{}}]", NULL);
    fake_turn_history(&scene.turn, "agent.tool_result", ROLE_AGENT,
                      "[{\"type\":\"tool_result\",\"tool_call_id\":\"c1\",\"name\":\"echo\",\"output\":\"x "
                      "</tool-result>\"}]",
                      NULL);
    scene_run(&scene);
    assert_has(request(&scene, 0), "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q1\"}]}");
    assert_has(request(&scene, 0), "\"id\":\"c1\",\"name\":\"echo\",\"input\":{\"text\":\"x\"}");
    assert_has(request(&scene, 0), "<fence echo>x </tool-result></fence>");
    assert_has(request(&scene, 0), "\"tool_use_id\":\"c2\",\"content\":\"interrupted: it is not known");
    scene_end(&scene);
}

static void long_contexts_are_folded(void **state)
{
    SCENE(A_SAYS("They spoke of q1."), A_SAYS("done"));
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q1 is long and costs many tokens of the window\"}]",
                 "[{\"type\":\"text\",\"text\":\"a1\"}]");
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q2\"}]", "[{\"type\":\"text\",\"text\":\"a2\"}]");
    scene.agent.context_tokens = 100;
    scene.agent.compact_threshold = 0.2;
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_int_equal(requests(&scene), 2);
    assert_has(request(&scene, 0), "q1 is long");
    assert_null(strstr(request(&scene, 0), "q2"));
    assert_has(request(&scene, 1),
               "<earlier-conversation-summary>\\nThey spoke of q1.\\n</earlier-conversation-summary>");
    assert_null(strstr(request(&scene, 1), "q1 is long"));
    assert_has(request(&scene, 1), "q2");
    assert_has(fake_turn_event(&scene.turn, "context.compacted", 0)->metadata.ptr,
               "{\"reason\":\"auto-threshold\",\"summary\":\"They spoke of q1.\",\"kept_message_count\":3,"
               "\"dropped_message_count\":2");
    assert_has(fake_turn_event(&scene.turn, "context.compacted", 0)->metadata.ptr, "\"dropped_through\":2}");
    assert_has(scene.turn.end.usage.ptr, "\"model_calls\":2");
    scene_end(&scene);
}

static void a_summary_that_fails_becomes_a_trim(void **state)
{
    SCENE(FAILS("400", "", ""), A_SAYS("done"));
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q1\"}]", "[{\"type\":\"text\",\"text\":\"a1\"}]");
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q2\"}]", "[{\"type\":\"text\",\"text\":\"a2\"}]");
    scene.agent.context_tokens = 10;
    scene.agent.compact_threshold = 0.5;
    scene_run(&scene);
    assert_end(&scene, TURN_STOP, TURN_OK);
    assert_has(fake_turn_event(&scene.turn, "context.trimmed", 0)->metadata.ptr, "\"reason\":\"auto-fallback\"");
    assert_null(strstr(request(&scene, 1), "q1"));
    scene_end(&scene);
}

static void what_was_folded_stays_folded(void **state)
{
    SCENE(A_SAYS("done"));
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q1\"}]", "[{\"type\":\"text\",\"text\":\"a1\"}]");
    fake_turn_history(&scene.turn, "context.compacted", ROLE_SYSTEM, NULL,
                      "{\"summary\":\"sum\",\"dropped_through\":2}");
    add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"q2\"}]", "[{\"type\":\"text\",\"text\":\"a2\"}]");
    fake_turn_history(&scene.turn, "context.trimmed", ROLE_SYSTEM, NULL, "{\"dropped_through\":2}");
    scene_run(&scene);
    assert_has(request(&scene, 0), "<earlier-conversation-summary>\\nsum\\n");
    assert_null(strstr(request(&scene, 0), "q1"));
    assert_has(request(&scene, 0), "q2");
    scene_end(&scene);
}

static void many_messages_are_trimmed_to_a_users(void **state)
{
    SCENE(A_SAYS("done"));
    for (int i = 0; i < 5; i++) {
        add_exchange(&scene, "[{\"type\":\"text\",\"text\":\"again\"}]", "[{\"type\":\"text\",\"text\":\"yes\"}]");
    }
    scene.agent.messages_max = 4;
    scene_run(&scene);
    assert_has(fake_turn_event(&scene.turn, "context.trimmed", 0)->metadata.ptr,
               "{\"reason\":\"messages_max\",\"kept_message_count\":3,\"dropped_message_count\":8");
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_streamed_and_recorded),
        cmocka_unit_test(reasoning_alone_is_the_answer),
        cmocka_unit_test(variables_are_filled_in),
        cmocka_unit_test(how_models_stop),
        cmocka_unit_test(failures_are_tried_again),
        cmocka_unit_test(what_was_heard_is_never_asked_for_twice),
        cmocka_unit_test(silence_ends_an_attempt),
        cmocka_unit_test(the_next_model_takes_over),
        cmocka_unit_test(a_stream_without_usage_is_estimated),
        cmocka_unit_test(tools_run_in_order),
        cmocka_unit_test(a_person_allows_edits_and_denies),
        cmocka_unit_test(permissions_decide),
        cmocka_unit_test(wrong_calls_are_corrected_but_not_for_ever),
        cmocka_unit_test(rounds_are_counted),
        cmocka_unit_test(the_budget_fails),
        cmocka_unit_test(the_budget_asks),
        cmocka_unit_test(the_budget_is_refused),
        cmocka_unit_test(the_budget_warns),
        cmocka_unit_test(an_interrupt_keeps_what_was_said),
        cmocka_unit_test(an_interrupt_stops_a_tool),
        cmocka_unit_test(an_interrupt_withdraws_a_question),
        cmocka_unit_test(a_turn_that_is_gone_says_nothing),
        cmocka_unit_test(history_is_told_in_full),
        cmocka_unit_test(long_contexts_are_folded),
        cmocka_unit_test(a_summary_that_fails_becomes_a_trim),
        cmocka_unit_test(what_was_folded_stays_folded),
        cmocka_unit_test(many_messages_are_trimmed_to_a_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
