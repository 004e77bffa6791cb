/* The unit of work of a writer thread: one transaction for many commands, and the sessions that thread has loaded.
 *
 *     transaction_begin → { command … command } → transaction_commit → publication leaves
 *
 * A command decides first and writes last. When one fails after it began to write, the whole group is rolled back and
 * its other commands run again, each alone (unit_writes tells). Sessions live in the unit across groups, because only
 * this thread writes them; after a rollback the touched ones are forgotten and loaded anew. */
#ifndef SERVICE_TRANSACTION_H
#define SERVICE_TRANSACTION_H

#include <pthread.h>

#include "base/map.h"
#include "fanout/publication.h"
#include "service/work/queue_head.h"
#include "service/work/renewal.h"
#include "service/core/service.h"

/* A session as this writer knows it. Owned by the unit. */
struct loaded_session {
    struct session session;
    struct arena arena; /* of the session's strings */
    struct slice map_key;
    bool lease_known;
    int64_t lease_known_by; /* PostgreSQL: the command that read it; another node may change it between two */
    bool has_lease;
    struct lease lease; /* its strings in lease_arena */
    struct arena lease_arena;
    bool prompts_known;
    int64_t ended_turn; /* the last turn whose turn.ended this writer wrote; 0 = none */
    bool children_known, has_children;
    bool asks_known;
    int64_t asks_pending;
    struct prompt_stats prompts; /* how many wait; no position outside first … last is taken */
    /* as stored */
    int64_t stored_sequence;
    enum session_status stored_work;
    unsigned changed; /* bits of enum session_changed; 0 = clean */
    struct loaded_session *next_touched;
    bool touched;                         /* by the running group */
    int64_t loaded_by, used_by;           /* commands, by their number */
    struct loaded_session *newer, *older; /* by last use */
};

struct transaction {
    const struct service *service;
    struct db *db;
    struct map sessions; /* tenant and id → loaded_session */
    struct map by_key;   /* the same by the bytes of session.key */
    struct loaded_session *newest, *oldest;
    struct loaded_session *touched;
    struct publication *publication; /* of the running group, NULL when nothing happened */
    struct buffer scratch;
    struct renewals renewals;
    struct queue_heads queue_heads;
    int64_t command;           /* number of the running one */
    int64_t touches;           /* changes of sessions in memory, which the commit saves */
    int64_t saves;             /* statements that saved such changes: not counted again */
    bool work_queued;          /* a session became claimable */
    int64_t earliest_timer_ms; /* of the timers put by this group; 0 = none */
    bool identity_changed;
    bool is_open;       /* between begin and commit or rollback */
    pthread_t begun_by; /* the thread that began it */
};

void transaction_init(struct transaction *transaction, const struct service *service, struct db *db);
void transaction_release(struct transaction *transaction);

/* Who acts when nobody asked: timers, watchdogs, what a start finds. */
extern const struct principal server_principal;
/* A call in this unit, now. */
struct call transaction_call(struct transaction *transaction, struct arena *arena, const struct principal *who);

/* Between begin and its end, on the thread that began it. */
bool transaction_is_open(const struct transaction *transaction);
/* May this call change anything? Every function that gets a loaded session asks. */
static inline bool call_writes(const struct call *call)
{
    return call->transaction && call->db == call->transaction->db && transaction_is_open(call->transaction);
}

MUST_CHECK enum status transaction_begin(struct transaction *transaction, struct failure *failure);
/* Saves the touched sessions and commits. On success *out_publication (may be NULL) is what to publish; the caller owns
 * it. On failure nothing was written and the group's sessions are forgotten. */
MUST_CHECK enum status transaction_commit(struct transaction *transaction, struct publication **out_publication,
                                          struct failure *failure);
void transaction_rollback(struct transaction *transaction);
/* Writes the touched rows now, so that queries of this group see its own changes. */
MUST_CHECK enum status transaction_flush(struct transaction *transaction, struct failure *failure);

/* A command begins. */
void transaction_start_command(struct transaction *transaction);
/* PostgreSQL: another node may have changed what this writer remembers, and a refusal must not rest on that. Forgets
 * what the running command took from memory and did not write; true when there was something: the command should run
 * again. */
bool transaction_forget_remembered(struct transaction *transaction);

/* Loads by id within the tenant; NOT_FOUND without a word. The pointer is good until the group ends. */
MUST_CHECK enum status transaction_load(struct transaction *transaction, int64_t tenant_key, struct slice id,
                                        struct loaded_session **out, struct failure *failure);
MUST_CHECK enum status transaction_load_key(struct transaction *transaction, int64_t tenant_key, int64_t key,
                                            struct loaded_session **out, struct failure *failure);
/* The same as the store has it now, unless this group has changed it: for those who act on what another node may have
 * written, and whom nobody would run again. */
MUST_CHECK enum status transaction_load_fresh(struct transaction *transaction, int64_t tenant_key, int64_t key,
                                              struct loaded_session **out, struct failure *failure);
/* The live lease, from memory or the store; NULL when there is none. */
MUST_CHECK enum status transaction_lease(struct transaction *transaction, struct loaded_session *loaded,
                                         const struct lease **out, struct failure *failure);
MUST_CHECK enum status transaction_lease_put(struct transaction *transaction, struct loaded_session *loaded,
                                             const struct lease *lease, struct failure *failure);
/* Extends the lease in memory only. False when it must be put: it may be unknown to the store's readers otherwise, or
 * the running group changed the session and may fail yet. */
MUST_CHECK bool transaction_lease_renew(const struct call *call, struct loaded_session *loaded, int64_t expires_at_ms);
MUST_CHECK enum status transaction_lease_delete(struct transaction *transaction, struct loaded_session *loaded,
                                                struct failure *failure);

/* Starts a session: applies `changes` to a new one and inserts its row. */
MUST_CHECK enum status transaction_create(struct call *call, int64_t tenant_key, struct slice id,
                                          const struct changes *changes, struct loaded_session **out);
/* Appends events in order: sequence, time and actor are set here (an event that has a time or actor keeps it). */
MUST_CHECK enum status session_append_events(struct call *call, struct loaded_session *loaded, struct event *events,
                                             size_t count);
MUST_CHECK enum status session_append_changes(struct call *call, struct loaded_session *loaded,
                                              struct changes *changes);
/* Puts or deletes (due_ms 0) the session's timer of this kind. */
MUST_CHECK enum status transaction_timer(struct call *call, const struct loaded_session *loaded, enum timer_kind kind,
                                         int64_t due_ms);
/* Erases the session and tells its viewers. */
MUST_CHECK enum status transaction_delete(struct call *call, struct loaded_session *loaded);
/* All streams of a user or actor (access_holder) in the tenant; the commit tells them. */
void transaction_close_streams_of(struct transaction *transaction, int64_t tenant_key, struct slice holder);
void transaction_close_viewers(struct transaction *transaction, const struct session *session, struct slice reason,
                               struct slice only_user);
/* Who may come in has changed: caches forget, and streams whose credential is over end, on all nodes. */
void transaction_identity_changed(struct call *call);
/* How much this group has changed so far. A command that failed and made it grow has spoiled the group; only a command
 * that left it alone may be answered before the commit. */
int64_t transaction_writes(const struct transaction *transaction);

#endif
