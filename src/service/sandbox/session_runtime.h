/* One sandbox on its host. Private to the files of the runtime host.
 *
 *      ┌─────────────┐ ┌──────→ ACTING ───┐
 *      ▼             │ │                  ▼
 *   RESTING ──────→ STEPPING ←────────────┤     session_runtime_step; perform, erase; take_result
 *      │               │ │                │
 *      │               │ └────→ YIELDING ─┘     yield_to_other; on_ended
 *      ▼               ▼
 *      └────────→ RETRYING ──→ STEPPING         the writer took no step (from any other), the step failed; the timer
 *
 *   RETRYING, YIELDING ──→ RESTING              the server stops: begin_step, session_runtime_stop
 *
 * state     holds                                                   | left by
 * RESTING   no result to be written; `idle_at_ms`, perhaps. Freed   | session_runtime_step
 *           when there is no sandbox, no user of it and nobody who
 *           waits
 * STEPPING  the writer has it, or what it decided is being handled  | on_stepped
 * RETRYING  `retry_at_ms`; a result that is not written, perhaps    | session_runtime_retry, session_runtime_stop
 * ACTING    the provider makes, saves or ends the sandbox; unless   | take_result
 *           it is being made, there is one and nobody uses it
 * YIELDING  the provider ends a sandbox that another node has now:  | on_ended
 *           nothing is written about it
 *
 * Whatever happens while it does not rest sets `again`, and the next step follows. Only the loop sets the state.
 *
 * Facts of their own: `adopts` and `wanted` (who wants the sandbox), `asks_idle` (what the next step is asked),
 * `saved` (what is known of the sandbox), and how many use it. */
#ifndef SERVICE_SESSION_RUNTIME_H
#define SERVICE_SESSION_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "loop/timer.h"
#include "service/sandbox/runtime_host.h"

enum { SANDBOX_ID_BYTES = 256 };

/* What came of the last act; written by the next step. */
struct runtime_result {
    bool is_there;
    enum runtime_action act;
    enum sandbox_outcome outcome;
    char sandbox_id[SANDBOX_ID_BYTES], snapshot_id[SANDBOX_ID_BYTES];
    char status[SANDBOX_ID_BYTES]; /* the backend's word for one that was there already; empty = none */
    int64_t snapshot_bytes;
    struct failure failure;
};

/* What a step decided. */
struct runtime_plan {
    enum runtime_action action;
    enum runtime state; /* of the session, as written */
    bool missing;       /* there is no such session any more */
    bool to_be_ended;   /* it is made, or found, only to end */
    bool elsewhere;     /* another node has it: nothing is done here, and what is live is given up */
    bool taken_over;    /* a tree that is here is an old one */
    int driver;         /* enum agent_driver */
    struct sandbox_settings settings;
    struct slice session_id, workspace, snapshot_id, sandbox_id;
    int64_t grace_ms;      /* how long it may be idle */
    int64_t idle_again_ms; /* look again after so long; 0 = not asked */
};

enum session_runtime_state {
    SESSION_RUNTIME_RESTING,
    SESSION_RUNTIME_STEPPING,
    SESSION_RUNTIME_RETRYING,
    SESSION_RUNTIME_ACTING,
    SESSION_RUNTIME_YIELDING,
    SESSION_RUNTIME_STATE_COUNT
};

/* Owned by the loop; by the writer from writer_submit to on_stepped, in STEPPING. */
struct session_runtime {
    struct command command; /* first: of its steps */
    struct loop_message message;
    struct runtime_host *host;
    int64_t tenant_key, session_key;
    struct slice map_key; /* the bytes of session_key */
    struct sandbox *sandbox;
    enum sandbox_kind kind; /* of the sandbox */
    int driver;             /* enum agent_driver: whose turns work in it */
    struct sandbox_ref *waiting;
    int64_t uses;
    uint8_t state;                   /* enum session_runtime_state; set by enter in session_runtime.c alone */
    bool again;                      /* something happened meanwhile */
    bool adopts;                     /* taken into hand though nobody wants it, so that it can fall asleep */
    bool asks_idle;                  /* the step asks whether it may sleep */
    bool saved;                      /* its snapshot is written down: it may go */
    int64_t snapshot_failures;       /* in a row */
    int64_t idle_at_ms, retry_at_ms; /* steady; 0 = not set */
    /* of the step */
    bool wanted;
    int64_t uses_seen; /* when it began; fewer by now, perhaps: who leaves asks for another step */
    int64_t viewers;
    struct runtime_result result;
    struct arena arena; /* of the plan */
    struct runtime_plan plan;
    enum status status;
    struct failure failure;
};

/* A session whose sandbox an earlier life left. */
struct orphan {
    struct orphan *next;
    int64_t tenant_key, session_key;
};

struct runtime_host {
    struct command recover; /* first */
    struct loop_message recovered_message;
    struct orphan *orphans; /* found by it, on their way to the loop */
    bool is_recovering;     /* it is in the writer */
    struct runtime_host_options options;
    struct map runtimes; /* by session_key */
    struct loop_message start_message, stop_message;
    struct loop_timer *timer;
    atomic_bool started; /* the thread that hears of other nodes asks, too */
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;                            /* under the lock */
    struct sandbox_keepalive *keepalives; /* under the lock */
};

/* runtime_host.c */
int64_t runtime_host_steady_ms(const struct runtime_host *host);
/* Any thread. */
int64_t runtime_host_visits(struct runtime_host *host, int64_t session_key);
/* Sets the timer anew and sees whether all is over. */
void runtime_host_rearm(struct runtime_host *host);

/* session_runtime.c, all on the loop. */
struct session_runtime *session_runtime_find(struct runtime_host *host, int64_t session_key);
struct session_runtime *session_runtime_open(struct runtime_host *host, int64_t tenant_key, int64_t session_key);
/* Looks at what is wanted, now or as soon as it is free; it may be gone afterwards. */
void session_runtime_step(struct session_runtime *runtime);
/* `retry_at_ms` has come. */
void session_runtime_retry(struct session_runtime *runtime);
void session_runtime_answer_all(struct session_runtime *runtime, struct sandbox *sandbox,
                                const struct failure *failure);
/* The server stops: trees stay where they are. Nothing while a step or an act is under way, or somebody uses it. True
 * when it was freed. */
bool session_runtime_stop(struct session_runtime *runtime);

/* runtime_host_recover.c: the job that looks for what an earlier life left. */
extern const struct command_type runtime_host_recover;
void orphans_free(struct runtime_host *host);

/* session_runtime_step.c: the job's functions. */
extern const struct command_type session_runtime_command;

#endif
