#include <assert.h>

#include "domain/silence.h"
#include "runner/tool/path.h"
#include "service/agent/agent.h"
#include "service/agent/memory.h"
#include "service/turn/turn_run.h"

/* What a conversation is made of. */
static const enum event_kind history_kinds[] = {
    EVENT_USER_MESSAGE,      EVENT_AGENT_MESSAGE,     EVENT_AGENT_THINKING,
    EVENT_AGENT_TOOL_CALL,   EVENT_AGENT_TOOL_RESULT, EVENT_USER_TOOL_RESULT,
    EVENT_CONTEXT_COMPACTED, EVENT_CONTEXT_TRIMMED,   EVENT_TURN_ENDED,
};

struct history {
    struct arena *arena;
    struct event *events; /* newest first, filled from the end */
    size_t room, count;
};

static bool keep_event(void *owner, const struct event *event)
{
    struct history *history = owner;
    struct event *kept = &history->events[history->room - ++history->count];
    *kept = *event;
    kept->custom = arena_copy(history->arena, event->custom);
    kept->content = arena_copy(history->arena, event->content);
    kept->metadata = arena_copy(history->arena, event->metadata);
    kept->thread_id = arena_copy(history->arena, event->thread_id);
    kept->actor = arena_copy(history->arena, event->actor);
    kept->external_id = (struct slice){0};
    return history->count < history->room;
}

static bool keep_thread(void *owner, const struct event *event)
{
    struct turn *turn = owner;
    if (!prompt_begins_turn(event)) {
        return true;
    }
    turn->input.thread_id = arena_copy(&turn->arena, event->thread_id);
    return false;
}

/* Of the message the turn answers. */
static enum status read_thread(struct call *call, struct turn *turn, int64_t messages_max)
{
    static const enum event_kind kind = EVENT_USER_MESSAGE;
    struct event_filter filter = {.tenant_key = turn->input.tenant_key,
                                  .session_key = turn->input.session_key,
                                  .kinds = &kind,
                                  .kind_count = 1,
                                  .newest_first = true,
                                  .limit = messages_max};
    return store_event_read(call->db, &filter, keep_thread, turn, &call->failure);
}

/* A thread remembers what was said in it and nothing else; so does the main one. */
static enum status read_history(struct call *call, struct turn *turn, struct history *out)
{
    struct slice thread = turn->input.thread_id;
    struct event_filter filter = {.tenant_key = turn->input.tenant_key,
                                  .session_key = turn->input.session_key,
                                  .kinds = history_kinds,
                                  .kind_count = sizeof history_kinds / sizeof *history_kinds,
                                  .thread_id = slice_present(thread) ? thread : SLICE(""),
                                  .newest_first = true,
                                  .limit = (int64_t)out->room};
    out->events = arena_alloc(out->arena, out->room * sizeof *out->events);
    return store_event_read(call->db, &filter, keep_event, out, &call->failure);
}

/* The turn answers the last message; what follows it in the log is left of an earlier attempt. */
/* An attempt that was cut left something of its own; what people appended meanwhile is none of it. */
static bool says_something(const struct event *events, size_t count)
{
    size_t at = 0;
    while (at < count && events[at].kind == EVENT_USER_MESSAGE) {
        at++;
    }
    return at < count;
}

static void split_history(struct turn *turn, const struct history *history)
{
    struct turn_input *input = &turn->input;
    const struct event *events = history->events + (history->room - history->count);
    size_t prompt = history->count;
    while (prompt > 0 && !prompt_begins_turn(&events[prompt - 1])) {
        prompt--;
    }
    input->history = events;
    input->history_count = prompt > 0 ? prompt - 1 : 0;
    input->since = prompt > 0 ? events + prompt : events;
    input->since_count = history->count - (prompt > 0 ? prompt : 0);
    input->was_cut = says_something(input->since, input->since_count);
    input->prompt = prompt > 0 ? events[prompt - 1].content : SLICE("[]");
    input->message = prompt > 0 ? &events[prompt - 1] : NULL;
    input->said = prompt_text_of(&turn->arena, input->prompt);
}

static const struct json *context_of(struct turn *turn, const struct session *session)
{
    const struct json *details = NULL;
    bool readable =
        slice_present(session->details) && json_parse(&turn->arena, session->details, &details, NULL) == STATUS_OK;
    return readable ? json_get_value(details, "context") : NULL;
}

static void take_context(struct turn *turn, const struct session *session)
{
    const struct turn_host_options *options = &turn->host->options;
    const struct json *context = context_of(turn, session), *variables = json_get_value(context, "variables");
    bool is_named = slice_starts(session->workspace, SLICE("/"));
    struct slice directory = is_named ? session->workspace : json_text_of(context, "working_dir");
    turn->input.variables = json_is(variables, JSON_OBJECT) ? variables->raw : (struct slice){0};
    if (turn->agent.fs_scope >= FS_SCOPE_PROJECT && slice_present(directory)) {
        turn->input.workspace =
            path_project(&turn->arena, options->project_dirs, options->project_dir_count, directory);
    }
}

static enum status read_session(struct call *call, struct turn *turn)
{
    struct session session;
    const struct json *usage = NULL;
    struct turn_input *input = &turn->input;
    enum status status =
        store_session_by_key(call->db, input->tenant_key, input->session_key, &turn->arena, &session, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    input->turns_done = session.turn_count;
    turn->hides_marks = silence_concerns(&session);
    if (slice_present(session.usage) && json_parse(&turn->arena, session.usage, &usage, NULL) == STATUS_OK) {
        input->cost_microcents = json_i64_of(usage, "cost_microcents");
    }
    input->agent = &turn->agent;
    status = agent_of_session(call, &session, &turn->arena, &turn->agent);
    if (status == STATUS_OK) {
        take_context(turn, &session);
        status = memory_tell(call, &session, &turn->arena, &turn->agent);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = store_driver_state_get(call->db, input->tenant_key, input->session_key, &turn->arena, &input->kept,
                                    &call->failure);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status read_conversation(struct call *call, struct turn *turn, struct history *history)
{
    enum status status = read_thread(call, turn, (int64_t)history->room);
    if (status == STATUS_OK) {
        status = read_history(call, turn, history);
    }
    if (status == STATUS_OK) {
        split_history(turn, history);
        status = turn_read_media(call, turn);
    }
    return status;
}

static void load_run(struct read_job *job, struct db *db)
{
    struct turn *turn = (struct turn *)((char *)job - offsetof(struct turn, load_job));
    struct arena scratch = {0};
    struct history history = {.arena = &turn->arena, .room = (size_t)turn->host->options.limits.history_events_max};
    const struct service *service = turn->host->options.service;
    struct principal agent = turn_principal(turn->input.tenant_key, turn->actor);
    struct call call = {.service = service, .db = db, .arena = &scratch, .who = &agent};
    call.now_ms = clock_wall_ms(service->clock);
    call.steady_ms = clock_steady_ms(service->clock);
    turn->status = read_session(&call, turn);
    if (turn->status == STATUS_OK) {
        turn->status =
            turn->introspects ? turn_introspect_input(&call, turn) : read_conversation(&call, turn, &history);
    }
    turn->failure = call.failure;
    arena_release(&scratch);
    loop_post(turn->host->options.loop, &turn->loaded_message);
}

void turn_load_input(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    const struct turn_host_options *options = &turn->host->options;
    turn->load_job.run = load_run;
    assert(!turn->is_writing);
    turn->is_loading = options->submit_read(options->read_owner, &turn->load_job);
    if (turn->is_loading) {
        turn_enter(turn, TURN_LOADING);
    }
}
