/* Looking back: from time to time an agent reads what was said in a chat since it last did so, and keeps what matters
 * (memories, the working memory and the description of the session). One at a time per session, never beside a turn.
 *
 *      rests ──(due)──→ runs ──→ ended: the cursor moves behind the range
 *        ▲                │
 *        ├──(message)─────┤ interrupted: the next range begins at the same place
 *        └──(failure)─────┘ failed: the same range again, a few times
 *
 * Invariants: `to` != 0 while a range is in hand (it runs, or is tried again); runs → to != 0; from = cursor + 1. */
#ifndef DOMAIN_INTROSPECTION_H
#define DOMAIN_INTROSPECTION_H

#include "domain/agent.h"
#include "domain/change.h"
#include "domain/turn.h"

enum introspection_reason { INTROSPECT_IDLE, INTROSPECT_TURN_LIMIT, INTROSPECT_REASON_COUNT };
extern const struct enum_names introspection_reason_enum; /* idle turn_limit */

/* The row of a session. */
struct introspection {
    int64_t tenant_key, session_key;
    int64_t cursor;         /* the last event that was looked back at; 0 = none */
    int64_t turns, passive; /* since then: turns, and unanswered messages of a group */
    int64_t from, to;       /* the range in hand; 0 = none */
    int64_t passive_taken;  /* of `passive`, those within the range */
    int64_t run;            /* grows with every start */
    int64_t attempt;        /* of the range, from 1 */
    int64_t fence;          /* of the session at the start: a later turn ends it */
    enum introspection_reason reason;
    bool runs;
};

/* Only in chats with an agent that this server asks a model for, and that has it on. */
bool introspection_applies(const struct session *session, const struct introspection_settings *settings);
/* Idle and not archived. */
bool introspection_may_run(const struct session *session);
/* How long to wait from now on, or -1 when there is nothing new. */
int64_t introspection_wait_ms(const struct introspection *row, const struct introspection_settings *settings);
/* Starts the range in hand again, or one up to the last event. */
void introspection_begin(struct introspection *row, const struct session *session,
                         const struct introspection_settings *settings);
void introspection_finish(struct introspection *row);
/* True when the range is to be tried again; otherwise it waits for something new. */
bool introspection_fail(struct introspection *row, int64_t attempts_max);
void introspection_interrupt(struct introspection *row);
/* May it still write? Not if another run has started, or the session is not idle. */
bool introspection_is_held(const struct introspection *row, int64_t run, const struct session *session);
/* Is the range done with such an end? Having used all its calls is no failure. */
bool introspection_is_done(const struct turn_end *end);
/* The few tools that it may use. */
extern const struct slice introspection_tools[];
extern const size_t introspection_tool_count;

/* introspection.started {run, from, to, reason, attempt} */
void change_introspection_started(struct arena *arena, const struct introspection *row, struct changes *out);
/* introspection.ended {…, tool_calls, usage} */
void change_introspection_ended(struct arena *arena, const struct introspection *row, const struct turn_end *end,
                                int64_t tool_calls, struct changes *out);
/* introspection.failed {…, cause, message, usage}; the end may be NULL */
void change_introspection_failed(struct arena *arena, const struct introspection *row, const char *cause,
                                 const struct turn_end *end, struct changes *out);
/* introspection.interrupted {…, cause} */
void change_introspection_interrupted(struct arena *arena, const struct introspection *row, const char *cause,
                                      struct changes *out);

#endif
