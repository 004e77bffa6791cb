#include "cli/chat.h"
#include "domain/event_kind.h"
#include "domain/turn.h"

/* --- events --- */

static struct slice text_of(const struct chat *chat, const struct json *event)
{
    struct buffer text = {0};
    event_text(event, &text);
    struct slice copy = arena_copy(chat->remote.arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

static bool is_past(const struct chat *chat)
{
    return chat->sequence <= chat->caught_up;
}

static void take_user_message(struct chat *chat, const struct json *event)
{
    struct slice prompt = json_text_of(json_get(event, "metadata"), "prompt_id");
    chat->has_failed = false;
    if (!slice_present(prompt) || !slice_eq(prompt, chat->told_prompt)) {
        chat_screen_quote(&chat->screen, text_of(chat, event));
    }
}

static void take_agent_message(struct chat *chat, const struct json *event)
{
    chat_screen_finish(&chat->screen, text_of(chat, event));
}

static void take_thinking(struct chat *chat, const struct json *event)
{
    chat->screen.is_thinking = false;
    chat_screen_fold(&chat->screen, "·", text_of(chat, event));
}

static const struct json *first_part(const struct json *event)
{
    const struct json *content = json_get(event, "content");
    return json_is(content, JSON_ARRAY) ? content->child : NULL;
}

static void take_tool_call(struct chat *chat, const struct json *event)
{
    const struct json *part = first_part(event);
    struct slice input = json_raw_of(part, "input");
    chat_screen_call(&chat->screen, json_text_of(part, "name"), slice_is(input, "{}") ? SLICE("") : input);
}

static void take_tool_result(struct chat *chat, const struct json *event)
{
    const struct json *part = first_part(event), *output = json_get(part, "output");
    bool is_error = false;
    (void)json_as_bool(json_get(part, "is_error"), &is_error);
    chat_screen_result(&chat->screen, is_error,
                       json_is(output, JSON_STRING) ? output->text : json_raw_of(part, "output"));
}

static void take_ask(struct chat *chat, const struct json *event)
{
    chat_ask_add(chat, json_get(json_get(event, "metadata"), "ask"));
}

static void take_ask_end(struct chat *chat, const struct json *event)
{
    const struct json *metadata = json_get(event, "metadata");
    struct slice id = json_text_of(metadata, "id"), decision = json_text_of(metadata, "decision");
    bool was_asked = slice_present(chat->asked) && slice_eq(id, chat->asked);
    chat_ask_remove(chat, id);
    if (was_asked && !is_past(chat)) {
        chat_screen_note(&chat->screen, COLOUR_DIM,
                         arena_format(chat->remote.arena, "(%.*s%s%.*s)",
                                      SLICE_ARG(slice_after(json_text_of(event, "type"), strlen("ask."))),
                                      decision.len ? ": " : "", SLICE_ARG(decision)));
    }
}

static void take_turn_end(struct chat *chat, const struct json *event)
{
    const struct json *metadata = json_get(event, "metadata"), *error = json_get(metadata, "error");
    struct slice reason = json_text_of(metadata, "stop_reason"), message = json_text_of(error, "message");
    if (chat->sequence > chat->usage_known_to) {
        usage_add(&chat->usage, json_get(metadata, "usage"));
    }
    chat_screen_finish(&chat->screen, buffer_slice(&chat->screen.spoken));
    chat->has_failed = slice_is(reason, turn_stop_enum.names[TURN_ERROR]);
    if (slice_is(reason, turn_stop_enum.names[TURN_STOP])) {
        return;
    }
    chat_screen_note(&chat->screen, chat->has_failed ? COLOUR_RED : COLOUR_YELLOW,
                     slice_present(message)
                         ? arena_format(chat->remote.arena, "(turn ended: %.*s)", SLICE_ARG(message))
                         : arena_format(chat->remote.arena, "(turn ended: %.*s)", SLICE_ARG(reason)));
}

static void take_note(struct chat *chat, const struct json *event)
{
    struct buffer text = {0};
    buffer_format(&text, "%.*s ", SLICE_ARG(json_text_of(event, "type")));
    event_text(event, &text);
    chat_screen_fold(&chat->screen, "·", buffer_slice(&text));
    buffer_release(&text);
}

/* What a state of the session means for who talks to it. */
enum meaning { MEANS_REST, MEANS_BUSY, MEANS_END };
static const enum meaning meanings[SESSION_STATUS_COUNT] = {
    [SESSION_DRAFT] = MEANS_REST,    [SESSION_IDLE] = MEANS_REST,          [SESSION_PENDING] = MEANS_BUSY,
    [SESSION_RUNNING] = MEANS_BUSY,  [SESSION_WAITING_HUMAN] = MEANS_BUSY, [SESSION_AWAITING_TOOL] = MEANS_BUSY,
    [SESSION_COMPLETED] = MEANS_END, [SESSION_FAILED] = MEANS_END,         [SESSION_EXPIRED] = MEANS_END,
    [SESSION_ABANDONED] = MEANS_END,
};

static enum meaning meaning_of(struct slice state)
{
    int known = enum_names_find(session_status_enum, state);
    return known >= 0 ? meanings[known] : MEANS_REST;
}

static bool is_pending(struct slice state)
{
    return slice_is(state, session_status_enum.names[SESSION_PENDING]);
}

static void take_status(struct chat *chat, const struct json *event)
{
    const struct json *metadata = json_get(event, "metadata");
    struct slice to = json_text_of(metadata, "to"), reason = json_text_of(metadata, "reason");
    enum meaning meaning = meaning_of(to);
    bool was_busy = chat->is_busy;
    chat->is_busy = meaning == MEANS_BUSY;
    chat->busy_since_ms = was_busy ? chat->busy_since_ms : chat_steady_ms();
    chat->waits_since_ms = is_pending(to) && !is_past(chat) ? chat_steady_ms() : 0;
    chat->screen.is_thinking = chat->screen.is_thinking && chat->is_busy;
    chat->state = arena_copy(chat->remote.arena, to);
    if (meaning == MEANS_END && !is_past(chat)) {
        chat_screen_note(&chat->screen, COLOUR_YELLOW,
                         arena_format(chat->remote.arena, "(the session is %.*s%s%.*s)", SLICE_ARG(to),
                                      reason.len ? ": " : "", SLICE_ARG(reason)));
        chat_leave(chat, EXIT_MISSING);
    }
}

static const struct {
    enum event_kind kind;
    void (*take)(struct chat *chat, const struct json *event);
} takers[] = {
    {EVENT_USER_MESSAGE, take_user_message},     {EVENT_AGENT_MESSAGE, take_agent_message},
    {EVENT_AGENT_THINKING, take_thinking},       {EVENT_AGENT_TOOL_CALL, take_tool_call},
    {EVENT_AGENT_TOOL_RESULT, take_tool_result}, {EVENT_ASK_REQUESTED, take_ask},
    {EVENT_ASK_ANSWERED, take_ask_end},          {EVENT_ASK_EXPIRED, take_ask_end},
    {EVENT_ASK_CANCELLED, take_ask_end},         {EVENT_TURN_ENDED, take_turn_end},
    {EVENT_SESSION_STATUS_CHANGE, take_status},  {EVENT_MODEL_SWITCHED, take_note},
    {EVENT_MODEL_RETRYING, take_note},           {EVENT_CONTEXT_COMPACTED, take_note},
};

static void take_event(struct chat *chat, const struct json *event)
{
    enum event_kind kind = event_kind_find(json_text_of(event, "type"));
    chat->sequence = json_i64_of(event, "sequence");
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
        if (kind == takers[i].kind) {
            takers[i].take(chat, event);
        }
    }
}

/* --- other frames --- */

/* -1 when it is none that is known. */
static int delta_kind_of(const struct json *delta)
{
    return enum_names_find(delta_kind_enum, json_text_of(delta, "kind"));
}

static void take_delta(struct chat *chat, const struct json *delta)
{
    int kind = delta_kind_of(delta);
    if (kind == DELTA_TEXT) {
        chat_screen_speak(&chat->screen, json_text_of(delta, "text"));
    } else if (kind == DELTA_REASONING) {
        chat->screen.is_thinking = true;
    }
}

/* All live output of the message so far: a new connection does not know what the one before has shown. */
static void take_snapshot(struct chat *chat, const struct json *snapshot)
{
    struct buffer whole = {0};
    const struct json *partial = json_get(snapshot, "partial");
    for (const struct json *delta = partial ? partial->child : NULL; delta; delta = delta->next) {
        if (delta_kind_of(delta) == DELTA_TEXT) {
            buffer_add(&whole, json_text_of(delta, "text"));
        }
    }
    struct slice spoken = buffer_slice(&chat->screen.spoken), all = buffer_slice(&whole);
    if (slice_starts(all, spoken)) {
        chat_screen_speak(&chat->screen, slice_after(all, spoken.len));
    }
    buffer_release(&whole);
}

static void take_ready(struct chat *chat, const struct json *ready)
{
    if (chat->caught_up < 0) {
        chat->caught_up = json_i64_of(ready, "sequence");
        chat->waits_since_ms = chat->is_busy && is_pending(chat->state) ? chat_steady_ms() : 0;
    }
}

static void take_gap(struct chat *chat, const struct json *gap)
{
    chat_screen_note(&chat->screen, COLOUR_YELLOW,
                     arena_format(chat->remote.arena, "(events %lld to %lld can't be shown)",
                                  (long long)json_i64_of(gap, "from"), (long long)json_i64_of(gap, "to")));
}

/* The tail knows which reasons end it. */
static void take_closed(struct chat *chat, const struct json *closed)
{
    struct slice reason = json_text_of(closed, "reason");
    if (slice_is(reason, "deleted") || slice_is(reason, "access_revoked")) {
        chat_screen_note(&chat->screen, COLOUR_RED,
                         arena_format(chat->remote.arena, "(closed: %.*s)", SLICE_ARG(reason)));
    }
}

static const struct {
    const char *name;
    void (*take)(struct chat *chat, const struct json *data);
} frame_kinds[] = {
    {"event", take_event}, {"delta", take_delta}, {"snapshot", take_snapshot},
    {"ready", take_ready}, {"gap", take_gap},     {"closed", take_closed},
};

void chat_on_frame(void *owner, const struct sse_event *frame, const struct json *data)
{
    struct chat *chat = owner;
    if (chat->remote.wants_json) {
        struct buffer line = {0};
        tail_write_json(frame, &line);
        chat->screen.is_broken = remote_print(buffer_slice(&line)) != EXIT_DONE || chat->screen.is_broken;
        buffer_release(&line);
    }
    for (size_t i = 0; data && i < sizeof frame_kinds / sizeof frame_kinds[0]; i++) {
        if (slice_is(frame->event, frame_kinds[i].name)) {
            frame_kinds[i].take(chat, data);
        }
    }
    chat_tick(chat);
}

void chat_on_lost(void *owner)
{
    struct chat *chat = owner;
    chat_screen_note(&chat->screen, COLOUR_YELLOW, SLICE("(the connection is lost; trying again)"));
    chat->waits_since_ms = 0;
    chat_tick(chat);
}
