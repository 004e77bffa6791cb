/* Tunnels: ways from outside into a session's sandbox, each a name and where it leads. They stand in the session's
 * details as {"NAME": "https://…", "NAME": "local:PORT"}; the second is a port in a sandbox of this machine. */
#ifndef DOMAIN_TUNNEL_H
#define DOMAIN_TUNNEL_H

#include "domain/change.h"

enum { TUNNEL_NAME_BYTES_MAX = 64, TUNNEL_URL_BYTES_MAX = 2048 };

/* [A-Za-z0-9._-], 1 to 64 characters, not only dots. */
bool tunnel_name_is_valid(struct slice name);
/* An address with http or https, a host, no user and no fragment; or local:PORT. */
MUST_CHECK enum status tunnel_check_target(struct slice target, struct failure *failure);
/* An object of names and targets. */
MUST_CHECK enum status tunnel_check_all(const struct json *tunnels, struct failure *failure);
/* The port of local:PORT; 0 = it is an address. */
int64_t tunnel_local_port(struct slice target);
/* The session's tunnels as a JSON object in the arena; NULL when there are none. */
const struct json *tunnels_of(struct arena *arena, const struct session *session);

/* session.tunnel_opened {name, target}, session.tunnel_closed {name}. */
void change_tunnel_opened(struct arena *arena, struct slice name, struct slice target, struct changes *out);
void change_tunnel_closed(struct arena *arena, struct slice name, struct changes *out);

#endif
