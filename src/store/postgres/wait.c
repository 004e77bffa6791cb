#include "store/postgres/wait.h"

#include <poll.h>
#include <time.h>

enum { POLL_MS_MAX = 3600000 };

int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket can be used; the events that came, 0 when `until_ms` (0 = never) has passed. */
static short socket_wait(const PGconn *connection, short events, int64_t until_ms)
{
    struct pollfd polled = {.fd = PQsocket(connection), .events = events};
    for (;;) {
        int64_t left_ms = until_ms ? until_ms - monotonic_ms() : POLL_MS_MAX;
        if (left_ms <= 0) {
            return 0;
        }
        if (poll(&polled, 1, (int)(left_ms < POLL_MS_MAX ? left_ms : POLL_MS_MAX)) > 0) {
            return polled.revents;
        }
    }
}

bool answer_wait(PGconn *connection, int64_t silence_ms)
{
    int64_t until_ms = silence_ms ? monotonic_ms() + silence_ms : 0;
    for (;;) {
        int unsent = PQflush(connection);
        if (unsent < 0 || !PQisBusy(connection) || PQsocket(connection) < 0) {
            return true;
        }
        short events = socket_wait(connection, (short)(POLLIN | (unsent ? POLLOUT : 0)), until_ms);
        if (events == 0) {
            return false;
        }
        if (events & ~POLLOUT) {
            if (!PQconsumeInput(connection)) {
                return true;
            }
            until_ms = silence_ms ? monotonic_ms() + silence_ms : 0;
        }
    }
}

PGconn *connect_within(const char *const *keys, const char *const *values, int64_t limit_ms)
{
    PGconn *connection = PQconnectStartParams(keys, values, 1);
    int64_t until_ms = monotonic_ms() + limit_ms;
    PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
    while (connection && PQstatus(connection) != CONNECTION_BAD &&
           (wanted == PGRES_POLLING_WRITING || wanted == PGRES_POLLING_READING)) {
        if (socket_wait(connection, wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ms) == 0) {
            break;
        }
        wanted = PQconnectPoll(connection);
    }
    PQsetnonblocking(connection, 1);
    return connection;
}

PGresult *ask_within(PGconn *connection, const char *text, int count, const char *const *values, int64_t silence_ms)
{
    PGresult *last = NULL;
    if (!PQsendQueryParams(connection, text, count, NULL, values, NULL, NULL, 0)) {
        return NULL;
    }
    for (;;) {
        PGresult *next = answer_wait(connection, silence_ms) ? PQgetResult(connection) : NULL;
        if (!next) {
            return last;
        }
        PQclear(last);
        last = next;
    }
}
