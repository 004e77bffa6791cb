#include "domain/vocabulary.h"

#include "domain/session_details.h"

static const char *const display_names[DISPLAY_COUNT] = {
    [DISPLAY_ACTIVE] = "active",         [DISPLAY_IDLE] = "idle",
    [DISPLAY_PAUSED] = "paused",         [DISPLAY_BLOCKED] = "blocked",
    [DISPLAY_RECOVERING] = "recovering", [DISPLAY_COMPLETED] = "completed",
    [DISPLAY_FAILED] = "failed",
};
const struct enum_names display_status_enum = {display_names, DISPLAY_COUNT};

/* What people read. A row without a reason leaves the word to the next table. */
struct display {
    enum display_status status;
    const char *reason;
};

static const struct display display_by_work[SESSION_STATUS_COUNT] = {
    [SESSION_DRAFT] = {DISPLAY_IDLE, "not started yet"},
    [SESSION_PENDING] = {DISPLAY_ACTIVE, "waiting for an agent to take it"},
    [SESSION_RUNNING] = {DISPLAY_ACTIVE, "working"},
    [SESSION_WAITING_HUMAN] = {DISPLAY_BLOCKED, "waiting for a person to answer"},
    [SESSION_AWAITING_TOOL] = {DISPLAY_BLOCKED, "waiting for a tool's result or approval"},
    [SESSION_IDLE] = {DISPLAY_IDLE, "waiting for your next message"},
    [SESSION_COMPLETED] = {DISPLAY_COMPLETED, "completed"},
    [SESSION_FAILED] = {DISPLAY_FAILED, "failed"},
    [SESSION_EXPIRED] = {DISPLAY_FAILED, "ran out of time"},
    [SESSION_ABANDONED] = {DISPLAY_FAILED, "left unfinished"},
};

static const struct display display_by_pause[PAUSE_COUNT] = {
    [PAUSE_MANUAL] = {DISPLAY_PAUSED, "paused by a person"},
    [PAUSE_INACTIVITY] = {DISPLAY_IDLE, "asleep; a message wakes it"},
    [PAUSE_CREDIT_LIMIT] = {DISPLAY_BLOCKED, "out of credits"},
    [PAUSE_PAYMENT_FAILED] = {DISPLAY_BLOCKED, "payment failed"},
    [PAUSE_OVERAGE_CAP] = {DISPLAY_BLOCKED, "usage cap reached"},
    [PAUSE_SUSPENDED] = {DISPLAY_BLOCKED, "account suspended"},
    [PAUSE_ORPHANED] = {DISPLAY_RECOVERING, "reconnecting to its sandbox"},
};

static const struct display display_by_runtime[RUNTIME_COUNT] = {
    [RUNTIME_STARTING] = {DISPLAY_ACTIVE, "starting its sandbox"},
    [RUNTIME_HIBERNATING] = {DISPLAY_IDLE, "going to sleep"},
    [RUNTIME_HIBERNATED] = {DISPLAY_IDLE, "asleep"},
    [RUNTIME_RESTORING] = {DISPLAY_ACTIVE, "waking up"},
    [RUNTIME_ERROR] = {DISPLAY_FAILED, "its sandbox failed"},
};

/* Only where the reason of the end says more than the state it ended in. */
static const struct display display_by_stop[STOP_COUNT] = {
    [STOP_USER] = {DISPLAY_COMPLETED, "stopped by a person"},
    [STOP_PARENT] = {DISPLAY_COMPLETED, "stopped with its parent"},
    [STOP_SUPERSEDED] = {DISPLAY_COMPLETED, "replaced by a newer one"},
    [STOP_ATTEMPTS_EXHAUSTED] = {DISPLAY_FAILED, "given up after too many attempts"},
    [STOP_SNAPSHOT_FAILED] = {DISPLAY_FAILED, "its sandbox could not be saved"},
    [STOP_SANDBOX_GONE] = {DISPLAY_COMPLETED, "its sandbox was gone"},
    [STOP_TURN_LIMIT] = {DISPLAY_COMPLETED, "reached its limit of turns"},
    [STOP_BUDGET_EXCEEDED] = {DISPLAY_COMPLETED, "reached its budget"},
    [STOP_DELETED] = {DISPLAY_COMPLETED, "deleted"},
};

static const struct display display_unknown = {DISPLAY_IDLE, "in an unknown state"};

/* A value from outside the enum counts as the neutral one, so that every function here is total. */
static unsigned bounded(int value, int count)
{
    return value >= 0 && value < count ? (unsigned)value : 0;
}

static bool known_work(const struct session *session)
{
    return (unsigned)session->status < SESSION_STATUS_COUNT;
}

static enum runtime runtime_of(const struct session *session)
{
    return (enum runtime)bounded((int)session->runtime, RUNTIME_COUNT);
}

static struct display display_ended(const struct session *session)
{
    struct display display = display_by_work[session->status];
    struct display stop = display_by_stop[bounded((int)session->stop_reason, STOP_COUNT)];
    if (stop.reason) {
        display.reason = stop.reason;
        if (stop.status == DISPLAY_FAILED || session->status == SESSION_ABANDONED) {
            display.status = stop.status; /* abandoned by choice is no failure */
        }
    }
    return display;
}

static struct display display_of(const struct session *session)
{
    if (!known_work(session)) {
        return display_unknown;
    }
    if (session_status_is_ended(session->status)) {
        return display_ended(session);
    }
    /* An unknown reason to pause is still a pause. */
    if ((unsigned)session->pause_reason >= PAUSE_COUNT) {
        return (struct display){DISPLAY_PAUSED, "paused"};
    }
    if (display_by_pause[session->pause_reason].reason) {
        return display_by_pause[session->pause_reason];
    }
    if (display_by_runtime[runtime_of(session)].reason) {
        return display_by_runtime[runtime_of(session)];
    }
    return display_by_work[session->status];
}

enum display_status display_status(const struct session *session)
{
    return display_of(session).status;
}

bool session_is_failing(const struct session *session)
{
    return known_work(session) && session_status_is_failing(session->status) &&
           display_status(session) == DISPLAY_FAILED;
}

const char *display_reason(const struct session *session)
{
    return display_of(session).reason;
}

static const char *word_by_work(const char *const table[SESSION_STATUS_COUNT], const struct session *session,
                                const char *neutral)
{
    return known_work(session) ? table[session->status] : neutral;
}

const char *response_word(const struct session *session)
{
    static const char *const words[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "draft",         [SESSION_PENDING] = "draft",
        [SESSION_RUNNING] = "draft",       [SESSION_WAITING_HUMAN] = "submitted",
        [SESSION_AWAITING_TOOL] = "draft", [SESSION_IDLE] = "draft",
        [SESSION_COMPLETED] = "submitted", [SESSION_FAILED] = "abandoned",
        [SESSION_EXPIRED] = "abandoned",   [SESSION_ABANDONED] = "abandoned",
    };
    if (session->status == SESSION_COMPLETED && session_details_has(session, "promoted_at")) {
        return "promoted";
    }
    return word_by_work(words, session, "draft");
}

const char *tool_word(const struct session *session)
{
    static const char *const words[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "active",         [SESSION_PENDING] = "active",       [SESSION_RUNNING] = "active",
        [SESSION_WAITING_HUMAN] = "active", [SESSION_AWAITING_TOOL] = "active", [SESSION_IDLE] = "active",
        [SESSION_COMPLETED] = "completed",  [SESSION_FAILED] = "cancelled",     [SESSION_EXPIRED] = "cancelled",
        [SESSION_ABANDONED] = "cancelled",
    };
    static const bool cancels[STOP_COUNT] = {
        [STOP_USER] = true,
        [STOP_PARENT] = true,
        [STOP_SUPERSEDED] = true,
        [STOP_DELETED] = true,
    };
    if (session_status_is_ended(session->status) && cancels[bounded((int)session->stop_reason, STOP_COUNT)]) {
        return "cancelled";
    }
    return word_by_work(words, session, "active");
}

const char *block_word(const struct session *session)
{
    static const char *const words[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "pending",
        [SESSION_PENDING] = "pending",
        [SESSION_RUNNING] = "in-progress",
        [SESSION_WAITING_HUMAN] = "waiting-human",
        [SESSION_AWAITING_TOOL] = "in-progress",
        [SESSION_IDLE] = "in-progress",
        [SESSION_COMPLETED] = "complete",
        [SESSION_FAILED] = "failed",
        [SESSION_EXPIRED] = "failed",
        [SESSION_ABANDONED] = "failed",
    };
    return word_by_work(words, session, "pending");
}

const char *conversation_word(const struct session *session)
{
    static const char *const words[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "idle",
        [SESSION_PENDING] = "running",
        [SESSION_RUNNING] = "running",
        [SESSION_WAITING_HUMAN] = "awaiting_approval",
        [SESSION_AWAITING_TOOL] = "awaiting_approval",
        [SESSION_IDLE] = "idle",
        [SESSION_COMPLETED] = "inactive",
        [SESSION_FAILED] = "inactive",
        [SESSION_EXPIRED] = "inactive",
        [SESSION_ABANDONED] = "inactive",
    };
    return session->archived_at_ms ? "inactive" : word_by_work(words, session, "idle");
}

const char *chat_word(const struct session *session)
{
    static const char *const words[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "idle",
        [SESSION_PENDING] = "streaming",
        [SESSION_RUNNING] = "streaming",
        [SESSION_WAITING_HUMAN] = "streaming",
        [SESSION_AWAITING_TOOL] = "streaming",
        [SESSION_IDLE] = "idle",
        [SESSION_COMPLETED] = "idle",
        [SESSION_FAILED] = "idle",
        [SESSION_EXPIRED] = "idle",
        [SESSION_ABANDONED] = "idle",
    };
    const char *word = word_by_work(words, session, "idle");
    return strcmp(word, "idle") == 0 && session_details_has(session, "exported_at") ? "exported" : word;
}

const char *sandbox_word(const struct session *session)
{
    static const char *const words[RUNTIME_COUNT] = {
        [RUNTIME_NONE] = "stopped",          [RUNTIME_STARTING] = "starting",
        [RUNTIME_RUNNING] = "running",       [RUNTIME_HIBERNATING] = "hibernating",
        [RUNTIME_HIBERNATED] = "hibernated", [RUNTIME_RESTORING] = "restoring",
        [RUNTIME_STOPPED] = "stopped",       [RUNTIME_ERROR] = "error",
    };
    return words[runtime_of(session)];
}

/* What the runner and the queue say, with what the work machine already knows: a turn that runs has somebody who runs
 * it, and pending work is queued work. */
struct agent_inputs {
    bool connected;
    bool busy;
    bool queued;
};

static struct agent_inputs agent_inputs(const struct session *session, bool runner_connected, bool runner_busy,
                                        int64_t queued)
{
    bool in_turn = session_status_is_in_turn(session->status);
    return (struct agent_inputs){
        .connected = runner_connected || in_turn,
        .busy = in_turn || (runner_connected && runner_busy),
        .queued = queued > 0 || session_status_is_claimable(session->status),
    };
}

const char *agent_word(const struct session *session, bool runner_connected, bool runner_busy, int64_t queued)
{
    struct agent_inputs in = agent_inputs(session, runner_connected, runner_busy, queued);
    const char *starting = in.queued ? "queued" : "starting";
    const char *awake = in.busy ? "busy" : in.queued ? "queued" : in.connected ? "idle" : "standby";
    if (session->status == SESSION_FAILED) {
        return "error";
    }
    if (session_status_is_ended(session->status)) {
        return "stopped";
    }
    switch (runtime_of(session)) {
    case RUNTIME_STARTING:
    case RUNTIME_RESTORING:
        return starting;
    case RUNTIME_HIBERNATING:
    case RUNTIME_HIBERNATED:
        return "sleeping";
    case RUNTIME_ERROR:
        return "error";
    case RUNTIME_NONE:
    case RUNTIME_RUNNING:
    case RUNTIME_STOPPED:
    case RUNTIME_COUNT:
        break;
    }
    return awake;
}

const char *joint_word(const struct session *session, bool runner_connected, bool runner_busy, int64_t queued)
{
    static const char *const words[][2] = {
        {"error", "error"},       {"stopped", "stopped"},   {"sleeping", "sleeping"}, {"starting", "starting"},
        {"busy", "running_busy"}, {"idle", "running_idle"}, {"queued", "queued"},     {"standby", "standby"},
    };
    const char *agent = agent_word(session, runner_connected, runner_busy, queued);
    if (strcmp(agent, "queued") == 0 && runtime_of(session) == RUNTIME_STARTING) {
        return "starting";
    }
    if (strcmp(agent, "queued") == 0 && runtime_of(session) == RUNTIME_RESTORING) {
        return "waking";
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(agent, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return "standby";
}

const char *lifecycle_word(const struct session *session)
{
    static const char *const by_work[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "starting",        [SESSION_PENDING] = "starting",      [SESSION_RUNNING] = "running",
        [SESSION_WAITING_HUMAN] = "running", [SESSION_AWAITING_TOOL] = "running", [SESSION_IDLE] = "running",
        [SESSION_COMPLETED] = "stopped",     [SESSION_FAILED] = "failed",         [SESSION_EXPIRED] = "stopped",
        [SESSION_ABANDONED] = "stopped",
    };
    static const char *const by_runtime[RUNTIME_COUNT] = {
        [RUNTIME_STARTING] = "starting",  [RUNTIME_HIBERNATING] = "paused", [RUNTIME_HIBERNATED] = "paused",
        [RUNTIME_RESTORING] = "starting", [RUNTIME_ERROR] = "failed",
    };
    if (session_status_is_ended(session->status)) {
        return by_work[session->status];
    }
    if (session->pause_reason == PAUSE_SUSPENDED) {
        return "suspended";
    }
    if (session->pause_reason != PAUSE_NONE) {
        return "paused";
    }
    const char *word = by_runtime[runtime_of(session)];
    return word ? word : word_by_work(by_work, session, "running");
}

const char *live_status_word(const struct session *session)
{
    static const char *const by_work[SESSION_STATUS_COUNT] = {
        [SESSION_DRAFT] = "initializing",    [SESSION_PENDING] = "initializing",  [SESSION_RUNNING] = "running",
        [SESSION_WAITING_HUMAN] = "running", [SESSION_AWAITING_TOOL] = "running", [SESSION_IDLE] = "idle",
        [SESSION_COMPLETED] = "terminated",  [SESSION_FAILED] = "error",          [SESSION_EXPIRED] = "terminated",
        [SESSION_ABANDONED] = "terminated",
    };
    static const char *const by_runtime[RUNTIME_COUNT] = {
        [RUNTIME_STARTING] = "initializing", [RUNTIME_HIBERNATING] = "hibernating",
        [RUNTIME_HIBERNATED] = "hibernated", [RUNTIME_RESTORING] = "restoring",
        [RUNTIME_ERROR] = "error",
    };
    if (session->archived_at_ms) {
        return "archived";
    }
    const char *word = session_status_is_ended(session->status) ? NULL : by_runtime[runtime_of(session)];
    return word ? word : word_by_work(by_work, session, "idle");
}
