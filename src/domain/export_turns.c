#include "domain/export_turns.h"

#include <assert.h>

#include "domain/prompt.h"
#include "domain/turn.h"

const enum event_kind export_event_kinds[] = {
    EVENT_USER_MESSAGE,      EVENT_AGENT_MESSAGE,    EVENT_AGENT_THINKING,           EVENT_AGENT_TOOL_CALL,
    EVENT_AGENT_TOOL_RESULT, EVENT_USER_TOOL_RESULT, EVENT_SESSION_CONTEXT_INJECTED, EVENT_TURN_ENDED,
};
/* Of the same kinds in the same order. */
static const enum export_role roles[] = {
    EXPORT_USER, EXPORT_ASSISTANT, EXPORT_ASSISTANT, EXPORT_ASSISTANT,
    EXPORT_TOOL, EXPORT_TOOL,      EXPORT_SYSTEM,    EXPORT_NO_MESSAGE,
};
enum { KINDS = sizeof roles / sizeof *roles };
static_assert(sizeof export_event_kinds / sizeof *export_event_kinds == KINDS, "a role for each kind");

const char *const export_role_names[EXPORT_ROLE_COUNT] = {
    [EXPORT_USER] = "user",     [EXPORT_ASSISTANT] = "assistant",   [EXPORT_TOOL] = "tool",
    [EXPORT_SYSTEM] = "system", [EXPORT_NO_MESSAGE] = "no message",
};

size_t export_event_kind_count(void)
{
    return KINDS;
}

enum export_role export_role_of(enum event_kind kind)
{
    size_t i = 0;
    while (i < KINDS && kind != export_event_kinds[i]) {
        i++;
    }
    return i < KINDS ? roles[i] : EXPORT_NO_MESSAGE;
}

static const struct json *metadata_of(struct arena *arena, const struct event *event)
{
    const struct json *metadata = NULL;
    bool read = slice_present(event->metadata) && json_parse(arena, event->metadata, &metadata, NULL) == STATUS_OK;
    return read ? metadata : NULL;
}

struct slice export_tool_of(struct arena *arena, const struct event *event)
{
    const struct json *content = NULL;
    struct slice name = json_text_of(metadata_of(arena, event), "name");
    if (slice_present(name) || !slice_present(event->content) ||
        json_parse(arena, event->content, &content, NULL) != STATUS_OK) {
        return name;
    }
    for (const struct json *part = content->child; part && !slice_present(name); part = part->next) {
        name = json_text_of(part, "name");
    }
    return name;
}

/* --- one turn after the other --- */

struct reading {
    struct arena *arena;
    struct export_turn *turns;
    size_t count;
    bool has_reply; /* of the last turn */
    bool is_over;   /* its turn.ended was there */
};

static void begin_turn(struct reading *r, size_t at)
{
    r->turns[r->count++] = (struct export_turn){.first = at, .end = at};
    r->has_reply = r->is_over = false;
}

/* What is appended while the agent still works belongs to the turn it works on. */
static bool begins_turn(const struct reading *r, const struct event *event, enum export_role role)
{
    if (r->count == 0) {
        return true;
    }
    bool goes_on = !r->is_over && !r->turns[r->count - 1].is_answered && !prompt_begins_turn(event);
    return role == EXPORT_USER && (r->has_reply || r->is_over) && !goes_on;
}

/* Text in front of a tool call, or cut off, is not the answer. */
static void take_reply(struct reading *r, const struct event *event)
{
    bool partial = false;
    struct export_turn *turn = &r->turns[r->count - 1];
    r->has_reply = true;
    if (event->kind == EVENT_AGENT_MESSAGE) {
        json_as_bool(json_get(metadata_of(r->arena, event), "partial"), &partial);
        turn->is_answered |= !partial && prompt_text_of(r->arena, event->content).len > 0;
    } else if (event->kind == EVENT_AGENT_TOOL_CALL) {
        turn->is_answered = false;
    }
}

static void take_end(struct reading *r, const struct event *event)
{
    int stop = enum_names_find(turn_stop_enum, json_text_of(metadata_of(r->arena, event), "stop_reason"));
    r->is_over = true;
    if (stop == TURN_ERROR || stop == TURN_ABORTED) {
        r->turns[r->count - 1].is_answered = false;
    }
}

static void take(struct reading *r, const struct event *event, size_t at)
{
    enum export_role role = export_role_of(event->kind);
    if (role == EXPORT_SYSTEM || (role == EXPORT_NO_MESSAGE && r->count == 0)) {
        return;
    }
    if (begins_turn(r, event, role)) {
        begin_turn(r, at);
    }
    if (event->kind == EVENT_TURN_ENDED) {
        take_end(r, event);
    } else if (role == EXPORT_ASSISTANT || role == EXPORT_TOOL) {
        take_reply(r, event);
    }
    r->turns[r->count - 1].end = at + 1;
}

size_t export_turns_of(struct arena *arena, const struct event *events, size_t count, struct export_turn *out)
{
    struct reading r = {.arena = arena, .turns = out};
    for (size_t i = 0; i < count; i++) {
        take(&r, &events[i], i);
    }
    return r.count;
}
