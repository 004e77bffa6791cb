/* A driver runs the turns of an agent that lives inside the server or under it. It says what happens through its
 * `struct turn`; the host (service/turn/turn_host.h) makes it durable, in the order it was said, and tells the driver
 * what people decided. Everything here happens on the loop of the turn; nothing blocks.
 *
 *     start ─→ turn_delta, turn_event, turn_ask … ─→ turn_end ─→ (committed) ─→ free
 *        ▲         │            │ answer                ▲
 *        │         └ durable, in order                  │ interrupt: the driver ends soon, or the host does it
 *
 * A turn that loses its lease, or whose session was stopped, is told `interrupt` with gone = true: what it says is no
 * longer heard. */
#ifndef RUNNER_DRIVER_H
#define RUNNER_DRIVER_H

#include "domain/agent.h"
#include "domain/ask.h"
#include "domain/event.h"
#include "domain/turn.h"

struct turn; /* the host's */
struct sandbox;
struct loop;

/* A file that the conversation refers to by `handle`. */
struct turn_media {
    struct slice handle, media_type;
    struct slice name; /* absent = none */
    int64_t bytes;
    struct slice data; /* base64; absent = there was no room for it */
};

/* What a turn starts from. Lives as long as the turn. */
struct turn_input {
    struct loop *loop;
    int64_t tenant_key, session_key;
    struct slice session_id;
    int64_t number;              /* the fence of this turn: grows within the session */
    int64_t turns_done;          /* of the session, before this one */
    int64_t cost_microcents;     /* of the session, before this turn */
    struct slice workspace;      /* where the session works on this machine, for the project tier; absent = nowhere */
    const struct agent *agent;   /* as frozen into the session, narrowed */
    struct slice prompt;         /* JSON array: content of the message that began the turn */
    struct slice said;           /* its text */
    const struct event *message; /* the whole of it; NULL when there is none */
    const struct event *history; /* the conversation before it, oldest first */
    size_t history_count;
    const struct event *since; /* what an earlier attempt of this turn left in the log behind the prompt */
    size_t since_count;
    const struct turn_media *media; /* files of the session that the above refers to */
    size_t media_count;
    struct slice thread_id;  /* of the prompt; absent = the main one */
    struct slice variables;  /* JSON object of texts: those of the session's context; absent = none */
    struct slice kept;       /* JSON object the driver kept with the session; absent = none */
    bool was_cut;            /* there was an earlier attempt, which ended without its driver's word */
    struct sandbox *sandbox; /* where it works; NULL = nowhere */
};

/* NULL when the conversation does not refer to it. */
static inline const struct turn_media *turn_media_find(const struct turn_input *brief, struct slice handle)
{
    for (size_t i = 0; i < brief->media_count; i++) {
        if (slice_eq(brief->media[i].handle, handle)) {
            return &brief->media[i];
        }
    }
    return NULL;
}

struct driver {
    enum agent_driver kind;
    void *owner; /* of the driver: its options, its live processes */
    /* Begins the turn; returns the driver's own state. Never fails: what goes wrong is said by turn_end. */
    void *(*start)(void *owner, struct turn *turn, const struct turn_input *brief);
    /* A person, a rule or the deadline decided an ask of this turn. May come twice for one ask. */
    void (*answer)(void *state, const struct ask *ask);
    void (*interrupt)(void *state, bool gone);
    /* After its end was committed, or it is gone. */
    void (*free)(void *state);
    /* The session rests, ends or is deleted: whatever lives on for it (an agent process) goes. May be NULL. */
    void (*release_session)(void *owner, int64_t tenant_key, int64_t session_key);
    /* The server stops: all that lives goes, now. May be NULL. */
    void (*close)(void *owner);
};

/* --- what a driver says --- */

/* Live output. `id` names the message or tool call it belongs to. */
void turn_delta(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text);
/* Something for the log; copied. Type, role, content, metadata. */
void turn_event(struct turn *turn, const struct event *event);
/* Waits for a person: the row is durable, the session says so; `answer` follows. Kind, tool, call_id, arguments, text,
 * options, schema, fields, role, quorum, expires_at_ms (0 = the option's). The id is the driver's to choose: unique in
 * the session (turn number and call id). An approval that a standing rule allows is answered at once. */
void turn_ask(struct turn *turn, const struct ask *ask);
/* Gives up an ask nobody answered. */
void turn_cancel_ask(struct turn *turn, struct slice ask_id);
/* Durable with the session, for the next turn. */
void turn_save_state(struct turn *turn, struct slice json);
/* The turn is over; nothing may be said after it. */
void turn_end(struct turn *turn, const struct turn_end *end);
/* The agent is gone without a word, killed or cut off: the turn is cut as if the server had died. What it asked stays
 * asked, and the agent's `resume` policy decides about its prompt. Nothing may be said after it. */
void turn_agent_lost(struct turn *turn, const char *cause);
/* Something only the service can do (spawn_session, session_status, set_title, save_snapshot): `then` gets its JSON
 * result, or a failure in `error`. */
struct turn_served {
    void *owner;
    void (*done)(void *owner, struct slice result, struct slice error);
};
void turn_call_service(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then);
/* Too much said and not yet durable: the driver reads no more from its agent until `false` again (asked anew when the
 * next chunk comes, or after TURN_FULL_PAUSE_MS). */
bool turn_is_full(const struct turn *turn);

/* What the host does with each of these. The first member of every host's `struct turn` points to its table. */
struct turn_host_calls {
    void (*delta)(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text);
    void (*event)(struct turn *turn, const struct event *event);
    void (*ask)(struct turn *turn, const struct ask *ask);
    void (*cancel_ask)(struct turn *turn, struct slice ask_id);
    void (*save_state)(struct turn *turn, struct slice json);
    void (*end)(struct turn *turn, const struct turn_end *end);
    void (*agent_lost)(struct turn *turn, const char *cause);
    void (*call_service)(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then);
    bool (*is_full)(const struct turn *turn);
};

#endif
