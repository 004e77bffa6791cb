/* A driver says what an agent inside the server does in a turn, one act after the other. It does nothing itself: who
 * runs the turn waits, publishes, appends and settles (service/turns.h). Pure, on the loop of the turn. */
#ifndef RUNNER_SCRIPT_H
#define RUNNER_SCRIPT_H

#include "domain/event.h"
#include "domain/work.h"

/* A turn under way. Where in its script it stands is the driver's own business. */
struct script_turn {
    struct slice said;  /* the last thing a user said in the conversation; may be empty */
    int64_t number;     /* grows with every turn of the session: makes the names of tool calls unique */
    size_t line, heard; /* of the driver; 0 at the start */
};

enum act_kind {
    ACT_DELTA,  /* a piece of live output */
    ACT_EVENT,  /* something for the log */
    ACT_SETTLE, /* the turn is over; nothing follows */
};

struct act {
    enum act_kind kind;
    int64_t after_ms;        /* since the act before it */
    struct slice delta_kind; /* delta: text, reasoning, tool_input, tool_output */
    struct slice delta_text;
    struct event event; /* event: type, role, content, metadata */
    enum work to;       /* settle: the state the session goes to */
    struct slice usage; /* settle: a JSON object of totals */
};

struct script {
    const char *agent; /* the slug of the sessions it runs */
    /* The next act; its strings are in the arena or live as long as the turn's. */
    void (*next)(struct script_turn *turn, struct arena *arena, struct act *out);
};

#endif
