/* The commands. A function here is straight-line C on a writer thread (commands) or a reader thread (queries): load,
 * decide, write; the caller commits. Nothing here replies or sends. */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "base/clock.h"
#include "base/id.h"
#include "domain/access.h"
#include "domain/ask.h"
#include "domain/change.h"
#include "domain/session.h"
#include "domain/watchdog.h"
#include "store/blob/blob.h"
#include "store/store.h"

struct media_list;
struct secrets;

/* What all threads share: set once by main, then only read. */
struct service {
    struct clock *clock;
    struct id_source *ids;
    struct slice node; /* PostgreSQL: which of the servers this is; absent = there is only one */
    struct session_limits session_limits;
    size_t events_per_append_max;
    size_t event_bytes_max;
    size_t export_bytes_max;
    int64_t sessions_per_user_max;
    size_t bulk_delete_max;
    size_t participants_max;
    size_t share_links_max;
    int64_t children_max;
    bool children_end_with_parent;
    int64_t lease_ms_default, lease_ms_min, lease_ms_max;
    int64_t claim_max;
    int64_t claim_attempts_max;
    int64_t prompts_queued_max;
    int64_t asks_pending_max;
    int64_t ask_rules_max;
    int64_t output_expiry_ms;
    size_t entity_bytes_max;
    int64_t entities_searched_max, search_bytes_max;
    size_t usage_bytes_max; /* of a session's totals; 0 = no limit */
    int64_t task_steps_max;
    int64_t ask_expiry_ms[ASK_KIND_COUNT];  /* 0 = never */
    int64_t interactive_approval_expiry_ms; /* the same for approvals of interactive sessions */
    int64_t ask_link_ms;
    enum access_role ask_role;
    int64_t collect_debounce_ms;
    int64_t turns_per_session_max; /* 0 = no limit */
    int64_t personas_per_user_max;
    int64_t channels_max, tunnels_max; /* of a session */
    int64_t channel_followup_ms;       /* of a channel that is not the web; 0 = never */
    int64_t introspections_max;        /* at a time; 0 = agents never look back */
    int64_t introspection_attempts_max, introspection_retry_ms;
    size_t introspection_bytes_max; /* of the conversation in one look back */
    int64_t memories_max;           /* per agent and owner */
    size_t memory_bytes_max, memories_prompt_bytes_max;
    int64_t human_session_ms;
    int64_t idempotency_keep_ms;
    int64_t ended_keep_ms; /* tokens and share links that no longer work */
    int64_t prune_ms;      /* 0 = ten minutes */
    int64_t cookie_ms;
    int64_t ticket_ms;
    int64_t link_ms;
    size_t password_chars_min;
    size_t tokens_per_user_max;
    size_t delta_bytes_max;
    size_t cached_sessions_max;
    bool agents_reach_host; /* admins of any tenant may define agents that run programs on the machine */
    struct health_limits health;
    int64_t wall_known_since_ms; /* steady: when the wall clock last jumped, 0 = never; the writer's */
    _Atomic int64_t watchdog_findings[WATCHDOG_COUNT];
    struct secrets *secrets; /* NULL = none */
    struct blob_place blobs; /* where files of sessions are kept */
    size_t blob_bytes_max;
    int64_t files_per_session_max;
    /* Grows whenever tokens, users or memberships change: caches of principals look at it. */
    _Atomic int64_t identity_epoch;
};

struct transaction;

/* One call: who asks, and where its memory comes from. */
struct call {
    struct service *service;
    struct db *db;
    struct transaction *transaction; /* NULL on a reader thread */
    struct arena *arena;
    const struct principal *who;
    struct slice lease_token;       /* of the Sojourn-Lease header; absent = none */
    const struct media_list *media; /* taken out of what the caller sent; NULL = none */
    int64_t now_ms;                 /* wall */
    int64_t steady_ms;
    struct failure failure;
};

#endif
