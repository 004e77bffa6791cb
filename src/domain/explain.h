/* What a session waits for, in one answer: the kind of thing, a sentence, and who or what can unblock it. A pure table
 * over facts; service/session/explain.h gathers them. */
#ifndef DOMAIN_EXPLAIN_H
#define DOMAIN_EXPLAIN_H

#include "domain/session.h"

enum wait_kind {
    WAIT_NOTHING, /* it has ended */
    WAIT_MESSAGE, /* idle: the next message */
    WAIT_CLAIM,   /* a worker, runner or the turn host */
    WAIT_AGENT,   /* its agent */
    WAIT_PERSON,
    WAIT_TOOL,
    WAIT_SANDBOX,
    WAIT_TIMER,
    WAIT_KIND_COUNT
};
extern const struct enum_names wait_kind_enum;

struct explain_facts {
    const struct session *session;
    bool hosted;    /* the server runs its turns */
    bool by_runner; /* through a runner that connects */
    bool leased;
    bool interrupted; /* the turn was interrupted */
    bool retries;     /* the provider refused for now; it is asked again */
    int64_t asks_pending;
    int64_t prompts_waiting;
    bool collects; /* what waits is collected: a timer says when it is said */
};

/* Somebody or something that can move it on; `how` is a route, its {id} the session. */
struct unblocker {
    const char *kind; /* person, worker, agent, server */
    const char *how;  /* NULL = by itself */
};
enum { UNBLOCKERS_MAX = 4 };

struct explanation {
    enum wait_kind waits_for;
    const char *detail;                          /* one sentence */
    struct unblocker unblockers[UNBLOCKERS_MAX]; /* ends with a NULL kind, or at the maximum */
};

/* Every session has exactly one explanation. */
const struct explanation *explain(const struct explain_facts *facts);
/* It is so since the runtime changed, not the status. `why` is what explain() gave. */
bool explanation_follows_runtime(const struct explanation *why);
/* All that are possible; ends with a NULL detail. For documents and tests. */
extern const struct explanation explanations[];

#endif
