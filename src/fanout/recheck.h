/* A look at the credentials of all viewers of a hub, after something changed about who may come in, here or on another
 * node: viewers whose token, cookie or link is gone, or whose user is another member than he was, are told
 * `access_revoked`. One look at a time; a change meanwhile asks for another. */
#ifndef FANOUT_RECHECK_H
#define FANOUT_RECHECK_H

struct hub;

/* Hub thread. */
void recheck_start(struct hub *hub);

#endif
