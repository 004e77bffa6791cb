/* What the server keeps for itself, so that all goes on: part of store/store.h, by which it is included. */
#ifndef STORE_STORE_SYSTEM_H
#define STORE_STORE_SYSTEM_H

#include "domain/session.h"
#include "store/db.h"

struct session_key;

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
extern const struct enum_names timer_kind_enum; /* index 0 is "" */
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
    struct slice subject; /* the path of something else it tells of; absent = of nothing */
};
MUST_CHECK enum status store_idempotency_get(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                             struct arena *arena, struct idempotent_reply *out,
                                             struct failure *failure);
MUST_CHECK enum status store_idempotency_put(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                             const struct idempotent_reply *reply, int64_t now_ms,
                                             struct failure *failure);
/* The sessions that a kept answer tells of. */
MUST_CHECK enum status store_idempotency_subjects(struct db *db, int64_t tenant_key, struct slice actor,
                                                  struct slice key, struct arena *arena, int64_t **out_keys,
                                                  size_t *out_count, struct failure *failure);
/* It was deleted, and what is told of it goes with it. */
MUST_CHECK enum status store_idempotency_forget(struct db *db, int64_t tenant_key, struct slice subject,
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
/* SQLite: the file anew, without free pages in which older versions left what was deleted; no server may run. */
MUST_CHECK enum status store_compact(const struct db_options *options,
                                     void (*progress)(void *owner, int64_t done, int64_t total), void *owner,
                                     struct failure *failure);
/* SQLite: a copy of one moment while the server runs, from a read-only connection, without anything deleted. */
MUST_CHECK enum status store_backup(const struct db_options *options, const char *to_path,
                                    void (*progress)(void *owner, int64_t done, int64_t total), void *owner,
                                    struct failure *failure);

#endif
