/* Builds the events a command writes. Pure: nothing here stores or sends. Each function checks the state, fills one or
 * more events into `out` and leaves at_ms, actor and sequence to the caller. Payloads written here are what
 * session_apply reads: the two stand side by side on purpose. */
#ifndef DOMAIN_CHANGE_H
#define DOMAIN_CHANGE_H

#include "base/clock.h"
#include "domain/agent.h"

enum { CHANGES_MAX = 4 };
#define TTL_MS_MAX (3650 * DAY_MS)

struct changes {
    struct event events[CHANGES_MAX];
    size_t count;
};

/* What a client may say at creation; absent members take their defaults. Filled by the api from JSON. */
struct session_input {
    struct slice id;
    struct slice type;
    struct slice status;
    struct slice agent;
    struct slice title;
    struct slice workspace;
    const struct json *source;   /* {"kind","platform","interactive","trigger_id","type"} */
    const struct json *metadata; /* values string | number | boolean */
    const struct json *details;
    struct slice parent_id, task_id, entity_id, visibility, prompt, purpose, queue_mode, retry_of;
    int64_t priority;
    int64_t attempt;
    int64_t ttl_ms; /* -1 = not given */
    bool anonymous;
    const struct json *agent_config; /* how it narrows the agent; an object, null or NULL */
    const struct agent *definition;  /* of the agent, found by the caller; NULL = not defined */
    const struct json *sandbox;      /* {"id","tunnel_urls"}: it has one already, made by others; or NULL */
    bool starts_sandbox;             /* one is made at once, not with the first message */
    const struct json *served;       /* details that the server adds; NULL = none */
    struct slice persona;            /* id of its persona; resolved by the caller into `served` */
    int64_t idle_timeout_ms;         /* 0 = not given */
};

struct session_limits {
    size_t metadata_bytes_max;
    size_t title_chars_max;
    size_t workspace_chars_max;
    size_t prompt_chars_max;
    int64_t ttl_ms[TYPE_COUNT]; /* 0 = never */
};

/* session.created. `id` is the final id, owner the creating user (absent for none). The prompt of a conversation is its
 * first user.message and follows at once. */
MUST_CHECK enum status change_create(struct arena *arena, const struct session_input *input,
                                     const struct session_limits *limits, struct slice id, struct slice owner,
                                     int64_t now_ms, struct changes *out, struct failure *failure);
/* session.updated with what differs: `patch` is the client's object (title, metadata (merge patch: null removes),
 * visibility, queue_mode, details, ttl_ms). count = 0 when nothing differs. */
MUST_CHECK enum status change_update(struct arena *arena, const struct session *session, const struct json *patch,
                                     const struct session_limits *limits, int64_t now_ms, struct changes *out,
                                     struct failure *failure);
/* Open an existing session by id: merges metadata (new over old), keeps the source; reopens an ended conversation. */
MUST_CHECK enum status change_open(struct arena *arena, const struct session *session,
                                   const struct session_input *input, const struct session_limits *limits,
                                   struct changes *out, struct failure *failure);

/* session.status_change, guarded by the table: 409 `illegal_transition` names both states and what is allowed.
 * `reason` is one line; `stop` says why when `to` is an end (STOP_NONE picks the usual one). Becoming completed or
 * failed adds session.completed or session.error. count = 0 when it is in that state already. */
MUST_CHECK enum status change_status(struct arena *arena, const struct session *session, enum session_status to,
                                     const char *reason, enum stop_reason stop, struct changes *out,
                                     struct failure *failure);
/* May somebody from outside let the turn of an agent that waits go on? Only while it `is_run`: under the caller's
 * lease, or by a runner of the session. Else nobody would run it: 409 `claim_needed`. */
MUST_CHECK enum status change_check_has_holder(const struct session *session, enum session_status to, bool has_holder,
                                               struct failure *failure);
/* What else a change of the runtime brings; absent members leave things as they are. */
struct runtime_update {
    struct slice sandbox_id;  /* it has this one */
    bool sandbox_over;        /* it has none any more */
    struct slice snapshot_id; /* what it can be restored from */
    int64_t snapshot_bytes;   /* of that one; 0 = not given */
    struct slice tunnel_urls; /* JSON object: what leads into it */
    bool snapshot_over;       /* what it could be restored from is lost */
};
/* session.runtime_change {from, to, pause_reason, reason, sandbox_id, snapshot_id, snapshot_bytes, tunnel_urls}. The
 * same `to` with another `pause` pauses or resumes without touching the sandbox; another `to` keeps what holds the
 * session (pause_blocks_turns); falling asleep without a reason counts as inactivity. count = 0 when nothing differs.
 */
MUST_CHECK enum status change_runtime(struct arena *arena, const struct session *session, enum runtime to,
                                      enum pause_reason pause, const char *reason, struct changes *out,
                                      struct failure *failure);
MUST_CHECK enum status change_sandbox(struct arena *arena, const struct session *session, enum runtime to,
                                      enum pause_reason pause, const char *reason, const struct runtime_update *news,
                                      struct changes *out, struct failure *failure);
/* The cap on cost holds the session (PAUSE_OVERAGE_CAP), or does so no longer. count = 0 when it is so already, or
 * something else holds it. */
MUST_CHECK enum status change_cap(struct arena *arena, const struct session *session, bool holds, const char *reason,
                                  struct changes *out, struct failure *failure);
/* runtime.lost {node, runtime, snapshot}: the server that had its files is gone. snapshot: `kept` when it can be
 * restored from the last one, `lost` when that is out of reach, `none` when there never was one. */
void change_runtime_lost(struct arena *arena, const struct session *session, struct slice node, bool snapshot_kept,
                         struct changes *out);
/* A person's pause, and its end, which lifts a cap on cost too: no turn begins while it lasts. CONFLICT `session_ended`
 * when there is nothing to pause, `session_blocked` when something else holds it. count = 0 when it is so already. */
MUST_CHECK enum status change_pause(struct arena *arena, const struct session *session, bool paused, const char *reason,
                                    struct changes *out, struct failure *failure);
/* session.status_change pending -> running and session.claimed {worker, fence, attempt}. */
MUST_CHECK enum status change_claim(struct arena *arena, const struct session *session, struct slice worker,
                                    struct changes *out, struct failure *failure);
/* The end (or pause) of a claimed turn: status_change, then session.completed {result, usage} or session.error {…}.
 * Allowed `to`: every state the table allows from the current one, and the wait it is in: whoever ran it leaves. */
struct settlement {
    enum session_status to;
    const struct json *result;
    const struct json *usage;
    struct slice error_message;
    struct slice error_code;
    struct slice reason;
};
MUST_CHECK enum status change_settle(struct arena *arena, const struct session *session,
                                     const struct settlement *settlement, struct changes *out, struct failure *failure);
/* The same from any active status, for any caller: steps of a task end this way. */
MUST_CHECK enum status change_end(struct arena *arena, const struct session *session,
                                  const struct settlement *settlement, struct changes *out, struct failure *failure);
/* A lease that ran out or was given back: running -> pending (`session.lease_lost` / `session.released`), or
 * -> failed with STOP_ATTEMPTS_EXHAUSTED when claim_attempts reached `attempts_max` (0 = no limit). What waits goes on
 * waiting, and is pending once it was answered. count = 0 when nobody runs it any more. */
MUST_CHECK enum status change_lease_over(struct arena *arena, const struct session *session, bool released,
                                         int64_t attempts_max, struct changes *out, struct failure *failure);
MUST_CHECK enum status change_archive(struct arena *arena, const struct session *session, bool archived,
                                      struct changes *out, struct failure *failure);
MUST_CHECK enum status change_reopen(struct arena *arena, const struct session *session, const char *reason,
                                     struct changes *out, struct failure *failure);
/* May it be deleted (S2-045, S2-046)? */
MUST_CHECK enum status change_check_delete(const struct session *session, struct failure *failure);
/* Audit-only events that do not change the session's own fields: participant_added {user_id, role},
 * participant_removed, share_created {link_id, role}, share_redeemed, share_deactivated. `type` is the full type name.
 */
void change_note(struct arena *arena, enum event_kind kind, const char *const *keys, const struct slice *values,
                 size_t count, struct changes *out);

#endif
