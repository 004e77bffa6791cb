#include "runner/demo.h"

#include "base/json.h"

enum {
    PIECE_BYTES = 16, /* of live output at a time, to the end of the word */
    PIECE_MS = 30,
    ECHO_BYTES_MAX = 400,
};

enum line_kind { LINE_THINK, LINE_SAY, LINE_CALL, LINE_RESULT, LINE_SETTLE };

/* One turn. A `*` stands for what the user said. */
static const struct {
    enum line_kind kind;
    int64_t after_ms;
    struct slice text;
} script[] = {
    {LINE_THINK, 200, SLICE("Somebody wants to see a session at work. I look at a file, then I answer.")},
    {LINE_SAY, 150,
     SLICE("Hello! I am the demo agent of this server: a script, not a model. Let me read a file that I pretend to "
           "have.")},
    {LINE_CALL, 250, SLICE("welcome.txt")},
    {LINE_RESULT, 400, SLICE("Everything in this session is in one log, and everybody who watches sees the same.")},
    {LINE_SAY, 250,
     SLICE("You said: \"*\". A real agent would work on that now. Send another message and the demo answers again.")},
    {LINE_SETTLE, 50, SLICE("{\"demo_turns\":1,\"input_tokens\":0,\"output_tokens\":0}")},
};

/* --- text --- */

static struct slice spoken(const struct script_turn *turn, struct slice text, struct arena *arena)
{
    struct slice before, after, said = slice_utf8_prefix(slice_trim(turn->said), ECHO_BYTES_MAX);
    if (!slice_cut(text, '*', &before, &after)) {
        return text;
    }
    const char *more = said.len < slice_trim(turn->said).len ? "…" : "";
    return arena_format(arena, "%.*s%.*s%s%.*s", SLICE_ARG(before), SLICE_ARG(said), more, SLICE_ARG(after));
}

/* Some words; the rest when it is short. */
static struct slice piece_of(struct slice rest)
{
    for (size_t i = PIECE_BYTES; i < rest.len; i++) {
        if (rest.ptr[i] == ' ') {
            return slice_from(rest.ptr, i + 1);
        }
        if (i >= 4 * PIECE_BYTES) {
            return slice_utf8_prefix(rest, i);
        }
    }
    return rest;
}

/* --- events --- */

struct part {
    struct buffer buffer;
    struct json_out out;
};

static void part_begin(struct part *part, const char *type)
{
    part->buffer = (struct buffer){0};
    part->out = json_out_to(&part->buffer);
    json_begin_array(&part->out);
    json_begin_object(&part->out);
    json_put_text(&part->out, "type", slice_of(type));
}

static void part_end(struct part *part, struct arena *arena, const char *event_type, struct act *out)
{
    json_end_object(&part->out);
    json_end_array(&part->out);
    out->kind = ACT_EVENT;
    out->event = (struct event){
        .type = slice_of(event_type),
        .role = ROLE_AGENT,
        .content = arena_copy(arena, buffer_slice(&part->buffer)),
        .metadata = SLICE("{\"demo\":true}"),
    };
    buffer_release(&part->buffer);
}

static void put_call_id(struct part *part, const struct script_turn *turn, struct arena *arena)
{
    json_put_text(&part->out, "tool_call_id", arena_format(arena, "demo-%lld", (long long)turn->number));
}

static void call_tool(const struct script_turn *turn, struct slice path, struct arena *arena, struct act *out)
{
    struct part part;
    part_begin(&part, "tool_call");
    put_call_id(&part, turn, arena);
    json_put_text(&part.out, "name", SLICE("read_file"));
    json_key(&part.out, "input");
    json_begin_object(&part.out);
    json_put_text(&part.out, "path", path);
    json_end_object(&part.out);
    part_end(&part, arena, "agent.tool_call", out);
}

static void answer_tool(const struct script_turn *turn, struct slice text, struct arena *arena, struct act *out)
{
    struct part part;
    part_begin(&part, "tool_result");
    put_call_id(&part, turn, arena);
    json_put_text(&part.out, "output", text);
    json_put_bool(&part.out, "is_error", false);
    part_end(&part, arena, "agent.tool_result", out);
}

/* Piece by piece, then the whole as an event. */
static void speak(struct script_turn *turn, struct slice text, struct arena *arena, struct act *out)
{
    bool thinks = script[turn->line].kind == LINE_THINK;
    struct slice rest = slice_after(text, turn->heard);
    if (rest.len > 0) {
        out->kind = ACT_DELTA;
        out->after_ms = turn->heard == 0 ? script[turn->line].after_ms : PIECE_MS;
        out->delta_kind = thinks ? SLICE("reasoning") : SLICE("text");
        out->delta_text = piece_of(rest);
        turn->heard += out->delta_text.len;
        return;
    }
    struct part part;
    part_begin(&part, "text");
    json_put_text(&part.out, "text", text);
    part_end(&part, arena, thinks ? "agent.thinking" : "agent.message", out);
    turn->heard = 0;
    turn->line++;
}

static void settle(struct slice usage, struct act *out)
{
    out->kind = ACT_SETTLE;
    out->to = WORK_IDLE;
    out->usage = usage;
}

static void demo_next(struct script_turn *turn, struct arena *arena, struct act *out)
{
    struct slice text = script[turn->line].text;
    *out = (struct act){.after_ms = script[turn->line].after_ms};
    switch (script[turn->line].kind) {
    case LINE_THINK:
    case LINE_SAY:
        out->after_ms = PIECE_MS;
        speak(turn, spoken(turn, text, arena), arena, out);
        return;
    case LINE_CALL:
        call_tool(turn, text, arena, out);
        break;
    case LINE_RESULT:
        answer_tool(turn, text, arena, out);
        break;
    case LINE_SETTLE:
        settle(text, out);
        return;
    }
    turn->line++;
}

const struct script demo_driver = {"demo", demo_next};
