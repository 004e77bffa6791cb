#include "service/remote/runner_internal.h"

/* One message of a runner. */
struct runner_frame {
    struct runner *runner;
    struct runner_turn *turn; /* in hand; of messages that need one */
    const struct json *said;
    struct slice type;
};

/* --- answers --- */

static void tell_error(const struct runner_frame *word, const char *code, const char *detail)
{
    struct buffer frame = {0};
    struct json_out out = json_out_to(&frame);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("error"));
    json_put_text(&out, "code", slice_of(code));
    json_put_text(&out, "detail", slice_of(detail));
    json_put_text(&out, "of", word->type);
    json_maybe_raw(&out, "messageId", json_raw_of(word->said, "messageId"));
    json_end_object(&out);
    runner_connection_tell(word->runner->line, buffer_slice(&frame));
    buffer_release(&frame);
}

static void on_ping(const struct runner_frame *word)
{
    runner_connection_tell(word->runner->line, SLICE("{\"type\":\"pong\"}"));
}

/* --- its state --- */

enum agent_status { AGENT_IDLE, AGENT_THINKING, AGENT_TOOL_CALLING, AGENT_STREAMING, AGENT_ERROR, AGENT_STATUS_COUNT };
static const char *const agent_status_names[AGENT_STATUS_COUNT] = {
    [AGENT_IDLE] = "idle",           [AGENT_THINKING] = "thinking", [AGENT_TOOL_CALLING] = "tool_calling",
    [AGENT_STREAMING] = "streaming", [AGENT_ERROR] = "error",
};
static const struct enum_names agent_status_enum = {agent_status_names, AGENT_STATUS_COUNT};

/* It still has the turn that an earlier connection got. */
static void continue_turn(struct runner *runner)
{
    runner->error_at_ms = 0;
    if (runner->fresh && runner->turn && runner->turn->sent) {
        runner->fresh = false;
        runner->return_at_ms = 0;
    }
}

/* Idle on a new connection: whatever the older one had in hand is lost. On the connection that got the prompt it says
 * nothing yet: `complete` does. */
static void on_idle(struct runner *runner)
{
    struct runner_turn *turn = runner->turn;
    if (turn && !turn->sent) {
        runner_turn_send(turn);
        return;
    }
    if (turn && !runner->fresh) {
        return;
    }
    if (turn) {
        runner_turn_return(turn, "runner_restarted");
    }
    runner->fresh = false;
    runner_set_idle(runner, true);
}

static void on_status(const struct runner_frame *word)
{
    struct runner *runner = word->runner;
    int status = enum_names_find(agent_status_enum, json_text_of(word->said, "status"));
    if (status < 0) {
        tell_error(word, "invalid_message", "status must be idle, thinking, tool_calling, streaming or error.");
        return;
    }
    runner->error_at_ms = 0;
    if (status == AGENT_IDLE) {
        on_idle(runner);
    } else if (status == AGENT_ERROR) {
        if (!runner->turn) {
            runner_set_idle(runner,
                            false); /* it takes nothing until it says idle again, or has said nothing for long */
        }
        runner_watch_error(runner);
    } else {
        continue_turn(runner);
    }
}

/* --- what the agent says --- */

static struct slice message_id_of(const struct runner_frame *word)
{
    struct slice id = json_text_of(word->said, "id");
    id = slice_present(id) ? id : json_text_of(word->said, "turnId");
    return slice_present(id) ? id : SLICE("message");
}

/* NULL, and the runner was told, when it cannot be continued. */
static struct runner_message *open_message(const struct runner_frame *word)
{
    struct runner_message *message = runner_turn_message(word->turn, message_id_of(word));
    if (!message) {
        tell_error(word, "too_many_messages", "This turn has had all the messages one turn may have.");
    } else if (message->over) {
        tell_error(word, "message_finalized", "This message was finalized; begin another one.");
        return NULL;
    }
    return message;
}

static void on_create(const struct runner_frame *word)
{
    (void)open_message(word);
}

static void on_piece(const struct runner_frame *word, enum delta_kind kind)
{
    struct slice delta;
    struct runner_message *message = open_message(word);
    if (!message) {
        return;
    }
    if (!json_as_text(json_get(word->said, "delta"), &delta)) {
        tell_error(word, "invalid_message", "delta must be a text.");
        return;
    }
    struct buffer *text = kind == DELTA_TEXT ? &message->text : &message->reasoning;
    size_t room = word->runner->runners->options.service->limits.event.bytes_max / 2; /* escaped it may grow */
    if (text->len + delta.len > room) {
        tell_error(word, "message_too_large", "One message must fit an event (option event-bytes-max); begin another.");
        return;
    }
    buffer_add(text, delta);
    turn_delta(word->turn->turn, kind, message->id, delta);
}

static void on_text(const struct runner_frame *word)
{
    on_piece(word, DELTA_TEXT);
}

static void on_reasoning(const struct runner_frame *word)
{
    on_piece(word, DELTA_REASONING);
}

/* The longer of what was streamed and what the runner holds for the whole wins. */
static void on_finalize(const struct runner_frame *word)
{
    static const struct {
        const char *reason;
        enum turn_stop_reason stop;
    } reasons[] = {{"end_turn", TURN_STOP}, {"error", TURN_ERROR}, {"canceled", TURN_ABORTED}};
    struct runner_message *message = runner_turn_message(word->turn, message_id_of(word));
    struct slice reason = json_text_of(word->said, "reason"), whole = json_text_of(word->said, "finalText");
    if (!message || message->over) {
        return;
    }
    if (!message->told && whole.len > message->text.len) {
        message->text.len = 0;
        buffer_add(&message->text, whole);
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (slice_is(reason, reasons[i].reason)) {
            word->turn->stop = reasons[i].stop;
        }
    }
    runner_message_end(word->turn, message, reason);
}

/* --- tools --- */

enum call_status { CALL_PENDING, CALL_RUNNING, CALL_COMPLETED, CALL_ERROR, CALL_STATUS_COUNT };
static const char *const call_status_names[CALL_STATUS_COUNT] = {"pending", "running", "completed", "error"};
static const struct enum_names call_status_enum = {call_status_names, CALL_STATUS_COUNT};

static void end_call(const struct runner_frame *word, struct runner_call *call, bool is_error)
{
    struct slice output = json_raw_of(word->said, "result");
    output = slice_present(output) ? output : json_raw_of(word->said, "error");
    runner_turn_tool_result(word->turn, call->id, output, is_error);
    call->over = true;
}

static void on_tool(const struct runner_frame *word)
{
    struct slice id = json_text_of(word->said, "callId"), name = json_text_of(word->said, "toolName");
    int status = enum_names_find(call_status_enum, json_text_of(word->said, "status"));
    bool is_new;
    if (id.len == 0 || id.len > ASK_ID_BYTES_MAX || name.len == 0 || name.len > ASK_ID_BYTES_MAX || status < 0) {
        tell_error(word, "invalid_message",
                   "A tool update needs callId, toolName and a status: pending, running, completed or error.");
        return;
    }
    struct runner_call *call = runner_turn_call(word->turn, id, &is_new);
    if (!call) {
        tell_error(word, "too_many_calls", "This turn has had all the tool calls one turn may have.");
        return;
    }
    if (is_new) {
        runner_turn_tool_call(word->turn, id, name, json_raw_of(word->said, "args"));
    }
    if (!call->over && (status == CALL_COMPLETED || status == CALL_ERROR)) {
        end_call(word, call, status == CALL_ERROR);
    } else if (!call->over && json_is(json_get(word->said, "result"), JSON_STRING)) {
        turn_delta(word->turn->turn, DELTA_TOOL_OUTPUT, id, json_text_of(word->said, "result"));
    }
}

/* --- people --- */

static void on_question(const struct runner_frame *word)
{
    struct ask ask = {
        .kind = ASK_QUESTION,
        .id = json_text_of(word->said, "questionId"),
        .text = json_text_of(word->said, "text"),
        .options = json_is(json_get(word->said, "options"), JSON_ARRAY) ? json_raw_of(word->said, "options")
                                                                        : (struct slice){0},
    };
    turn_ask(word->turn->turn, &ask); /* what is refused comes back as an answer */
}

static void on_approval(const struct runner_frame *word)
{
    const struct json *arguments = json_get_value(word->said, "args");
    bool is_shown = arguments && (arguments->child || !json_is(arguments, JSON_OBJECT));
    struct ask ask = {
        .kind = ASK_APPROVAL,
        .id = json_text_of(word->said, "questionId"),
        .text = json_text_of(word->said, "text"),
        .tool = json_text_of(word->said, "toolName"),
        .call_id = json_text_of(word->said, "callId"),
        /* what was not shown is not shown as empty, and nothing stands for it later */
        .arguments = is_shown ? arguments->raw : (struct slice){0},
    };
    turn_ask(word->turn->turn, &ask);
}

/* --- the end of a turn --- */

/* Named by its message, and by its number when that is given. */
static bool is_of_turn(const struct runner_frame *word)
{
    int64_t number;
    const struct runner_turn *turn = word->runner->turn;
    struct slice id = json_text_of(word->said, "messageId");
    bool numbered = json_as_i64(json_get(word->said, "turn"), &number);
    return turn && turn->sent && (!slice_present(id) || slice_eq(id, turn->message_id)) &&
           (!numbered || number == turn->number);
}

static bool names_a_turn(const struct runner_frame *word)
{
    if (json_get_value(word->said, "messageId") || json_get_value(word->said, "turn")) {
        return true;
    }
    tell_error(word, "invalid_message", "Say by messageId (or turn) which prompt it is about.");
    return false;
}

/* A late word about the turn before is a sign that the runner is free, and nothing more. */
static void on_late_complete(const struct runner_frame *word)
{
    struct runner *runner = word->runner;
    struct slice id = json_text_of(word->said, "messageId");
    if (!runner->turn && !runner->idle && slice_eq(id, buffer_slice(&runner->last_message_id))) {
        runner->error_at_ms = 0;
        runner->fresh = false;
        runner_set_idle(runner, true);
    }
}

static void on_complete(const struct runner_frame *word)
{
    if (!names_a_turn(word)) {
        return;
    }
    if (!is_of_turn(word)) {
        on_late_complete(word);
        return;
    }
    struct runner_turn *turn = word->runner->turn;
    const struct json *usage = json_get(word->said, "usage");
    enum turn_stop_reason stop = turn->aborting ? TURN_ABORTED : turn->stop;
    struct turn_end end = {
        .stop = stop,
        .error = stop == TURN_ERROR ? TURN_INTERNAL : TURN_OK,
        .usage = json_is(usage, JSON_OBJECT) ? usage->raw : (struct slice){0},
        .to = SESSION_IDLE,
    };
    runner_turn_end(turn, &end);
    word->runner->error_at_ms = 0;
    word->runner->fresh = false;
    runner_set_idle(word->runner, true);
}

static void on_error(const struct runner_frame *word)
{
    struct slice message = json_text_of(word->said, "error");
    if (!names_a_turn(word) || !is_of_turn(word)) {
        return;
    }
    runner_turn_end(word->runner->turn, &(struct turn_end){
                                            .stop = TURN_ERROR,
                                            .error = TURN_INTERNAL,
                                            .error_message = slice_present(message) ? message : SLICE("unknown"),
                                            .to = SESSION_IDLE,
                                        });
    runner_watch_error(word->runner);
}

/* --- beside the turn --- */

static void on_title(const struct runner_frame *word)
{
    struct slice title = json_text_of(word->said, "title");
    if (title.len == 0) {
        tell_error(word, "invalid_message", "title must be a text.");
        return;
    }
    runner_set_title(word->runner, title);
}

/* All members but the type, as they came. */
static void note(const struct runner_frame *word, enum event_kind kind)
{
    struct buffer metadata = {0};
    struct json_out out = json_out_to(&metadata);
    if (word->said->raw.len > word->runner->runners->options.service->limits.event.bytes_max / 2) {
        tell_error(word, "message_too_large", "It must fit an event (option event-bytes-max).");
        return;
    }
    json_begin_object(&out);
    for (const struct json *member = word->said->child; member; member = member->next) {
        if (!slice_is(member->key, "type")) {
            json_key_slice(&out, member->key);
            json_raw(&out, member->raw);
        }
    }
    json_end_object(&out);
    runner_note(word->runner, kind, buffer_slice(&metadata));
    buffer_release(&metadata);
}

static void on_files(const struct runner_frame *word)
{
    note(word, EVENT_EXTERNAL_FILES_CHANGED);
}

/* As runners name it, and as the session's git state does. */
struct git_name {
    const char *theirs, *ours;
};
static const struct git_name git_names[] = {
    {"sourceType", "source_type"},
    {"sourceRepoUrl", "source_repo_url"},
    {"sourceRepoBranch", "source_repo_branch"},
    {"sourcePrNumber", "source_pr_number"},
    {"sourceIssueNumber", "source_issue_number"},
    {"branch", "branch"},
    {"baseBranch", "base_branch"},
    {"prNumber", "pr_number"},
    {"prState", "pr_state"},
    {"prUrl", "pr_url"},
    {"commitCount", "commit_count"},
};
static const struct git_name pull_request_names[] = {{"number", "pr_number"}, {"url", "pr_url"}};

static void tell_git_state(const struct runner_frame *word, const struct git_name *names, size_t count,
                           const char *pr_state)
{
    struct buffer told = {0};
    struct json_out out = json_out_to(&told);
    json_begin_object(&out);
    for (size_t i = 0; i < count; i++) {
        json_maybe_raw(&out, names[i].ours, json_raw_of(word->said, names[i].theirs));
    }
    if (pr_state) {
        json_put_text(&out, "pr_state", slice_of(pr_state));
    }
    json_end_object(&out);
    runner_set_git_state(word->runner, buffer_slice(&told));
    buffer_release(&told);
}

static void on_git(const struct runner_frame *word)
{
    note(word, EVENT_EXTERNAL_GIT_STATE);
    tell_git_state(word, git_names, sizeof git_names / sizeof *git_names, NULL);
}

static void on_pull_request(const struct runner_frame *word)
{
    note(word, EVENT_EXTERNAL_PR_CREATED);
    tell_git_state(word, pull_request_names, sizeof pull_request_names / sizeof *pull_request_names, "open");
}

/* --- the table --- */

static const struct {
    const char *type;
    bool of_turn; /* without a turn in hand it is refused */
    void (*hear)(const struct runner_frame *word);
} vocabulary[] = {
    {"agentStatus", false, on_status},
    {"approval", true, on_approval},
    {"complete", false, on_complete},
    {"error", false, on_error},
    {"files-changed", false, on_files},
    {"git-state", false, on_git},
    {"message.create", true, on_create},
    {"message.finalize", true, on_finalize},
    {"message.part.reasoning-delta", true, on_reasoning},
    {"message.part.text-delta", true, on_text},
    {"message.part.tool-update", true, on_tool},
    {"ping", false, on_ping},
    {"pr-created", false, on_pull_request},
    {"question", true, on_question},
    {"title", false, on_title},
};

static void on_word(struct runner_frame *word)
{
    for (size_t i = 0; i < sizeof vocabulary / sizeof *vocabulary; i++) {
        if (!slice_is(word->type, vocabulary[i].type)) {
            continue;
        }
        if (vocabulary[i].of_turn && !is_of_turn(word)) {
            tell_error(word, "stale_turn", "This runner has no such turn in hand; nothing was changed.");
            return;
        }
        if (vocabulary[i].of_turn) {
            word->turn = word->runner->turn;
            continue_turn(word->runner);
        }
        vocabulary[i].hear(word);
        return;
    }
    tell_error(word, "unknown_message", "There is no message of this type.");
}

void runner_on_frame(struct runner *runner, struct slice text)
{
    struct arena arena = {0};
    struct runner_frame word = {.runner = runner};
    runner->heard_at_ms = runners_steady_ms(runner->runners);
    bool readable = json_parse(&arena, text, &word.said, NULL) == STATUS_OK && json_is(word.said, JSON_OBJECT);
    if (!readable) {
        runner_connection_end(runner->line, CLOSE_BAD_TEXT, "a message is one JSON object");
        runner_leaves(runner, "malformed_message");
    } else {
        word.type = json_text_of(word.said, "type");
        on_word(&word);
    }
    arena_release(&arena);
}
