// The modes of the load generator. Each mode prints one line of `name=value` pairs on stdout.
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include "client.h"

enum { MAX_PIDS = 16 };

struct options {
    struct target target;
    int connections;
    int sessions;
    int events;            // per request (append), per session (fill, replay), in total (sse), per stream (relay)
    int count;             // sessions to fill or claim, requests to list, replays to read
    int bytes;             // of one event
    int seconds;           // measured, after one of warming up
    int rate;              // pieces a second in each stream
    int provider;          // port to play the model provider on
    int json;              // replay pages of JSON instead of a stream
    int chain;             // every settlement claims the next session
    int silent;            // claims: no heartbeats
    const char *session;   // an existing session, instead of a new one
    const char *query;     // list
    const char *subscribe; // path that streams, instead of the session's
    const char *publish;   // path that takes one bare event, instead of the session's
    int pids[MAX_PIDS];    // of the server under test
    int pid_count;
};

void mode_append(const struct options *options);
void mode_sse(const struct options *options);
void mode_replay(const struct options *options);
void mode_claims(const struct options *options);
void mode_list(const struct options *options);
void mode_relay(const struct options *options);
void mode_fill(const struct options *options);

// Opens `count` connections; the caller closes them with connections_close.
struct connection *connections_open(const struct options *options, int count);
void connections_close(struct connection *connections, int count);

// Creates a session of type agent in the given initial status; writes its id.
void session_create(struct connection *connection, const struct options *options, const char *status, char out_id[129]);

// Sums over the server's processes.
double server_cpu_s(const struct options *options);
// How long their threads were ready to run and had no processor: what neighbours cost.
double server_queued_s(const struct options *options);
long server_rss_kb(const struct options *options);

#endif
