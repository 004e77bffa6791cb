/* What a session waits for (domain/explain.h), with the facts behind it. */
#ifndef SERVICE_EXPLAIN_H
#define SERVICE_EXPLAIN_H

#include "domain/explain.h"
#include "domain/prompt.h"
#include "service/ask/ask.h"
#include "service/session/session.h"

enum { EXPLAIN_CHILDREN_MAX = 20, EXPLAIN_CHILD_ASKS_MAX = 20 };

/* Times are wall; strings live in the call's arena. */
struct session_explained {
    struct session session;
    const struct explanation *why;
    int64_t since_ms;
    struct ask *asks; /* pending */
    size_t ask_count;
    int64_t prompts_waiting;
    struct prompt first_prompt; /* when one waits */
    bool leased;
    struct lease lease;
    int64_t lease_expires_at_ms;
    int64_t last_activity_ms;                    /* the last event or live output */
    struct slice children[EXPLAIN_CHILDREN_MAX]; /* that have not ended; one more than shown means there are more */
    size_t child_count;
    struct ask_with_access *child_asks; /* pending below it, that the caller may see, newest first; not all when many */
    size_t child_ask_count;
    struct timer timer;    /* due_ms is wall; 0 = none */
    struct slice watchdog; /* type of the last watchdog's event, or absent */
    struct slice watchdog_metadata;
    int64_t watchdog_at_ms;
};

/* Reader. */
MUST_CHECK enum status explain_session(struct call *call, struct slice session_id, struct session_explained *out);

/* The name of the timer's kind. */
struct slice explain_timer_kind(const struct timer *timer);

#endif
