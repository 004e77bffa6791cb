/* One turn on its host. Private to turn_host*.c and the turn_*.c named below.
 *
 *   CLAIMED ──→ LOADING ──→ AWAITING_SANDBOX ──→ RUNNING     turn_load_input; prepare; on_ready
 *      │           │ └───────────┼──────────────→ ↑ │        prepare: the agent has no sandbox
 *      └───────────┴─────────────┴──────────────────┤
 *                                                   ▼
 *                                                 ENDING     turn_end, turn_abort_hosted, turn_agent_lost
 *
 *   any ──→ OVER                                             give_up; drop
 *
 * state            holds                                            | left by
 * CLAIMED          on the loop; no reader had room for it yet       | turn_load_input, turn_end
 * LOADING          a reader has it, and reads its input             | prepare, turn_end
 * AWAITING_SANDBOX the input; `sandbox_ref` waits for the sandbox   | on_ready, turn_end
 * RUNNING          the input and, if the agent has one, the sandbox; | turn_end and the other two
 *                  the driver was started
 * ENDING           its end is the last thing in `queue` or `writing`; | drop, give_up
 *                  nothing is added
 * OVER             its end is durable, or the session is not its     | –
 *                  own any more; nothing is written. It is freed as
 *                  soon as the loop has it
 *
 * A turn that cannot go on ends from any of the first four, with turn_end: nothing could be loaded, no turn is left,
 * there is no sandbox or no driver, people interrupted it. Only the loop reads and sets the state.
 *
 * Facts of their own: who has the turn (`is_loading` a reader, `is_writing` the writer, else the loop; never both);
 * whether the driver knows it (`has_driver`: from RUNNING until it is freed, so that it can still be told to stop);
 * whether the log is being read (`is_reading_log`, `reads_log_again`); and what kind of turn it is (`introspects`,
 * `hides_marks`), which never changes. */
#ifndef SERVICE_TURN_RUN_H
#define SERVICE_TURN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "loop/timer.h"
#include "service/work/claim.h"
#include "service/identity/secret_stream.h"
#include "service/turn/turn_host.h"

/* An operation of a turn, queued by its driver or its host and written in this order. */
enum turn_op_kind {
    TURN_OP_DELTA,
    TURN_OP_EVENT,
    TURN_OP_ASK,
    TURN_OP_CANCEL_ASK,
    TURN_OP_SAVE_STATE,
    TURN_OP_CALL_SERVICE,
    TURN_OP_READ_LOG, /* asks and interrupts of this turn */
    TURN_OP_RENEW,    /* the lease */
    TURN_OP_END,
    TURN_OP_ABORT, /* the host ends it in the driver's place */
};

struct turn_op {
    struct turn_op *next;
    enum turn_op_kind kind;
    struct arena arena; /* of all strings below */
    size_t bytes;
    enum delta_kind delta_kind;
    struct slice id;   /* delta: of what; cancel_ask: the ask; call_service: the tool */
    struct slice text; /* delta, save_state; call_service: the arguments; abort: the cause */
    struct event event;
    struct ask ask;
    struct turn_end end;
    struct turn_served then;
    /* of the write */
    struct slice result, error;
    bool refused;      /* call_service: one call too many */
    bool decided;      /* the ask needs no answer */
    struct ask opened; /* then: its state */
};

/* An ask whose stored id is not the one its driver chose. */
struct ask_name {
    struct ask_name *next;
    struct slice stored, driver_id;
};

struct log_entry {
    struct event event;
    struct slice ask_id; /* as its driver knows it; absent = as it stands in the event */
};

enum { TURN_TEXTS = 2 }; /* reasoning and text */

enum turn_state {
    TURN_CLAIMED,
    TURN_LOADING,
    TURN_AWAITING_SANDBOX,
    TURN_RUNNING,
    TURN_ENDING,
    TURN_OVER,
    TURN_STATE_COUNT
};

/* Owned by the loop; by the writer while `is_writing`; by a reader while `is_loading`. */
struct turn {
    const struct turn_host_calls *host_calls; /* first, for the driver's words: turn_host_calls */
    struct command command;                   /* writes what the turn did */
    struct principal writes_as;
    struct read_job load_job;
    struct loop_message message, loaded_message;
    struct turn_host *host;
    struct turn *next;
    struct arena arena; /* of what lives as long as the turn */
    struct turn_input input;
    struct agent agent;
    struct slice actor; /* in whose name it writes: agent:SLUG */
    const struct driver *driver;
    void *driver_state;
    uint8_t state;                  /* enum turn_state; set by turn_enter alone */
    bool has_driver;                /* driver->start was called, driver->free was not */
    struct turn_snapshot *snapshot; /* that is being taken; NULL = none */
    struct sandbox_ref sandbox_ref;
    bool is_loading, is_writing;
    char lease[TOKEN_TEXT_BYTES];
    int64_t lease_ms;
    int64_t renew_at_ms, retry_at_ms, interrupt_until_ms; /* steady; 0 = not set */
    int64_t sequence;                                     /* of the last event it knows to be durable */
    int64_t log_read_to;                                  /* the log was read up to here */
    struct turn_op *queue, **queue_end;                   /* to be written */
    struct turn_op *writing;
    size_t queued_bytes;
    struct secret_streams live;           /* deltas that are held back */
    bool hides_marks;                     /* of silence: it talks to a channel */
    struct buffer live_key;               /* room for the name of one */
    struct buffer open_texts[TURN_TEXTS]; /* shown, and in no event yet */
    bool introspects;                     /* its number is that of the run */
    int64_t from, to;                     /* then: the events it looks back at */
    int64_t calls;                        /* and the calls it made */
    bool is_reading_log;                  /* TURN_OP_READ_LOG is queued or being written */
    bool reads_log_again;                 /* the log grew meanwhile */
    /* of the write under way */
    enum status status;
    struct failure failure;
    int64_t written_sequence, log_found_to;
    struct arena log_arena;
    struct log_entry *log_entries;
    size_t log_count;
    struct arena names_arena; /* the writer's, and the list */
    struct ask_name *names;
};

struct turn_host {
    struct command claim; /* first */
    struct turn_host_options options;
    struct loop_message start_message, claimed_message, stop_message;
    struct turn *found; /* by the claim, on its way to the loop */
    bool claim_failed;  /* the same */
    /* the writer's: taken as ready, kept until the claim was committed */
    struct turn_candidate ready[TURN_CANDIDATES_MAX];
    size_t ready_count;
    int64_t served_tenant; /* the last that got a turn */
    /* the loop's */
    struct loop_timer *timer;
    struct turn *turns;
    bool is_claiming;       /* the claim is in the writer */
    bool orphans_aborted;   /* the writer's: what an earlier life of this server left */
    int64_t claim_again_ms; /* steady; when it is not */
    _Atomic int64_t count;
    atomic_bool stopping;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over; /* under the lock */
};

int64_t turn_host_steady_ms(const struct turn_host *host);
struct principal turn_principal(int64_t tenant_key, struct slice name);

/* turn_host.c: sets the timer anew and sees whether all is over. */
void turn_host_rearm(struct turn_host *host);

/* turn_host_leave.c: where the entry tells that a session ended or was deleted, whatever lives on for it goes. Writer.
 */
void turn_host_leave_if_over(struct turn_host *host, const struct publication_entry *entry);

/* turn_host_claim.c: the standing claim, and what it finds. */
extern const struct command_type turn_host_claim;
void turn_free(struct turn *turn);

/* turn_state.c */
/* Asserts that the edge exists and that what the state promises holds. */
void turn_enter(struct turn *turn, enum turn_state state);
/* Its end was not decided: it may still do something. */
static inline bool turn_is_open(const struct turn *turn)
{
    return turn->state < TURN_ENDING;
}

/* turn_life.c: one turn on the loop, from its claim to its end. */
void turn_begin(struct turn_host *host, struct turn *turn);
/* What is due: a renewal, a write that failed, the end of an interrupted turn. */
void turn_attend(struct turn *turn, int64_t now_ms);
/* The host ends it in its driver's place, as if it had died. */
void turn_abort_hosted(struct turn *turn, const char *cause);
/* Reads the asks and interrupts of this turn from the log. */
void turn_read_log(struct turn *turn);

/* turn_input.c: reads the conversation on a reader thread; loaded_message follows on the loop. */
void turn_load_input(struct turn *turn);

/* turn_snapshot.c: save_snapshot. `then` gets {"snapshot","bytes"} when the session has it, perhaps at once a refusal.
 */
void turn_snapshot_take(struct turn *turn, struct turn_served then);
/* Its turn is freed. */
void turn_snapshot_forget(struct turn *turn);
/* turn_ops.c: what the writer alone does. */
void turn_serve_now(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then);

/* turn_introspect.c: a turn in which the agent looks back at the session (service/turn/introspection.h). It holds no
 * lease: its run does, and every write asks for it. */
/* Writer thread, after the commit: begins the run that the event tells of. */
void turn_introspect(struct turn_host *host, const struct publication_entry *started);
/* Reader: what it is told, once the session and its agent were read. */
MUST_CHECK enum status turn_introspect_input(struct call *call, struct turn *turn);
/* Of what it says, only its calls are kept, under names of their own. False = nothing of this event. */
bool turn_introspect_event(struct event *event);
/* Counts a call; false when it has had all its calls. */
bool turn_introspect_may_call(struct turn *turn);

/* turn_media.c: on the same thread. */
MUST_CHECK enum status turn_read_media(struct call *call, struct turn *turn);

/* turn_live.c: goes to the viewers now. */
void turn_publish_delta(const struct turn *turn, enum delta_kind kind, struct slice id, struct slice text);
/* What is held back of live text is shown: something else follows it. */
void turn_show_held(struct turn *turn);
/* What was shown of a message until its event comes. A turn that ends early keeps it as events marked `partial`,
 * whatever its driver does: people have read it. */
void turn_text_add(struct turn *turn, enum delta_kind kind, struct slice text);
void turn_text_settle(struct turn *turn, enum event_kind kind);
void turn_text_keep(struct turn *turn);
void turn_text_release(struct turn *turn);

/* turn_ops.c */
struct turn_op *turn_op_new(enum turn_op_kind kind);
void turn_op_free_all(struct turn_op *op);
/* Appends it, and writes as soon as the writer is free. Frees it when the turn is not open. */
void turn_enqueue(struct turn *turn, struct turn_op *op);
void turn_flush(struct turn *turn);
/* The write job's functions, and what happens on the loop after it. */
extern const struct command_type turn_write;

/* What the driver says (runner/driver.h), taken by its host. */
extern const struct turn_host_calls turn_host_calls;
void turn_take_event(struct turn *turn, const struct event *event);
void turn_take_ask(struct turn *turn, const struct ask *ask);
void turn_take_cancel(struct turn *turn, struct slice ask_id);
void turn_take_state(struct turn *turn, struct slice json);
void turn_take_call(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then);
void turn_take_end(struct turn *turn, const struct turn_end *end);
bool turn_has_no_room(const struct turn *turn);
void turn_take_delta(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text);
void turn_take_loss(struct turn *turn, const char *cause);

#endif
