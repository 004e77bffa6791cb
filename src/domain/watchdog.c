#include "domain/watchdog.h"

#include "domain/change_payload.h"

static const char *const watchdog_names[WATCHDOG_COUNT] = {
    [WATCHDOG_STUCK_TURN] = "stuck_turn",
    [WATCHDOG_SILENT_STREAM] = "silent_stream",
    [WATCHDOG_RUNNER_LOST] = "runner_lost",
    [WATCHDOG_QUEUE_STUCK] = "queue_stuck",
    [WATCHDOG_ERROR_SAFETY_NET] = "error_safety_net",
    [WATCHDOG_ORPHANED_LEASE] = "orphaned_lease",
    [WATCHDOG_WAITING_WITHOUT_ASK] = "waiting_without_ask",
    [WATCHDOG_STALE] = "stale",
};
const struct enum_names watchdog_enum = {watchdog_names, WATCHDOG_COUNT};

const enum event_kind watchdog_event_kinds[WATCHDOG_COUNT] = {
    [WATCHDOG_STUCK_TURN] = EVENT_WATCHDOG_STUCK_TURN,
    [WATCHDOG_SILENT_STREAM] = EVENT_WATCHDOG_SILENT_STREAM,
    [WATCHDOG_RUNNER_LOST] = EVENT_WATCHDOG_RUNNER_LOST,
    [WATCHDOG_QUEUE_STUCK] = EVENT_WATCHDOG_QUEUE_STUCK,
    [WATCHDOG_ERROR_SAFETY_NET] = EVENT_WATCHDOG_ERROR_SAFETY_NET,
    [WATCHDOG_ORPHANED_LEASE] = EVENT_WATCHDOG_ORPHANED_LEASE,
    [WATCHDOG_WAITING_WITHOUT_ASK] = EVENT_WATCHDOG_WAITING_WITHOUT_ASK,
    [WATCHDOG_STALE] = EVENT_WATCHDOG_STALE,
};

static const char *const health_action_names[HEALTH_ACTION_COUNT] = {
    [HEALTH_INTERRUPT] = "interrupt",         [HEALTH_REVERT_AND_DRAIN] = "revert_and_drain",
    [HEALTH_DRAIN_QUEUE] = "drain_queue",     [HEALTH_FORCE_COMPLETE] = "force_complete",
    [HEALTH_MARK_NOT_BUSY] = "mark_not_busy", [HEALTH_PERFORM_RECOVERY] = "perform_recovery",
    [HEALTH_MARK_INACTIVE] = "mark_inactive",
};
const struct enum_names health_action_enum = {health_action_names, HEALTH_ACTION_COUNT};

/* --- the signs, one by one --- */

static bool lasts(int64_t since_ms, int64_t limit_ms)
{
    return limit_ms > 0 && since_ms >= limit_ms;
}

static bool is_orphaned(const struct health_facts *facts, const struct health_limits *limits)
{
    (void)limits;
    return facts->leased && !session_status_is_in_turn(facts->status);
}

static bool is_lost(const struct health_facts *facts, const struct health_limits *limits)
{
    return facts->leased && session_status_is_in_turn(facts->status) &&
           lasts(facts->lease_overdue_ms, limits->runner_ms);
}

static bool runs(const struct health_facts *facts)
{
    return facts->leased && session_status_is_running(facts->status);
}

static bool ignores_interrupt(const struct health_facts *facts, const struct health_limits *limits)
{
    return runs(facts) && facts->interrupted && lasts(facts->silent_ms, limits->cut_ms);
}

static bool is_silent(const struct health_facts *facts, const struct health_limits *limits)
{
    return runs(facts) && !facts->interrupted && facts->streaming && lasts(facts->silent_ms, limits->stream_silence_ms);
}

static bool is_stuck(const struct health_facts *facts, const struct health_limits *limits)
{
    return runs(facts) && !facts->interrupted &&
           lasts(facts->silent_ms, facts->hosted ? limits->turn_silence_ms : limits->worker_silence_ms);
}

/* A person's own session, and work that somebody moved by hand, run without a lease. */
static bool runs_without_host(const struct health_facts *facts, const struct health_limits *limits)
{
    return facts->hosted && !facts->leased && session_status_is_running(facts->status) && facts->asks_pending == 0 &&
           lasts(facts->silent_ms, limits->error_ms);
}

static bool waits_for_nobody(const struct health_facts *facts, const struct health_limits *limits)
{
    return !facts->leased && session_status_is_waiting(facts->status) && facts->asks_pending == 0 &&
           lasts(facts->silent_ms, limits->waiting_ms);
}

static bool waits_though_answered(const struct health_facts *facts, const struct health_limits *limits)
{
    return waits_for_nobody(facts, limits) && facts->asks_of_turn > 0;
}

/* A worker may park a session for a person without an ask. */
static bool waits_though_nobody_was_asked(const struct health_facts *facts, const struct health_limits *limits)
{
    return waits_for_nobody(facts, limits) && facts->asks_of_turn == 0 && facts->hosted;
}

static bool does_not_drain(const struct health_facts *facts, const struct health_limits *limits)
{
    return session_status_takes_prompt(facts->status) && !facts->paused && facts->prompts_ready > 0 &&
           lasts(facts->prompt_waited_ms, limits->queue_ms) && lasts(facts->silent_ms, limits->queue_ms);
}

/* The order is that of urgency: of the rows of one turn, the first that holds. */
static const struct {
    bool (*holds)(const struct health_facts *facts, const struct health_limits *limits);
    struct health_finding finding;
} signs[] = {
    {is_orphaned, {WATCHDOG_ORPHANED_LEASE, HEALTH_MARK_NOT_BUSY}},
    {is_lost, {WATCHDOG_RUNNER_LOST, HEALTH_REVERT_AND_DRAIN}},
    {ignores_interrupt, {WATCHDOG_STUCK_TURN, HEALTH_PERFORM_RECOVERY}},
    {is_silent, {WATCHDOG_SILENT_STREAM, HEALTH_INTERRUPT}},
    {is_stuck, {WATCHDOG_STUCK_TURN, HEALTH_INTERRUPT}},
    {runs_without_host, {WATCHDOG_ERROR_SAFETY_NET, HEALTH_FORCE_COMPLETE}},
    {waits_though_answered, {WATCHDOG_WAITING_WITHOUT_ASK, HEALTH_PERFORM_RECOVERY}},
    {waits_though_nobody_was_asked, {WATCHDOG_WAITING_WITHOUT_ASK, HEALTH_FORCE_COMPLETE}},
    {does_not_drain, {WATCHDOG_QUEUE_STUCK, HEALTH_DRAIN_QUEUE}},
};

size_t health_actions(const struct health_facts *facts, const struct health_limits *limits,
                      struct health_finding out[HEALTH_FINDINGS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        bool is_first = count == 0 || signs[i].holds == does_not_drain;
        if (is_first && signs[i].holds(facts, limits)) {
            out[count++] = signs[i].finding;
        }
    }
    return count;
}

int64_t health_first_silence_ms(const struct health_limits *limits)
{
    const int64_t all[] = {limits->turn_silence_ms, limits->worker_silence_ms, limits->stream_silence_ms,
                           limits->cut_ms};
    int64_t first = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        first = all[i] > 0 && (first == 0 || all[i] < first) ? all[i] : first;
    }
    return first;
}

bool health_is_stale(const struct session *session, int64_t silent_ms, const struct health_limits *limits)
{
    return session_is_from_channel(session) && session_status_takes_prompt(session->status) &&
           session->archived_at_ms == 0 && lasts(silent_ms, limits->stale_ms);
}

void change_watchdog(struct arena *arena, const struct session *session, const struct health_finding *finding,
                     const struct health_facts *facts, struct changes *out)
{
    struct payload payload;
    payload_begin(&payload);
    json_put_i64(&payload.out, "turn", session->fence);
    payload_word(&payload, "action", health_action_enum, (int)finding->action);
    payload_word(&payload, "status", session_status_enum, (int)session->status);
    json_put_i64(&payload.out, "silent_ms", facts->silent_ms);
    if (facts->prompts_ready > 0) {
        json_put_i64(&payload.out, "waited_ms", facts->prompt_waited_ms);
    }
    payload_end(&payload, arena, watchdog_event_kinds[finding->watchdog], out);
}
