#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "store/postgres/connection.h"

#define LISTENER_NAME "sojourn listener"

enum { RETRY_MS = 1000, ANNOUNCE_EVERY_MS = 10000 };

struct postgres_listener {
    PGconn *connection; /* NULL = lost */
    struct terms terms;
    struct hosts hosts;
    struct greeting greeting;
    int stop; /* an eventfd, readable once stopped */
    int64_t announced_ms;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum status execute(const struct postgres_listener *listener, const char *text, PGresult **out,
                           struct failure *failure)
{
    PGresult *result = ask_within(listener->connection, text, 0, NULL, listener->terms.answer_ms);
    ExecStatusType got = PQresultStatus(result);
    enum status status = got == PGRES_COMMAND_OK || got == PGRES_TUPLES_OK
                             ? STATUS_OK
                             : trouble_from_result(result, TROUBLE_READING, failure);
    if (status == STATUS_OK && out) {
        *out = result;
    } else {
        PQclear(result);
    }
    return status;
}

static enum status announce(const struct postgres_listener *listener, struct failure *failure)
{
    char text[160];
    snprintf(text, sizeof text, "select pg_notify('" NOTIFY_CHANNEL "', '%.*s " NOTIFY_HERE "' || " NOTIFY_OWN ")",
             SLICE_ARG(notify_origin()));
    return execute(listener, text, NULL, failure);
}

/* Whoever listens already has heard our announcement; whoever begins after it looks too, and sees us. */
static enum status look_for_others(const struct postgres_listener *listener, struct failure *failure)
{
    PGresult *result = NULL;
    enum status status = execute(listener,
                                 "select 1 from pg_stat_activity where application_name = '" LISTENER_NAME "'"
                                 " and datname = current_database() and pid <> pg_backend_pid()",
                                 &result, failure);
    if (status == STATUS_OK && PQntuples(result) > 0) {
        notify_heard();
    }
    PQclear(result);
    return status;
}

static void disconnect(struct postgres_listener *listener)
{
    notify_listening(false);
    PQfinish(listener->connection);
    listener->connection = NULL;
}

static enum status listen_connect(struct postgres_listener *listener, struct failure *failure)
{
    enum status status =
        postgres_connect(&listener->hosts, &listener->terms, &listener->connection, &listener->greeting, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = execute(listener, "set application_name = '" LISTENER_NAME "'", NULL, failure);
    status = status == STATUS_OK ? execute(listener, "listen " NOTIFY_CHANNEL, NULL, failure) : status;
    status = status == STATUS_OK ? announce(listener, failure) : status;
    status = status == STATUS_OK ? look_for_others(listener, failure) : status;
    if (status != STATUS_OK) {
        disconnect(listener);
        return status;
    }
    listener->announced_ms = monotonic_ms();
    notify_listening(true);
    return STATUS_OK;
}

enum status postgres_listen_open(const struct db_options *options, struct postgres_listener **out,
                                 struct failure *failure)
{
    struct postgres_listener *listener = memory_zeroed(sizeof *listener);
    listener->terms = terms_of(options);
    listener->terms.writes = true; /* a standby takes no LISTEN */
    listener->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    hosts_init(&listener->hosts, listener->terms.url);
    enum status status = listen_connect(listener, failure);
    if (status != STATUS_OK) {
        postgres_listen_close(listener);
        return status;
    }
    *out = listener;
    return STATUS_OK;
}

static struct touch *touches_room(struct postgres_wake *wake, struct arena *arena, struct slice words)
{
    size_t room = 1;
    for (size_t i = 0; i < words.len; i++) {
        room += words.ptr[i] == ' ';
    }
    struct touch *touches = arena_array(arena, wake->count + room, sizeof *touches);
    if (wake->count) {
        memcpy(touches, wake->touches, wake->count * sizeof *touches);
    }
    wake->touches = touches;
    return touches;
}

/* A word of another process. */
static void word_take(struct slice word, struct postgres_wake *wake, struct touch *touches)
{
    struct slice tenant, session;
    struct touch touch;
    if (slice_is(word, NOTIFY_DOUBT)) {
        confirmation_doubt();
    } else if (slice_cut(word, ':', &tenant, &session) && slice_to_i64(tenant, &touch.tenant_key) &&
               slice_to_i64(session, &touch.session_key)) {
        touches[wake->count++] = touch;
    } else if (!slice_is(word, NOTIFY_HERE)) {
        wake->many = true;
    }
}

/* What is confirmed is also heard from this process itself. */
static void payload_take(const struct postgres_listener *listener, struct arena *arena, struct slice payload,
                         struct postgres_wake *wake)
{
    struct slice from, word;
    slice_cut(payload, ' ', &from, &payload);
    bool is_other = !slice_eq(from, notify_origin());
    struct touch *touches = is_other ? touches_room(wake, arena, payload) : NULL;
    for (bool more = true; more;) {
        more = slice_cut(payload, ' ', &word, &payload);
        if (!confirmation_hear(listener->greeting.server, word) && is_other) {
            word_take(word, wake, touches);
        }
    }
    if (is_other) {
        notify_heard();
    }
}

/* Takes all notifications that have arrived. */
static void wake_take(struct postgres_listener *listener, struct arena *arena, struct postgres_wake *wake)
{
    PGnotify *notify;
    while ((notify = PQnotifies(listener->connection))) {
        payload_take(listener, arena, slice_of(notify->extra), wake);
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
    enum status status = listen_connect(listener, failure);
    if (status == STATUS_OK) {
        out->many = true;
        return STATUS_OK;
    }
    wait_readable(listener, smaller(timeout_ms, RETRY_MS), &stopped);
    return stopped ? STATUS_GONE : status;
}

static void announce_when_due(struct postgres_listener *listener)
{
    struct failure unheard;
    int64_t now_ms = monotonic_ms();
    if (now_ms - listener->announced_ms < ANNOUNCE_EVERY_MS) {
        return;
    }
    listener->announced_ms = now_ms;
    if (announce(listener, &unheard) != STATUS_OK) {
        disconnect(listener);
    }
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
        bool readable = wait_readable(listener, smaller(left_ms, ANNOUNCE_EVERY_MS), &stopped);
        if (stopped) {
            return STATUS_GONE;
        }
        if (found || (!readable && monotonic_ms() >= deadline_ms)) {
            return STATUS_OK;
        }
        if (readable && !PQconsumeInput(listener->connection)) {
            disconnect(listener);
        } else {
            announce_when_due(listener);
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
    disconnect(listener);
    close(listener->stop);
    free(listener->terms.url);
    hosts_release(&listener->hosts);
    free(listener);
}
