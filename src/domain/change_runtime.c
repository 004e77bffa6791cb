#include "domain/change.h"

#include "domain/change_payload.h"
#include "domain/session_details.h"

static enum status refuse_runtime(const struct session *session, enum runtime to, struct failure *failure)
{
    char targets[128];
    const char *from_name = runtime_enum.names[session->runtime], *to_name = runtime_enum.names[to];
    runtime_targets(session->runtime, session_has_snapshot(session), targets, sizeof targets);
    enum status status = failure_set(failure, STATUS_CONFLICT, "illegal_transition",
                                     "A runtime that is %s cannot become %s; it can become: %s.", from_name, to_name,
                                     *targets ? targets : "nothing else");
    payload_name_states(failure, from_name, to_name);
    return status;
}

/* What becomes of the sandbox does not lift a hold. Nobody falls asleep without a reason that people can read; what has
 * ended is not paused at all. */
static enum pause_reason pause_for(const struct session *session, enum runtime to, enum pause_reason pause)
{
    if (session_status_is_ended(session->status)) {
        return pause;
    }
    if (session_blocks_turns(session) && session->runtime != to) {
        return session->pause_reason;
    }
    return pause == PAUSE_NONE && runtime_is_asleep(to) ? PAUSE_INACTIVITY : pause;
}

static enum status check_pause(const struct session *session, enum runtime to, enum pause_reason pause,
                               struct failure *failure)
{
    if (pause == PAUSE_NONE) {
        return STATUS_OK;
    }
    if (session_status_is_ended(session->status)) {
        return failure_set(failure, STATUS_CONFLICT, "session_ended", "A session that is %s is not paused.",
                           session_status_enum.names[session->status]);
    }
    if (!pause_blocks_turns(pause) && !runtime_can_pause(to)) {
        return failure_set(failure, STATUS_INVALID, "invalid_pause", "A session whose runtime is %s is not paused.",
                           runtime_enum.names[to]);
    }
    return STATUS_OK;
}

static bool tells_news(const struct runtime_update *news)
{
    return news->sandbox_over || news->snapshot_over || slice_present(news->sandbox_id) ||
           slice_present(news->snapshot_id) || slice_present(news->tunnel_urls);
}

/* What led into a sandbox that is over leads nowhere. */
static void put_news(struct json_out *out, const struct session *session, const struct runtime_update *news)
{
    json_maybe_text(out, "sandbox_id", news->sandbox_id);
    json_maybe_raw(out, "tunnel_urls", news->tunnel_urls);
    if (news->sandbox_over) {
        json_put_raw(out, "sandbox_id", SLICE("null"));
        if (session_details_has(session, "tunnel_urls")) {
            json_put_raw(out, "tunnel_urls", SLICE("null"));
        }
    }
    json_maybe_text(out, "snapshot_id", news->snapshot_id);
    if (news->snapshot_over) {
        json_put_raw(out, "snapshot_id", SLICE("null"));
    }
    if (news->snapshot_bytes > 0) {
        json_put_i64(out, "snapshot_bytes", news->snapshot_bytes);
    }
}

enum status change_runtime(struct arena *arena, const struct session *session, enum runtime to, enum pause_reason pause,
                           const char *reason, struct changes *out, struct failure *failure)
{
    return change_sandbox(arena, session, to, pause, reason, &(struct runtime_update){0}, out, failure);
}

enum status change_sandbox(struct arena *arena, const struct session *session, enum runtime to, enum pause_reason pause,
                           const char *reason, const struct runtime_update *news, struct changes *out,
                           struct failure *failure)
{
    struct payload payload;
    out->count = 0;
    pause = pause_for(session, to, pause);
    enum status status = check_pause(session, to, pause, failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (session->runtime == to && session->pause_reason == pause && !tells_news(news)) {
        return STATUS_OK;
    }
    if (session->runtime != to && !runtime_allows(session->runtime, to, session_has_snapshot(session))) {
        return refuse_runtime(session, to, failure);
    }
    payload_begin(&payload);
    payload_word(&payload, "from", runtime_enum, (int)session->runtime);
    payload_word(&payload, "to", runtime_enum, (int)to);
    payload_word(&payload, "pause_reason", pause_reason_enum, (int)pause);
    json_maybe_text(&payload.out, "reason", payload_line(reason));
    put_news(&payload.out, session, news);
    payload_end(&payload, arena, EVENT_SESSION_RUNTIME_CHANGE, out);
    return STATUS_OK;
}

enum status change_cap(struct arena *arena, const struct session *session, bool holds, const char *reason,
                       struct changes *out, struct failure *failure)
{
    bool differs = holds ? !session_blocks_turns(session) : session->pause_reason == PAUSE_OVERAGE_CAP;
    out->count = 0;
    return differs ? change_runtime(arena, session, session->runtime, holds ? PAUSE_OVERAGE_CAP : PAUSE_NONE, reason,
                                    out, failure)
                   : STATUS_OK;
}

void change_runtime_lost(struct arena *arena, const struct session *session, struct slice node, bool snapshot_kept,
                         struct changes *out)
{
    struct payload payload;
    const char *snapshot = !session_has_snapshot(session) ? "none" : snapshot_kept ? "kept" : "lost";
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "node", node);
    payload_word(&payload, "runtime", runtime_enum, (int)session->runtime);
    json_put_text(&payload.out, "snapshot", slice_of(snapshot));
    payload_end(&payload, arena, EVENT_RUNTIME_LOST, out);
}

enum status change_pause(struct arena *arena, const struct session *session, bool paused, const char *reason,
                         struct changes *out, struct failure *failure)
{
    bool by_person = session->pause_reason == PAUSE_MANUAL;
    out->count = 0;
    if (!paused && session->pause_reason == PAUSE_OVERAGE_CAP) {
        return change_cap(arena, session, false, reason, out, failure);
    }
    if (by_person == paused) {
        return STATUS_OK;
    }
    if (paused && session_blocks_turns(session)) {
        return failure_set(failure, STATUS_CONFLICT, "session_blocked",
                           "This session is held already, for the reason %s; it is not paused as well.",
                           pause_reason_enum.names[session->pause_reason]);
    }
    return change_runtime(arena, session, session->runtime, paused ? PAUSE_MANUAL : PAUSE_NONE, reason, out, failure);
}
