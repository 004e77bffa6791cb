/* A host that a call names: in lower case, without scheme, user, port and path. Pure. */
#ifndef DOMAIN_CALL_HOST_H
#define DOMAIN_CALL_HOST_H

#include "base/arena.h"

enum { HOST_BYTES_MAX = 253 };

struct call_host {
    struct slice name;
    bool is_named; /* a URL, or a member that is a host; otherwise a word of a command, which only tightens */
    bool is_known; /* false: programs read such a URL in different ways */
};

bool call_host_is_url(struct slice text);
/* The host of a URL, or of "user@host:port" and the like. False when there is none. */
bool call_host_read(struct arena *arena, struct slice text, struct call_host *out);

#endif
