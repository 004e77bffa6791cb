/* What is told rests on commits that are confirmed, by the standbys too where the server waits for any.
 *
 * PostgreSQL shows rows that no standby has, once a wait for the standbys was ended: by pg_cancel_backend, by the end
 * of the waiting process, or by a crash of the server, which recovers them. A failover can lose such rows. Whoever
 * reads them must not tell them, and whoever wrote them must not acknowledge them.
 *
 * The log of a server is in order: when a later commit is confirmed, so is everything that was visible before it. So a
 * connection commits something of its own, an empty message in the log of the server, before it is first used, and
 * again after each doubt. A doubt is a commit of this process that was answered with a warning, or whose end was not
 * heard and is not waiting any more; other nodes are told of it. Until the confirmation comes, the connection neither
 * reads nor writes. It costs one commit per connection and doubt, nothing otherwise. */
#ifndef STORE_POSTGRES_CONFIRM_H
#define STORE_POSTGRES_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct postgres;

/* Of one connection. */
struct confirmed {
    bool once;      /* since it was made */
    int64_t doubts; /* how many had been by then */
    bool tells;     /* the others are to be told of a doubt of this one */
};

/* Any thread: what can be read now may not be on the standbys. */
void confirmation_doubt(void);
/* False when the connection must be confirmed before it is used. */
bool confirmation_stands(const struct postgres *postgres);
/* Commits, and waits for the confirmation, for terms.outcome_ms at most. UNAVAILABLE: it did not come; the connection
 * may be broken then. */
MUST_CHECK enum status confirmation_seek(struct postgres *postgres, struct failure *failure);

#endif
