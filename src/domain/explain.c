#include "domain/explain.h"

static const char *const wait_kind_names[WAIT_KIND_COUNT] = {
    [WAIT_NOTHING] = "nothing", [WAIT_MESSAGE] = "message", [WAIT_CLAIM] = "claim",     [WAIT_AGENT] = "agent",
    [WAIT_PERSON] = "person",   [WAIT_TOOL] = "tool",       [WAIT_SANDBOX] = "sandbox", [WAIT_TIMER] = "timer",
};
const struct enum_names wait_kind_enum = {wait_kind_names, WAIT_KIND_COUNT};

enum {
    ENDED_REOPENS,
    ENDED_RETRIES,
    ENDED,
    DRAFTED,
    PAUSED,
    CAPPED,
    BLOCKED,
    MOVES_SANDBOX,
    SANDBOX_BROKEN,
    QUEUED_FOR_SERVER,
    QUEUED_FOR_RUNNER,
    QUEUED_FOR_WORKER,
    ENDS_TURN,
    RETRIES,
    RUNS,
    RUNS_UNLED,
    RUNS_ALONE,
    ASKED,
    AWAITS_PERSON,
    AWAITS_TOOL,
    COLLECTS,
    STUCK_QUEUE,
    SLEEPS,
    RESTS,
};

#define BY_STOP                                                                                                        \
    {                                                                                                                  \
        "person", "POST /api/sessions/{id}/stop"                                                                       \
    }
#define BY_MESSAGE                                                                                                     \
    {                                                                                                                  \
        "person", "POST /api/sessions/{id}/messages"                                                                   \
    }
#define BY_INTERRUPT                                                                                                   \
    {                                                                                                                  \
        "person", "POST /api/sessions/{id}/interrupt"                                                                  \
    }
#define BY_MOVE                                                                                                        \
    {                                                                                                                  \
        "person", "POST /api/sessions/{id}/status"                                                                     \
    }

const struct explanation explanations[] = {
    [ENDED_REOPENS] = {WAIT_NOTHING,
                       "The session has ended; it can be reopened.",
                       {{"person", "POST /api/sessions/{id}/reopen"}, BY_MESSAGE}},
    [ENDED_RETRIES] = {WAIT_NOTHING,
                       "The session has failed; it can be retried as a new session.",
                       {{"person", "POST /api/sessions/{id}/retry"}}},
    [ENDED] = {WAIT_NOTHING, "The session has ended.", {{0}}},
    [DRAFTED] = {WAIT_MESSAGE, "A draft that has not been submitted.", {BY_MESSAGE, BY_MOVE, BY_STOP}},
    [PAUSED] = {WAIT_PERSON,
                "Paused; no turn starts until it is unpaused.",
                {{"person", "POST /api/sessions/{id}/unpause"}, BY_STOP}},
    [CAPPED] = {WAIT_PERSON,
                "Paused because it reached its cost cap; no turn starts until it is unpaused.",
                {{"person", "POST /api/sessions/{id}/unpause"}, BY_STOP}},
    [BLOCKED] = {WAIT_PERSON,
                 "Paused because of a payment or a suspended account; no turn starts until that is resolved.",
                 {{"person", NULL}, BY_STOP}},
    [MOVES_SANDBOX] = {WAIT_SANDBOX, "Its sandbox is being started, saved or restored.", {{"server", NULL}, BY_STOP}},
    [SANDBOX_BROKEN] = {WAIT_SANDBOX, "Its sandbox failed; the next message starts it again.", {BY_MESSAGE, BY_STOP}},
    [QUEUED_FOR_SERVER] = {WAIT_CLAIM, "A turn waits for a free place on the server.", {{"server", NULL}, BY_STOP}},
    [QUEUED_FOR_RUNNER] = {WAIT_CLAIM,
                           "A turn waits for its runner to connect or become idle, or for a free place on the server.",
                           {{"worker", "GET /api/sessions/{id}/ws"}, {"server", NULL}, BY_STOP}},
    [QUEUED_FOR_WORKER] = {WAIT_CLAIM,
                           "A turn waits for a worker to claim it.",
                           {{"worker", "POST /api/claims"}, BY_STOP}},
    [ENDS_TURN] = {WAIT_AGENT,
                   "The turn was interrupted and has not ended yet.",
                   {{"agent", NULL}, {"server", NULL}, BY_STOP}},
    [RETRIES] =
        {WAIT_TIMER,
         "The model's provider failed temporarily; the call is retried soon (the event model.retrying has the time).",
         {{"server", NULL}, BY_INTERRUPT, BY_STOP}},
    [RUNS] = {WAIT_AGENT, "The agent is working.", {{"agent", NULL}, BY_INTERRUPT, BY_STOP}},
    [RUNS_UNLED] = {WAIT_TIMER,
                    "Running without a lease; a watchdog sets it idle.",
                    {{"server", NULL}, BY_INTERRUPT, BY_STOP}},
    [RUNS_ALONE] = {WAIT_AGENT,
                    "Running without a claim: the client that set this status also ends it.",
                    {{"agent", "POST /api/sessions/{id}/settle"}, BY_INTERRUPT, BY_STOP}},
    [ASKED] = {WAIT_PERSON,
               "The turn waits for the answer to an ask.",
               {{"person", "POST /api/sessions/{id}/asks/{ask_id}/answer"}, BY_INTERRUPT, BY_STOP}},
    [AWAITS_PERSON] = {WAIT_PERSON, "It waits for a person, without a pending ask.", {BY_MOVE, BY_INTERRUPT, BY_STOP}},
    [AWAITS_TOOL] = {WAIT_TOOL,
                     "It waits for a tool that runs elsewhere.",
                     {{"agent", "POST /api/sessions/{id}/settle"}, BY_INTERRUPT, BY_STOP}},
    [COLLECTS] = {WAIT_TIMER,
                  "Messages are being collected; they are dispatched together when no further one arrives.",
                  {{"server", NULL}, BY_MESSAGE, BY_STOP}},
    [STUCK_QUEUE] = {WAIT_TIMER,
                     "Messages are queued although no turn is running; a watchdog dispatches the next.",
                     {{"server", NULL}, BY_STOP}},
    [SLEEPS] = {WAIT_MESSAGE,
                "Idle with a hibernated sandbox; the next message wakes it.",
                {BY_MESSAGE, {"person", "POST /api/sessions/{id}/wake"}, BY_STOP}},
    [RESTS] = {WAIT_MESSAGE, "Idle until the next message.", {BY_MESSAGE, BY_STOP}},
    {0},
};

/* These begin with a change of the runtime, the others with one of the status. */
bool explanation_follows_runtime(const struct explanation *why)
{
    static const bool follows[] = {
        [PAUSED] = true,         [CAPPED] = true, [BLOCKED] = true, [MOVES_SANDBOX] = true,
        [SANDBOX_BROKEN] = true, [SLEEPS] = true, [RESTS] = false,
    };
    return follows[why - explanations];
}

static int of_end(const struct session *session)
{
    if (session_can_reopen(session)) {
        return ENDED_REOPENS;
    }
    return session_can_retry(session) ? ENDED_RETRIES : ENDED;
}

static int of_running(const struct explain_facts *facts)
{
    if (facts->interrupted) {
        return ENDS_TURN;
    }
    if (facts->leased && facts->retries) {
        return RETRIES;
    }
    return facts->leased ? RUNS : facts->hosted ? RUNS_UNLED : RUNS_ALONE;
}

static int of_pending(const struct explain_facts *facts)
{
    if (facts->by_runner) {
        return QUEUED_FOR_RUNNER;
    }
    return facts->hosted ? QUEUED_FOR_SERVER : QUEUED_FOR_WORKER;
}

static int of_rest(const struct explain_facts *facts)
{
    if (facts->prompts_waiting > 0) {
        return facts->collects ? COLLECTS : STUCK_QUEUE;
    }
    return runtime_is_hibernated(facts->session->runtime) ? SLEEPS : RESTS;
}

static int of_work(const struct explain_facts *facts)
{
    switch (facts->session->status) {
    case SESSION_DRAFT:
        return DRAFTED;
    case SESSION_PENDING:
        return of_pending(facts);
    case SESSION_RUNNING:
        return of_running(facts);
    case SESSION_WAITING_HUMAN:
        return facts->asks_pending > 0 ? ASKED : AWAITS_PERSON;
    case SESSION_AWAITING_TOOL:
        return facts->asks_pending > 0 ? ASKED : AWAITS_TOOL;
    case SESSION_IDLE:
        return of_rest(facts);
    case SESSION_COMPLETED:
    case SESSION_FAILED:
    case SESSION_EXPIRED:
    case SESSION_ABANDONED:
    case SESSION_STATUS_COUNT:
        break;
    }
    return of_end(facts->session);
}

/* A runtime that is under way holds up everything; one that sleeps wakes by itself. */
static int of_runtime(const struct session *session)
{
    switch (session->runtime) {
    case RUNTIME_STARTING:
    case RUNTIME_RESTORING:
    case RUNTIME_HIBERNATING:
        return MOVES_SANDBOX;
    case RUNTIME_ERROR:
        return SANDBOX_BROKEN;
    case RUNTIME_NONE:
    case RUNTIME_RUNNING:
    case RUNTIME_HIBERNATED:
    case RUNTIME_STOPPED:
    case RUNTIME_COUNT:
        break;
    }
    return -1;
}

/* A turn under way says more than what keeps the next one from beginning. */
static int of_hold(const struct session *session)
{
    if (!session_blocks_turns(session) || session_status_is_in_turn(session->status)) {
        return -1;
    }
    return session->pause_reason == PAUSE_MANUAL        ? PAUSED
           : session->pause_reason == PAUSE_OVERAGE_CAP ? CAPPED
                                                        : BLOCKED;
}

const struct explanation *explain(const struct explain_facts *facts)
{
    const struct session *session = facts->session;
    if (session_status_is_ended(session->status)) {
        return &explanations[of_end(session)];
    }
    int runtime = of_runtime(session);
    if (runtime >= 0) {
        return &explanations[runtime];
    }
    int hold = of_hold(session);
    return &explanations[hold >= 0 ? hold : of_work(facts)];
}
