#include "store/postgres/notify.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/id.h"
#include "store/postgres/connection.h"

enum { ORIGIN_CHARACTERS = 16, RETRY_MS = 1000 };

static char origin[ORIGIN_CHARACTERS + 1];
static pthread_once_t origin_once = PTHREAD_ONCE_INIT;

static void origin_make(void)
{
    struct id_source source;
    uint64_t number;
    id_source_init_system(&source);
    source.fill(&source, &number, sizeof number);
    snprintf(origin, sizeof origin, "%016llx", (unsigned long long)number);
}

static struct slice origin_get(void)
{
    pthread_once(&origin_once, origin_make);
    return slice_from(origin, ORIGIN_CHARACTERS);
}

/* --- the writing connection --- */

void touches_add(struct touches *touches, int64_t tenant_key, int64_t session_key)
{
    struct touch *last = touches->count ? &touches->items[touches->count - 1] : NULL;
    if (last && last->tenant_key == tenant_key && last->session_key == session_key) {
        return;
    }
    if (touches->count == touches->room) {
        touches->room = touches->room ? touches->room * 2 : 64;
        touches->items = memory_resize(touches->items, touches->room * sizeof *touches->items);
    }
    touches->items[touches->count++] = (struct touch){tenant_key, session_key};
}

static int touch_compare(const void *a, const void *b)
{
    const struct touch *left = a, *right = b;
    if (left->tenant_key != right->tenant_key) {
        return left->tenant_key < right->tenant_key ? -1 : 1;
    }
    return left->session_key < right->session_key ? -1 : left->session_key > right->session_key;
}

void touches_write(struct touches *touches, struct buffer *to)
{
    size_t start = to->len;
    qsort(touches->items, touches->count, sizeof *touches->items, touch_compare);
    buffer_add(to, origin_get());
    for (size_t i = 0; i < touches->count; i++) {
        if (i == 0 || touch_compare(&touches->items[i - 1], &touches->items[i]) != 0) {
            buffer_format(to, " %lld:%lld", (long long)touches->items[i].tenant_key,
                          (long long)touches->items[i].session_key);
        }
    }
    if (to->len - start > NOTIFY_PAYLOAD_MAX) {
        to->len = start + ORIGIN_CHARACTERS;
        buffer_add(to, SLICE(" many"));
    }
    buffer_add_byte(to, '\0');
}

void touches_release(struct touches *touches)
{
    free(touches->items);
    *touches = (struct touches){0};
}

/* --- the listening connection --- */

struct postgres_listener {
    PGconn *connection; /* NULL = lost */
    char *url;
    int stop; /* an eventfd, readable once stopped */
};

static enum status listen_connect(const char *url, PGconn **out, struct failure *failure)
{
    PGconn *connection = NULL;
    enum status status = postgres_connect(url, false, 0, &connection, failure);
    if (status != STATUS_OK) {
        return status;
    }
    PGresult *result = PQexec(connection, "listen " NOTIFY_CHANNEL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        status = trouble_from_result(result, true, failure);
        PQfinish(connection);
    } else {
        *out = connection;
    }
    PQclear(result);
    return status;
}

enum status postgres_listen_open(const char *url, struct postgres_listener **out, struct failure *failure)
{
    PGconn *connection = NULL;
    enum status status = listen_connect(url, &connection, failure);
    if (status != STATUS_OK) {
        return status;
    }
    struct postgres_listener *listener = memory_zeroed(sizeof *listener);
    listener->connection = connection;
    listener->url = strdup(url);
    listener->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *out = listener;
    return STATUS_OK;
}

static void wake_add(struct postgres_wake *wake, struct arena *arena, struct slice payload)
{
    struct slice word, tenant, session;
    size_t room = 1;
    for (size_t i = 0; i < payload.len; i++) {
        room += payload.ptr[i] == ' ';
    }
    struct touch *touches = arena_array(arena, wake->count + room, sizeof *touches);
    if (wake->count) {
        memcpy(touches, wake->touches, wake->count * sizeof *touches);
    }
    for (bool more = true; more;) {
        more = slice_cut(payload, ' ', &word, &payload);
        struct touch touch;
        if (slice_cut(word, ':', &tenant, &session) && slice_to_i64(tenant, &touch.tenant_key) &&
            slice_to_i64(session, &touch.session_key)) {
            touches[wake->count++] = touch;
        } else {
            wake->many = true;
        }
    }
    wake->touches = touches;
}

/* Takes all notifications that have arrived. */
static void wake_take(struct postgres_listener *listener, struct arena *arena, struct postgres_wake *wake)
{
    PGnotify *notify;
    while ((notify = PQnotifies(listener->connection))) {
        struct slice payload = slice_of(notify->extra), from;
        slice_cut(payload, ' ', &from, &payload);
        if (!slice_eq(from, origin_get())) {
            wake_add(wake, arena, payload);
        }
        PQfreemem(notify);
    }
}

/* True when the socket can be read; false when the time is over. *out_stopped wins. */
static bool wait_readable(struct postgres_listener *listener, int64_t timeout_ms, bool *out_stopped)
{
    struct pollfd polled[] = {{.fd = listener->stop, .events = POLLIN},
                              {.fd = listener->connection ? PQsocket(listener->connection) : -1, .events = POLLIN}};
    int64_t wait_ms = timeout_ms < 0 ? 0 : timeout_ms > 3600000 ? 3600000 : timeout_ms;
    poll(polled, 2, (int)wait_ms);
    *out_stopped = polled[0].revents != 0;
    return polled[1].revents != 0;
}

static enum status reconnect(struct postgres_listener *listener, int64_t timeout_ms, struct postgres_wake *out,
                             struct failure *failure)
{
    bool stopped = false;
    enum status status = listen_connect(listener->url, &listener->connection, failure);
    if (status == STATUS_OK) {
        out->many = true;
        return STATUS_OK;
    }
    wait_readable(listener, timeout_ms < RETRY_MS ? timeout_ms : RETRY_MS, &stopped);
    return stopped ? STATUS_GONE : status;
}

static void disconnect(struct postgres_listener *listener)
{
    PQfinish(listener->connection);
    listener->connection = NULL;
}

enum status postgres_listen_next(struct postgres_listener *listener, int64_t timeout_ms, struct arena *arena,
                                 struct postgres_wake *out, struct failure *failure)
{
    int64_t deadline_ms = monotonic_ms() + timeout_ms;
    *out = (struct postgres_wake){0};
    bool stopped = false;
    while (listener->connection) {
        wake_take(listener, arena, out);
        bool found = out->many || out->count > 0;
        int64_t left_ms = found ? 0 : deadline_ms - monotonic_ms();
        bool readable = wait_readable(listener, left_ms, &stopped);
        if (stopped) {
            return STATUS_GONE;
        }
        if (found || (!readable && left_ms <= 0)) {
            return STATUS_OK;
        }
        if (readable && !PQconsumeInput(listener->connection)) {
            disconnect(listener);
        }
    }
    return reconnect(listener, deadline_ms - monotonic_ms(), out, failure);
}

void postgres_listen_stop(struct postgres_listener *listener)
{
    uint64_t one = 1;
    ssize_t written = write(listener->stop, &one, sizeof one);
    (void)written;
}

void postgres_listen_close(struct postgres_listener *listener)
{
    if (!listener) {
        return;
    }
    PQfinish(listener->connection);
    close(listener->stop);
    free(listener->url);
    free(listener);
}
