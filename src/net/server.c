#include "net/server.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/listener.h"
#include "net/server_loop.h"
#include "net/tls.h"

enum { TURNED_AWAY_MAX = 64 };

struct server {
    struct server_options options;
    struct tls_context *tls;
    struct server_loop **homes;
    size_t home_count;
    size_t next_home; /* of the accepting loop: whose turn it is */
    pthread_mutex_t lock;
    struct listener *listeners; /* under the lock until draining, then of the first loop */
    int64_t drain_timeout_ms;
    atomic_size_t undrained;
    void (*drained)(void *owner);
    void *drained_owner;
};

/* A socket on its way from the accepting loop to another one. */
struct newcomer {
    struct loop_message message;
    struct server_loop *home;
    int fd;
    char peer[46];
};

/* TLS is for TCP: a unix socket leaves the machine for nobody. */
static struct tls_context *tls_for(const struct server *server, const char *peer)
{
    return strcmp(peer, PEER_UNIX) == 0 ? NULL : server->tls;
}

static void welcome(struct server_loop *home, int fd, const char *peer)
{
    struct tls_context *context = tls_for(home->server, peer);
    struct tls *tls = context ? tls_new(context, fd) : NULL;
    if (home->draining || (context && !tls)) {
        close(fd);
        return;
    }
    connection_open(home, fd, tls, peer);
}

static void on_newcomer(struct loop_message *message)
{
    struct newcomer *newcomer = (struct newcomer *)message;
    welcome(newcomer->home, newcomer->fd, newcomer->peer);
    free(newcomer);
}

static int64_t connections_now(struct server *server)
{
    int64_t count = 0;
    for (size_t i = 0; i < server->home_count; i++) {
        count += atomic_load_explicit(&server->homes[i]->figures.connections, memory_order_relaxed);
    }
    return count;
}

/* One connection too many is told so, unless there are very many of them. */
static void turn_away(struct server_loop *home, int fd, const char *peer, int64_t excess)
{
    struct connection *connection = NULL;
    if (tls_for(home->server, peer) || home->draining || excess >= TURNED_AWAY_MAX) {
        close(fd);
    } else {
        connection = connection_open(home, fd, NULL, peer);
    }
    if (connection) {
        connection_refuse(connection, 503, "too_many_connections",
                          "The server holds as many connections as it accepts.");
    }
}

static void on_accept(void *owner, int fd, const char *peer)
{
    struct server *server = owner;
    struct server_loop *first = server->homes[0];
    int64_t excess = connections_now(server) - (int64_t)server->options.limits.connections_max;
    if (excess >= 0) {
        turn_away(first, fd, peer, excess);
        return;
    }
    struct server_loop *home = server->homes[server->next_home++ % server->home_count];
    if (home == first) {
        welcome(home, fd, peer);
        return;
    }
    struct newcomer *newcomer = memory_zeroed(sizeof *newcomer);
    newcomer->message.run = on_newcomer;
    newcomer->home = home;
    newcomer->fd = fd;
    strncpy(newcomer->peer, peer, sizeof newcomer->peer - 1);
    loop_post(home->loop, &newcomer->message);
}

struct server *server_new(const struct server_options *options, struct loop *const *loops, size_t loop_count)
{
    struct server *server = memory_zeroed(sizeof *server);
    server->options = *options;
    pthread_mutex_init(&server->lock, NULL);
    server->home_count = loop_count;
    server->homes = memory_zeroed(loop_count * sizeof *server->homes);
    for (size_t i = 0; i < loop_count; i++) {
        server->homes[i] = memory_alloc(sizeof *server->homes[i]);
        server_loop_init(server->homes[i], server, &server->options, loops[i]);
    }
    return server;
}

void server_free(struct server *server)
{
    if (!server) {
        return;
    }
    for (size_t i = 0; i < server->home_count; i++) {
        server_loop_release(server->homes[i]);
        free(server->homes[i]);
    }
    free(server->homes);
    tls_context_free(server->tls);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static enum status load_tls(struct server *server, struct failure *failure)
{
    const struct server_options *options = &server->options;
    if (!options->tls_cert_path || server->tls) {
        return STATUS_OK;
    }
    if (!options->tls_key_path) {
        return failure_set(failure, STATUS_INVALID, "tls_unusable", "A TLS certificate needs its key as well.");
    }
    return tls_context_new(options->tls_cert_path, options->tls_key_path, &server->tls, failure);
}

enum status server_listen(struct server *server, struct slice address, char *out_address, size_t room,
                          struct failure *failure)
{
    enum status status = load_tls(server, failure);
    if (status != STATUS_OK) {
        return status;
    }
    struct listener_target target = {server, on_accept};
    struct listener *listener;
    status = listener_open(address, server->tls ? "https" : "http", server->homes[0]->loop, &target, &listener,
                           out_address, room, failure);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&server->lock);
        listener->next = server->listeners;
        server->listeners = listener;
        pthread_mutex_unlock(&server->lock);
    }
    return status;
}

static void close_listeners(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    struct listener *listener = server->listeners;
    server->listeners = NULL;
    pthread_mutex_unlock(&server->lock);
    while (listener) {
        struct listener *next = listener->next;
        listener_close(listener, listener_free);
        listener = next;
    }
}

static void on_drain(struct loop_message *message)
{
    struct server_loop *home = (struct server_loop *)((char *)message - offsetof(struct server_loop, drain_message));
    struct server *server = home->server;
    if (home == server->homes[0]) {
        close_listeners(server);
    }
    server_loop_drain(home, server->drain_timeout_ms);
}

void server_loop_drained(struct server_loop *home)
{
    struct server *server = home->server;
    if (atomic_fetch_sub(&server->undrained, 1) == 1 && server->drained) {
        server->drained(server->drained_owner);
    }
}

void server_drain(struct server *server, int64_t timeout_ms, void (*drained)(void *owner), void *owner)
{
    server->drain_timeout_ms = timeout_ms;
    server->drained = drained;
    server->drained_owner = owner;
    atomic_store(&server->undrained, server->home_count);
    for (size_t i = 0; i < server->home_count; i++) {
        server->homes[i]->drain_message.run = on_drain;
        loop_post(server->homes[i]->loop, &server->homes[i]->drain_message);
    }
}

static void add_stats(struct server_loop_stats *from, struct server_stats *to)
{
    to->connections += atomic_load_explicit(&from->connections, memory_order_relaxed);
    to->connections_total += atomic_load_explicit(&from->connections_total, memory_order_relaxed);
    to->requests_total += atomic_load_explicit(&from->requests_total, memory_order_relaxed);
    to->streams += atomic_load_explicit(&from->streams, memory_order_relaxed);
    to->bytes_in += atomic_load_explicit(&from->bytes_in, memory_order_relaxed);
    to->bytes_out += atomic_load_explicit(&from->bytes_out, memory_order_relaxed);
    to->refused_total += atomic_load_explicit(&from->refused_total, memory_order_relaxed);
}

void server_figures_read(struct server *server, struct server_stats *out)
{
    *out = (struct server_stats){0};
    for (size_t i = 0; i < server->home_count; i++) {
        add_stats(&server->homes[i]->figures, out);
    }
}
