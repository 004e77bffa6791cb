/* A session: the fold of its log. The row in the store equals what session_apply makes of the events, always. */
#ifndef DOMAIN_SESSION_H
#define DOMAIN_SESSION_H

#include "base/arena.h"
#include "domain/event.h"
#include "domain/runtime.h"
#include "domain/session_status.h"

enum visibility { VISIBILITY_PRIVATE, VISIBILITY_ORG_VISIBLE, VISIBILITY_ORG_JOINABLE, VISIBILITY_COUNT };
enum purpose { PURPOSE_INTERACTIVE, PURPOSE_ORCHESTRATOR, PURPOSE_WORKFLOW, PURPOSE_APPROVAL, PURPOSE_COUNT };
enum queue_mode { QUEUE_FOLLOWUP, QUEUE_STEER, QUEUE_COLLECT, QUEUE_REJECT, QUEUE_COUNT };
enum chat_type { CHAT_NONE, CHAT_DIRECT, CHAT_GROUP, CHAT_COUNT };

extern const struct enum_names visibility_enum, purpose_enum, queue_mode_enum, chat_type_enum;

#define SOURCE_HUMAN_BRIDGE "human-session-bridge"

enum { SESSION_PREVIEW_BYTES = 160, SESSION_LISTED_STEP_MS = 10000 };

/* Strings live in the arena given to session_apply or to the loader. */
struct session {
    /* identity, set by session.created */
    int64_t key; /* internal; 0 until stored */
    int64_t tenant_key;
    struct slice id;
    enum session_type type;
    enum purpose purpose;
    struct slice agent;        /* slug, or absent */
    int64_t agent_version;     /* the definition it was started with; 0 = not defined */
    int driver;                /* enum agent_driver: who runs its turns */
    struct slice agent_config; /* JSON object: how it narrows the agent, or absent */
    struct slice workspace;
    struct slice source_kind; /* cli api channel schedule web human-session-bridge … */
    struct slice source_platform;
    struct slice source_trigger_id;
    bool source_interactive;
    enum chat_type source_type;
    struct slice parent_id;
    struct slice task_id;
    struct slice entity_id;
    struct slice retry_of;
    int64_t attempt;    /* 1, 2, … of a retried piece of work */
    struct slice owner; /* user id, or absent */
    bool anonymous;
    struct slice initial_prompt;
    int64_t priority; /* higher first */
    int64_t created_at_ms;

    /* changed by session.updated */
    struct slice title;
    struct slice metadata; /* JSON object */
    struct slice details;  /* JSON object: the fields of S1-050 … S1-060, see session_details */
    enum visibility visibility;
    enum queue_mode queue_mode;
    int64_t expires_at_ms; /* TTL; 0 = never */

    /* the two machines */
    enum session_status status;
    enum runtime runtime;
    enum pause_reason pause_reason;
    enum stop_reason stop_reason;
    struct slice status_reason; /* one line, why it is in this state */
    int64_t archived_at_ms;     /* rarely changed and in many indexes: counts as anything else below */
    int64_t queued_at_ms;       /* since when it is pending; 0 otherwise */
    int64_t started_at_ms;      /* first running; never reset */
    int64_t completed_at_ms;    /* end; cleared by reopening */
    int64_t paused_at_ms;
    int64_t active_ms; /* time spent running, summed at each change away from it */
    int64_t running_since_ms;

    /* outcome */
    struct slice result; /* JSON */
    struct slice usage;  /* JSON object of totals */
    struct slice error_message;
    struct slice error_code;

    /* claims */
    int64_t fence;          /* grows with every claim */
    int64_t claim_attempts; /* since it last became pending on purpose */

    /* counters and what a list shows; changed by ordinary events */
    int64_t last_sequence;
    int64_t message_count;
    int64_t tool_call_count;
    int64_t turn_count;
    int64_t updated_at_ms;     /* last change of the row's own fields */
    int64_t last_active_at_ms; /* last event */
    int64_t listed_at_ms; /* last_active_at in steps of SESSION_LISTED_STEP_MS, so that the list's index moves rarely */
    char preview[SESSION_PREVIEW_BYTES]; /* of the last message, zero-terminated */
};

/* What an event changed, as bits: the store writes only these columns. */
enum session_changed {
    CHANGED_HOT = 1,     /* the last group above */
    CHANGED_MACHINE = 2, /* the two machines, outcome, claims */
    CHANGED_LISTED = 4,  /* listed_at_ms */
    CHANGED_ALL = 8,     /* anything else */
};

/* Applies one event whose sequence is last_sequence + 1. Strings that the session keeps are copied into `arena`.
 * Events the server wrote are trusted; an unknown event only moves the counters. Returns bits of enum session_changed.
 * The first event is session.created, on a session of zeroes but for key and tenant_key, which no event knows. */
unsigned session_apply(struct session *session, const struct event *event, struct arena *arena);
/* Deep copy. */
void session_copy(struct session *to, const struct session *from, struct arena *arena);
/* For `sojourn verify`: the name of the first field that differs, or NULL. */
const char *session_difference(const struct session *a, const struct session *b);

/* Derived vocabularies, see vocabulary.h. */

enum { SESSION_ID_BYTES_MAX = 128 };
/* [A-Za-z0-9._:-], 1 to 128 characters, and neither "." nor "..". */
bool session_id_is_valid(struct slice id);
/* human-session-bridge, at most one running per user */
bool session_is_human_bridge(const struct session *session);
/* People and agents talk in it, so it can be reopened: agent and mixed, but not a human session. */
bool session_is_conversation(const struct session *session);
/* It counts towards how many sessions its owner may have under way (S3-115). */
bool session_is_limited(const struct session *session);
/* People write to it from a channel, with nobody who would close it. */
bool session_is_from_channel(const struct session *session);
/* A conversation somebody keeps with an agent. Everything else is a run: work that was handed over with a prompt or for
 * a task, workflows and their parts, forms and tools. */
bool session_is_chat(const struct session *session);
/* Orchestrator and workflow sessions are seen by their owner only. */
bool session_purpose_is_private(enum purpose purpose);
/* The state in which an active session ends for this reason. */
enum session_status session_ends_as(const struct session *session, enum stop_reason stop);
bool session_has_snapshot(const struct session *session);
bool session_blocks_turns(const struct session *session); /* paused: a turn may go on, none begins */
/* Would the command be accepted in this state? */
bool session_can_retry(const struct session *session);
bool session_can_reopen(const struct session *session);
bool session_takes_prompt(const struct session *session); /* idle and not paused: the next prompt starts a turn */
bool session_is_claimable(const struct session *session); /* pending and not held */
/* The whole session as JSON with every derived vocabulary; `full` adds initial_prompt, agent_config and details. */
void session_write(struct buffer *to, const struct session *session, bool full);
/* The same inside an object that has further members. */
void session_write_members(struct json_out *out, const struct session *session, bool full);
/* What whoever runs it needs at least. */
void session_write_minimal(struct buffer *to, const struct session *session);

#endif
