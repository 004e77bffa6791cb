// A lean HTTP/1.1 (and RESP) client for one thread: keep-alive connections in a closed loop, one send and one recv per
// request in the normal case. It shares the machine with the server it measures, so it parses only the status and the
// length of an answer. Any failure to talk ends the process with a message: a benchmark that lost a request has no
// result.
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where to connect and what every request carries. `token` may be NULL.
struct target {
    const char *host;
    int port;
    int is_resp; // speaks the protocol of Redis instead of HTTP
    const char *token;
};

// Bytes that grow; `bytes` is owned.
struct text {
    char *bytes;
    size_t size;
    size_t capacity;
};

// One connection with at most one request in flight. The caller fills `request` and calls connections_run; the answer
// is in `status` (200.., or 200/500 for RESP) and, when `keep_body` is set, in body_at/body_size until the next send.
struct connection {
    int fd;
    int index;
    bool is_resp;
    bool keep_body;
    struct text request; // owned; bytes to send
    struct text answer;  // owned; head and, when kept, body
    size_t sent_bytes;
    size_t body_at; // 0 until the head is complete
    size_t body_size;
    size_t pending_bytes; // of a body that is thrown away
    bool is_chunked;
    int status;
    uint64_t start_ns;
    int step; // for the mode that drives the connection
    int item;
};

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t now_ns(void);
// A number below `limit` from a fixed sequence, so that two runs draw the same.
unsigned draw(unsigned limit);

void text_append(struct text *text, const void *bytes, size_t size);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_release(struct text *text);

// Blocking connect with TCP_NODELAY; the caller closes the descriptor.
int target_connect(const struct target *target);

// Replaces `out` by a whole request. `headers` is "" or lines ending in CRLF; `body` may be NULL for none.
void request_build(struct text *out, const struct target *target, const char *method, const char *path,
                   const char *headers, const struct text *body);

void connection_open(struct connection *connection, const struct target *target, int index);
void connection_close(struct connection *connection);

// Sends the prepared request and waits for the answer; for set-up work outside the measured loop.
void connection_call(struct connection *connection);
const char *connection_body(const struct connection *connection);

// Runs a closed loop over the connections: sends every prepared request and calls `on_answer` per complete answer,
// which returns true when `request` is ready for the next round, false to leave the connection idle. Returns when all
// are idle.
void connections_run(struct connection *connections, int count, bool (*on_answer)(struct connection *, void *),
                     void *state);

// Ends the process unless the answer has one of the 2xx codes.
void connection_expect_success(const struct connection *connection, const char *what);

// Copies the string value that follows `"name":"` after `from` into `out`; returns where it ended, or NULL.
const char *json_find_string(const char *from, const char *name, char *out, size_t out_size);
// Reads the number that follows `"name":`; -1 when absent.
long json_find_number(const char *from, const char *name);

#endif
