/* Tunnels of a session (domain/tunnel.h), and words that the server or its operator puts into a session. */
#ifndef SERVICE_TUNNEL_H
#define SERVICE_TUNNEL_H

#include "service/session/session.h"

/* Writer, for the owner and whoever runs the session. The name again leads elsewhere from now on. */
MUST_CHECK enum status tunnel_open(struct call *call, struct slice session_id, struct slice name, struct slice target,
                                   bool *out_new);
/* Writer, for collaborators. */
MUST_CHECK enum status tunnel_close(struct call *call, struct slice session_id, struct slice name);
/* Reader: where the tunnel leads; viewers may look (`reads`), collaborators may do anything. NOT_FOUND
 * `tunnel_not_found`. */
MUST_CHECK enum status tunnel_find(struct call *call, struct slice session_id, struct slice name, bool reads,
                                   struct session *out_session, struct slice *out_target);

/* Writer. Appends a system.message; nobody runs because of it. */
MUST_CHECK enum status system_message_append(struct call *call, struct loaded_session *loaded, struct slice content,
                                             struct slice metadata);

#endif
