#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

enum { BACKLOG = 4096, ACCEPTS_PER_EVENT = 64, RETRY_MS = 100 };

static const struct slice unix_prefix = {"unix:", 5};

static enum status bind_failure(struct failure *failure, struct slice address)
{
    return failure_set(failure, errno == EADDRINUSE ? STATUS_CONFLICT : STATUS_INVALID, "listen_failed",
                       "Cannot listen on %.*s: %s.", SLICE_ARG(address), strerror(errno));
}

/* A socket file that nobody listens on is what a killed server left behind. */
static bool remove_stale(const struct sockaddr_un *name)
{
    struct stat about;
    if (lstat(name->sun_path, &about) != 0) {
        return true;
    }
    if (!S_ISSOCK(about.st_mode)) {
        errno = EEXIST;
        return false;
    }
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool alive = connect(probe, (const struct sockaddr *)name, sizeof *name) == 0 || errno == EAGAIN;
    close(probe);
    if (alive) {
        errno = EADDRINUSE;
        return false;
    }
    return unlink(name->sun_path) == 0;
}

static enum status check_unix_path(struct slice path, struct failure *failure)
{
    size_t room = sizeof((struct sockaddr_un *)NULL)->sun_path;
    return path.len > 0 && path.len < room
               ? STATUS_OK
               : failure_set(failure, STATUS_INVALID, "listen_failed", "A socket path has 1 to %zu bytes.", room - 1);
}

static enum status open_unix(struct slice address, struct slice path, int *out_fd, struct failure *failure)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    enum status status = check_unix_path(path, failure);
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(name.sun_path, path.ptr, path.len);
    if (!remove_stale(&name)) {
        return bind_failure(failure, address);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The file is born with the socket's mode, so it is never open to others, not even for a moment. */
    if (fd < 0 || fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&name, sizeof name) != 0 ||
        chmod(name.sun_path, 0660) != 0 || listen(fd, BACKLOG) != 0) {
        status = bind_failure(failure, address);
        close(fd);
        return status;
    }
    *out_fd = fd;
    return STATUS_OK;
}

/* Options of the listening socket are inherited by what it accepts. */
static int bind_info(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (info->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

/* "host:port", "[v6]:port", ":port" */
static bool split_address(struct slice address, char host[256], char port[8])
{
    size_t colon = address.len;
    while (colon > 0 && address.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return false;
    }
    struct slice name = slice_from(address.ptr, colon - 1), number = slice_after(address, colon);
    if (name.len >= 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']') {
        name = slice_from(name.ptr + 1, name.len - 2);
    }
    int64_t value;
    if (name.len >= 256 || !slice_to_i64(number, &value) || value < 0 || value > 65535) {
        return false;
    }
    snprintf(host, 256, "%.*s", SLICE_ARG(name));
    snprintf(port, 8, "%d", (int)value);
    return true;
}

static enum status check_tcp(struct slice address, char host[256], char port[8], struct failure *failure)
{
    return split_address(address, host, port)
               ? STATUS_OK
               : failure_set(failure, STATUS_INVALID, "listen_failed",
                             "An address to listen on is HOST:PORT, [IPV6]:PORT, :PORT or unix:PATH, not \"%.*s\".",
                             SLICE_ARG(address));
}

enum status listener_check_address(struct slice address, struct failure *failure)
{
    char host[256], port[8];
    return slice_starts(address, unix_prefix) ? check_unix_path(slice_after(address, unix_prefix.len), failure)
                                              : check_tcp(address, host, port, failure);
}

static enum status open_tcp(struct slice address, int *out_fd, struct failure *failure)
{
    char host[256], port[8];
    enum status status = check_tcp(address, host, port, failure);
    if (status != STATUS_OK) {
        return status;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    /* Every address means both families at once. */
    const char *name = host[0] ? host : "::";
    int result = getaddrinfo(name, port, &hints, &found);
    if (result != 0) {
        return failure_set(failure, STATUS_INVALID, "listen_failed", "Cannot listen on %.*s: %s.", SLICE_ARG(address),
                           gai_strerror(result));
    }
    int fd = bind_info(found);
    freeaddrinfo(found);
    if (fd < 0 && !host[0] && errno == EAFNOSUPPORT && getaddrinfo("0.0.0.0", port, &hints, &found) == 0) {
        fd = bind_info(found);
        freeaddrinfo(found);
    }
    *out_fd = fd;
    return fd < 0 ? bind_failure(failure, address) : STATUS_OK;
}

static void peer_text(const struct sockaddr_storage *address, char *out, size_t room)
{
    snprintf(out, room, "%s", PEER_UNIX);
    if (address->ss_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, out, (socklen_t)room);
    } else if (address->ss_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(v6)) {
            inet_ntop(AF_INET, v6->s6_addr + 12, out, (socklen_t)room);
        } else {
            inet_ntop(AF_INET6, v6, out, (socklen_t)room);
        }
    }
}

static void describe_tcp(int fd, const char *scheme, char *out, size_t room)
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof bound;
    getsockname(fd, (struct sockaddr *)&bound, &len);
    char host[INET6_ADDRSTRLEN];
    peer_text(&bound, host, sizeof host);
    bool v6 = bound.ss_family == AF_INET6;
    int port = ntohs(v6 ? ((struct sockaddr_in6 *)&bound)->sin6_port : ((struct sockaddr_in *)&bound)->sin_port);
    bool any = strcmp(host, "::") == 0 || strcmp(host, "0.0.0.0") == 0;
    const char *name = any ? "localhost" : host;
    bool brackets = v6 && strchr(name, ':');
    snprintf(out, room, "%s://%s%s%s:%d", scheme, brackets ? "[" : "", name, brackets ? "]" : "", port);
}

static void on_acceptable(uv_poll_t *poll, int status, int events);

static void on_retry(uv_timer_t *retry)
{
    struct listener *listener = retry->data;
    uv_poll_start(&listener->poll, UV_READABLE, on_acceptable);
}

/* Out of descriptors the socket stays readable: without a pause the loop would spin. */
static void pause_accepting(struct listener *listener)
{
    log_warn("accept_failed", LOG_TEXT("reason", slice_of(strerror(errno))));
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->retry, on_retry, RETRY_MS, 0);
}

static void on_acceptable(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = poll->data;
    (void)events;
    for (int i = 0; status == 0 && i < ACCEPTS_PER_EVENT && !listener->closing; i++) {
        struct sockaddr_storage address = {0};
        socklen_t len = sizeof address;
        int fd = accept4(listener->fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                pause_accepting(listener);
            }
            if (errno != EINTR && errno != ECONNABORTED) {
                return;
            }
            continue;
        }
        char peer[INET6_ADDRSTRLEN];
        peer_text(&address, peer, sizeof peer);
        listener->target.accept(listener->target.owner, fd, peer);
    }
}

static void on_start(struct loop_message *message)
{
    struct listener *listener = (struct listener *)((char *)message - offsetof(struct listener, start_message));
    uv_loop_t *uv = loop_uv(listener->loop);
    listener->poll.data = listener->retry.data = listener;
    uv_poll_init_socket(uv, &listener->poll, listener->fd);
    uv_timer_init(uv, &listener->retry);
    listener->handles_open = 2;
    uv_poll_start(&listener->poll, UV_READABLE, on_acceptable);
}

enum status listener_open(struct slice address, const char *scheme, struct loop *loop,
                          const struct listener_target *target, struct listener **out, char *out_address, size_t room,
                          struct failure *failure)
{
    bool is_unix = slice_starts(address, unix_prefix);
    struct slice path = slice_after(address, unix_prefix.len);
    int fd = -1;
    enum status status = is_unix ? open_unix(address, path, &fd, failure) : open_tcp(address, &fd, failure);
    if (status != STATUS_OK) {
        return status;
    }
    struct listener *listener = memory_zeroed(sizeof *listener);
    listener->fd = fd;
    listener->loop = loop;
    listener->target = *target;
    listener->start_message.run = on_start;
    if (is_unix) {
        listener->unix_path = strndup(path.ptr, path.len);
        snprintf(out_address, room, "%.*s", SLICE_ARG(address));
    } else {
        describe_tcp(fd, scheme, out_address, room);
    }
    *out = listener;
    loop_post(loop, &listener->start_message);
    return STATUS_OK;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;
    if (--listener->handles_open == 0) {
        listener->closed(listener);
    }
}

void listener_close(struct listener *listener, void (*closed)(struct listener *listener))
{
    listener->closed = closed;
    listener->closing = true;
    uv_close((uv_handle_t *)&listener->poll, on_handle_closed);
    uv_close((uv_handle_t *)&listener->retry, on_handle_closed);
    close(listener->fd);
    listener->fd = -1;
    if (listener->unix_path) {
        unlink(listener->unix_path);
    }
}

void listener_free(struct listener *listener)
{
    free(listener->unix_path);
    free(listener);
}
