/* A scripted agent: says what happens next in a turn, one act after the other, and does nothing itself. Pure. The
 * driver that plays it is script_driver.c. */
#ifndef RUNNER_SCRIPT_H
#define RUNNER_SCRIPT_H

#include "runner/driver.h"

/* Where a turn stands in its script. */
struct script_turn {
    struct slice said; /* the last thing a user said in the conversation; may be empty */
    int64_t number;    /* of the turn, the same in every attempt: makes the names of calls and asks unique */
    int64_t turns_done;
    size_t done;         /* events that an earlier attempt of this turn left in the log: they are not said again */
    size_t line, heard;  /* of the script; 0 at the start */
    struct slice chosen; /* what a person answered last; may be empty */
    bool denied;         /* the last approval was not given */
};

enum act_kind {
    ACT_DELTA, /* a piece of live output */
    ACT_EVENT, /* something for the log */
    ACT_ASK,   /* a person decides; then it goes on */
    ACT_END,   /* the turn is over; nothing follows */
};

struct act {
    enum act_kind kind;
    int64_t after_ms; /* since the act before it */
    enum delta_kind delta_kind;
    struct slice delta_text;
    struct event event; /* type, role, content, metadata */
    struct ask ask;
    struct turn_end end;
};

struct script {
    /* The next act; its strings are in the arena or live as long as the turn's. */
    void (*next)(struct script_turn *turn, struct arena *arena, struct act *out);
    int64_t pace_percent; /* of its own pauses */
};

/* start, answer, interrupt and free of a driver whose owner is a `const struct script`. */
void *script_start(void *owner, struct turn *turn, const struct turn_input *brief);
void script_answer(void *state, const struct ask *ask);
void script_interrupt(void *state, bool gone);
void script_free(void *state);

#endif
