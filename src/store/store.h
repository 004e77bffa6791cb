/* What is kept, as typed functions: one per question or change, the same on both engines. Every function that touches a
 * tenant's rows takes the tenant's key and cannot be called without it. Rows read are copied into the caller's arena.
 *
 * The schema is in store/sql/schema_*.sql, the statements in store/sql/NOUN.sql, the functions in store/NOUN.c. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "domain/file_change.h"
#include "domain/session.h"
#include "store/db.h"
#include "store/store_agent.h"
#include "store/store_system.h"
#include "store/store_identity.h"
#include "store/store_queue.h"
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
                                            int64_t old_sequence, enum session_status old_work,
                                            struct failure *failure);
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
 * tombstone, which the firehose tells of. STALE when its log does not end where the caller knows it to (PostgreSQL). */
MUST_CHECK enum status store_session_delete(struct db *db, const struct session *session, struct slice actor,
                                            int64_t now_ms, struct failure *failure);
/* True when a session with this id was deleted: its id is not used again. */
MUST_CHECK enum status store_tombstone_exists(struct db *db, int64_t tenant_key, struct slice id, bool *out,
                                              struct failure *failure);

/* What the domain's session_is_chat tells apart. */
enum session_kind { SESSION_KIND_ANY, SESSION_KIND_RUN, SESSION_KIND_CHAT };

struct session_filter {
    int64_t tenant_key;
    /* who asks: rows the caller may see. Absent visible_to = everything in the tenant. */
    struct slice visible_to; /* user id: own, shared with, or visible to the organisation */
    struct slice private_of; /* show orchestrator and workflow rows of this user only; absent = of everybody */
    struct slice id_prefix;
    /* filters; -1 or absent = not given */
    int type, work, display, archived /* 0 no, 1 yes, -1 both */, interactive, visibility;
    int group; /* 1 active, 2 live, 3 failing; -1 none */
    enum session_kind kind;
    struct slice source_kind, source_platform, owner, participant, parent_id, task_id, entity_id, workspace, agent;
    struct slice label_name, label_value; /* metadata.NAME=VALUE; label_value absent = has the key */
    struct slice text;                    /* in title, preview, workspace or branch, case-insensitive */
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
/* counts[type][work] of what the filter's caller may see; its other members are not used. */
MUST_CHECK enum status store_counts(struct db *db, const struct session_filter *who,
                                    int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT], struct failure *failure);

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
    int64_t after, before;        /* exclusive; before 0 = no bound */
    const enum event_kind *kinds; /* what the server looks for; */
    size_t kind_count;            /* 0 = all */
    const struct slice *types;    /* what a client asks for, by name; */
    size_t type_count;            /* 0 = all; "tool.*" matches a prefix */
    struct slice thread_id;       /* absent = of all; empty = of the main one, whose events name none */
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

#endif
