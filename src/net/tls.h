/* TLS on a socket that the caller owns and watches. Loop thread only, except tls_context_new and _free. */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/status.h"

struct tls;
struct tls_context;

/* Certificate chain and key as PEM files; shared by all loops. */
MUST_CHECK enum status tls_context_new(const char *cert_path, const char *key_path, struct tls_context **out,
                                       struct failure *failure);
void tls_context_free(struct tls_context *context);

/* The server's end on `fd`, which stays the caller's. NULL when OpenSSL refuses. */
struct tls *tls_new(struct tls_context *context, int fd);
void tls_free(struct tls *tls);
/* Like read: 0 at the end, -1 with errno EAGAIN, or EPROTO or another errno when the connection is lost. The handshake
 * happens by itself. */
ssize_t tls_read(struct tls *tls, char *bytes, size_t room);
/* Whether tls_read has bytes that the socket will not announce: the rest of a record. */
bool tls_has_unread(const struct tls *tls);
/* Like writev. What was taken but did not fit into the socket (at most one TLS record) is kept and goes out with the
 * next call; a call with nothing only does that. Nothing is taken while something is kept. */
ssize_t tls_write(struct tls *tls, const struct iovec *parts, int count);
bool tls_has_unsent(const struct tls *tls);
/* Sends close_notify if it fits. */
void tls_say_goodbye(struct tls *tls);

#endif
