/* What waits for somebody, and where it is told: part of store/store.h, by which it is included. */
#ifndef STORE_STORE_QUEUE_H
#define STORE_STORE_QUEUE_H

#include "domain/access.h"
#include "domain/ask.h"
#include "domain/prompt.h"
#include "domain/session.h"
#include "store/db.h"

struct session_filter;

/* --- claims --- */
struct lease {
    int64_t tenant_key, session_key;
    struct slice token_hash; /* 32 bytes */
    int64_t fence;
    struct slice worker;
    int64_t lease_ms;
    int64_t expires_at_ms; /* steady */
    int64_t claimed_at_ms; /* wall */
    int64_t heartbeat_at_ms;
};
/* The keys of pending sessions, highest priority first, then oldest. */
struct claim_search {
    int64_t tenant_key;
    struct slice agent; /* absent = any */
    int type;           /* -1 = any */
    struct slice id_prefix;
    int64_t limit;
    bool hosted;       /* those whose turns the server runs, else those of workers */
    struct slice node; /* hosted: not those whose sandbox another living node has */
    int64_t steady_ms;
};
MUST_CHECK enum status store_claim_candidates(struct db *db, const struct claim_search *search, int64_t *out_keys,
                                              int64_t *out_priority, int64_t *out_queued_ms, size_t *out_count,
                                              struct failure *failure);
MUST_CHECK enum status store_lease_put(struct db *db, const struct lease *lease, struct failure *failure);
MUST_CHECK enum status store_lease_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                       struct lease *out, struct failure *failure); /* NOT_FOUND when none */
MUST_CHECK enum status store_lease_delete(struct db *db, int64_t tenant_key, int64_t session_key,
                                          struct failure *failure);
/* Of every tenant. */
MUST_CHECK enum status store_lease_of_worker(struct db *db, struct slice worker, struct arena *arena,
                                             struct lease **out, size_t *out_count, struct failure *failure);
/* Moves the expiry and the heartbeat of a lease whose row still says `stored_expires_at_ms` and this fence. */
MUST_CHECK enum status store_lease_renew(struct db *db, const struct lease *lease, int64_t stored_expires_at_ms,
                                         struct failure *failure);
/* At start: every live lease gets a fresh full term from `now` (steady), so a restart or a jump of the clock costs
 * nobody his work. */
MUST_CHECK enum status store_lease_renew_all(struct db *db, int64_t now_ms, struct failure *failure);
struct queue_stats {
    struct slice agent;
    int64_t pending, oldest_queued_ms, leased;
};
MUST_CHECK enum status store_queue_stats(struct db *db, const struct session_filter *who, struct arena *arena,
                                         struct queue_stats **out, size_t *out_count, struct failure *failure);
struct worker_stats {
    struct slice worker;
    int64_t leases, last_heartbeat_ms;
};
MUST_CHECK enum status store_worker_stats(struct db *db, const struct session_filter *who, struct arena *arena,
                                          struct worker_stats **out, size_t *out_count, struct failure *failure);

/* --- prompts that wait --- */
MUST_CHECK enum status store_prompt_insert(struct db *db, int64_t tenant_key, int64_t session_key,
                                           const struct prompt *prompt, struct failure *failure);
/* In the order in which they are dispatched. */
MUST_CHECK enum status store_prompt_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                         struct prompt **out, size_t *out_count, struct failure *failure);
/* NOT_FOUND when none waits. */
MUST_CHECK enum status store_prompt_first(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                          struct prompt *out, struct failure *failure);
struct prompt_stats {
    int64_t waiting;
    int64_t first, last; /* positions; 0 when none waits */
    int64_t lowest;      /* no waiting prompt has a lower priority; 0 when none waits */
};
MUST_CHECK enum status store_prompt_stats(struct db *db, int64_t tenant_key, int64_t session_key,
                                          struct prompt_stats *out, struct failure *failure);
/* Position, mode, content, metadata, revision and due time of the prompt with this id. */
MUST_CHECK enum status store_prompt_update(struct db *db, int64_t tenant_key, int64_t session_key,
                                           const struct prompt *prompt, struct failure *failure);
/* Moves every prompt from `position` on one further back. */
MUST_CHECK enum status store_prompt_make_room(struct db *db, int64_t tenant_key, int64_t session_key, int64_t position,
                                              struct failure *failure);
MUST_CHECK enum status store_prompt_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                           struct failure *failure);

/* --- asks and the decisions that stand --- */
MUST_CHECK enum status store_ask_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct ask *ask,
                                        struct failure *failure);
/* Writes state, decision, answer, reason, who and when, votes. STALE when it is not pending any more. */
MUST_CHECK enum status store_ask_update(struct db *db, int64_t tenant_key, int64_t session_key, const struct ask *ask,
                                        struct failure *failure);
MUST_CHECK enum status store_ask_by_id(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                       struct arena *arena, struct ask *out, struct failure *failure);
/* Those of a session that are pending, oldest first. */
MUST_CHECK enum status store_ask_pending(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                         struct ask **out, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_ask_count_pending(struct db *db, int64_t tenant_key, int64_t session_key, int64_t *out,
                                               struct failure *failure);
/* How many a turn asked, whatever became of them. */
MUST_CHECK enum status store_ask_count_of_turn(struct db *db, int64_t tenant_key, int64_t session_key, int64_t turn,
                                               int64_t *out, struct failure *failure);
/* An ask, what access to its session depends on, and the stored role of the user who looks. */
struct ask_with_access {
    struct ask ask;
    int64_t key;            /* orders and pages */
    struct session session; /* key, tenant_key, id, owner, visibility, purpose, agent, title, parent_id; nothing else */
    enum access_role participant;
};
struct ask_filter {
    int64_t tenant_key;
    struct slice user_id; /* who looks; absent = nobody in particular */
    bool sees_all;        /* inbox: else only asks of sessions that the user may see at all */
    int64_t session_key;  /* 0 = the inbox: pending asks of all sessions */
    bool descendants;     /* and of all sessions below it */
    int state;            /* enum ask_state; -1 = any */
    int64_t before;       /* key of the last row of the page before; 0 = the first page */
    int64_t limit;
};
/* Newest first. */
MUST_CHECK enum status store_ask_list(struct db *db, const struct ask_filter *filter, struct arena *arena,
                                      struct ask_with_access **out, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_ask_rule_insert(struct db *db, const struct ask_rule *rule, struct failure *failure);
/* Of this tool, for all sessions or this one. */
MUST_CHECK enum status store_ask_rule_candidates(struct db *db, int64_t tenant_key, struct slice tool,
                                                 int64_t session_key, struct arena *arena, struct ask_rule **out,
                                                 size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_ask_rule_list(struct db *db, int64_t tenant_key, struct arena *arena,
                                           struct ask_rule **out, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_ask_rule_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                            struct ask_rule *out, struct failure *failure);
MUST_CHECK enum status store_ask_rule_delete(struct db *db, int64_t tenant_key, struct slice id, bool *out_deleted,
                                             struct failure *failure);
/* Those that hold in this session only. */
MUST_CHECK enum status store_ask_rule_delete_of_session(struct db *db, int64_t tenant_key, int64_t session_key,
                                                        struct failure *failure);
MUST_CHECK enum status store_ask_rule_count(struct db *db, int64_t tenant_key, int64_t *out, struct failure *failure);

/* --- calls of gateway tools --- */
enum tool_call_state { TOOL_CALL_RUNNING, TOOL_CALL_DONE, TOOL_CALL_FAILED };
struct gateway_call_row {
    int64_t tenant_key, session_key;
    struct slice tool, call_id;
    struct slice arguments_hash;
    enum tool_call_state state;
    struct slice result; /* JSON, once it is over */
    int64_t created_at_ms, ended_at_ms;
};
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_tool_call_get(struct db *db, int64_t tenant_key, int64_t session_key, struct slice tool,
                                           struct slice call_id, struct arena *arena, struct gateway_call_row *out,
                                           struct failure *failure);
MUST_CHECK enum status store_tool_call_insert(struct db *db, const struct gateway_call_row *call,
                                              struct failure *failure);
/* Its state, result and end. */
MUST_CHECK enum status store_tool_call_end(struct db *db, const struct gateway_call_row *call, struct failure *failure);
/* Of those that began after `since_ms`. */
MUST_CHECK enum status store_tool_call_count_running(struct db *db, int64_t tenant_key, int64_t session_key,
                                                     int64_t since_ms, int64_t *out, struct failure *failure);

/* --- what a driver keeps with a session --- */
MUST_CHECK enum status store_driver_state_put(struct db *db, int64_t tenant_key, int64_t session_key, struct slice json,
                                              struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_driver_state_get(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct arena *arena, struct slice *out, struct failure *failure);

/* --- channels: where people talk with a session --- */
struct channel {
    int64_t tenant_key, session_key;
    struct slice id;          /* KIND or KIND:ADDRESS */
    struct slice kind;        /* web, slack, … */
    struct slice address;     /* in the channel, or absent */
    int64_t followup_ms;      /* an unanswered message is remembered after so long; 0 = never */
    int64_t waiting_sequence; /* the last message from it; 0 = none yet */
    int64_t due_ms;           /* steady; 0 = none waits */
    int64_t created_at_ms;
};
/* Inserts, or changes what may change of the one with its id. */
MUST_CHECK enum status store_channel_put(struct db *db, const struct channel *channel, struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_channel_get(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                         struct arena *arena, struct channel *out, struct failure *failure);
MUST_CHECK enum status store_channel_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                          struct channel **out, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_channel_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                            bool *out_deleted, struct failure *failure);

#endif
