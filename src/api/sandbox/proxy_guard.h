/* Who speaks through a tunnel for longer than a request may lose the right to: the guard of a WebSocket watches its
 * session and, after every event about it and with every heartbeat, asks again whether the caller may use the tunnel.
 * It also counts: a session has only so many. Loop thread of the connection, but for new and free of them all. */
#ifndef API_PROXY_GUARD_H
#define API_PROXY_GUARD_H

#include "api/core/request.h"

struct proxy_guards;
struct proxy_guard;

struct proxy_guards *proxy_guards_new(void);
/* After the loops are joined. */
void proxy_guards_free(struct proxy_guards *guards);

/* Copies what it needs of the request, which was let in. `over` comes at most once, with a code and a reason to close
 * with, and not before this has returned. LIMITED when the session has too many, UNAVAILABLE when the server stops. */
MUST_CHECK enum status proxy_guard_open(struct request *request, const struct session *session, void *owner,
                                        void (*over)(void *owner, int code, const char *reason),
                                        struct proxy_guard **out, struct failure *failure);
/* Accepts NULL; `over` does not come any more. */
void proxy_guard_close(struct proxy_guard *guard);

#endif
