/* A check of all viewers of a hub, after something changed about who may come in, here or on another node: those whose
 * pass is over are told `access_revoked`. One check at a time; a change meanwhile asks for another. */
#ifndef FANOUT_RECHECK_H
#define FANOUT_RECHECK_H

struct hub;

/* Hub thread. */
void recheck_start(struct hub *hub);

#endif
