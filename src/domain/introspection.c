#include "domain/introspection.h"

#include <assert.h>

#include "domain/change_payload.h"

static const char *const reason_names[INTROSPECT_REASON_COUNT] = {
    [INTROSPECT_IDLE] = "idle",
    [INTROSPECT_TURN_LIMIT] = "turn_limit",
};
const struct enum_names introspection_reason_enum = {reason_names, INTROSPECT_REASON_COUNT};

bool introspection_applies(const struct session *session, const struct introspection_settings *settings)
{
    return session->driver == DRIVER_MODEL && settings->enabled && session_is_chat(session);
}

bool introspection_may_run(const struct session *session)
{
    return session->status == SESSION_IDLE && session->archived_at_ms == 0;
}

static bool limit_is_reached(const struct introspection *row, const struct introspection_settings *settings)
{
    return row->turns >= settings->turn_interval || row->passive >= settings->passive_turn_interval;
}

int64_t introspection_wait_ms(const struct introspection *row, const struct introspection_settings *settings)
{
    if (row->turns == 0 && row->passive == 0) {
        return -1;
    }
    return limit_is_reached(row, settings) ? 0 : settings->idle_timeout_ms;
}

void introspection_begin(struct introspection *row, const struct session *session,
                         const struct introspection_settings *settings)
{
    assert(!row->runs);
    if (row->to == 0) {
        row->from = row->cursor + 1;
        row->to = session->last_sequence;
        row->passive_taken = row->passive;
        row->reason = limit_is_reached(row, settings) ? INTROSPECT_TURN_LIMIT : INTROSPECT_IDLE;
        row->attempt = 0;
    }
    row->attempt++;
    row->run++;
    row->fence = session->fence;
    row->runs = true;
}

static void lay_down(struct introspection *row)
{
    row->runs = false;
    row->from = row->to = row->attempt = row->passive_taken = 0;
}

void introspection_finish(struct introspection *row)
{
    assert(row->to != 0);
    row->cursor = row->to;
    row->turns = 0;
    row->passive -= row->passive_taken;
    lay_down(row);
}

bool introspection_fail(struct introspection *row, int64_t attempts_max)
{
    row->runs = false;
    if (row->attempt < attempts_max) {
        return true;
    }
    lay_down(row);
    return false;
}

void introspection_interrupt(struct introspection *row)
{
    lay_down(row);
}

bool introspection_is_held(const struct introspection *row, int64_t run, const struct session *session)
{
    return row->runs && row->run == run && row->fence == session->fence && introspection_may_run(session);
}

bool introspection_is_done(const struct turn_end *end)
{
    static const bool done[TURN_STOP_COUNT] = {[TURN_STOP] = true, [TURN_LENGTH] = true, [TURN_TOOL_USE] = true};
    return done[end->stop] || end->error == TURN_LIMIT;
}

/* --- events --- */

static void begin_payload(struct payload *payload, const struct introspection *row)
{
    payload_begin(payload);
    json_put_i64(&payload->out, "run", row->run);
    json_put_i64(&payload->out, "from", row->from);
    json_put_i64(&payload->out, "to", row->to);
    payload_word(payload, "reason", introspection_reason_enum, (int)row->reason);
    json_put_i64(&payload->out, "attempt", row->attempt);
}

void change_introspection_started(struct arena *arena, const struct introspection *row, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    begin_payload(&payload, row);
    payload_end(&payload, arena, EVENT_INTROSPECTION_STARTED, out);
}

void change_introspection_ended(struct arena *arena, const struct introspection *row, const struct turn_end *end,
                                int64_t tool_calls, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    begin_payload(&payload, row);
    json_put_i64(&payload.out, "tool_calls", tool_calls);
    json_maybe_raw(&payload.out, "usage", end->usage);
    payload_end(&payload, arena, EVENT_INTROSPECTION_ENDED, out);
}

void change_introspection_failed(struct arena *arena, const struct introspection *row, const char *cause,
                                 const struct turn_end *end, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    begin_payload(&payload, row);
    json_put_text(&payload.out, "cause", slice_of(cause));
    if (end) {
        json_maybe_text(&payload.out, "message", end->error_message);
        json_maybe_raw(&payload.out, "usage", end->usage);
    }
    payload_end(&payload, arena, EVENT_INTROSPECTION_FAILED, out);
}

void change_introspection_interrupted(struct arena *arena, const struct introspection *row, const char *cause,
                                      struct changes *out)
{
    struct payload payload;
    out->count = 0;
    begin_payload(&payload, row);
    json_put_text(&payload.out, "cause", slice_of(cause));
    payload_end(&payload, arena, EVENT_INTROSPECTION_INTERRUPTED, out);
}
