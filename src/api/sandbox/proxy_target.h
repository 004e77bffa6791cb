/* Where a tunnel leads, and what may pass through it: shared by requests (proxy.c) and WebSockets (proxy_socket.c). */
#ifndef API_PROXY_TARGET_H
#define API_PROXY_TARGET_H

#include <sys/socket.h>

#include "api/core/request.h"
#include "wire/http.h"

enum { PROXY_HEADERS_MAX = 64 };

/* Slices live in the arena it was made with. */
struct proxy_target {
    struct slice base, prefix; /* where the tunnel leads; what stands for it here */
    const char *url;
    bool any_address; /* the operator named the host */
    bool loopback;    /* it leads to a sandbox of this machine */
};

/* Reader or writer: access, the tunnel and the sandbox behind it. `reads` = it only looks. */
MUST_CHECK enum status proxy_check(struct request *request, bool reads, struct session *out_session,
                                   struct slice *out_target);
void proxy_target_find(struct request *request, struct slice target, struct arena *arena, struct proxy_target *out);
/* For http_call_spec; the owner is the way. */
bool proxy_target_allows(void *way, const struct sockaddr *address);
/* The caller's headers that pass, without its credentials; returns how many (at most PROXY_HEADERS_MAX). */
size_t proxy_target_headers(const struct proxy_target *way, const struct http_request *from, struct http_header *out);
/* The headers of the service that describe its answer, as lines; no other passes. */
void proxy_target_write_back(struct proxy_target *way, struct arena *arena, const struct http_header *headers,
                             size_t count, struct buffer *out);
/* The words for the caller when the service was not reached. */
void proxy_tell_failure(const struct failure *failure, struct failure *out);

#endif
