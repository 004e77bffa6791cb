#include <assert.h>
#include <stdlib.h>

#include "domain/introspection.h"
#include "runner/model/model_context.h"
#include "service/turn/turn_run.h"

static const char INSTRUCTIONS[] =
    "You look back at a part of a conversation that you had. Nobody reads what you say now. Keep what will matter "
    "later, and only that: lasting facts and wishes as memories (recall first; update or delete what is no longer "
    "true), what goes on in this session as its working memory, and what it is about as its description or title. "
    "When there is nothing to keep, do nothing. Never keep secrets.";

/* --- the start --- */

struct start {
    struct loop_message message;
    struct turn *turn;
};

static void on_start(struct loop_message *message)
{
    struct start *start = (struct start *)message;
    struct turn *turn = start->turn;
    struct turn_host *host = turn->host;
    free(start);
    if (host->stopping) {
        turn_free(turn);
        return;
    }
    turn_begin(host, turn);
    turn_host_rearm(host);
}

void turn_introspect(struct turn_host *host, const struct publication_entry *started)
{
    const struct json *event = NULL;
    if (host->stopping) {
        return;
    }
    struct turn *turn = memory_zeroed(sizeof *turn);
    turn->host_calls = &turn_host_calls;
    struct start *start = memory_zeroed(sizeof *start);
    turn->host = host;
    turn->queue_end = &turn->queue;
    if (json_parse(&turn->arena, arena_copy(&turn->arena, started->json), &event, NULL) != STATUS_OK) {
        event = NULL;
    }
    const struct json *metadata = json_get(event, "metadata");
    turn->introspects = true;
    turn->from = json_i64_of(metadata, "from");
    turn->to = json_i64_of(metadata, "to");
    turn->input.loop = host->options.loop;
    turn->input.tenant_key = started->tenant_key;
    turn->input.session_key = started->session_key;
    turn->input.session_id = arena_copy(&turn->arena, started->session_id);
    turn->input.number = json_i64_of(metadata, "run");
    turn->actor = SLICE("introspection");
    turn->driver = host->options.drivers[DRIVER_MODEL];
    turn->sequence = turn->log_read_to = started->sequence;
    turn->lease_ms = host->options.service->limits.claim.lease_ms_default;
    *start = (struct start){{.run = on_start}, turn};
    loop_post(host->options.loop, &start->message);
}

/* --- what it is told --- */

static const enum event_kind told_kinds[] = {EVENT_USER_MESSAGE, EVENT_AGENT_MESSAGE, EVENT_AGENT_TOOL_CALL};

struct telling {
    struct arena arena;   /* of one event at a time */
    struct slice *pieces; /* in the turn's arena, newest first */
    size_t room, count;
    size_t bytes, bytes_max;
    struct arena *kept;
};

static struct slice piece_of(struct telling *telling, const struct event *event)
{
    bool is_call = event->kind == EVENT_AGENT_TOOL_CALL;
    const char *who = event->role == ROLE_USER ? "user" : is_call ? "you, with a tool" : "you";
    struct slice text = is_call ? event->content : prompt_text_of(&telling->arena, event->content);
    struct slice shown = slice_utf8_prefix(text, telling->bytes_max / 4);
    return arena_format(telling->kept, "[%s] %.*s\n", who, SLICE_ARG(shown));
}

static bool keep_piece(void *owner, const struct event *event)
{
    struct telling *telling = owner;
    struct slice piece = piece_of(telling, event);
    arena_reset(&telling->arena);
    if (telling->bytes + piece.len > telling->bytes_max) {
        return false;
    }
    telling->bytes += piece.len;
    telling->pieces[telling->count++] = piece;
    return telling->count < telling->room;
}

static enum status read_range(struct call *call, struct turn *turn, struct telling *out)
{
    struct event_filter filter = {.tenant_key = turn->input.tenant_key,
                                  .session_key = turn->input.session_key,
                                  .kinds = told_kinds,
                                  .kind_count = sizeof told_kinds / sizeof *told_kinds,
                                  .after = turn->from - 1,
                                  .before = turn->to + 1,
                                  .newest_first = true,
                                  .limit = (int64_t)out->room};
    out->pieces = arena_array(call->arena, out->room, sizeof *out->pieces);
    enum status status = store_event_read(call->db, &filter, keep_piece, out, &call->failure);
    arena_release(&out->arena);
    return status;
}

/* What it may do, and with which model; its own caps on turns and people's answers are not for this. */
static void narrow_agent(struct agent *agent, struct arena *arena)
{
    agent->tools = introspection_tools;
    agent->tool_count = introspection_tool_count;
    agent->permission_count = agent->narrower_count = 0;
    agent->tool_rounds_max = agent->introspection.tool_calls_max;
    agent->turns_max = INT64_MAX;
    agent->on_exceed = EXCEED_FAIL;
    agent->system_prompt = arena_format(arena, "%s\n\n%.*s", INSTRUCTIONS, SLICE_ARG(agent->system_prompt));
    if (slice_present(agent->introspection.model)) {
        agent->model.model = agent->introspection.model;
        agent->fallback_count = 0;
    }
}

enum status turn_introspect_input(struct call *call, struct turn *turn)
{
    struct turn_input *input = &turn->input;
    struct telling telling = {.room = (size_t)turn->host->options.limits.history_events_max,
                              .bytes_max = call->service->limits.introspection.bytes_max,
                              .kept = call->arena};
    struct buffer text = {0}, fenced = {0};
    enum status status = read_range(call, turn, &telling);
    for (size_t i = telling.count; i > 0; i--) {
        buffer_add(&text, telling.pieces[i - 1]);
    }
    context_fence(&fenced, "conversation", buffer_slice(&text));
    input->prompt = prompt_content_of(&turn->arena, buffer_slice(&fenced));
    input->said = arena_copy(&turn->arena, buffer_slice(&fenced));
    buffer_release(&text);
    buffer_release(&fenced);
    turn->actor = arena_format(&turn->arena, "agent:%.*s", SLICE_ARG(turn->agent.id));
    narrow_agent(&turn->agent, &turn->arena);
    return status;
}

/* --- what it says --- */

bool turn_introspect_event(struct event *event)
{
    static const struct {
        enum event_kind said, kept;
    } names[] = {
        {EVENT_AGENT_TOOL_CALL, EVENT_INTROSPECTION_TOOL_CALL},
        {EVENT_AGENT_TOOL_RESULT, EVENT_INTROSPECTION_TOOL_RESULT},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (event->kind == names[i].said) {
            event->kind = names[i].kept;
            event->role = ROLE_SYSTEM;
            return true;
        }
    }
    return false;
}

bool turn_introspect_may_call(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    bool may = turn->calls < turn->agent.introspection.tool_calls_max;
    turn->calls += may;
    return may;
}
