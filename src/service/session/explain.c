#include "service/session/explain.h"
#include "service/session/event.h"

#include "service/turn/turn.h"

/* --- the log --- */

struct last_event {
    struct arena *arena;
    struct event event; /* at_ms 0 = there is none */
};

static bool keep_last(void *owner, const struct event *event)
{
    struct last_event *last = owner;
    last->event.kind = event->kind;
    last->event.metadata = arena_copy(last->arena, event->metadata);
    last->event.at_ms = event->at_ms;
    return false;
}

static enum status read_last(struct call *call, const struct session *session, const enum event_kind *kinds,
                             size_t count, struct last_event *out)
{
    *out = (struct last_event){.arena = call->arena};
    return event_last(call, session, kinds, count, keep_last, out);
}

static enum status learn_since(struct call *call, struct session_explained *out)
{
    struct last_event moved;
    bool by_runtime = explanation_follows_runtime(out->why);
    enum event_kind kind = by_runtime ? EVENT_SESSION_RUNTIME_CHANGE : EVENT_SESSION_STATUS_CHANGE;
    enum status status = read_last(call, &out->session, &kind, 1, &moved);
    out->since_ms = moved.event.at_ms ? moved.event.at_ms : out->session.created_at_ms;
    if (out->ask_count > 0 && out->asks[0].created_at_ms > out->since_ms) {
        out->since_ms = out->asks[0].created_at_ms;
    }
    return status;
}

/* For as long as the last refusal of the provider is waited out. */
static enum status learn_retry(struct call *call, struct session_explained *out, bool *out_retries)
{
    struct last_event refused;
    const struct json *metadata = NULL;
    enum event_kind kind = EVENT_MODEL_RETRYING;
    enum status status = read_last(call, &out->session, &kind, 1, &refused);
    bool found = status == STATUS_OK && slice_present(refused.event.metadata) &&
                 json_parse(call->arena, refused.event.metadata, &metadata, NULL) == STATUS_OK;
    *out_retries = found && refused.event.at_ms + json_i64_of(metadata, "after_ms") > call->now_ms;
    return status;
}

static enum status learn_watchdog(struct call *call, struct session_explained *out)
{
    struct last_event barked;
    enum status status = read_last(call, &out->session, watchdog_event_kinds, WATCHDOG_COUNT, &barked);
    out->watchdog = event_kind_name(barked.event.kind);
    out->watchdog_metadata = barked.event.metadata;
    out->watchdog_at_ms = barked.event.at_ms;
    return status;
}

/* --- the rows --- */

static enum status learn_lease(struct call *call, struct session_explained *out)
{
    enum status status =
        store_lease_get(call->db, out->session.tenant_key, out->session.key, call->arena, &out->lease, &call->failure);
    out->leased = status == STATUS_OK;
    if (out->leased) {
        out->lease_expires_at_ms = call->now_ms + out->lease.expires_at_ms - call->steady_ms;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status learn_activity(struct call *call, struct session_explained *out)
{
    struct partial partial;
    out->last_activity_ms = out->session.last_active_at_ms;
    enum status status =
        store_partial_load(call->db, out->session.tenant_key, out->session.key, call->arena, &partial, &call->failure);
    if (status == STATUS_OK && partial.count > 0 && partial.saved_at_ms > out->last_activity_ms) {
        out->last_activity_ms = partial.saved_at_ms;
    }
    return status;
}

static enum status learn_timer(struct call *call, struct session_explained *out)
{
    enum status status = store_timer_of_session(call->db, out->session.key, &out->timer, &call->failure);
    if (status == STATUS_OK) {
        out->timer.due_ms += call->now_ms - call->steady_ms;
    }
    if (out->leased && (status != STATUS_OK || out->lease_expires_at_ms < out->timer.due_ms)) {
        out->timer = (struct timer){.kind = TIMER_LEASE, .due_ms = out->lease_expires_at_ms};
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status learn_queue(struct call *call, struct session_explained *out, bool *out_collects)
{
    struct prompt *queue;
    size_t count = 0;
    enum status status = store_prompt_list(call->db, out->session.tenant_key, out->session.key, call->arena, &queue,
                                           &count, &call->failure);
    out->prompts_waiting = (int64_t)count;
    if (count > 0) {
        out->first_prompt = queue[0];
        *out_collects = prompt_next_due(queue, count, call->steady_ms) != 0;
    }
    return status;
}

static enum status learn_rows(struct call *call, struct session_explained *out, bool *out_collects)
{
    const struct session *session = &out->session;
    enum status status = store_ask_pending(call->db, session->tenant_key, session->key, call->arena, &out->asks,
                                           &out->ask_count, &call->failure);
    if (status == STATUS_OK) {
        status = learn_lease(call, out);
    }
    if (status == STATUS_OK) {
        status = learn_activity(call, out);
    }
    if (status == STATUS_OK) {
        status = learn_queue(call, out, out_collects);
    }
    if (status == STATUS_OK) {
        status = learn_timer(call, out);
    }
    return status == STATUS_OK
               ? store_session_active_children(call->db, session->tenant_key, session->id, EXPLAIN_CHILDREN_MAX,
                                               call->arena, out->children, &out->child_count, &call->failure)
               : status;
}

/* What people are asked below the session; its own asks stand elsewhere. */
static enum status learn_child_asks(struct call *call, struct session_explained *out)
{
    struct ask_page page;
    int64_t most = (int64_t)out->ask_count + EXPLAIN_CHILD_ASKS_MAX;
    enum status status = ask_list(call, out->session.id, ASK_PENDING, true, 0, most, &page);
    out->child_asks = page.asks;
    for (size_t i = 0; i < page.count && status == STATUS_OK; i++) {
        if (page.asks[i].session.key != out->session.key) {
            out->child_asks[out->child_ask_count++] = page.asks[i];
        }
    }
    return status;
}

enum status explain_session(struct call *call, struct slice session_id, struct session_explained *out)
{
    *out = (struct session_explained){0};
    struct explain_facts facts = {.session = &out->session};
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &out->session, NULL);
    if (status == STATUS_OK) {
        status = learn_rows(call, out, &facts.collects);
    }
    if (status == STATUS_OK) {
        status = learn_watchdog(call, out);
    }
    if (status == STATUS_OK && out->child_count > 0) {
        status = learn_child_asks(call, out);
    }
    if (status == STATUS_OK && session_status_is_in_turn(out->session.status)) {
        status = turn_is_interrupted(call, &out->session, &facts.interrupted);
    }
    if (status == STATUS_OK && session_status_is_running(out->session.status) && out->session.driver == DRIVER_MODEL) {
        status = learn_retry(call, out, &facts.retries);
    }
    facts.hosted = agent_is_hosted((enum agent_driver)out->session.driver);
    facts.by_runner = out->session.driver == DRIVER_RUNNER;
    facts.leased = out->leased;
    facts.asks_pending = (int64_t)out->ask_count;
    facts.prompts_waiting = out->prompts_waiting;
    out->why = explain(&facts);
    return status == STATUS_OK ? learn_since(call, out) : status;
}

struct slice explain_timer_kind(const struct timer *timer)
{
    return slice_of(timer_kind_enum.names[timer->kind]);
}
