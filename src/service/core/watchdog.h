/* The watchdogs: every few seconds the writer looks for sessions that are stuck (domain/watchdog.h) and does what the
 * findings say, as the server itself. Each finding is an event in the session's log and counts in a figure. A look
 * takes a bounded number of sessions; the next goes on behind them. */
#ifndef SERVICE_WATCHDOG_H
#define SERVICE_WATCHDOG_H

#include "loop/loop.h"
#include "service/core/writer.h"

enum { WATCHDOG_SESSIONS_MAX = 200 };

/* What the watchdogs note while they run; the writer writes it. One per server. */
struct watchdog_record {
    int64_t wall_known_since_ms; /* steady: when the wall clock last jumped, 0 = never; the writer's */
    _Atomic int64_t findings[WATCHDOG_COUNT];
};

struct watchdogs_options {
    const struct service *service;
    struct writer *writer;
    struct loop *loop; /* whose timer it uses */
    struct watchdogs_limits limits;
};

struct watchdogs;

struct watchdogs *watchdogs_new(const struct watchdogs_options *options);
/* The writer and the loop run, or will. */
void watchdogs_start(struct watchdogs *watchdogs);
/* No look begins afterwards; one under way ends with the writer. The loop must still run. Nothing when it was not
 * started, or is NULL. */
void watchdogs_stop(struct watchdogs *watchdogs);
/* After the writer was stopped. */
void watchdogs_free(struct watchdogs *watchdogs);

/* Writer. Looks at one session and acts. */
MUST_CHECK enum status watchdog_look(struct call *call, struct loaded_session *loaded);
/* For the timer: a chat that nobody uses becomes inactive. *out_again: the timer was put anew. */
MUST_CHECK enum status watchdog_stale(struct call *call, struct loaded_session *loaded, bool *out_again);

#endif
