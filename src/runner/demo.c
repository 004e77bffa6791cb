#include "runner/demo.h"

#include "base/json.h"
#include "runner/script.h"

enum {
    PIECE_BYTES = 16, /* of live output at a time, to the end of the word */
    PIECE_MS = 30,
    ECHO_BYTES_MAX = 400,
};

enum line_kind { LINE_THINK, LINE_SAY, LINE_CALL, LINE_RESULT, LINE_APPROVE, LINE_QUESTION, LINE_END };

/* One line of a script. In `text` a `*` stands for what the user said, a `?` for what was chosen. */
struct line {
    enum line_kind kind;
    int64_t after_ms;
    struct slice text;      /* said, asked, the result of a tool, or the result of the turn */
    const char *tool;       /* call, result, approval */
    struct slice arguments; /* call, approval: JSON; question: the options */
};

#define GREETING "Hello! I am the demo agent of this server: a script, not a model. "
#define EDIT "{\"path\":\"welcome.txt\",\"old\":\"the same.\",\"new\":\"the same, live.\"}"
#define COMMIT "{\"message\":\"Say that it is live\"}"
#define USAGE "{\"demo_turns\":1,\"input_tokens\":0,\"output_tokens\":0}"

/* The first turn of a session shows everything a session can do. */
static const struct line tour[] = {
    {LINE_THINK,
     200,
     SLICE("Somebody wants to see a session at work. I show a file, a change, a question and a commit."),
     NULL,
     {0}},
    {LINE_SAY, 150, SLICE(GREETING "Let me read a file that I pretend to have."), NULL, {0}},
    {LINE_CALL, 250, SLICE(""), "read_file", SLICE("{\"path\":\"welcome.txt\"}")},
    {LINE_RESULT,
     400,
     SLICE("Everything in this session is in one log, and everybody who watches sees the same."),
     "read_file",
     {0}},
    {LINE_SAY,
     250,
     SLICE("I would like to change it. A person decides that: allow it once, for the session, or deny."),
     NULL,
     {0}},
    {LINE_CALL, 250, SLICE(""), "edit_file", SLICE(EDIT)},
    {LINE_APPROVE, 100, SLICE("Change welcome.txt"), "edit_file", SLICE(EDIT)},
    {LINE_RESULT, 200, SLICE("-… sees the same.\n+… sees the same, live.\n"), "edit_file", {0}},
    {LINE_QUESTION, 200, SLICE("How shall the commit greet?"), NULL,
     SLICE("[\"Good morning\",\"Hello there\",\"No greeting\"]")},
    {LINE_SAY, 150, SLICE("You chose: ?. Now the commit; that needs a yes too."), NULL, {0}},
    {LINE_CALL, 200, SLICE(""), "git_commit", SLICE(COMMIT)},
    {LINE_APPROVE, 100, SLICE("Commit one changed file"), "git_commit", SLICE(COMMIT)},
    {LINE_RESULT,
     200,
     SLICE("[demo 1a2b3c4] Say that it is live\n 1 file changed, 1 insertion(+), 1 deletion(-)"),
     "git_commit",
     {0}},
    {LINE_SAY,
     250,
     SLICE(
         "You said: \"*\". A real agent would work on that now. Send another message and the demo answers again; begin "
         "it with \"tour\" to see all of this once more."),
     NULL,
     {0}},
    {LINE_END,
     50,
     SLICE("{\"summary\":\"The demo showed what a session can do.\",\"files_changed\":[\"welcome.txt\"]}"),
     NULL,
     {0}},
};

/* Later turns, and what begins with "echo", are short. */
static const struct line brief_turn[] = {
    {LINE_THINK, 200, SLICE("Somebody wants to see a session at work. I look at a file, then I answer."), NULL, {0}},
    {LINE_SAY, 150, SLICE(GREETING "Let me read a file that I pretend to have."), NULL, {0}},
    {LINE_CALL, 250, SLICE(""), "read_file", SLICE("{\"path\":\"welcome.txt\"}")},
    {LINE_RESULT,
     400,
     SLICE("Everything in this session is in one log, and everybody who watches sees the same."),
     "read_file",
     {0}},
    {LINE_SAY,
     250,
     SLICE("You said: \"*\". A real agent would work on that now. Send another message and the demo answers again."),
     NULL,
     {0}},
    {LINE_END, 50, {0}, NULL, {0}},
};

static const struct line *script_of(const struct script_turn *turn)
{
    bool asked = slice_starts(slice_trim(turn->said), SLICE("tour"));
    bool echo = slice_starts(slice_trim(turn->said), SLICE("echo"));
    return asked || (turn->turns_done == 0 && !echo) ? tour : brief_turn;
}

/* --- text --- */

static struct slice replaced(struct arena *arena, struct slice text, char mark, struct slice by, const char *more)
{
    struct slice before, after;
    if (!slice_cut(text, mark, &before, &after)) {
        return text;
    }
    return arena_format(arena, "%.*s%.*s%s%.*s", SLICE_ARG(before), SLICE_ARG(by), more, SLICE_ARG(after));
}

static struct slice spoken(const struct script_turn *turn, struct slice text, struct arena *arena)
{
    struct slice said = slice_trim(turn->said), echo = slice_utf8_prefix(said, ECHO_BYTES_MAX);
    struct slice chosen = turn->chosen.len > 0 ? turn->chosen : SLICE("nothing");
    text = replaced(arena, text, '?', chosen, "");
    return replaced(arena, text, '*', echo, echo.len < said.len ? "…" : "");
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

static void part_end(struct part *part, struct arena *arena, enum event_kind kind, struct act *out)
{
    json_end_object(&part->out);
    json_end_array(&part->out);
    out->kind = ACT_EVENT;
    out->event = (struct event){
        .kind = kind,
        .role = ROLE_AGENT,
        .content = arena_copy(arena, buffer_slice(&part->buffer)),
        .metadata = SLICE("{\"demo\":true}"),
    };
    buffer_release(&part->buffer);
}

static struct slice call_id(const struct script_turn *turn, const struct line *line, struct arena *arena)
{
    return arena_format(arena, "demo-%lld-%s", (long long)turn->number, line->tool);
}

static void call_tool(const struct script_turn *turn, const struct line *line, struct arena *arena, struct act *out)
{
    struct part part;
    part_begin(&part, "tool_call");
    json_put_text(&part.out, "tool_call_id", call_id(turn, line, arena));
    json_put_text(&part.out, "name", slice_of(line->tool));
    json_key(&part.out, "input");
    json_raw(&part.out, line->arguments);
    part_end(&part, arena, EVENT_AGENT_TOOL_CALL, out);
}

static void answer_tool(const struct script_turn *turn, const struct line *line, struct arena *arena, struct act *out)
{
    struct part part;
    part_begin(&part, "tool_result");
    json_put_text(&part.out, "tool_call_id", call_id(turn, line, arena));
    json_put_text(&part.out, "output", turn->denied ? SLICE("Denied by a person; nothing was changed.") : line->text);
    json_put_bool(&part.out, "is_error", turn->denied);
    part_end(&part, arena, EVENT_AGENT_TOOL_RESULT, out);
}

/* Piece by piece, then the whole as an event. */
static void speak(struct script_turn *turn, const struct line *line, struct arena *arena, struct act *out)
{
    bool thinks = line->kind == LINE_THINK;
    struct slice text = spoken(turn, line->text, arena), rest = slice_after(text, turn->heard);
    if (rest.len > 0) {
        out->kind = ACT_DELTA;
        out->after_ms = turn->heard == 0 ? line->after_ms : PIECE_MS;
        out->delta_kind = thinks ? DELTA_REASONING : DELTA_TEXT;
        out->delta_text = piece_of(rest);
        turn->heard += out->delta_text.len;
        return;
    }
    struct part part;
    part_begin(&part, "text");
    json_put_text(&part.out, "text", text);
    part_end(&part, arena, thinks ? EVENT_AGENT_THINKING : EVENT_AGENT_MESSAGE, out);
    out->after_ms = PIECE_MS;
    turn->heard = 0;
    turn->line++;
}

static void ask(const struct script_turn *turn, const struct line *line, struct arena *arena, struct act *out)
{
    bool approval = line->kind == LINE_APPROVE;
    out->kind = ACT_ASK;
    out->ask = (struct ask){
        .id = arena_format(arena, "demo-%lld-%zu", (long long)turn->number, turn->line),
        .kind = approval ? ASK_APPROVAL : ASK_QUESTION,
        .text = line->text,
        .tool = approval ? slice_of(line->tool) : (struct slice){0},
        .call_id = approval ? call_id(turn, line, arena) : (struct slice){0},
        .arguments = approval ? line->arguments : (struct slice){0},
        .options = approval ? (struct slice){0} : line->arguments,
    };
}

static void end(const struct line *line, struct act *out)
{
    out->kind = ACT_END;
    out->end = (struct turn_end){.stop = TURN_STOP, .to = SESSION_IDLE, .usage = SLICE(USAGE), .result = line->text};
}

/* An earlier attempt of this turn got so far already. */
static const struct line *skip_done(struct script_turn *turn, const struct line *script)
{
    while (turn->done > 0 && script[turn->line].kind != LINE_END) {
        enum line_kind kind = script[turn->line++].kind;
        turn->done -= kind != LINE_APPROVE && kind != LINE_QUESTION;
    }
    turn->done = 0;
    return &script[turn->line];
}

static void demo_next(struct script_turn *turn, struct arena *arena, struct act *out)
{
    const struct line *line = skip_done(turn, script_of(turn));
    *out = (struct act){.after_ms = line->after_ms};
    switch (line->kind) {
    case LINE_THINK:
    case LINE_SAY:
        speak(turn, line, arena, out);
        return;
    case LINE_CALL:
        call_tool(turn, line, arena, out);
        turn->denied = false;
        break;
    case LINE_RESULT:
        answer_tool(turn, line, arena, out);
        break;
    case LINE_APPROVE:
    case LINE_QUESTION:
        ask(turn, line, arena, out);
        break;
    case LINE_END:
        end(line, out);
        return;
    }
    turn->line++;
}

const struct script demo_script = {demo_next, 100};

struct driver demo_driver(const struct script *script)
{
    return (struct driver){
        .kind = DRIVER_DEMO,
        .owner = (void *)script,
        .start = script_start,
        .answer = script_answer,
        .interrupt = script_interrupt,
        .free = script_free,
    };
}
