/* Runners inside. Private to runners.c, runner_connection.c, runner_frames.c, runner_turn.c and runner_note.c;
 * everything here happens on the loop of the turns unless it says otherwise. */
#ifndef SERVICE_RUNNER_INTERNAL_H
#define SERVICE_RUNNER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "service/remote/runners.h"

enum { CLOSE_REPLACED = 1000, CLOSE_GOING_AWAY = 1001, CLOSE_BAD_TEXT = 1007, CLOSE_POLICY = 1008 };

/* Shared by a socket and the runners, on two loops: the last of both frees it. */
struct runner_connection {
    atomic_int holders;
    struct runners *runners;
    struct loop *loop;       /* the socket's */
    struct runner_sink sink; /* the socket loop's; owner NULL = closed */
    struct arena arena;
    struct runner_hello hello;
    struct runner *runner; /* the runners'; NULL = replaced, or not yet known */
};

enum { RUNNER_MESSAGES_MAX = 10000, RUNNER_CALLS_MAX = 10000 }; /* of one turn */

/* What the agent says in pieces; whole in the log when it is finalized, or when a tool call interrupts it. */
struct runner_message {
    struct slice id;
    struct buffer text, reasoning;
    bool told; /* something of it is in the log already */
    bool over;
    struct runner_message *next; /* of those that are not over */
};

struct runner_call {
    struct slice id;
    bool over;
};

/* The turn a runner has in hand: the driver's state. Its host frees it. */
struct runner_turn {
    struct turn *turn;
    struct runner *runner; /* NULL = no longer in hand */
    struct arena arena;
    int64_t number;
    struct slice message_id;
    struct slice prompt; /* the frame */
    bool sent;
    bool aborting;
    bool is_cut;                /* what is open now was broken off */
    enum turn_stop_reason stop; /* as the last finalized message says */
    struct map messages, calls; /* by id */
    struct runner_message *open;
};

/* The runner of a session, also while it is away. */
struct runner {
    struct turn_candidate key; /* first: the key of the map */
    struct runners *runners;
    struct arena arena;
    struct slice session_id, actor;
    struct runner_connection *line; /* NULL = away */
    struct runner_turn *turn;       /* in hand */
    struct buffer last_message_id;  /* of the turn it had before */
    bool fresh;                     /* nothing on this line has shown that it still has the turn */
    bool idle, look;                /* under the lock: it is free; the claim should try */
    int64_t heard_at_ms;            /* steady */
    int64_t return_at_ms;           /* the turn in hand goes back; 0 = not set */
    int64_t lost_at_ms;             /* it counts as lost; 0 = not set */
    int64_t error_at_ms;            /* it reported an error and counts as free again; 0 = not set */
};

struct runners {
    struct runners_options options;
    struct driver driver;
    pthread_mutex_t lock; /* of the map, the count, idle and look; the map changes on the loop only */
    struct map all;       /* by candidate */
    size_t ready_count;   /* of those that are idle and to be looked at */
    struct loop_timer *timer;
    int64_t timer_at_ms; /* steady; 0 = not set */
    bool closed;
};

/* runners.c */
int64_t runners_steady_ms(const struct runners *runners);
struct runner *runner_find(struct runners *runners, int64_t tenant_key, int64_t session_key);
struct runner *runner_obtain(struct runners *runners, const struct runner_hello *hello);
void runner_set_idle(struct runner *runner, bool idle);
/* The turn in hand goes back unless the runner shows up. */
void runner_await(struct runner *runner);
/* It reported an error: it has the grace time to go on, to complete or to say that it is idle. */
void runner_watch_error(struct runner *runner);
void runner_joins(struct runner *runner, struct runner_connection *line);
void runner_leaves(struct runner *runner, const char *reason);

/* runner_connection.c */
void runner_connection_tell(struct runner_connection *line, struct slice text);
void runner_connection_end(struct runner_connection *line, int code, const char *reason);
void runner_connection_unref(struct runner_connection *line);

/* runner_frames.c */
void runner_on_frame(struct runner *runner, struct slice text);

/* runner_turn.c */
void *runner_turn_start(void *owner, struct turn *turn, const struct turn_input *brief);
void runner_turn_answer(void *state, const struct ask *ask);
void runner_turn_interrupt(void *state, bool gone);
void runner_turn_free(void *state);
void runner_turn_send(struct runner_turn *turn);
/* Asks the runner to stop working on it, once. */
void runner_turn_abort(struct runner_turn *turn);
/* Cut: its prompt is pending again. */
void runner_turn_return(struct runner_turn *turn, const char *cause);
void runner_turn_end(struct runner_turn *turn, const struct turn_end *end);
/* Found or new; NULL when the turn had too many already. */
struct runner_message *runner_turn_message(struct runner_turn *turn, struct slice id);
/* The whole of it is in the log; `reason` may be absent. */
void runner_message_end(struct runner_turn *turn, struct runner_message *message, struct slice reason);
struct runner_call *runner_turn_call(struct runner_turn *turn, struct slice id, bool *out_new);
void runner_turn_tool_call(struct runner_turn *turn, struct slice id, struct slice name, struct slice arguments);
void runner_turn_tool_result(struct runner_turn *turn, struct slice id, struct slice output, bool is_error);

/* runner_note.c: durable, beside the turn. `metadata` is a JSON object. */
void runner_note(const struct runner *runner, enum event_kind event, struct slice metadata);
void runner_set_title(const struct runner *runner, struct slice title);
/* Members of the session's git state (domain/git_state.h); what it does not know is refused as a whole. */
void runner_set_git_state(const struct runner *runner, struct slice told);

#endif
