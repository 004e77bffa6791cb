// What SQLite itself can do with the event table, without a server around it:
//   sqlite_loop append --db FILE            commits 256 rows at a time for 5 seconds, 64 sessions interleaved
//   sqlite_loop replay --db FILE --port P   fills one session and writes it to every client that connects, row by row
//   sqlite_loop replay --db FILE            the same, written to /dev/null 100 times
// WAL and synchronous=FULL, as the server has it.
#include "../event.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROWS_PER_COMMIT = 256, SESSIONS = 64, REPLAY_EVENTS = 10000, EVENT_BYTES = 300, WRITE_BYTES = 65536 };

static const char SCHEMA[] =
    "pragma journal_mode=wal; pragma synchronous=full;"
    "create table event (id integer primary key, session integer not null, sequence integer not "
    "null, type text not null, role text, created_at_ms integer not null, body text not null);"
    "create unique index event_session_sequence on event (session, sequence);";
static const char INSERT[] = "insert into event (session, sequence, type, role, created_at_ms, body) "
                             "values ($1, $2, 'bench.event', 'agent', $3, $4)";
static const char SELECT[] = "select sequence, type, role, created_at_ms, body from event "
                             "where session = 1 and sequence > 0 order by sequence";

static void check(sqlite3 *db, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        die("sqlite: %s", sqlite3_errmsg(db));
    }
}

static sqlite3 *database_open(const char *path)
{
    sqlite3 *db;
    check(NULL, sqlite3_open(path, &db));
    check(db, sqlite3_exec(db, SCHEMA, NULL, NULL, NULL));
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
    return statement;
}

static void insert_row(sqlite3 *db, sqlite3_stmt *insert, long session, long sequence, const struct text *event)
{
    sqlite3_bind_int64(insert, 1, session);
    sqlite3_bind_int64(insert, 2, sequence);
    sqlite3_bind_int64(insert, 3, (sqlite3_int64)(now_ns() / 1000000));
    sqlite3_bind_text(insert, 4, event->bytes, (int)event->size, SQLITE_STATIC);
    check(db, sqlite3_step(insert));
    sqlite3_reset(insert);
}

static void append_for(sqlite3 *db, int seconds)
{
    sqlite3_stmt *insert = prepare(db, INSERT);
    struct text event = {0};
    event_append(&event, EVENT_BYTES, 0);
    long rows = 0;
    uint64_t start = now_ns();
    uint64_t end = start + (uint64_t)seconds * 1000000000u;
    while (now_ns() < end) {
        check(db, sqlite3_exec(db, "begin", NULL, NULL, NULL));
        for (int i = 0; i < ROWS_PER_COMMIT; i++, rows++) {
            insert_row(db, insert, rows % SESSIONS + 1, rows / SESSIONS + 1, &event);
        }
        check(db, sqlite3_exec(db, "commit", NULL, NULL, NULL));
    }
    printf("events_per_s=%.0f\n", (double)rows * 1e9 / (double)(now_ns() - start));
    sqlite3_finalize(insert);
    text_release(&event);
}

static void replay_fill(sqlite3 *db)
{
    sqlite3_stmt *insert = prepare(db, INSERT);
    struct text event = {0};
    check(db, sqlite3_exec(db, "begin", NULL, NULL, NULL));
    for (long i = 0; i < REPLAY_EVENTS; i++) {
        event.size = 0;
        event_append(&event, EVENT_BYTES, i);
        insert_row(db, insert, 1, i + 1, &event);
    }
    check(db, sqlite3_exec(db, "commit", NULL, NULL, NULL));
    sqlite3_finalize(insert);
    text_release(&event);
}

static bool write_all(int fd, struct text *out)
{
    for (size_t written = 0; written < out->size;) {
        ssize_t step = write(fd, out->bytes + written, out->size - written);
        if (step <= 0) {
            return false;
        }
        written += (size_t)step;
    }
    out->size = 0;
    return true;
}

static void append_frame(struct text *out, sqlite3_stmt *select)
{
    char head[160];
    int size =
        snprintf(head, sizeof head,
                 "id: %lld\ndata: {\"sequence\":%lld,\"created_at\":%lld,\"event\":", sqlite3_column_int64(select, 0),
                 sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 3));
    text_append(out, head, (size_t)size);
    text_append(out, sqlite3_column_text(select, 4), (size_t)sqlite3_column_bytes(select, 4));
    text_append(out, "}\n\n", 3);
}

static void replay_to(sqlite3_stmt *select, int fd)
{
    static struct text out;
    out.size = 0;
    text_print(&out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    bool is_open = true;
    while (is_open && sqlite3_step(select) == SQLITE_ROW) {
        append_frame(&out, select);
        if (out.size >= WRITE_BYTES) {
            is_open = write_all(fd, &out);
        }
    }
    if (is_open) {
        write_all(fd, &out);
    }
    sqlite3_reset(select);
}

static void replay_to_nowhere(sqlite3_stmt *select)
{
    enum { TIMES = 100 };
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    uint64_t start = now_ns();
    for (int i = 0; i < TIMES; i++) {
        replay_to(select, fd);
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("replays_per_s=%.2f events_per_s=%.0f\n", TIMES / seconds, TIMES * REPLAY_EVENTS / seconds);
    close(fd);
}

static void replay_serve(sqlite3_stmt *select, int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0) {
        die("cannot listen on port %d", port);
    }
    for (;;) {
        char request[4096];
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && recv(fd, request, sizeof request, 0) > 0) {
            replay_to(select, fd);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
}

int main(int argc, char **argv)
{
    bool is_append = argc == 4 && strcmp(argv[1], "append") == 0;
    bool is_replay = (argc == 4 || argc == 6) && strcmp(argv[1], "replay") == 0;
    if (!is_append && !is_replay) {
        die("usage: sqlite_loop append|replay --db FILE [--port PORT]");
    }
    sqlite3 *db = database_open(argv[3]);
    if (is_append) {
        append_for(db, 5);
    } else {
        replay_fill(db);
        sqlite3_stmt *select = prepare(db, SELECT);
        if (argc == 6) {
            replay_serve(select, atoi(argv[5]));
        }
        replay_to_nowhere(select);
        sqlite3_finalize(select);
    }
    sqlite3_close(db);
    return 0;
}
