#include "domain/change.h"

#include "domain/change_payload.h"

/* --- the work machine --- */

/* Why it ended, when nobody says. */
static const enum stop_reason usual_stop[SESSION_STATUS_COUNT] = {
    [SESSION_COMPLETED] = STOP_COMPLETED,
    [SESSION_FAILED] = STOP_FAILED,
    [SESSION_EXPIRED] = STOP_EXPIRED,
    [SESSION_ABANDONED] = STOP_ABANDONED,
};

static enum status refuse_work(const struct session *session, enum session_status to, struct failure *failure)
{
    char targets[160];
    const char *from_name = session_status_enum.names[session->status], *to_name = session_status_enum.names[to];
    session_status_targets(session->status, targets, sizeof targets);
    enum status status = failure_set(failure, STATUS_CONFLICT, "illegal_transition",
                                     "A session that is %s cannot become %s; it can become: %s.", from_name, to_name,
                                     *targets ? targets : "nothing else");
    payload_name_states(failure, from_name, to_name);
    return status;
}

struct move {
    enum session_status to;
    enum stop_reason stop;
    struct slice reason;
    bool requeued; /* back in the queue without a purpose of its own: the attempts go on counting */
    const struct json *result;
    const struct json *usage;
    struct slice error_code;
    struct slice error_message;
};

static void put_json(struct json_out *out, const char *key, const struct json *value)
{
    if (value && !json_is(value, JSON_NULL)) {
        json_put_raw(out, key, value->raw);
    }
}

/* session.completed or session.error: every end that is one of these two says so in an event of its own. */
static void add_ending(struct arena *arena, const struct move *move, struct changes *out)
{
    struct payload payload;
    bool error = move->to == SESSION_FAILED || slice_present(move->error_message) || slice_present(move->error_code);
    payload_begin(&payload);
    if (error) {
        struct slice code = slice_of(stop_reason_enum.names[move->stop]);
        struct slice message = slice_present(move->reason) ? move->reason : SLICE("The work failed.");
        json_put_text(&payload.out, "code", slice_present(move->error_code) ? move->error_code : code);
        json_put_text(&payload.out, "message", slice_present(move->error_message) ? move->error_message : message);
    }
    put_json(&payload.out, "result", move->result);
    put_json(&payload.out, "usage", move->usage);
    payload_end(&payload, arena, error ? EVENT_SESSION_ERROR : EVENT_SESSION_COMPLETED, out);
}

/* The edge is allowed. What the move brings (result, usage, error) stands in its last event. */
static void add_move(struct arena *arena, const struct session *session, const struct move *move, struct changes *out)
{
    struct payload payload;
    bool ending = move->to == SESSION_COMPLETED || move->to == SESSION_FAILED || slice_present(move->error_message) ||
                  slice_present(move->error_code);
    payload_begin(&payload);
    payload_word(&payload, "from", session_status_enum, (int)session->status);
    payload_word(&payload, "to", session_status_enum, (int)move->to);
    json_maybe_text(&payload.out, "reason", move->reason);
    payload_word(&payload, "stop_reason", stop_reason_enum, (int)move->stop);
    if (session_status_is_ended(move->to) && runtime_is_something(session->runtime)) {
        payload_word(&payload, "runtime", runtime_enum, (int)session->runtime); /* there is something left to end */
    }
    if (move->requeued) {
        json_put_bool(&payload.out, "requeued", true);
    }
    if (!ending) {
        put_json(&payload.out, "result", move->result);
        put_json(&payload.out, "usage", move->usage);
    }
    payload_end(&payload, arena, EVENT_SESSION_STATUS_CHANGE, out);
    if (ending) {
        add_ending(arena, move, out);
    }
}

/* Agents run what they claimed: without one nobody would run it. A turn that waits goes on as it was. */
static bool needs_claim(const struct session *session, enum session_status to)
{
    return session->type == TYPE_AGENT && to == SESSION_RUNNING && !session_status_is_leased(session->status);
}

static enum status refuse_unclaimed(struct failure *failure)
{
    return failure_set(failure, STATUS_CONFLICT, "claim_needed",
                       "A session of type agent starts running by being claimed, from pending.");
}

enum status change_check_has_holder(const struct session *session, enum session_status to, bool has_holder,
                                    struct failure *failure)
{
    bool resumes = session->type == TYPE_AGENT && to == SESSION_RUNNING && session_status_is_waiting(session->status);
    return resumes && !has_holder ? refuse_unclaimed(failure) : STATUS_OK;
}

enum status change_status(struct arena *arena, const struct session *session, enum session_status to,
                          const char *reason, enum stop_reason stop, struct changes *out, struct failure *failure)
{
    out->count = 0;
    if (session->status == to) {
        return STATUS_OK;
    }
    if (!session_status_allows(session->status, to)) {
        return refuse_work(session, to, failure);
    }
    if (session_status_is_ended(session->status)) {
        return change_reopen(arena, session, reason, out, failure); /* no other way leads out of an end */
    }
    if (needs_claim(session, to)) {
        return refuse_unclaimed(failure);
    }
    struct move move = {.to = to, .reason = payload_line(reason)};
    if (session_status_is_ended(to)) {
        move.stop = stop == STOP_NONE ? usual_stop[to] : stop;
    }
    add_move(arena, session, &move, out);
    return STATUS_OK;
}

enum status change_claim(struct arena *arena, const struct session *session, struct slice worker, struct changes *out,
                         struct failure *failure)
{
    struct payload payload;
    out->count = 0;
    if (!session_status_is_claimable(session->status)) {
        return refuse_work(session, SESSION_RUNNING, failure);
    }
    struct move move = {.to = SESSION_RUNNING, .reason = arena_format(arena, "claimed by %.*s", SLICE_ARG(worker))};
    add_move(arena, session, &move, out);
    payload_begin(&payload);
    json_put_text(&payload.out, "worker", worker);
    json_put_i64(&payload.out, "fence", session->fence + 1);
    json_put_i64(&payload.out, "attempt", session->claim_attempts + 1);
    payload_end(&payload, arena, EVENT_SESSION_CLAIMED, out);
    return STATUS_OK;
}

static enum status refuse_settlement(const struct session *session, const struct settlement *settlement,
                                     struct failure *failure)
{
    if (session_status_is_leased(session->status)) {
        return refuse_work(session, settlement->to, failure);
    }
    const char *from_name = session_status_enum.names[session->status],
               *to_name = session_status_enum.names[settlement->to];
    enum status status = failure_set(failure, STATUS_CONFLICT, "illegal_transition",
                                     "A session that is %s has no turn that could be settled as %s; a turn is running, "
                                     "waiting_human or awaiting_tool.",
                                     from_name, to_name);
    payload_name_states(failure, from_name, to_name);
    return status;
}

static enum status check_settlement(const struct session *session, const struct settlement *settlement,
                                    struct failure *failure)
{
    bool parks = session_status_is_waiting(session->status) && session->status == settlement->to;
    if (!session_status_is_leased(session->status) ||
        (!parks && !session_status_allows(session->status, settlement->to))) {
        return refuse_settlement(session, settlement, failure);
    }
    if (settlement->usage && !json_is(settlement->usage, JSON_NULL) && !json_is(settlement->usage, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_usage", "`usage` must be an object of totals, not %s.",
                           json_kind_name(settlement->usage->kind));
    }
    return STATUS_OK;
}

static void add_settlement(struct arena *arena, const struct session *session, const struct settlement *settlement,
                           struct changes *out)
{
    struct move move = {
        .to = settlement->to,
        .stop = session_status_is_ended(settlement->to) ? usual_stop[settlement->to] : STOP_NONE,
        .reason = settlement->reason,
        .result = settlement->result,
        .usage = settlement->usage,
        .error_code = settlement->error_code,
        .error_message = settlement->error_message,
    };
    add_move(arena, session, &move, out);
}

enum status change_settle(struct arena *arena, const struct session *session, const struct settlement *settlement,
                          struct changes *out, struct failure *failure)
{
    out->count = 0;
    enum status status = check_settlement(session, settlement, failure);
    if (status != STATUS_OK) {
        return status;
    }
    add_settlement(arena, session, settlement, out);
    return STATUS_OK;
}

enum status change_end(struct arena *arena, const struct session *session, const struct settlement *settlement,
                       struct changes *out, struct failure *failure)
{
    out->count = 0;
    if (!session_status_is_active(session->status) || !session_status_allows(session->status, settlement->to)) {
        return refuse_work(session, settlement->to, failure);
    }
    add_settlement(arena, session, settlement, out);
    return STATUS_OK;
}

enum status change_lease_over(struct arena *arena, const struct session *session, bool released, int64_t attempts_max,
                              struct changes *out, struct failure *failure)
{
    struct payload payload;
    out->count = 0;
    if (!session_status_is_leased(session->status)) {
        return STATUS_OK;
    }
    (void)failure;
    payload_begin(&payload);
    json_put_i64(&payload.out, "fence", session->fence);
    json_put_i64(&payload.out, "attempt", session->claim_attempts);
    payload_end(&payload, arena, released ? EVENT_SESSION_RELEASED : EVENT_SESSION_LEASE_LOST, out);
    if (session_status_is_waiting(session->status)) {
        return STATUS_OK;
    }
    struct move move = {
        .to = SESSION_PENDING,
        .reason = released ? SLICE("given back by its worker") : SLICE("its worker's lease ran out"),
        .requeued = true,
    };
    if (attempts_max > 0 && session->claim_attempts >= attempts_max) {
        move.to = SESSION_FAILED;
        move.stop = STOP_ATTEMPTS_EXHAUSTED;
        move.requeued = false;
        move.reason = arena_format(arena, "not finished after %lld attempts", (long long)session->claim_attempts);
    }
    add_move(arena, session, &move, out);
    return STATUS_OK;
}

void change_add_reopening(struct arena *arena, const struct session *session, const char *reason, struct changes *out)
{
    struct payload payload;
    payload_begin(&payload);
    payload_word(&payload, "from", session_status_enum, (int)session->status);
    json_maybe_text(&payload.out, "reason", payload_line(reason));
    payload_end(&payload, arena, EVENT_SESSION_REOPENED, out);
    add_move(arena, session, &(struct move){.to = SESSION_IDLE, .reason = payload_line(reason)}, out);
}

enum status change_reopen(struct arena *arena, const struct session *session, const char *reason, struct changes *out,
                          struct failure *failure)
{
    out->count = 0;
    if (session_status_is_active(session->status)) {
        return STATUS_OK;
    }
    if (!session_is_conversation(session)) { /* session_can_reopen says the same without a sentence */
        return failure_set(failure, STATUS_CONFLICT, "not_a_conversation",
                           "Only conversations are reopened; this is a finished %s session.",
                           session_type_enum.names[session->type]);
    }
    if (!session_status_can_reopen(session->status)) {
        return refuse_work(session, SESSION_IDLE, failure);
    }
    change_add_reopening(arena, session, reason, out);
    return STATUS_OK;
}

/* --- the rest --- */

enum status change_archive(struct arena *arena, const struct session *session, bool archived, struct changes *out,
                           struct failure *failure)
{
    struct payload payload;
    (void)failure;
    out->count = 0;
    if ((session->archived_at_ms != 0) != archived) {
        payload_begin(&payload);
        payload_end(&payload, arena, archived ? EVENT_SESSION_ARCHIVED : EVENT_SESSION_UNARCHIVED, out);
    }
    return STATUS_OK;
}

enum status change_check_delete(const struct session *session, struct failure *failure)
{
    if (session->source_type == CHAT_GROUP) {
        return failure_set(failure, STATUS_CONFLICT, "group_session",
                           "A group's session is shared history and is never deleted; archive it instead.");
    }
    if (session_status_blocks_delete(session->status)) {
        return failure_set(failure, STATUS_CONFLICT, "session_running",
                           "A session that is %s cannot be deleted; stop it first.",
                           session_status_enum.names[session->status]);
    }
    return STATUS_OK;
}

void change_note(struct arena *arena, enum event_kind kind, const char *const *keys, const struct slice *values,
                 size_t count, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    for (size_t i = 0; i < count; i++) {
        json_maybe_text(&payload.out, keys[i], values[i]);
    }
    payload_end(&payload, arena, kind, out);
}
