#include "api/ask/asks.h"
#include "api/core/handlers.h"
#include "service/session/explain.h"

static struct slice fill_id(struct arena *arena, const char *route, const struct session_explained *explained)
{
    struct slice text = slice_of(route), id = explained->session.id;
    const char *at = strstr(route, "{id}"), *ask = strstr(route, "{ask_id}");
    if (at) {
        struct slice ask_id = ask ? explained->asks[0].id : (struct slice){0};
        int between = ask ? (int)(ask - at - 4) : (int)strlen(at + 4);
        const char *rest = ask ? ask + 8 : "";
        text = arena_format(arena, "%.*s%.*s%.*s%.*s%s", (int)(at - route), route, SLICE_ARG(id), between, at + 4,
                            SLICE_ARG(ask_id), rest);
    }
    return text;
}

static void write_unblockers(struct request *request, const struct session_explained *explained)
{
    struct json_out *out = &request->out;
    const struct unblocker *all = explained->why->unblockers;
    json_key(out, "unblocked_by");
    json_begin_array(out);
    for (size_t i = 0; i < UNBLOCKERS_MAX && all[i].kind; i++) {
        json_begin_object(out);
        json_put_text(out, "kind", slice_of(all[i].kind));
        if (slice_is(slice_of(all[i].kind), "agent") && explained->leased) {
            json_put_text(out, "name", explained->lease.worker);
        }
        json_put_text(out, "how",
                      all[i].how ? fill_id(request_arena(request), all[i].how, explained) : (struct slice){0});
        json_end_object(out);
    }
    json_end_array(out);
}

static void write_asks(struct json_out *out, const struct session_explained *explained)
{
    json_key(out, "asks");
    json_begin_array(out);
    for (size_t i = 0; i < explained->ask_count; i++) {
        json_begin_object(out);
        ask_write_members(out, &explained->asks[i]);
        json_end_object(out);
    }
    json_end_array(out);
}

static void write_queue(struct json_out *out, const struct session_explained *explained)
{
    const struct prompt *first = &explained->first_prompt;
    json_key(out, "queue");
    json_begin_object(out);
    json_put_i64(out, "length", explained->prompts_waiting);
    json_put_text(out, "first_prompt_id", first->id);
    json_put_time(out, "first_created_at", explained->prompts_waiting ? first->created_at_ms : 0);
    json_end_object(out);
}

static void write_lease(struct json_out *out, const struct session_explained *explained)
{
    json_key(out, "lease");
    if (!explained->leased) {
        json_null(out);
        return;
    }
    json_begin_object(out);
    json_put_text(out, "worker", explained->lease.worker);
    json_put_i64(out, "fence", explained->lease.fence);
    json_put_time(out, "claimed_at", explained->lease.claimed_at_ms);
    json_put_time(out, "expires_at", explained->lease_expires_at_ms);
    json_end_object(out);
}

static void write_turn(struct json_out *out, const struct session_explained *explained)
{
    const struct session *session = &explained->session;
    json_key(out, "turn");
    if (!session_status_is_in_turn(session->status)) {
        json_null(out);
        return;
    }
    json_begin_object(out);
    json_put_i64(out, "number", session->fence);
    json_put_time(out, "since", explained->leased ? explained->lease.claimed_at_ms : explained->since_ms);
    json_put_time(out, "last_activity_at", explained->last_activity_ms);
    json_end_object(out);
}

static void write_children(struct json_out *out, const struct session_explained *explained)
{
    json_key(out, "children");
    json_begin_array(out);
    for (size_t i = 0; i < explained->child_count; i++) {
        json_text(out, explained->children[i]);
    }
    json_end_array(out);
}

static void write_child_asks(struct json_out *out, const struct session_explained *explained)
{
    json_key(out, "child_asks");
    json_begin_array(out);
    for (size_t i = 0; i < explained->child_ask_count; i++) {
        asks_write(out, &explained->child_asks[i].ask, &explained->child_asks[i].session);
    }
    json_end_array(out);
}

static void write_timer(struct json_out *out, const struct session_explained *explained)
{
    json_key(out, "next_timer");
    if (explained->timer.due_ms == 0) {
        json_null(out);
        return;
    }
    json_begin_object(out);
    json_put_text(out, "kind", explain_timer_kind(&explained->timer));
    json_put_time(out, "due_at", explained->timer.due_ms);
    json_end_object(out);
}

static void write_watchdog(struct json_out *out, const struct session_explained *explained)
{
    json_key(out, "last_watchdog");
    if (!slice_present(explained->watchdog)) {
        json_null(out);
        return;
    }
    json_begin_object(out);
    json_put_text(out, "type", explained->watchdog);
    json_put_time(out, "at", explained->watchdog_at_ms);
    json_put_raw(out, "metadata", explained->watchdog_metadata);
    json_end_object(out);
}

static enum status sessions_explain(struct request *request)
{
    struct session_explained explained;
    struct json_out *out = &request->out;
    enum status status = explain_session(&request->call, request->params[0], &explained);
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_put_text(out, "session_id", explained.session.id);
    json_put_text(out, "status", slice_of(session_status_enum.names[explained.session.status]));
    json_put_text(out, "waits_for", slice_of(wait_kind_enum.names[explained.why->waits_for]));
    json_put_time(out, "since", explained.since_ms);
    json_put_text(out, "detail", slice_of(explained.why->detail));
    json_put_text(out, "reason", explained.session.status_reason);
    write_unblockers(request, &explained);
    write_asks(out, &explained);
    write_queue(out, &explained);
    write_lease(out, &explained);
    write_turn(out, &explained);
    write_children(out, &explained);
    write_child_asks(out, &explained);
    write_timer(out, &explained);
    write_watchdog(out, &explained);
    json_end_object(out);
    return STATUS_OK;
}

const struct route explain_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/explain", sessions_explain, .answer = "Explanation",
     .summary = "What the session is waiting for, since when, and who or what can unblock it."},
    {0},
};
