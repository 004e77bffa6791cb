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
 * reads nor writes.
 *
 * A doubt is known a moment after the rows can be seen. So a reader also asks what its transaction sees: every commit
 * that was confirmed tells which transactions are, this process remembers them, and notifications tell the other nodes.
 * A reader that saw more commits an empty message, too, before anything of what it read is told.
 *
 * Nothing of this costs anything where no commit waits for standbys, but one commit per connection. */
#ifndef STORE_POSTGRES_CONFIRM_H
#define STORE_POSTGRES_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
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

/* --- what this process knows to be confirmed --- */
/* The transaction that last looked at what it sees was confirmed: so is all that it saw. */
void confirmation_keep(struct postgres *postgres);
/* Whether all that it saw is known to be confirmed. */
bool confirmation_covers(const struct postgres *postgres);
/* A word of a notification that tells all this to other nodes. */
void confirmation_write(struct buffer *to);
/* A word of a notification by way of this server; false when it is none of these. */
bool confirmation_hear(const char *server, struct slice word);

#endif
