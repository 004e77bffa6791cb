/* A host for one driver without a server: it defines what driver.h leaves to the host, keeps all that was said, in
 * order, and lets the test answer. A test program that links it must not need the real host. */
#ifndef RUNNER_FAKE_HOST_H
#define RUNNER_FAKE_HOST_H

#include "base/arena.h"
#include "base/buffer.h"
#include "loop/loop.h"
#include "runner/driver.h"

enum { FAKE_EVENTS_MAX = 256, FAKE_ASKS_MAX = 32 };

/* Zeroes, then fake_turn_init. All slices live in its arena. */
struct turn {
    struct arena arena;
    struct loop *loop;
    const struct driver *driver;
    void *state;
    struct turn_input brief;
    /* what was said */
    struct buffer log; /* a line for each: "delta text ID TEXT", "event TYPE CONTENT METADATA", "ask KIND ID TOOL TEXT",
                          "unask ID", "keep JSON", "serve TOOL ARGUMENTS", "end STOP ERROR MESSAGE" */
    struct event events[FAKE_EVENTS_MAX];
    size_t event_count;
    struct ask asks[FAKE_ASKS_MAX];
    size_t ask_count;
    struct buffer text, reasoning; /* deltas put together */
    struct slice kept;
    struct turn_end end;
    int end_count;
    /* what the test decides */
    bool is_full;
    struct slice serve_result, serve_error; /* of turn_call_service; both absent = "{}" */
    /* Called for each thing said, after it was kept; NULL = nothing. Runs inside the driver's call. */
    void (*on_said)(struct turn *turn, void *owner);
    void *owner;
};

/* The test fills turn->brief (loop is set here) before fake_turn_start. */
void fake_turn_init(struct turn *turn, struct loop *loop);
void fake_turn_start(struct turn *turn, const struct driver *driver);
/* Runs the loop until an ask waits that was not there before, or the end was said. */
void fake_turn_run(struct turn *turn);
/* Runs the loop until `count` things were logged, or the end. */
void fake_turn_run_lines(struct turn *turn, size_t count);
/* Answers the newest ask. `answer` and `reason` may be NULL. */
void fake_turn_answer(struct turn *turn, enum ask_decision decision, const char *answer, const char *reason);
void fake_turn_interrupt(struct turn *turn, bool gone);
/* Frees the driver's state and all that was kept; runs the loop once so that handles close. */
void fake_turn_release(struct turn *turn);

/* The n-th event of that type (from 0), or NULL. */
const struct event *fake_turn_event(const struct turn *turn, const char *type, size_t n);
size_t fake_turn_events(const struct turn *turn, const char *type);
/* Adds to a history that grows in the turn's arena: an event as an earlier turn would have written it. */
void fake_turn_history(struct turn *turn, const char *type, enum event_role role, const char *content,
                       const char *metadata);

#endif
