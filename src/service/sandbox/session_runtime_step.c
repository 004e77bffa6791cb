#include "domain/idle.h"
#include "domain/tunnel.h"
#include "domain/prompt.h"
#include "domain/session_details.h"
#include "service/agent/agent.h"
#include "service/sandbox/runtime.h"
#include "service/sandbox/session_runtime.h"
#include "service/sandbox/sandbox_owner.h"
#include "service/session/session_end.h"
#include "service/session/tunnel.h"

/* A step on the writer: what came of the last act is written, then what follows from it is decided and
 * written, in one transaction. A step may run twice; it starts from the runtime. */
struct step {
    struct call *call;
    struct session_runtime *runtime;
    struct loaded_session *loaded;
    struct agent agent;
    struct host_place place;
};

static enum status move(struct step *step, enum runtime to, enum pause_reason pause, const char *reason,
                        const struct runtime_update *update)
{
    struct changes changes = {0};
    struct call *call = step->call;
    enum status status =
        change_sandbox(call->arena, &step->loaded->session, to, pause, reason, update, &changes, &call->failure);
    return status == STATUS_OK && changes.count > 0 ? runtime_append(call, step->loaded, &changes) : status;
}

static struct slice detail_of(struct step *step, struct arena *arena, const char *key)
{
    const struct json *details = NULL;
    struct slice text = step->loaded->session.details;
    if (!slice_present(text) || json_parse(step->call->arena, text, &details, NULL) != STATUS_OK) {
        return (struct slice){0};
    }
    struct slice value = json_text_of(details, key);
    return slice_present(value) ? arena_copy(arena, value) : value;
}

/* --- what came of the act --- */

/* What a backend said that leads into it. */
static struct slice tunnels_given(const struct step *step)
{
    const struct json *tunnels = NULL;
    struct failure ignored;
    struct sandbox *sandbox = step->runtime->sandbox;
    struct slice text = sandbox ? sandbox_tunnels(sandbox) : (struct slice){0};
    bool good = slice_present(text) && json_parse(step->call->arena, text, &tunnels, NULL) == STATUS_OK &&
                tunnel_check_all(tunnels, &ignored) == STATUS_OK && tunnels->child;
    return good ? text : (struct slice){0};
}

/* The one that was there already keeps its name; nothing is worth an event then. */
static enum status note_made(struct step *step, const struct runtime_result *result)
{
    const struct session *session = &step->loaded->session;
    struct runtime_update told = {.sandbox_id = slice_of(result->sandbox_id), .tunnel_urls = tunnels_given(step)};
    if (!runtime_is_transitioning(session->runtime) || runtime_is_asleep(session->runtime)) {
        if (slice_eq(detail_of(step, step->call->arena, "sandbox_id"), told.sandbox_id)) {
            return STATUS_OK;
        }
        return move(step, session->runtime, session->pause_reason, "", &told);
    }
    return move(step, RUNTIME_RUNNING, PAUSE_NONE, "", &told);
}

/* People read the conversation, not the states of a sandbox. */
static enum status say_why(struct step *step, const struct failure *failure)
{
    struct call *call = step->call;
    struct buffer text = {0};
    buffer_format(&text, "The session could not be started: %s", failure->detail);
    struct slice content = prompt_content_of(call->arena, buffer_slice(&text));
    buffer_release(&text);
    struct slice metadata = arena_format(call->arena, "{\"code\":\"%s\"}", failure->code);
    return system_message_append(call, step->loaded, content, metadata);
}

static enum status note_not_made(struct step *step, const struct runtime_result *result)
{
    const struct session *session = &step->loaded->session;
    if (!runtime_allows(session->runtime, RUNTIME_ERROR, session_has_snapshot(session))) {
        return STATUS_OK;
    }
    enum status status =
        move(step, RUNTIME_ERROR, PAUSE_NONE, result->failure.detail, &(struct runtime_update){.sandbox_over = true});
    return status == STATUS_OK ? say_why(step, &result->failure) : status;
}

static enum status note_gone(struct step *step)
{
    enum status status = session_end(step->call, step->loaded, STOP_SANDBOX_GONE, "its sandbox was gone");
    return status == STATUS_OK ? move(step, RUNTIME_STOPPED, PAUSE_NONE, "its sandbox was gone",
                                      &(struct runtime_update){.sandbox_over = true})
                               : status;
}

/* The backend's word is another than ours and not its last: told, and neither is changed because of it. */
static enum status note_disagreement(struct step *step, const struct runtime_result *result)
{
    struct call *call = step->call;
    struct slice ours = slice_of(runtime_enum.names[step->loaded->session.runtime]);
    if (slice_eq_nocase(slice_of(result->status), ours)) {
        return STATUS_OK;
    }
    const char *keys[] = {"ours", "theirs", "sandbox_id"};
    struct slice values[] = {ours, slice_of(result->status), slice_of(result->sandbox_id)};
    struct changes changes = {0};
    change_note(call->arena, EVENT_RUNTIME_DISAGREED, keys, values, 3, &changes);
    return session_append_changes(call, step->loaded, &changes);
}

static enum status note_not_saved(struct step *step, const struct runtime_result *result)
{
    struct session_runtime *runtime = step->runtime;
    enum status status = STATUS_OK;
    if (runtime_is_asleep(step->loaded->session.runtime)) {
        status = move(step, RUNTIME_RUNNING, PAUSE_NONE, result->failure.detail, &(struct runtime_update){0});
    }
    if (status == STATUS_OK && runtime->snapshot_failures + 1 >= runtime->host->options.limits.snapshot_failures_max) {
        status = session_end(step->call, step->loaded, STOP_SNAPSHOT_FAILED, result->failure.detail);
    }
    return status;
}

static enum status note_saved(struct step *step, const struct runtime_result *result)
{
    const struct session *session = &step->loaded->session;
    struct runtime_update told = {.snapshot_id = slice_of(result->snapshot_id),
                                  .snapshot_bytes = result->snapshot_bytes};
    if (!step->runtime->sandbox) { /* a remote one is gone with it */
        told.sandbox_over = true;
        return move(step, RUNTIME_HIBERNATED, session->pause_reason, "", &told);
    }
    return move(step, session->runtime, session->pause_reason, "", &told);
}

static enum status note_ended(struct step *step)
{
    const struct session *session = &step->loaded->session;
    struct runtime_update over = {.sandbox_over = true};
    if (session_status_is_ended(session->status)) {
        return runtime_is_something(session->runtime) ? move(step, RUNTIME_STOPPED, PAUSE_NONE, "", &over) : STATUS_OK;
    }
    return move(step, RUNTIME_HIBERNATED, session->pause_reason, "", &over);
}

static enum status note_result(struct step *step)
{
    const struct runtime_result *result = &step->runtime->result;
    bool fine = result->outcome == SANDBOX_OK;
    if (!result->is_there) {
        return STATUS_OK;
    }
    if (result->act == RUNTIME_MAKE && result->outcome == SANDBOX_GONE) {
        return note_gone(step);
    }
    if (result->act == RUNTIME_MAKE && fine && result->status[0]) {
        enum status status = note_disagreement(step, result);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (result->act == RUNTIME_MAKE) {
        return fine ? note_made(step, result) : note_not_made(step, result);
    }
    if (result->act == RUNTIME_END) { /* an end that failed was given up */
        return note_ended(step);
    }
    if (result->outcome == SANDBOX_GONE) {
        return note_gone(step);
    }
    return fine ? note_saved(step, result) : note_not_saved(step, result);
}

/* --- what is next --- */

static int64_t grace_of(const struct step *step)
{
    const struct runtime_host_options *options = &step->runtime->host->options;
    int64_t own_ms = session_details_number(&step->loaded->session, "idle_timeout_ms");
    if (own_ms > 0) { /* whoever began it chose: no other grace counts */
        return own_ms;
    }
    return idle_grace_ms(step->loaded->session.source_interactive, options->limits.idle_grace_ms,
                         options->limits.idle_grace_automated_ms, step->agent.idle_timeout_ms);
}

/* The conditions are looked at again where nothing can change between the look and the lock, which is the state. */
static enum status fall_asleep_if_idle(struct step *step)
{
    struct session_runtime *runtime = step->runtime;
    struct call *call = step->call;
    const struct session *session = &step->loaded->session;
    struct idle_facts facts = {
        .running_tools = runtime->uses_seen,
        .viewers = runtime->viewers,
        .proxies = runtime_host_visits(runtime->host, session->key),
        .in_turn = !session_status_takes_prompt(session->status) || runtime->wanted,
        .idle_ms = step->call->now_ms - session->last_active_at_ms,
        .grace_ms = grace_of(step),
        .has_sandbox = runtime->sandbox != NULL && runtime_is_up(session->runtime),
    };
    if (!runtime->asks_idle || session_status_is_ended(session->status)) {
        return STATUS_OK;
    }
    int64_t since_ms = call->now_ms - runtime->host->options.limits.tool_call_ms;
    enum status status = store_tool_call_count_running(call->db, session->tenant_key, session->key, since_ms,
                                                       &facts.http_tool_calls, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (!idle_may_hibernate(&facts)) {
        int64_t left_ms = facts.grace_ms - facts.idle_ms;
        runtime->plan.idle_again_ms = left_ms > 0 ? left_ms : facts.grace_ms;
        return STATUS_OK;
    }
    return move(step, RUNTIME_HIBERNATING, PAUSE_INACTIVITY, "idle", &(struct runtime_update){0});
}

static enum status decide(struct step *step)
{
    struct session_runtime *runtime = step->runtime;
    const struct session *session = &step->loaded->session;
    bool ends_now = runtime->result.is_there && runtime->result.act != RUNTIME_MAKE;
    struct runtime_facts facts = {
        .state = session->runtime,
        .ended = session_status_is_ended(session->status),
        .has_snapshot = session_has_snapshot(session),
        .live = runtime->sandbox != NULL,
        .wanted = runtime->wanted,
        .used = runtime->uses_seen > 0,
        .saved = runtime->saved ||
                 (ends_now && runtime->result.act == RUNTIME_SAVE && runtime->result.outcome == SANDBOX_OK),
    };
    struct runtime_step next = runtime_next(&facts);
    runtime->plan.action = next.action;
    if (next.to != session->runtime) {
        return move(step, next.to, PAUSE_NONE, "", &(struct runtime_update){0});
    }
    return STATUS_OK;
}

static void write_plan(struct step *step)
{
    struct session_runtime *runtime = step->runtime;
    struct runtime_plan *plan = &runtime->plan;
    const struct session *session = &step->loaded->session;
    bool shows_project = step->agent.fs_scope != FS_SCOPE_SANDBOXED && slice_starts(session->workspace, SLICE("/"));
    plan->state = session->runtime;
    plan->to_be_ended = session_status_is_ended(session->status);
    plan->driver = session->driver;
    plan->settings = step->agent.sandbox;
    plan->session_id = arena_copy(&runtime->arena, session->id);
    plan->workspace = shows_project ? arena_copy(&runtime->arena, session->workspace) : (struct slice){0};
    plan->snapshot_id = detail_of(step, &runtime->arena, "snapshot_id");
    plan->sandbox_id = detail_of(step, &runtime->arena, "sandbox_id");
    plan->grace_ms = grace_of(step);
}

/* --- which node --- */

static bool reaches_snapshot(struct step *step)
{
    const struct session *session = &step->loaded->session;
    struct slice id = detail_of(step, step->call->arena, "snapshot_id");
    return slice_present(id) &&
           sandboxes_has_snapshot(step->runtime->host->options.sandboxes, session->tenant_key, session->key, id);
}

/* One that sleeps on a lost node is left until somebody wants it: the node may come back with its snapshot. */
static enum status resolve_place(struct step *step)
{
    struct session_runtime *runtime = step->runtime;
    const struct session *session = &step->loaded->session;
    enum status status = sandbox_owner_find(step->call, session, &step->agent, &step->place);
    bool held = runtime->sandbox && runtime->kind == SANDBOX_LOCAL;
    if (status != STATUS_OK || !step->place.counts || step->place.at == HOST_HERE) {
        return status;
    }
    runtime->plan.elsewhere = held || step->place.at == HOST_ELSEWHERE;
    runtime->plan.taken_over = !runtime_is_up(session->runtime) && !runtime_is_transitioning(session->runtime);
    bool rests =
        runtime_is_hibernated(session->runtime) && !runtime->wanted && !session_status_is_ended(session->status);
    if (runtime->plan.elsewhere || step->place.at == HOST_NOWHERE || rests) {
        return STATUS_OK;
    }
    runtime->plan.taken_over = true;
    return sandbox_owner_take_over(step->call, step->loaded, &step->place, reaches_snapshot(step));
}

static bool is_in_use(const struct step *step)
{
    const struct session *session = &step->loaded->session;
    const struct runtime_host_options *options = &step->runtime->host->options;
    bool only_here = session_has_snapshot(session) && !sandboxes_share_snapshots(options->sandboxes);
    return step->runtime->sandbox || step->runtime->plan.action == RUNTIME_MAKE || runtime_is_up(session->runtime) ||
           runtime_is_transitioning(session->runtime) || (only_here && runtime_is_something(session->runtime));
}

static enum status keep_place(struct step *step)
{
    bool is_mine = step->place.at == HOST_HERE;
    bool makes = step->runtime->plan.action == RUNTIME_MAKE;
    if (!is_mine && !makes) {
        return STATUS_OK;
    }
    return sandbox_owner_keep(step->call, &step->loaded->session, &step->place, is_in_use(step));
}

static bool creation_failed(const struct session_runtime *runtime)
{
    return runtime->result.is_there && runtime->result.act == RUNTIME_MAKE && runtime->result.outcome != SANDBOX_OK;
}

/* It runs in a sandbox that the session was begun with and no provider here knows. */
static bool is_of_others(const struct step *step)
{
    return !agent_has_sandbox(&step->agent) && runtime_is_up(step->loaded->session.runtime) &&
           !step->runtime->sandbox && !step->runtime->result.is_there;
}

static enum status leave_to_others(struct step *step)
{
    bool ended = session_status_is_ended(step->loaded->session.status);
    step->runtime->plan.action = step->runtime->wanted ? RUNTIME_REFUSE : RUNTIME_REST;
    return ended ? move(step, RUNTIME_STOPPED, PAUSE_NONE, "", &(struct runtime_update){.sandbox_over = true})
                 : STATUS_OK;
}

static enum status go_on(struct step *step)
{
    struct session_runtime *runtime = step->runtime;
    enum status status = note_result(step);
    if (status == STATUS_OK && creation_failed(runtime) && !session_status_is_ended(step->loaded->session.status)) {
        /* whoever waited hears why; who comes later tries again */
        runtime->plan.action = RUNTIME_REFUSE;
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = fall_asleep_if_idle(step);
    }
    if (status == STATUS_OK) {
        status = decide(step);
    }
    if (status == STATUS_OK) {
        write_plan(step);
    }
    return status;
}

static enum status take_step(struct step *step)
{
    struct session_runtime *runtime = step->runtime;
    struct call *call = step->call;
    enum status status = transaction_load_fresh(call->transaction, runtime->tenant_key, runtime->session_key,
                                                &step->loaded, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        runtime->plan.missing = true;
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = agent_of_session(call, &step->loaded->session, &runtime->arena, &step->agent);
    }
    if (status == STATUS_OK && is_of_others(step)) {
        return leave_to_others(step);
    }
    if (status == STATUS_OK) {
        status = resolve_place(step);
    }
    if (status != STATUS_OK || runtime->plan.elsewhere) {
        runtime->plan.action = RUNTIME_REST;
        return status;
    }
    status = go_on(step);
    return status == STATUS_OK ? keep_place(step) : status;
}

static enum status step_run(struct call *call, struct command *command)
{
    struct session_runtime *runtime = (struct session_runtime *)command;
    struct step step = {.call = call, .runtime = runtime};
    arena_reset(&runtime->arena);
    runtime->plan = (struct runtime_plan){.action = RUNTIME_WAIT};
    return take_step(&step);
}

static void step_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct session_runtime *runtime = (struct session_runtime *)command;
    runtime->status = status;
    runtime->failure = failure ? *failure : (struct failure){0};
    loop_post(runtime->host->options.loop, &runtime->message);
}

const struct command_type session_runtime_command = {"sandbox.step", 0, step_run, step_finish};
