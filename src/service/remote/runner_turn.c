#include <stdlib.h>

#include "domain/prompt.h"
#include "service/remote/runner_internal.h"

#define EXPIRED SLICE("\"__expired__\"")

/* --- to the runner --- */

static void tell(const struct runner_turn *turn, struct buffer *frame)
{
    if (turn->runner && turn->runner->line) {
        runner_connection_tell(turn->runner->line, buffer_slice(frame));
    }
    buffer_release(frame);
}

void runner_turn_abort(struct runner_turn *turn)
{
    struct buffer frame = {0};
    struct json_out out = json_out_to(&frame);
    if (turn->aborting || !turn->sent) {
        return;
    }
    turn->aborting = true;
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("abort"));
    json_put_text(&out, "messageId", turn->message_id);
    json_put_i64(&out, "turn", turn->number);
    json_end_object(&out);
    tell(turn, &frame);
}

void runner_turn_answer(void *state, const struct ask *ask)
{
    struct runner_turn *turn = state;
    struct buffer frame = {0};
    struct json_out out = json_out_to(&frame);
    bool answered = ask->state == ASK_ANSWERED;
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("answer"));
    json_put_text(&out, "questionId", ask->id);
    json_put_raw(&out, "answer", answered ? ask->answer : EXPIRED);
    json_put_text(&out, "state", slice_of(ask_state_enum.names[ask->state]));
    if (answered && ask->decision != DECISION_NONE) {
        json_put_text(&out, "decision", slice_of(ask_decision_enum.names[ask->decision]));
    }
    json_maybe_text(&out, "reason", ask->reason);
    json_put_i64(&out, "turn", turn->number);
    json_end_object(&out);
    tell(turn, &frame);
}

/* --- its prompt --- */

/* Of several collected ones the first. */
static struct slice prompt_id_of(const struct json *metadata, struct arena *arena, int64_t number)
{
    const struct json *collected = json_get(metadata, "prompts");
    struct slice id = json_text_of(metadata, "prompt_id");
    if (!slice_present(id) && json_is(collected, JSON_ARRAY)) {
        id = json_text_of(collected->child, "prompt_id");
    }
    return slice_present(id) ? arena_copy(arena, id) : arena_format(arena, "turn-%lld", (long long)number);
}

static void put_attachment(void *owner, const struct json *attachment)
{
    struct json_out *out = owner;
    json_raw(out, attachment->raw);
}

/* Of all that was collected. */
static void put_attachments(struct json_out *out, const struct json *metadata)
{
    struct buffer list = {0};
    struct json_out items = json_out_to(&list);
    json_begin_array(&items);
    prompt_each_attachment(metadata, put_attachment, &items);
    json_end_array(&items);
    if (list.len > strlen("[]")) {
        json_put_raw(out, "attachments", buffer_slice(&list));
    }
    buffer_release(&list);
}

static struct slice write_prompt(struct runner_turn *turn, const struct turn_input *brief, const struct json *metadata)
{
    struct buffer frame = {0};
    struct json_out out = json_out_to(&frame);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("prompt"));
    json_put_text(&out, "messageId", turn->message_id);
    json_put_i64(&out, "turn", brief->number);
    json_put_text(&out, "content", brief->said);
    json_put_raw(&out, "parts", brief->prompt);
    json_maybe_text(&out, "model", brief->agent->model.model);
    json_maybe_text(&out, "threadId", brief->thread_id);
    put_attachments(&out, metadata);
    json_maybe_raw(&out, "sender", json_raw_of(metadata, "sender"));
    json_maybe_raw(&out, "prompts", json_raw_of(metadata, "prompts"));
    if (brief->message) {
        json_maybe_text(&out, "author", brief->message->actor);
    }
    json_put_bool(&out, "again", brief->was_cut);
    json_end_object(&out);
    struct slice text = arena_copy(&turn->arena, buffer_slice(&frame));
    buffer_release(&frame);
    return text;
}

void runner_turn_send(struct runner_turn *turn)
{
    struct runner *runner = turn->runner;
    turn->sent = true;
    runner->fresh = false;
    runner->return_at_ms = 0;
    runner_set_idle(runner, false);
    runner_connection_tell(runner->line, turn->prompt);
}

void *runner_turn_start(void *owner, struct turn *host, const struct turn_input *brief)
{
    struct runners *runners = owner;
    struct runner_turn *turn = memory_zeroed(sizeof *turn);
    const struct json *metadata = NULL;
    struct runner_hello hello = {brief->tenant_key, brief->session_key, brief->session_id, SLICE("system")};
    if (brief->message && slice_present(brief->message->metadata)) {
        struct slice text = arena_copy(&turn->arena, brief->message->metadata);
        (void)!json_parse(&turn->arena, text, &metadata, NULL);
    }
    turn->turn = host;
    turn->number = brief->number;
    turn->message_id = prompt_id_of(metadata, &turn->arena, brief->number);
    turn->prompt = write_prompt(turn, brief, metadata);
    turn->runner = runner_obtain(runners, &hello);
    turn->runner->turn = turn;
    if (turn->runner->line) {
        runner_turn_send(turn);
    } else {
        runner_await(turn->runner);
    }
    return turn;
}

/* --- what it says --- */

struct part {
    struct buffer content, metadata;
    struct json_out out;
};

static void part_begin(struct part *part, const char *type)
{
    *part = (struct part){0};
    part->out = json_out_to(&part->content);
    json_begin_array(&part->out);
    json_begin_object(&part->out);
    json_put_text(&part->out, "type", slice_of(type));
}

static void part_end(struct part *part, struct runner_turn *turn, enum event_kind kind)
{
    json_end_object(&part->out);
    json_end_array(&part->out);
    struct event event = {.kind = kind, .role = ROLE_AGENT, .content = buffer_slice(&part->content)};
    if (part->metadata.len > 0) {
        event.metadata = buffer_slice(&part->metadata);
    }
    turn_event(turn->turn, &event);
    buffer_release(&part->content);
    buffer_release(&part->metadata);
}

static void write_text(struct runner_turn *turn, const struct runner_message *message, const struct buffer *text,
                       enum event_kind kind, struct slice reason)
{
    struct part part;
    part_begin(&part, "text");
    json_put_text(&part.out, "text", buffer_slice(text));
    struct json_out metadata = json_out_to(&part.metadata);
    json_begin_object(&metadata);
    json_put_text(&metadata, "message_id", message->id);
    json_maybe_text(&metadata, "reason", reason);
    if (turn->is_cut) {
        json_put_bool(&metadata, "partial", true);
    }
    json_end_object(&metadata);
    part_end(&part, turn, kind);
}

static void write_said(struct runner_turn *turn, struct runner_message *message, struct slice reason)
{
    if (message->reasoning.len > 0) {
        write_text(turn, message, &message->reasoning, EVENT_AGENT_THINKING, (struct slice){0});
    }
    if (message->text.len > 0) {
        write_text(turn, message, &message->text, EVENT_AGENT_MESSAGE, reason);
    }
    message->told |= message->text.len > 0;
    buffer_release(&message->text);
    buffer_release(&message->reasoning);
}

static void write_open(struct runner_turn *turn)
{
    for (struct runner_message *message = turn->open; message; message = message->next) {
        write_said(turn, message, (struct slice){0});
    }
}

void runner_message_end(struct runner_turn *turn, struct runner_message *message, struct slice reason)
{
    struct runner_message **link = &turn->open;
    write_said(turn, message, reason);
    message->over = true;
    while (*link && *link != message) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = message->next;
    }
}

struct runner_message *runner_turn_message(struct runner_turn *turn, struct slice id)
{
    struct runner_message *message = map_get(&turn->messages, id), **end = &turn->open;
    if (message || turn->messages.count >= RUNNER_MESSAGES_MAX) {
        return message;
    }
    message = arena_alloc(&turn->arena, sizeof *message);
    message->id = arena_copy(&turn->arena, id);
    map_put(&turn->messages, message->id, message);
    while (*end) {
        end = &(*end)->next;
    }
    *end = message;
    return message;
}

struct runner_call *runner_turn_call(struct runner_turn *turn, struct slice id, bool *out_new)
{
    struct runner_call *call = map_get(&turn->calls, id);
    *out_new = !call;
    if (call || turn->calls.count >= RUNNER_CALLS_MAX) {
        return call;
    }
    call = arena_alloc(&turn->arena, sizeof *call);
    call->id = arena_copy(&turn->arena, id);
    map_put(&turn->calls, call->id, call);
    return call;
}

void runner_turn_tool_call(struct runner_turn *turn, struct slice id, struct slice name, struct slice arguments)
{
    struct part part;
    write_open(turn); /* what was said before it stands before it */
    part_begin(&part, "tool_call");
    json_put_text(&part.out, "tool_call_id", id);
    json_put_text(&part.out, "name", name);
    json_put_raw(&part.out, "input", slice_present(arguments) ? arguments : SLICE("{}"));
    part_end(&part, turn, EVENT_AGENT_TOOL_CALL);
}

void runner_turn_tool_result(struct runner_turn *turn, struct slice id, struct slice output, bool is_error)
{
    struct part part;
    part_begin(&part, "tool_result");
    json_put_text(&part.out, "tool_call_id", id);
    json_put_raw(&part.out, "output", slice_present(output) ? output : SLICE("\"\""));
    json_put_bool(&part.out, "is_error", is_error);
    part_end(&part, turn, EVENT_AGENT_TOOL_RESULT);
}

/* --- its end --- */

/* What is said about it from now on is stale. */
static void out_of_hand(struct runner_turn *turn)
{
    struct runner *runner = turn->runner;
    if (runner) {
        runner->last_message_id.len = 0;
        buffer_add(&runner->last_message_id, turn->message_id);
        runner->return_at_ms = 0;
        runner->turn = NULL;
        turn->runner = NULL;
    }
}

void runner_turn_end(struct runner_turn *turn, const struct turn_end *end)
{
    turn->is_cut = turn_stop_is_early(end->stop);
    write_open(turn);
    turn_end(turn->turn, end);
    out_of_hand(turn);
}

void runner_turn_return(struct runner_turn *turn, const char *cause)
{
    turn_agent_lost(turn->turn, cause);
    out_of_hand(turn);
}

void runner_turn_interrupt(void *state, bool gone)
{
    struct runner_turn *turn = state;
    if (!turn->runner) {
        return;
    }
    runner_turn_abort(turn);
    if (gone) {
        out_of_hand(turn);
    } else if (!turn->runner->line || !turn->sent) {
        runner_turn_end(turn, &(struct turn_end){.stop = TURN_ABORTED, .to = SESSION_IDLE});
    }
}

void runner_turn_free(void *state)
{
    struct runner_turn *turn = state;
    out_of_hand(turn);
    for (struct runner_message *message = turn->open; message; message = message->next) {
        buffer_release(&message->text);
        buffer_release(&message->reasoning);
    }
    map_release(&turn->messages);
    map_release(&turn->calls);
    arena_release(&turn->arena);
    free(turn);
}
