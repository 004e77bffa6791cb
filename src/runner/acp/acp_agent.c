#include "runner/acp/acp_agent.h"

#include <stdlib.h>

#include "domain/redact.h"
#include "runner/acp/acp_turn.h"

enum { PROTOCOL_VERSION = 1, PAUSE_MS = 20, COMPLAINT_BYTES_MAX = 300, STDERR_LINE_BYTES_MAX = 4096 };

/* --- its end --- */

static void release(struct acp_agent *agent)
{
    rpc_lines_release(&agent->lines);
    arena_release(&agent->arena);
    struct buffer *buffers[] = {&agent->directory, &agent->complaint, &agent->complaint_begun, &agent->mode,
                                &agent->commands};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        buffer_release(buffers[i]);
    }
    acp_sessions_release(&agent->sessions);
    free(agent);
}

void acp_agent_end(struct acp_agent *agent)
{
    if (agent->is_over) {
        return;
    }
    agent->is_over = true;
    acp_forget(agent->acp, agent);
    if (agent->process) {
        process_abandon(agent->process);
        agent->process = NULL;
    }
    acp_files_end(agent);
    acp_looks_end(agent);
    loop_timer_free(agent->deadline);
    loop_timer_free(agent->pause);
    if (!agent->is_reading) {
        release(agent);
    }
}

/* Ends the turn, if there is one, with an error, and the agent with it. A session that could not be loaded is not tried
 * again: the next turn opens a new one. */
static void fail(struct acp_agent *agent, enum turn_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct acp_agent *agent, enum turn_error error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct slice message = arena_vformat(&agent->arena, format, args);
    va_end(args);
    struct acp_turn *turn = agent->turn;
    if (turn) {
        if (agent->stage == ACP_LOADING) {
            acp_session_lose(agent->session);
            turn->has_news = true;
        }
        struct buffer safe = {0};
        redact_add(&safe, message);
        enum turn_stop_reason stop = turn->is_interrupted ? TURN_ABORTED : TURN_ERROR;
        acp_turn_end(turn, stop, turn->is_interrupted ? TURN_CANCELLED : error, buffer_slice(&safe), NULL);
        buffer_release(&safe);
    }
    acp_agent_end(agent);
}

/* --- saying --- */

static void send_line(struct acp_agent *agent, struct buffer *line)
{
    bool taken = !agent->process || process_write(agent->process, buffer_slice(line));
    buffer_release(line);
    if (!taken && !agent->is_over) {
        acp_agent_set_deadline(agent, 1); /* it does not read: given up from the loop, not from inside a caller */
    }
}

void acp_agent_call(struct acp_agent *agent, enum acp_stage stage, const char *method, struct slice params)
{
    struct buffer line = {0};
    agent->stage = stage;
    rpc_write_request(&line, ++agent->last_id, method, params);
    send_line(agent, &line);
}

void acp_agent_notify(struct acp_agent *agent, const char *method, struct slice params)
{
    struct buffer line = {0};
    rpc_write_notification(&line, method, params);
    send_line(agent, &line);
}

void acp_agent_reply(struct acp_agent *agent, struct slice id, struct slice result)
{
    struct buffer line = {0};
    rpc_write_result(&line, id, result);
    send_line(agent, &line);
}

void acp_agent_refuse(struct acp_agent *agent, struct slice id, enum rpc_code code, struct slice message)
{
    struct buffer line = {0};
    rpc_write_error(&line, id, code, message);
    send_line(agent, &line);
}

/* --- deadlines --- */

void acp_agent_set_deadline(struct acp_agent *agent, int64_t after_ms)
{
    agent->has_deadline = after_ms > 0;
    if (agent->has_deadline) {
        loop_timer_set(agent->deadline, after_ms);
    }
}

void acp_agent_guard_silence(struct acp_agent *agent)
{
    if (agent->stage == ACP_PROMPTING) {
        bool waits = agent->turn && agent->turn->asks;
        acp_agent_set_deadline(agent, waits ? 0 : agent->options->limits.silence_ms);
    }
}

static void on_deadline(void *owner)
{
    struct acp_agent *agent = owner;
    if (!agent->has_deadline) {
        return;
    }
    if (agent->stage == ACP_READY) {
        acp_agent_end(agent);
    } else if (agent->stage == ACP_CANCELLING) {
        fail(agent, TURN_CANCELLED, "The turn was interrupted; the agent did not stop by itself and was ended.");
    } else if (agent->stage == ACP_PROMPTING) {
        fail(agent, TURN_TIMEOUT, "The agent said nothing for %lld ms and was ended.",
             (long long)agent->options->limits.silence_ms);
    } else {
        fail(agent, TURN_TIMEOUT, "The agent was not ready within %lld ms after its start.",
             (long long)agent->options->limits.start_ms);
    }
}

/* --- the way to an open session --- */

static void initialize(struct acp_agent *agent)
{
    struct buffer params = {0};
    bool files = acp_file_is_served(agent->turn->brief);
    buffer_format(&params,
                  "{\"protocolVersion\":%d,\"clientCapabilities\":{\"fs\":{\"readTextFile\":%s,\"writeTextFile\":%s},"
                  "\"terminal\":false,\"elicitation\":{\"form\":{}}},"
                  "\"clientInfo\":{\"name\":\"sojourn\",\"title\":\"Sojourn\",\"version\":\"%s\"}}",
                  PROTOCOL_VERSION, files ? "true" : "false", files ? "true" : "false", SOJOURN_VERSION);
    acp_agent_call(agent, ACP_INITIALIZING, "initialize", buffer_slice(&params));
    buffer_release(&params);
}

/* session/new, or session/load when it has a name already. */
static void open_session(struct acp_agent *agent)
{
    struct buffer params = {0};
    struct json_out out = json_out_to(&params);
    bool loads = agent->session->name.len > 0;
    json_begin_object(&out);
    if (loads) {
        json_put_text(&out, "sessionId", buffer_slice(&agent->session->name));
    }
    json_put_text(&out, "cwd", buffer_slice(&agent->directory));
    json_put_raw(&out, "mcpServers", SLICE("[]"));
    json_end_object(&out);
    agent->session->is_fresh = !loads;
    acp_agent_call(agent, loads ? ACP_LOADING : ACP_OPENING, loads ? "session/load" : "session/new",
                   buffer_slice(&params));
    buffer_release(&params);
}

static bool is_true(const struct json *object, const char *key)
{
    bool value = false;
    return json_as_bool(json_get(object, key), &value) && value;
}

/* What the session kept from an earlier process. */
static void recall(struct acp_agent *agent)
{
    const struct json *kept;
    struct slice text = agent->turn->brief->kept;
    if (text.len > 0 && json_parse(&agent->arena, text, &kept, NULL) == STATUS_OK) {
        acp_sessions_recall(&agent->sessions, kept, buffer_slice(&agent->directory));
    }
}

void acp_agent_enter(struct acp_agent *agent)
{
    agent->session = acp_session_of(&agent->sessions, agent->turn->brief->thread_id);
    if (agent->session->is_open) {
        acp_turn_prompt(agent->turn);
        return;
    }
    if (!agent->can_load) {
        acp_session_lose(agent->session);
    }
    acp_agent_set_deadline(agent, agent->options->limits.start_ms);
    open_session(agent);
}

static void initialized(struct acp_agent *agent, const struct rpc_message *message)
{
    int64_t version = 0;
    if (message->kind == RPC_ERROR) {
        fail(agent, TURN_INTERNAL, "The agent refused to start: %.*s", SLICE_ARG(message->error_message));
        return;
    }
    if (!json_as_i64(json_get(message->result, "protocolVersion"), &version) || version != PROTOCOL_VERSION) {
        fail(agent, TURN_INTERNAL, "The agent does not speak version %d of the protocol.", PROTOCOL_VERSION);
        return;
    }
    const struct json *can = json_get_value(message->result, "agentCapabilities");
    agent->can_load = is_true(can, "loadSession");
    agent->can_image = is_true(json_get_value(can, "promptCapabilities"), "image");
    recall(agent);
    acp_agent_enter(agent);
}

static void ready(struct acp_agent *agent)
{
    agent->stage = ACP_READY;
    agent->session->is_open = true;
    acp_agent_set_deadline(agent, 0);
    acp_turn_keep(agent->turn);
    acp_turn_prompt(agent->turn);
}

static void loaded(struct acp_agent *agent, const struct rpc_message *message)
{
    if (message->kind == RPC_RESULT) {
        ready(agent);
        return;
    }
    acp_session_lose(agent->session);
    open_session(agent);
}

static void opened(struct acp_agent *agent, const struct rpc_message *message)
{
    if (message->kind == RPC_ERROR) {
        bool auth = message->error_code == ACP_AUTH_REQUIRED;
        fail(agent, auth ? TURN_PROVIDER_AUTH : TURN_INTERNAL, "The agent opened no session: %.*s%s",
             SLICE_ARG(slice_utf8_prefix(message->error_message, COMPLAINT_BYTES_MAX)), auth ? ACP_AUTH_ADVICE : "");
        return;
    }
    struct slice session = json_text_of(message->result, "sessionId");
    if (session.len == 0 || session.len > ACP_SMALL_BYTES_MAX) {
        fail(agent, TURN_INTERNAL, "The agent opened a session without a usable name.");
        return;
    }
    buffer_add(&agent->session->name, session);
    ready(agent);
}

static void prompted(struct acp_agent *agent, const struct rpc_message *message)
{
    agent->stage = ACP_READY;
    acp_agent_set_deadline(agent, agent->idle_ms);
    if (agent->turn) {
        acp_turn_answered(agent->turn, message);
    }
}

static void ignored(struct acp_agent *agent, const struct rpc_message *message)
{
    (void)agent, (void)message;
}

static void take_answer(struct acp_agent *agent, const struct rpc_message *message)
{
    static void (*const by_stage[])(struct acp_agent *, const struct rpc_message *) = {
        [ACP_INITIALIZING] = initialized, [ACP_LOADING] = loaded,      [ACP_OPENING] = opened, [ACP_READY] = ignored,
        [ACP_PROMPTING] = prompted,       [ACP_CANCELLING] = prompted,
    };
    int64_t id;
    if (slice_to_i64(message->id, &id) && id == agent->last_id) {
        by_stage[agent->stage](agent, message);
    }
}

/* --- what the agent says --- */

static const struct {
    const char *method;
    void (*take)(struct acp_turn *turn, const struct rpc_message *message);
} requests[] = {
    {"session/request_permission", acp_ask_permission},
    {"elicitation/create", acp_ask_form},
    {"fs/read_text_file", acp_file_read},
    {"fs/write_text_file", acp_file_write},
};

static void take_request(struct acp_agent *agent, const struct rpc_message *message)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        if (!slice_is(message->method, requests[i].method)) {
            continue;
        }
        if (agent->turn && (agent->stage == ACP_PROMPTING || agent->stage == ACP_CANCELLING)) {
            requests[i].take(agent->turn, message);
        } else {
            acp_agent_refuse(agent, message->id, RPC_INVALID_REQUEST, SLICE("no prompt runs"));
        }
        return;
    }
    acp_agent_refuse(agent, message->id, RPC_METHOD_NOT_FOUND, SLICE("this client has no such method"));
}

static void take_notification(struct acp_agent *agent, const struct rpc_message *message)
{
    bool runs = agent->turn && (agent->stage == ACP_PROMPTING || agent->stage == ACP_CANCELLING);
    if (slice_is(message->method, "$/cancel_request") && runs) {
        acp_ask_withdrawn(agent->turn, json_raw_of(message->params, "requestId"));
    }
    const struct json *update = json_get_value(message->params, "update");
    if (!slice_is(message->method, "session/update") || !update || !agent->session ||
        !slice_eq(json_text_of(message->params, "sessionId"), buffer_slice(&agent->session->name))) {
        return;
    }
    if (!acp_update_agent(agent, update) && runs) { /* what session/load tells again is in the log already */
        acp_update(agent->turn, update);
    }
}

static void take_line(struct acp_agent *agent, struct slice line)
{
    struct rpc_message message;
    struct failure failure = {0};
    if (rpc_read(&agent->arena, line, &message, &failure) != STATUS_OK) {
        fail(agent, TURN_INTERNAL, "The agent said something that can't be understood. %s", failure.detail);
        return;
    }
    acp_agent_guard_silence(agent);
    if (message.kind == RPC_REQUEST) {
        take_request(agent, &message);
    } else if (message.kind == RPC_NOTIFICATION) {
        take_notification(agent, &message);
    } else {
        take_answer(agent, &message);
    }
}

static void pause_when_full(struct acp_agent *agent)
{
    bool full = agent->turn && agent->turn->turn && turn_is_full(agent->turn->turn);
    process_pause(agent->process, full);
    if (full) {
        loop_timer_set(agent->pause, PAUSE_MS);
    }
}

static void on_pause_over(void *owner)
{
    pause_when_full(owner);
}

static void on_stdout(void *owner, struct slice bytes)
{
    struct acp_agent *agent = owner;
    enum rpc_step step = RPC_MORE;
    struct slice line;
    agent->is_reading = true;
    while (!agent->is_over && (step = rpc_lines_next(&agent->lines, &bytes, &line)) == RPC_LINE) {
        take_line(agent, line);
        arena_reset(&agent->arena);
    }
    if (!agent->is_over && step == RPC_TOO_LONG) {
        fail(agent, TURN_INTERNAL, "The agent sent a message of more than %lld bytes.",
             (long long)agent->options->limits.line_bytes_max);
    }
    agent->is_reading = false;
    if (agent->is_over) {
        release(agent);
    } else {
        pause_when_full(agent);
    }
}

/* Only the last line counts: it usually says why a process gave up. */
static void on_stderr(void *owner, struct slice bytes)
{
    struct acp_agent *agent = owner;
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] != '\n') {
            if (agent->complaint_begun.len < STDERR_LINE_BYTES_MAX) {
                buffer_add_byte(&agent->complaint_begun, bytes.ptr[i]);
            }
        } else if (slice_trim(buffer_slice(&agent->complaint_begun)).len > 0) {
            struct buffer old = agent->complaint;
            agent->complaint = agent->complaint_begun;
            agent->complaint_begun = old;
            agent->complaint_begun.len = 0;
        }
    }
}

static struct slice last_complaint(struct acp_agent *agent)
{
    struct slice begun = slice_trim(buffer_slice(&agent->complaint_begun));
    struct slice line = begun.len > 0 ? begun : slice_trim(buffer_slice(&agent->complaint));
    line = slice_is_utf8(line) ? line : SLICE("(no text)");
    return slice_utf8_prefix(line, COMPLAINT_BYTES_MAX);
}

/* Somebody killed it in the middle of its work: the turn can be taken up again. */
static void lose(struct acp_agent *agent, struct slice why)
{
    struct buffer safe = {0};
    redact_add(&safe, why);
    acp_turn_return(agent->turn, buffer_slice(&safe));
    buffer_release(&safe);
    acp_agent_end(agent);
}

static void on_end(void *owner, const struct process_end *end)
{
    struct acp_agent *agent = owner;
    struct slice said = last_complaint(agent);
    bool killed = end->exit_code < 0, works = agent->turn && agent->stage == ACP_PROMPTING;
    agent->process = NULL;
    struct slice why = arena_format(&agent->arena, "The agent process %s %d%s%.*s",
                                    killed ? "was ended by signal" : "ended with exit code",
                                    killed ? end->signal : end->exit_code, said.len > 0 ? ": " : ".", SLICE_ARG(said));
    if (killed && works) {
        lose(agent, why);
    } else {
        fail(agent, TURN_INTERNAL, "%.*s", SLICE_ARG(why));
    }
}

/* --- its start --- */

struct acp_agent *acp_agent_start(struct acp *acp, const struct acp_options *options, struct acp_turn *turn,
                                  const struct acp_access *access, struct failure *failure)
{
    struct acp_agent *agent = memory_zeroed(sizeof *agent);
    const struct turn_input *brief = turn->brief;
    struct process_handler handler = {agent, on_stdout, on_stderr, on_end};
    enum status status = acp_launch_directory(options, brief, &agent->directory, failure);
    if (status == STATUS_OK) {
        status = acp_launch(options, brief, access, agent->directory.ptr, &handler, &agent->process, failure);
    }
    if (status != STATUS_OK) {
        release(agent);
        return NULL;
    }
    agent->acp = acp;
    agent->options = options;
    agent->loop = brief->loop;
    agent->sandbox = brief->sandbox;
    agent->idle_ms = brief->agent->idle_timeout_ms;
    agent->turn = turn;
    turn->agent = agent;
    rpc_lines_init(&agent->lines, (size_t)options->limits.line_bytes_max);
    agent->deadline = loop_timer_new(agent->loop, on_deadline, agent);
    agent->pause = loop_timer_new(agent->loop, on_pause_over, agent);
    acp_agent_set_deadline(agent, options->limits.start_ms);
    initialize(agent);
    return agent;
}
