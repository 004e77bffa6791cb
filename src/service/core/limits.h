/* The limits of the service, a struct per noun. Each field is filled by its row of main/options_table.c, before
 * anything runs, and never changes. */
#ifndef SERVICE_LIMITS_H
#define SERVICE_LIMITS_H

#include "domain/ask.h"
#include "domain/change.h"
#include "domain/watchdog.h"

/* How many sessions there may be; what one may hold is in session_limits (domain/change.h). */
struct sessions_limits {
    int64_t per_user_max; /* under way at a time */
    size_t bulk_delete_max;
    int64_t children_max;
    bool children_end_with_parent;
    int64_t human_ms;
    size_t usage_bytes_max; /* of a session's totals; 0 = no limit */
    size_t cached_max;      /* of the writer */
};

struct event_limits {
    size_t per_append_max;
    size_t bytes_max;
    size_t export_bytes_max;
    size_t delta_bytes_max;
};

struct claim_limits {
    int64_t lease_ms_default, lease_ms_min, lease_ms_max;
    int64_t max; /* sessions of one claim */
    int64_t attempts_max;
};

struct prompt_limits {
    int64_t queued_max;
    int64_t collect_debounce_ms;
    int64_t turns_per_session_max; /* 0 = no limit */
};

struct ask_limits {
    int64_t pending_max;
    int64_t rules_max;
    int64_t output_expiry_ms;
    int64_t expiry_ms[ASK_KIND_COUNT];      /* 0 = never */
    int64_t interactive_approval_expiry_ms; /* the same for approvals of interactive sessions */
    int64_t link_ms;
    int role; /* enum access_role */
};

struct work_limits {
    int64_t task_steps_max;
    size_t entity_bytes_max;
    int64_t entities_searched_max, search_bytes_max;
};

struct people_limits {
    size_t participants_max;
    size_t share_links_max;
    int64_t personas_per_user_max;
};

struct channel_limits {
    int64_t max, tunnels_max; /* of a session */
    int64_t followup_ms;      /* of a channel that is not the web; 0 = never */
};

struct introspection_limits {
    int64_t max; /* at a time; 0 = agents never look back */
    int64_t attempts_max, retry_ms;
    size_t bytes_max; /* of the conversation in one introspection */
};

struct memory_limits {
    int64_t max; /* per agent and owner */
    size_t bytes_max, prompt_bytes_max;
};

struct identity_limits {
    int64_t cookie_ms;
    int64_t ticket_ms;
    int64_t link_ms;
    size_t password_chars_min;
    size_t tokens_per_user_max;
};

struct file_limits {
    size_t bytes_max;
    int64_t per_session_max;
};

/* How long rows are kept that nobody needs any more. */
struct retention_limits {
    int64_t idempotency_ms;
    int64_t ended_ms; /* tokens and share links that no longer work */
    int64_t sweep_ms; /* 0 = ten minutes */
};

struct agent_limits {
    bool reach_host; /* admins of any tenant may define agents that run programs on the machine */
};

/* --- of hosts --- */

struct turns_limits {
    int64_t max;                /* at a time */
    int64_t interrupt_ms;       /* how long a driver may take to end an interrupted turn */
    int64_t history_events_max; /* of the conversation that a turn starts with */
    size_t said_bytes_max;      /* output that is not yet durable, per turn */
    size_t media_bytes_max;     /* of the files that a turn starts with */
};

struct runners_limits {
    int64_t grace_ms;
    int64_t lost_ms;
    int64_t silence_ms; /* without a message the connection counts as lost; 0 = never */
};

struct runtimes_limits {
    int64_t idle_grace_ms, idle_grace_automated_ms;
    int64_t snapshot_failures_max; /* in a row; then the session ends */
    int64_t tool_call_ms;          /* a call of a gateway tool that runs longer was aborted, and keeps nothing awake */
    int64_t lock_ms;               /* PostgreSQL: an older transition has lost its node */
};

struct gateway_limits {
    int64_t timeout_ms; /* how long a call waits for its result */
    size_t result_bytes_max;
};

struct blobs_limits {
    int64_t sweep_ms;
    int64_t grace_ms; /* how long bytes stay that nothing refers to */
};

struct watchdogs_limits {
    int64_t sweep_ms;     /* between two sweeps */
    int64_t sessions_max; /* of one sweep; at most WATCHDOG_SESSIONS_MAX */
};

struct models_limits {
    int64_t cache_ms;   /* how long an answer is good; failures are asked again at once */
    int64_t timeout_ms; /* of one question */
};

struct limits {
    struct session_limits session;
    struct sessions_limits sessions;
    struct event_limits event;
    struct claim_limits claim;
    struct prompt_limits prompt;
    struct ask_limits ask;
    struct work_limits work;
    struct people_limits people;
    struct channel_limits channel;
    struct introspection_limits introspection;
    struct memory_limits memory;
    struct identity_limits identity;
    struct file_limits file;
    struct retention_limits retention;
    struct agent_limits agent;
    struct health_limits health;
    struct turns_limits turns;
    struct runners_limits runners;
    struct runtimes_limits runtimes;
    struct gateway_limits gateway;
    struct blobs_limits blobs;
    struct watchdogs_limits watchdogs;
    struct models_limits models;
};

#endif
