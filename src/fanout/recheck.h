/* Checks all viewers of a hub after credentials or memberships changed, here or on another node. Viewers whose
 * credential is revoked are closed with `access_revoked`. One check at a time; a change meanwhile starts another. */
#ifndef FANOUT_RECHECK_H
#define FANOUT_RECHECK_H

struct hub;

/* Hub thread. */
void recheck_start(struct hub *hub);

#endif
