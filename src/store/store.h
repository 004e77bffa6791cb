/* What is kept, as typed functions: one per question or change, the same on both engines. Every function that touches a
 * tenant's rows takes the tenant's key and cannot be called without it. Rows read are copied into the caller's arena.
 *
 * The schema is in store/sql/schema_*.sql, the statements in store/sql/NOUN.sql, the functions in store/NOUN.c. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "domain/access.h"
#include "domain/ask.h"
#include "domain/file_change.h"
#include "domain/prompt.h"
#include "domain/session.h"
#include "store/db.h"
#include "store/store_agent.h"
#include "store/store_identity.h"
#include "store/store_work.h"

/* --- schema --- */
/* Brings the schema up to date; a newer one is refused with `schema_too_new` and both numbers. Writer connection. */
MUST_CHECK enum status store_migrate(struct db *db, struct failure *failure);

/* --- sessions --- */
/* Inserts and sets session->key. CONFLICT when the id exists in the tenant. */
MUST_CHECK enum status store_session_insert(struct db *db, struct session *session, struct failure *failure);
/* Writes the columns named by `what` (bits of enum session_changed). The row must still be at `old_sequence`, else
 * STALE (at the latest at commit). Also keeps the labels and the tenant's counts (pass the state before as `old_work`).
 */
MUST_CHECK enum status store_session_update(struct db *db, const struct session *session, unsigned what,
                                            int64_t old_sequence, enum work old_work, struct failure *failure);
MUST_CHECK enum status store_session_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                           struct session *out, struct failure *failure);
/* All sessions, of every tenant, whose runtime is neither none nor hibernated nor stopped. */
struct session_key {
    int64_t tenant_key, key;
};
MUST_CHECK enum status store_session_with_sandbox(struct db *db, struct arena *arena, struct session_key **out,
                                                  size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_session_by_key(struct db *db, int64_t tenant_key, int64_t key, struct arena *arena,
                                            struct session *out, struct failure *failure);
/* Erases the session, its events, prompts, participants, links, lease, timers, partial output, labels; leaves a
 * tombstone, which the firehose tells of. */
MUST_CHECK enum status store_session_delete(struct db *db, const struct session *session, struct slice actor,
                                            int64_t now_ms, struct failure *failure);
/* True when a session with this id was deleted: its id is not used again. */
MUST_CHECK enum status store_tombstone_exists(struct db *db, int64_t tenant_key, struct slice id, bool *out,
                                              struct failure *failure);

struct session_filter {
    int64_t tenant_key;
    /* who asks: rows the caller may see. Absent visible_to = everything in the tenant. */
    struct slice visible_to; /* user id: own, shared with, or visible to the organisation */
    struct slice private_of; /* show orchestrator and workflow rows of this user only; absent = of everybody */
    struct slice id_prefix;
    /* filters; -1 or absent = not given */
    int type, work, display, archived /* 0 no, 1 yes, -1 both */, interactive, visibility;
    int group; /* 1 active, 2 live, 3 failing; -1 none */
    int kind;  /* 1 runs, 2 chats; 0 both */
    struct slice source_kind, source_platform, owner, participant, parent_id, task_id, entity_id, workspace, agent;
    struct slice label_name, label_value; /* metadata.NAME=VALUE; label_value absent = has the key */
    struct slice text;                    /* in title or preview, case-insensitive */
    bool parents_only;                    /* those that are part of no other */
    bool shared_with_me;                  /* participant but not owner, with visible_to */
    int64_t created_after_ms, created_before_ms, active_after_ms, active_before_ms; /* 0 = not given */
    /* page: newest activity first; the cursor is the last row of the page before */
    int64_t cursor_listed_ms, cursor_key; /* 0 = first page */
    int64_t limit;
};

struct session_page {
    struct session *sessions;
    size_t count;
    bool has_more;
};
MUST_CHECK enum status store_session_list(struct db *db, const struct session_filter *filter, struct arena *arena,
                                          struct session_page *out, struct failure *failure);
/* Sessions of `owner` that count towards the limit per user (S3-115). */
MUST_CHECK enum status store_session_count_concurrent(struct db *db, int64_t tenant_key, struct slice owner,
                                                      int64_t *out, struct failure *failure);
/* How many sessions name this one as their parent. */
MUST_CHECK enum status store_session_count_children(struct db *db, int64_t tenant_key, struct slice parent_id,
                                                    int64_t *out, struct failure *failure);
/* The ids of its children that have not ended, oldest first; `max` at most. */
MUST_CHECK enum status store_session_active_children(struct db *db, int64_t tenant_key, struct slice parent_id,
                                                     int64_t max, struct arena *arena, struct slice *out,
                                                     size_t *out_count, struct failure *failure);
/* The running human-session-bridge session of a user; NOT_FOUND when none. */
MUST_CHECK enum status store_session_active_human(struct db *db, int64_t tenant_key, struct slice owner,
                                                  struct arena *arena, struct session *out, struct failure *failure);
/* counts[type][work] */
MUST_CHECK enum status store_counts(struct db *db, int64_t tenant_key, int64_t counts[TYPE_COUNT][WORK_COUNT],
                                    struct failure *failure);

/* --- events --- */
/* event->sequence is set. PostgreSQL gathers these and sends them as one array insert before the next question or
 * commit. */
MUST_CHECK enum status store_event_insert(struct db *db, int64_t tenant_key, int64_t session_key,
                                          const struct event *event, struct failure *failure);
/* The sequence of the event with this external id; 0 when there is none. */
MUST_CHECK enum status store_event_by_external_id(struct db *db, int64_t tenant_key, int64_t session_key,
                                                  struct slice external_id, int64_t *out_sequence,
                                                  struct failure *failure);

struct event_filter {
    int64_t tenant_key, session_key;
    int64_t after, before; /* exclusive; before 0 = no bound */
    const struct slice *types;
    size_t type_count;      /* 0 = all; "tool.*" matches a prefix */
    struct slice thread_id; /* absent = of all; empty = of the main one, whose events name none */
    bool audit_only;
    bool newest_first;
    int64_t limit;
};
/* Calls `each` for every event in order until it returns false; slices are valid during the call. */
MUST_CHECK enum status store_event_read(struct db *db, const struct event_filter *filter,
                                        bool (*each)(void *owner, const struct event *event), void *owner,
                                        struct failure *failure);

/* The firehose: all events of a tenant in one order that never changes, in which a session's events follow their
 * sequence, and its deletes as events `session.deleted` of sessions that are no more. Positions are opaque pairs; (0,0)
 * is the start. It is read up to a horizon, which must be asked for before the transaction that reads begins: whoever
 * is still writing has nothing before it. */
struct position {
    int64_t major; /* SQLite: the row */
    int64_t minor; /* PostgreSQL: the row */
};
struct firehose_row {
    struct position at;
    int64_t session_key;
    struct slice session_id;
    struct slice audience; /* of a delete: who could see it, {id, owner, visibility, purpose, participants} */
    const struct event *event;
};
MUST_CHECK enum status store_firehose_horizon(struct db *db, int64_t *out, struct failure *failure);
MUST_CHECK enum status store_firehose_end(struct db *db, int64_t tenant_key, int64_t horizon, struct position *out,
                                          struct failure *failure);
MUST_CHECK enum status store_firehose_read(struct db *db, int64_t tenant_key, struct position after, int64_t horizon,
                                           int64_t limit, bool (*each)(void *owner, const struct firehose_row *row),
                                           void *owner, struct failure *failure);

/* Live output of a running turn, saved about once a second. */
struct partial {
    int64_t sequence;    /* the durable event the deltas follow */
    int64_t count;       /* how many deltas are in `body` */
    struct slice body;   /* JSON array of the deltas */
    int64_t saved_at_ms; /* wall */
};
MUST_CHECK enum status store_partial_save(struct db *db, int64_t tenant_key, int64_t session_key,
                                          const struct partial *partial, struct failure *failure);
MUST_CHECK enum status store_partial_load(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                          struct partial *out, struct failure *failure); /* count 0 when none */
MUST_CHECK enum status store_partial_delete(struct db *db, int64_t tenant_key, int64_t session_key,
                                            struct failure *failure);

/* --- files that the work changed --- */
struct changed_file {
    struct file_change change;
    int64_t sequence; /* of the event that told it last */
    int64_t changed_at_ms;
};
/* One row for each path: what is told last replaces what stood. */
MUST_CHECK enum status store_file_change_put(struct db *db, int64_t tenant_key, int64_t session_key,
                                             const struct file_change *change, int64_t sequence, int64_t at_ms,
                                             struct failure *failure);
/* By path, those behind `after`. */
MUST_CHECK enum status store_file_change_list(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct slice after, int64_t limit, struct arena *arena,
                                              struct changed_file **out, size_t *out_count, struct failure *failure);

/* --- participants and share links --- */
struct participant {
    struct slice user_id, name, email;
    enum access_role role;
    int64_t added_at_ms;
};
MUST_CHECK enum status store_participant_role(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct slice user_id, enum access_role *out,
                                              struct failure *failure); /* NONE when absent */
MUST_CHECK enum status store_participant_put(struct db *db, int64_t tenant_key, int64_t session_key,
                                             struct slice user_id, enum access_role role, int64_t now_ms,
                                             struct failure *failure);
MUST_CHECK enum status store_participant_delete(struct db *db, int64_t tenant_key, int64_t session_key,
                                                struct slice user_id, bool *out_deleted, struct failure *failure);
MUST_CHECK enum status store_participant_list(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct arena *arena, struct participant **out, size_t *out_count,
                                              struct failure *failure);

struct share_link {
    struct slice id;
    int64_t tenant_key, session_key;
    struct slice session_id;
    struct slice token_hash; /* 32 bytes */
    enum access_role role;
    int64_t expires_at_ms; /* 0 = never */
    int64_t max_uses;      /* 0 = unlimited */
    int64_t use_count;
    bool active;
    struct slice created_by;
    int64_t created_at_ms;
};
MUST_CHECK enum status store_share_insert(struct db *db, const struct share_link *link, struct failure *failure);
MUST_CHECK enum status store_share_by_hash(struct db *db, struct slice token_hash, struct arena *arena,
                                           struct share_link *out, struct failure *failure);
MUST_CHECK enum status store_share_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                        struct share_link **out, size_t *out_count, struct failure *failure);
/* Deletes links, and who used them, that are switched off, expired or used up, and are from before. */
MUST_CHECK enum status store_share_prune(struct db *db, int64_t before_ms, struct failure *failure);
MUST_CHECK enum status store_share_deactivate(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct slice link_id, bool *out_changed, struct failure *failure);
/* Counts one use unless this user redeemed it before (*out_first false) or the uses are spent (LIMITED, atomically). */
MUST_CHECK enum status store_share_redeem(struct db *db, const struct share_link *link, struct slice user_id,
                                          int64_t now_ms, bool *out_first, struct failure *failure);

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
struct queue_figures {
    struct slice agent;
    int64_t pending, oldest_queued_ms, leased;
};
MUST_CHECK enum status store_queue_figures(struct db *db, int64_t tenant_key, struct arena *arena,
                                           struct queue_figures **out, size_t *out_count, struct failure *failure);
struct worker_figures {
    struct slice worker;
    int64_t leases, last_heartbeat_ms;
};
MUST_CHECK enum status store_worker_figures(struct db *db, int64_t tenant_key, struct arena *arena,
                                            struct worker_figures **out, size_t *out_count, struct failure *failure);

/* --- prompts that wait --- */
MUST_CHECK enum status store_prompt_insert(struct db *db, int64_t tenant_key, int64_t session_key,
                                           const struct prompt *prompt, struct failure *failure);
/* In the order in which they are dispatched. */
MUST_CHECK enum status store_prompt_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                         struct prompt **out, size_t *out_count, struct failure *failure);
/* NOT_FOUND when none waits. */
MUST_CHECK enum status store_prompt_first(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                          struct prompt *out, struct failure *failure);
MUST_CHECK enum status store_prompt_by_id(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                          struct arena *arena, struct prompt *out, struct failure *failure);
struct prompt_figures {
    int64_t waiting;
    int64_t first, last; /* positions; 0 when none waits */
    int64_t lowest;      /* no waiting prompt has a lower priority; 0 when none waits */
};
MUST_CHECK enum status store_prompt_figures(struct db *db, int64_t tenant_key, int64_t session_key,
                                            struct prompt_figures *out, struct failure *failure);
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
struct seen_ask {
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
                                      struct seen_ask **out, size_t *out_count, struct failure *failure);
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
struct tool_call {
    int64_t tenant_key, session_key;
    struct slice tool, call_id;
    struct slice arguments_hash;
    enum tool_call_state state;
    struct slice result; /* JSON, once it is over */
    int64_t created_at_ms, ended_at_ms;
};
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_tool_call_get(struct db *db, int64_t tenant_key, int64_t session_key, struct slice tool,
                                           struct slice call_id, struct arena *arena, struct tool_call *out,
                                           struct failure *failure);
MUST_CHECK enum status store_tool_call_insert(struct db *db, const struct tool_call *call, struct failure *failure);
/* Its state, result and end. */
MUST_CHECK enum status store_tool_call_end(struct db *db, const struct tool_call *call, struct failure *failure);
/* Of those that began after `since_ms`. */
MUST_CHECK enum status store_tool_call_count_running(struct db *db, int64_t tenant_key, int64_t session_key,
                                                     int64_t since_ms, int64_t *out, struct failure *failure);

/* --- the servers of one database --- */
struct node_row {
    struct slice id, address;
    int64_t started_at_ms; /* wall */
    int64_t expires_at_ms; /* steady */
};
MUST_CHECK enum status store_node_renew(struct db *db, const struct node_row *node, struct failure *failure);
MUST_CHECK enum status store_node_count_live(struct db *db, int64_t steady_ms, int64_t *out, struct failure *failure);
/* Those that were over before and have no sandbox. */
MUST_CHECK enum status store_node_prune(struct db *db, int64_t before_ms, struct failure *failure);

/* Who has the files of a session's sandbox. */
struct sandbox_host {
    struct slice node;     /* absent = nobody */
    int64_t expires_at_ms; /* steady: when that node was lost, or will be unless it is heard of */
};
MUST_CHECK enum status store_host_put(struct db *db, int64_t tenant_key, int64_t session_key, struct slice node,
                                      struct failure *failure);
MUST_CHECK enum status store_host_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                      struct sandbox_host *out, struct failure *failure);
MUST_CHECK enum status store_host_delete(struct db *db, int64_t tenant_key, int64_t session_key,
                                         struct failure *failure);
/* Sessions this node has to look at: its own that somebody is to work on, and those of nodes that are gone. */
MUST_CHECK enum status store_host_due(struct db *db, struct slice node, int64_t steady_ms, int64_t limit,
                                      struct arena *arena, struct session_key **out, size_t *out_count,
                                      struct failure *failure);

/* --- what a driver keeps with a session --- */
MUST_CHECK enum status store_kept_put(struct db *db, int64_t tenant_key, int64_t session_key, struct slice json,
                                      struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_kept_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                      struct slice *out, struct failure *failure);

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

/* --- timers: one row per (kind, session); a lease is its own timer, which is neither put nor deleted --- */
enum timer_kind {
    TIMER_LEASE = 1,
    TIMER_EXPIRY = 2,
    TIMER_HUMAN = 3,
    TIMER_ASK = 4,
    TIMER_COLLECT = 5,
    TIMER_CASCADE = 6,
    TIMER_STALE = 7,
    TIMER_FOLLOWUP = 8,
    TIMER_INTROSPECTION = 9,
    TIMER_COUNT
};
extern const struct words timer_kind_words; /* index 0 is "" */
struct timer {
    enum timer_kind kind;
    int64_t tenant_key, session_key;
    int64_t due_ms; /* steady */
};
MUST_CHECK enum status store_timer_put(struct db *db, const struct timer *timer, struct failure *failure);
MUST_CHECK enum status store_timer_delete(struct db *db, enum timer_kind kind, int64_t session_key,
                                          struct failure *failure);
/* Only one that is due by then: another node may have put a later one in its place. */
MUST_CHECK enum status store_timer_delete_due(struct db *db, const struct timer *timer, int64_t now_ms,
                                              struct failure *failure);
/* Whether the session's timer of this kind is still there and due. */
MUST_CHECK enum status store_timer_is_due(struct db *db, const struct timer *timer, int64_t now_ms, bool *out,
                                          struct failure *failure);
MUST_CHECK enum status store_timer_due(struct db *db, int64_t now_ms, size_t max, struct timer *out, size_t *out_count,
                                       int64_t *out_next_due_ms /* 0 = none */, struct failure *failure);

/* The session's next timer besides its lease; NOT_FOUND when none. */
MUST_CHECK enum status store_timer_of_session(struct db *db, int64_t session_key, struct timer *out,
                                              struct failure *failure);

/* --- health --- */
struct health_search {
    int64_t after;         /* key of the last session of the page before; 0 = the first page */
    int64_t lease_over_ms; /* steady: leases that ended before it */
    /* wall: nothing happened since */
    int64_t silent_since_ms, queued_since_ms, unled_since_ms;
    int64_t limit;
};
struct health_suspect {
    int64_t tenant_key, session_key;
};
/* Sessions of every tenant that may be stuck, by key. */
MUST_CHECK enum status store_health_candidates(struct db *db, const struct health_search *search,
                                               struct health_suspect *out, size_t *out_count, struct failure *failure);

/* --- idempotency --- */
struct idempotent_reply {
    struct slice fingerprint; /* 32 bytes: of method, path and body */
    int status;
    struct slice body;
    int64_t session_key;         /* the session it tells of, with which it is deleted; 0 = none */
    const int64_t *further_keys; /* of more such sessions */
    size_t further_count;
};
MUST_CHECK enum status store_idempotency_get(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                             struct arena *arena, struct idempotent_reply *out,
                                             struct failure *failure);
MUST_CHECK enum status store_idempotency_put(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                             const struct idempotent_reply *reply, int64_t now_ms,
                                             struct failure *failure);
MUST_CHECK enum status store_idempotency_prune(struct db *db, int64_t before_ms, struct failure *failure);

/* --- care --- */
/* Locks the data directory against a second server until the descriptor is given back. The failure names the process
 * that holds it. */
MUST_CHECK enum status store_lock_directory(const char *directory, int *out_fd, struct failure *failure);
void store_unlock_directory(int fd);

struct blob_place;
struct verify_report {
    int64_t sessions, events, problems;
    const struct blob_place *blobs; /* whose files are read as well; NULL = none */
    void (*progress)(void *owner, int64_t done, int64_t total);
    void (*problem)(void *owner, const char *sentence);
    void *owner;
};
/* Sequences dense, files whole, each row equal to the fold of its log, counters equal to their parts, no orphan rows.
 */
MUST_CHECK enum status store_verify(struct db *db, struct verify_report *report, struct failure *failure);
/* Wraps the keys of all sessions with another master key, in one transaction; no server may run. */
MUST_CHECK enum status store_rekey(struct db *db, const unsigned char *master, int64_t *out_count,
                                   struct failure *failure);
struct reseal_report {
    int64_t sessions, texts;
};
/* Seals what was stored before there was a master key, a session at a time; no server may run. Once more goes on where
 * it was cut off. */
MUST_CHECK enum status store_reseal(struct db *db, const struct blob_place *place, struct reseal_report *out,
                                    struct failure *failure);
/* SQLite: a consistent copy while the server runs (online backup from a read-only connection). */
MUST_CHECK enum status store_backup(const struct db_options *options, const char *to_path,
                                    void (*progress)(void *owner, int64_t done, int64_t total), void *owner,
                                    struct failure *failure);

#endif
