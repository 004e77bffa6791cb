#include "domain/turn_follow.h"

#include "domain/prompt.h"
#include "domain/turn.h"

void turn_follow_release(struct turn_follow *follow)
{
    struct buffer *all[] = {&follow->text,  &follow->tool_calls, &follow->status,
                            &follow->error, &follow->usage,      &follow->stop_reason};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        buffer_release(all[i]);
    }
}

static void replace(struct buffer *buffer, struct slice text)
{
    buffer->len = 0;
    buffer_add(buffer, text);
}

static void replace_present(struct buffer *buffer, struct slice text)
{
    if (slice_present(text) && !slice_is(text, "null")) {
        replace(buffer, text);
    }
}

static bool names_prompt(const struct turn_follow *follow, const struct json *metadata)
{
    if (slice_eq(json_text_of(metadata, "prompt_id"), follow->prompt_id)) {
        return true;
    }
    const struct json *collected = json_get(metadata, "prompts");
    for (const struct json *one = json_is(collected, JSON_ARRAY) ? collected->child : NULL; one; one = one->next) {
        if (slice_eq(json_text_of(one, "prompt_id"), follow->prompt_id)) {
            return true;
        }
    }
    return false;
}

/* --- one event --- */

struct seen {
    struct turn_follow *follow;
    const struct json *event, *metadata;
    int64_t sequence;
};

/* What an interrupted attempt said does not count: the turn runs again from its start. */
static void take_claim(struct seen *seen)
{
    struct turn_follow *follow = seen->follow;
    follow->state = FOLLOW_RUNNING;
    follow->turn = json_i64_of(seen->metadata, "fence");
    follow->text.len = follow->tool_calls.len = 0;
}

static void take_message(struct seen *seen)
{
    struct arena arena = {0};
    struct buffer *text = &seen->follow->text;
    struct slice said = prompt_text_of(&arena, json_raw_of(seen->event, "content"));
    buffer_add(text, text->len > 0 && said.len > 0 ? SLICE("\n") : SLICE(""));
    buffer_add(text, said);
    arena_release(&arena);
}

static void take_tool_call(struct seen *seen)
{
    struct json_out out = {&seen->follow->tool_calls, seen->follow->tool_calls.len > 0};
    json_begin_object(&out);
    json_put_i64(&out, "sequence", seen->sequence);
    json_maybe_raw(&out, "content", json_raw_of(seen->event, "content"));
    json_maybe_raw(&out, "metadata", json_raw_of(seen->event, "metadata"));
    json_end_object(&out);
}

static void take_interrupt(struct seen *seen)
{
    seen->follow->interrupted |= json_i64_of(seen->metadata, "turn") == seen->follow->turn;
}

static void take_error(struct seen *seen)
{
    replace_present(&seen->follow->error, json_raw_of(seen->event, "metadata"));
    replace_present(&seen->follow->usage, json_raw_of(seen->metadata, "usage"));
}

static void take_completed(struct seen *seen)
{
    replace_present(&seen->follow->usage, json_raw_of(seen->metadata, "usage"));
}

static void take_turn_ended(struct seen *seen)
{
    struct turn_follow *follow = seen->follow;
    follow->state = FOLLOW_ENDED;
    replace_present(&follow->error, json_raw_of(seen->metadata, "error"));
    replace_present(&follow->usage, json_raw_of(seen->metadata, "usage"));
    replace_present(&follow->stop_reason, json_raw_of(seen->metadata, "stop_reason"));
    follow->interrupted |= slice_is(json_text_of(seen->metadata, "stop_reason"), turn_stop_enum.names[TURN_ABORTED]);
}

static void take_status(struct seen *seen)
{
    struct turn_follow *follow = seen->follow;
    struct slice word = json_text_of(seen->metadata, "to");
    int to = enum_names_find(session_status_enum, word);
    if (to < 0 ||
        (session_status_is_active((enum session_status)to) && !session_status_takes_prompt((enum session_status)to))) {
        follow->state = to == SESSION_PENDING && follow->state == FOLLOW_RUNNING ? FOLLOW_PENDING : follow->state;
        return;
    }
    follow->state = FOLLOW_ENDED;
    replace(&follow->status, word);
    take_completed(seen);
}

/* What happens in a turn, besides what only passes. */
static const struct {
    enum event_kind kind;
    void (*take)(struct seen *seen);
    bool ends; /* may come after the end, in the same transaction */
} in_turn[] = {
    {EVENT_SESSION_CLAIMED, take_claim, false},      {EVENT_AGENT_MESSAGE, take_message, false},
    {EVENT_AGENT_TOOL_CALL, take_tool_call, false},  {EVENT_TURN_INTERRUPT_REQUESTED, take_interrupt, false},
    {EVENT_TURN_ENDED, take_turn_ended, true},       {EVENT_SESSION_ERROR, take_error, true},
    {EVENT_SESSION_COMPLETED, take_completed, true}, {EVENT_SESSION_STATUS_CHANGE, take_status, true},
};

static bool reads_in_turn(enum event_kind kind)
{
    bool reads = false;
    for (size_t i = 0; i < sizeof in_turn / sizeof *in_turn; i++) {
        reads |= kind == in_turn[i].kind;
    }
    return reads;
}

static bool take_in_turn(struct seen *seen, enum event_kind kind)
{
    struct turn_follow *follow = seen->follow;
    bool over = follow->state == FOLLOW_ENDED;
    bool belongs = !over;
    for (size_t i = 0; i < sizeof in_turn / sizeof *in_turn; i++) {
        if (kind == in_turn[i].kind && (!over || in_turn[i].ends)) {
            in_turn[i].take(seen);
            belongs = true;
        }
    }
    follow->to = belongs ? seen->sequence : follow->to;
    follow->sealed = !belongs;
    return belongs;
}

static bool take_of_prompt(struct seen *seen, enum event_kind kind)
{
    struct turn_follow *follow = seen->follow;
    bool said = kind == EVENT_USER_MESSAGE;
    if (!names_prompt(follow, seen->metadata)) {
        return false;
    }
    if (said) {
        follow->state = FOLLOW_PENDING;
        follow->from = follow->to = seen->sequence;
    } else if (kind == EVENT_PROMPT_WITHDRAWN) {
        follow->state = FOLLOW_WITHDRAWN;
        replace(&follow->status, json_text_of(seen->metadata, "reason"));
    }
    return said || event_kind_is_of_prompt(kind);
}

static bool take(struct seen *seen, enum event_kind kind)
{
    if (take_of_prompt(seen, kind)) {
        return true;
    }
    return seen->follow->state != FOLLOW_QUEUED && !event_kind_is_of_prompt(kind) && take_in_turn(seen, kind);
}

bool turn_follow_take(struct turn_follow *follow, enum event_kind kind, int64_t sequence, struct slice json)
{
    struct arena arena = {0};
    struct seen seen = {.follow = follow, .sequence = sequence};
    if (follow->state == FOLLOW_WITHDRAWN || follow->sealed) {
        return false;
    }
    bool reads = kind == EVENT_USER_MESSAGE || event_kind_is_of_prompt(kind) || reads_in_turn(kind);
    if (reads && json_parse(&arena, json, &seen.event, NULL) == STATUS_OK) {
        seen.metadata = json_get(seen.event, "metadata");
    }
    bool mine = take(&seen, kind);
    arena_release(&arena);
    return mine;
}

/* --- the result --- */

struct slice turn_follow_status(const struct turn_follow *follow)
{
    static const char *const words[FOLLOW_COUNT] = {
        [FOLLOW_QUEUED] = "queued",   [FOLLOW_PENDING] = "pending",     [FOLLOW_RUNNING] = "running",
        [FOLLOW_ENDED] = "completed", [FOLLOW_WITHDRAWN] = "withdrawn",
    };
    struct slice went = buffer_slice(&follow->status);
    bool rests = went.len == 0 || slice_is(went, session_status_enum.names[SESSION_IDLE]);
    if (follow->state != FOLLOW_ENDED) {
        return slice_of(words[follow->state]);
    }
    if (follow->interrupted) {
        return SLICE("interrupted");
    }
    if (follow->error.len > 0 && rests) {
        return slice_of(session_status_enum.names[SESSION_FAILED]);
    }
    return rests ? slice_of(words[FOLLOW_ENDED]) : went;
}

static void put_maybe(struct json_out *out, const char *key, const struct buffer *json)
{
    json_put_raw(out, key, json->len > 0 ? buffer_slice(json) : SLICE("null"));
}

void turn_follow_write(const struct turn_follow *follow, struct json_out *out)
{
    json_put_text(out, "prompt_id", follow->prompt_id);
    json_put_i64(out, "turn", follow->turn);
    json_put_text(out, "status", turn_follow_status(follow));
    json_put_text(out, "text", buffer_slice(&follow->text));
    json_key(out, "tool_calls");
    json_begin_array(out);
    if (follow->tool_calls.len > 0) {
        json_raw(out, buffer_slice(&follow->tool_calls));
    }
    json_end_array(out);
    put_maybe(out, "stop_reason", &follow->stop_reason);
    put_maybe(out, "error", &follow->error);
    put_maybe(out, "usage", &follow->usage);
    json_put_i64(out, "from", follow->from);
    json_put_i64(out, "to", follow->to);
}
