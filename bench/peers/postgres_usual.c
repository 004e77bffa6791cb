// The usual way to keep a log in PostgreSQL: read the highest sequence of the session, insert the next one, try again
// when somebody else was faster. Prepared statements, autocommit, one connection per client, all driven by one thread.
//   postgres_usual CONNINFO CLIENTS SESSIONS SECONDS [own]
// Every append goes to a session drawn at random, as in `load append`; with "own" each client keeps to one session, so
// that with as many sessions as clients nobody is ever in the way: the kindest case for this design.
#include "../event.h"
#include "../samples.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENT_BYTES = 300 };
enum step { STEP_READ, STEP_INSERT };

struct client {
    PGconn *conn;
    PGresult *result; // complete, but the server has not yet said that it is ready for the next query
    enum step step;
    char session[16];
    char sequence[24];
    uint64_t start_ns;
};

struct run {
    struct client *clients;
    int count;
    int sessions;
    bool keeps_own;
    int in_flight;
    struct text event;
    uint64_t measure_from_ns;
    uint64_t measure_to_ns;
    long conflicts;
    struct samples samples;
};

static const char SCHEMA[] =
    "drop table if exists event;"
    "create table event (id bigint generated always as identity primary key, session bigint not null, sequence bigint "
    "not "
    "null, type text not null, role text, created_at timestamptz not null default now(), body jsonb not null, "
    "unique (session, sequence))";
static const char READ[] = "select coalesce(max(sequence), 0) + 1 from event where session = $1::bigint";
static const char INSERT[] = "insert into event (session, sequence, type, role, body) "
                             "values ($1::bigint, $2::bigint, 'bench.event', 'agent', $3::jsonb)";

static void expect(PGconn *conn, PGresult *result, ExecStatusType wanted)
{
    if (PQresultStatus(result) != wanted) {
        die("postgres: %s", PQerrorMessage(conn));
    }
    PQclear(result);
}

static void client_open(struct client *client, const char *conninfo, int session)
{
    client->conn = PQconnectdb(conninfo);
    if (PQstatus(client->conn) != CONNECTION_OK) {
        die("postgres: %s", PQerrorMessage(client->conn));
    }
    snprintf(client->session, sizeof client->session, "%d", session);
    expect(client->conn, PQprepare(client->conn, "read", READ, 1, NULL), PGRES_COMMAND_OK);
    expect(client->conn, PQprepare(client->conn, "insert", INSERT, 3, NULL), PGRES_COMMAND_OK);
}

static void client_send(struct run *run, struct client *client, enum step step)
{
    const char *values[] = {client->session, client->sequence, run->event.bytes};
    client->step = step;
    int parameters = step == STEP_READ ? 1 : 3;
    const char *name = step == STEP_READ ? "read" : "insert";
    if (!PQsendQueryPrepared(client->conn, name, parameters, values, NULL, NULL, 0)) {
        die("postgres: %s", PQerrorMessage(client->conn));
    }
    while (PQflush(client->conn) == 1)
        ;
}

static void client_start(struct run *run, struct client *client)
{
    if (!run->keeps_own) {
        snprintf(client->session, sizeof client->session, "%u", draw((unsigned)run->sessions) + 1);
    }
    client->start_ns = now_ns();
    client_send(run, client, STEP_READ);
}

static void insert_done(struct run *run, struct client *client)
{
    uint64_t now = now_ns();
    if (now >= run->measure_to_ns) {
        run->in_flight--;
        return;
    }
    if (now >= run->measure_from_ns) {
        samples_add(&run->samples, now - client->start_ns);
    }
    client_start(run, client);
}

static void take_result(struct run *run, struct client *client)
{
    const char *code = PQresultErrorField(client->result, PG_DIAG_SQLSTATE);
    bool is_conflict = code && strcmp(code, "23505") == 0;
    if (code && !is_conflict) {
        die("postgres: %s", PQerrorMessage(client->conn));
    }
    if (client->step == STEP_READ) {
        snprintf(client->sequence, sizeof client->sequence, "%s", PQgetvalue(client->result, 0, 0));
    }
    PQclear(client->result);
    client->result = NULL;
    run->conflicts += is_conflict;
    if (client->step == STEP_READ) {
        client_send(run, client, STEP_INSERT);
    } else if (is_conflict) {
        client_send(run, client, STEP_READ);
    } else {
        insert_done(run, client);
    }
}

static void client_read(struct run *run, struct client *client)
{
    if (!PQconsumeInput(client->conn)) {
        die("postgres: %s", PQerrorMessage(client->conn));
    }
    while (!PQisBusy(client->conn)) {
        PGresult *next = PQgetResult(client->conn);
        if (!next) {
            if (client->result) {
                take_result(run, client);
            }
            return;
        }
        client->result = next;
    }
}

static void run_clients(struct run *run)
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < run->count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &run->clients[i]};
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, PQsocket(run->clients[i].conn), &event);
        client_start(run, &run->clients[i]);
    }
    while (run->in_flight > 0) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll_fd, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            client_read(run, events[i].data.ptr);
        }
    }
    close(epoll_fd);
}

int main(int argc, char **argv)
{
    if (argc != 5 && (argc != 6 || strcmp(argv[5], "own") != 0)) {
        die("usage: postgres_usual CONNINFO CLIENTS SESSIONS SECONDS [own]");
    }
    int seconds = atoi(argv[4]);
    struct run run = {.count = atoi(argv[2]), .sessions = atoi(argv[3]), .keeps_own = argc == 6};
    run.clients = calloc((size_t)run.count, sizeof *run.clients);
    event_append(&run.event, EVENT_BYTES, 0);
    PGconn *setup = PQconnectdb(argv[1]);
    PQexec(setup, "set client_min_messages to warning");
    expect(setup, PQexec(setup, SCHEMA), PGRES_COMMAND_OK);
    PQfinish(setup);
    for (int i = 0; i < run.count; i++) {
        client_open(&run.clients[i], argv[1], i % run.sessions + 1);
    }
    run.in_flight = run.count;
    run.measure_from_ns = now_ns() + 1000000000u;
    run.measure_to_ns = run.measure_from_ns + (uint64_t)seconds * 1000000000u;
    run_clients(&run);
    printf("events_per_s=%.0f p50_us=%u p99_us=%u conflicts=%ld\n", (double)run.samples.count / seconds,
           samples_percentile_us(&run.samples, 0.5), samples_percentile_us(&run.samples, 0.99), run.conflicts);
    for (int i = 0; i < run.count; i++) {
        PQfinish(run.clients[i].conn);
    }
    return 0;
}
