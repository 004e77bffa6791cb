#include "net/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"

enum { RECORD_BYTES = 16 * 1024 };

struct tls_context {
    SSL_CTX *ssl_context;
    BIO_METHOD *socket_method;
};

/* OpenSSL reads and writes through a BIO of our own that never refuses to take a record: what does not fit into the
 * socket is kept in `unsent`. With OpenSSL's own socket BIO a refused SSL_write must be repeated with the very same
 * bytes, which a stream that drops frames for slow readers cannot promise. */
struct tls {
    SSL *ssl;
    int fd;
    int lost_errno;
    struct buffer unsent;
};

static ssize_t send_some(struct tls *tls, const char *bytes, size_t len)
{
    ssize_t sent;
    do {
        sent = send(tls->fd, bytes, len, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == EAGAIN) {
        return 0;
    }
    if (sent < 0) {
        tls->lost_errno = errno;
    }
    return sent;
}

static int socket_write(BIO *bio, const char *bytes, int len)
{
    struct tls *tls = BIO_get_data(bio);
    ssize_t sent = tls->unsent.len == 0 ? send_some(tls, bytes, (size_t)len) : 0;
    if (sent < 0) {
        return -1;
    }
    buffer_add(&tls->unsent, slice_from(bytes + sent, (size_t)(len - sent)));
    return len;
}

static int socket_read(BIO *bio, char *bytes, int room)
{
    struct tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t got;
    do {
        got = recv(tls->fd, bytes, (size_t)room, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) {
        BIO_set_retry_read(bio);
    } else if (got < 0) {
        tls->lost_errno = errno;
    }
    return (int)got;
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *socket_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(method, socket_write);
    BIO_meth_set_read(method, socket_read);
    BIO_meth_set_ctrl(method, socket_control);
    return method;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *offered,
                           unsigned offered_len, void *owner)
{
    static const unsigned char spoken[] = "\x08http/1.1";
    (void)ssl;
    (void)owner;
    int result = SSL_select_next_proto((unsigned char **)out, out_len, spoken, sizeof spoken - 1, offered, offered_len);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static enum status load_failure(struct failure *failure, const char *what, const char *path)
{
    char reason[200];
    ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
    return failure_set(failure, STATUS_INVALID, "tls_unusable", "The TLS %s %s cannot be used: %s.", what, path,
                       reason);
}

static enum status load_files(SSL_CTX *context, const char *cert_path, const char *key_path, struct failure *failure)
{
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, cert_path) != 1) {
        return load_failure(failure, "certificate", cert_path);
    }
    if (SSL_CTX_use_PrivateKey_file(context, key_path, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return load_failure(failure, "key", key_path);
    }
    return STATUS_OK;
}

enum status tls_context_new(const char *cert_path, const char *key_path, struct tls_context **out,
                            struct failure *failure)
{
    SSL_CTX *ssl_context = SSL_CTX_new(TLS_server_method());
    if (!ssl_context) {
        return failure_set(failure, STATUS_INTERNAL, "tls_unusable", "OpenSSL gives no server context.");
    }
    SSL_CTX_set_min_proto_version(ssl_context, TLS1_2_VERSION);
    SSL_CTX_set_options(ssl_context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ssl_context,
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(ssl_context, choose_protocol, NULL);
    enum status status = load_files(ssl_context, cert_path, key_path, failure);
    if (status != STATUS_OK) {
        SSL_CTX_free(ssl_context);
        return status;
    }
    struct tls_context *context = memory_zeroed(sizeof *context);
    context->ssl_context = ssl_context;
    context->socket_method = socket_method_new();
    *out = context;
    return STATUS_OK;
}

void tls_context_free(struct tls_context *context)
{
    if (context) {
        SSL_CTX_free(context->ssl_context);
        BIO_meth_free(context->socket_method);
        free(context);
    }
}

struct tls *tls_new(struct tls_context *context, int fd)
{
    SSL *ssl = SSL_new(context->ssl_context);
    BIO *bio = ssl ? BIO_new(context->socket_method) : NULL;
    if (!bio) {
        SSL_free(ssl);
        return NULL;
    }
    struct tls *tls = memory_zeroed(sizeof *tls);
    tls->ssl = ssl;
    tls->fd = fd;
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return tls;
}

void tls_free(struct tls *tls)
{
    if (tls) {
        SSL_free(tls->ssl);
        buffer_release(&tls->unsent);
        free(tls);
    }
}

/* What a failed SSL call means in the words of read and write. */
static ssize_t outcome(struct tls *tls, int result)
{
    int error = SSL_get_error(tls->ssl, result);
    if (tls->lost_errno) {
        errno = tls->lost_errno;
        return -1;
    }
    if (error == SSL_ERROR_ZERO_RETURN) {
        return 0;
    }
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return -1;
}

ssize_t tls_read(struct tls *tls, char *bytes, size_t room)
{
    ERR_clear_error();
    int got = SSL_read(tls->ssl, bytes, room > INT32_MAX ? INT32_MAX : (int)room);
    return got > 0 ? got : outcome(tls, got);
}

static bool flush_unsent(struct tls *tls)
{
    if (tls->unsent.len > 0) {
        ssize_t sent = send_some(tls, tls->unsent.ptr, tls->unsent.len);
        if (sent < 0) {
            return false;
        }
        buffer_consume(&tls->unsent, (size_t)sent);
        if (tls->unsent.len == 0) {
            buffer_release(&tls->unsent);
        }
    }
    return true;
}

/* As much of the parts, behind the first `skip` bytes, as one record holds. */
static size_t fill_record(char record[RECORD_BYTES], const struct iovec *parts, int count, size_t skip)
{
    size_t filled = 0;
    for (int i = 0; i < count && filled < RECORD_BYTES; i++) {
        if (skip >= parts[i].iov_len) {
            skip -= parts[i].iov_len;
            continue;
        }
        size_t take = parts[i].iov_len - skip;
        take = take < RECORD_BYTES - filled ? take : RECORD_BYTES - filled;
        memcpy(record + filled, (const char *)parts[i].iov_base + skip, take);
        filled += take;
        skip = 0;
    }
    return filled;
}

ssize_t tls_write(struct tls *tls, const struct iovec *parts, int count)
{
    size_t taken = 0;
    if (!flush_unsent(tls)) {
        errno = tls->lost_errno;
        return -1;
    }
    while (tls->unsent.len == 0) {
        char record[RECORD_BYTES];
        size_t filled = fill_record(record, parts, count, taken);
        if (filled == 0) {
            return (ssize_t)taken;
        }
        ERR_clear_error();
        int sent = SSL_write(tls->ssl, record, (int)filled);
        if (sent <= 0) {
            ssize_t result = outcome(tls, sent);
            return taken > 0 && errno == EAGAIN ? (ssize_t)taken : result;
        }
        taken += (size_t)sent;
    }
    if (taken == 0) {
        errno = EAGAIN;
        return -1;
    }
    return (ssize_t)taken;
}

bool tls_has_unread(const struct tls *tls)
{
    return SSL_pending(tls->ssl) > 0;
}

bool tls_has_unsent(const struct tls *tls)
{
    return tls->unsent.len > 0;
}

void tls_say_goodbye(struct tls *tls)
{
    if (tls->lost_errno == 0 && tls->unsent.len == 0 && SSL_is_init_finished(tls->ssl)) {
        ERR_clear_error();
        SSL_shutdown(tls->ssl);
    }
}
