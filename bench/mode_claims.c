// Workers that claim, heartbeat and settle one session after the other until the queue is empty. With --chain the
// settlement asks for the next session; with --silent nobody sends heartbeats.
#include "load.h"
#include "samples.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// As the peers, whose workers get their job and hear no more of it when it is done.
#define MINIMAL "Prefer: return=minimal\r\n"

enum step { STEP_CLAIM, STEP_HEARTBEAT, STEP_SETTLE };
enum { FILLING_CONNECTIONS = 64, ID_SIZE = 129, TOKEN_SIZE = 129 };

struct claims {
    const struct options *options;
    struct text claim_body;
    struct text heartbeat_body;
    struct text settle_body;
    int left; // sessions to create
    int settled;
    struct samples samples;
    uint64_t started_ns[1024];
    char ids[1024][ID_SIZE];
    char leases[1024][TOKEN_SIZE + 64]; // whole header lines
};

static bool session_created(struct connection *connection, void *state)
{
    struct claims *claims = state;
    connection_expect_success(connection, "create a session");
    return claims->left-- > 0;
}

static void create_pending(struct claims *claims)
{
    const struct options *options = claims->options;
    struct text body = {0};
    text_print(&body, "{\"type\":\"agent\",\"agent\":\"bench\",\"status\":\"pending\"}");
    int count = options->count < FILLING_CONNECTIONS ? options->count : FILLING_CONNECTIONS;
    struct connection *connections = connections_open(options, count);
    for (int i = 0; i < count; i++) {
        request_build(&connections[i].request, &options->target, "POST", "/api/sessions", "", &body);
    }
    claims->left = options->count - count;
    connections_run(connections, count, session_created, claims);
    connections_close(connections, count);
    text_release(&body);
}

static void prepare_claim(struct claims *claims, struct connection *worker)
{
    worker->step = STEP_CLAIM;
    claims->started_ns[worker->index] = now_ns();
    request_build(&worker->request, &claims->options->target, "POST", "/api/claims", MINIMAL, &claims->claim_body);
}

static void prepare_step(struct claims *claims, struct connection *worker, enum step step, const char *verb,
                         const struct text *body)
{
    char path[256];
    worker->step = (int)step;
    snprintf(path, sizeof path, "/api/sessions/%s/%s", claims->ids[worker->index], verb);
    request_build(&worker->request, &claims->options->target, "POST", path, claims->leases[worker->index], body);
}

static bool take_claim(struct claims *claims, struct connection *worker)
{
    char token[TOKEN_SIZE];
    const char *body = connection_body(worker);
    const char *claimed = strstr(body, "\"claims\":[");
    const char *session = claimed ? strstr(claimed, "\"session\":") : NULL;
    const char *lease = session ? strstr(session, "\"lease\":{") : NULL;
    if (!lease) {
        return false;
    }
    if (!json_find_string(session, "id", claims->ids[worker->index], ID_SIZE) ||
        !json_find_string(lease, "token", token, sizeof token)) {
        die("a claim without id or token: %s", body);
    }
    snprintf(claims->leases[worker->index], sizeof claims->leases[0], MINIMAL "Sojourn-Lease: %s\r\n", token);
    if (claims->options->silent) {
        prepare_step(claims, worker, STEP_SETTLE, "settle", &claims->settle_body);
    } else {
        prepare_step(claims, worker, STEP_HEARTBEAT, "lease", &claims->heartbeat_body);
    }
    return true;
}

static bool claims_answered(struct connection *worker, void *state)
{
    static const char *const names[] = {"claim", "heartbeat", "settle"};
    struct claims *claims = state;
    connection_expect_success(worker, names[worker->step]);
    switch ((enum step)worker->step) {
    case STEP_CLAIM:
        return take_claim(claims, worker);
    case STEP_HEARTBEAT:
        prepare_step(claims, worker, STEP_SETTLE, "settle", &claims->settle_body);
        return true;
    case STEP_SETTLE:
        samples_add(&claims->samples, now_ns() - claims->started_ns[worker->index]);
        claims->settled++;
        claims->started_ns[worker->index] = now_ns();
        if (claims->options->chain) {
            return take_claim(claims, worker);
        }
        prepare_claim(claims, worker);
        return true;
    }
    return false;
}

void mode_claims(const struct options *options)
{
    static struct claims claims;
    claims.options = options;
    if (options->connections > 1024) {
        die("--connections: at most 1024 workers");
    }
    text_print(&claims.claim_body,
               "{\"worker\":\"bench\",\"agents\":[\"bench\"],\"types\":[\"agent\"],\"max\":1,\"wait_ms\":0,"
               "\"lease_ms\":30000}");
    text_print(&claims.heartbeat_body, "{}");
    if (options->chain) {
        text_print(&claims.settle_body, "{\"status\":\"completed\",\"claim\":%s}", claims.claim_body.bytes);
    } else {
        text_print(&claims.settle_body, "{\"status\":\"completed\"}");
    }
    create_pending(&claims);
    struct connection *workers = connections_open(options, options->connections);
    for (int i = 0; i < options->connections; i++) {
        workers[i].keep_body = true;
        prepare_claim(&claims, &workers[i]);
    }
    double server_s = server_cpu_s(options);
    clock_t client = clock();
    uint64_t start = now_ns();
    connections_run(workers, options->connections, claims_answered, &claims);
    double seconds = (double)(now_ns() - start) / 1e9;
    double client_s = (double)(clock() - client) / CLOCKS_PER_SEC;
    server_s = server_cpu_s(options) - server_s;
    if (claims.settled < options->count) {
        die("only %d of %d sessions could be claimed", claims.settled, options->count);
    }
    printf("cycles_per_s=%.0f cycles=%d server_cpu_us=%.1f client_cpu_us=%.1f p50_us=%u p99_us=%u\n",
           claims.settled / seconds, claims.settled, server_s * 1e6 / claims.settled, client_s * 1e6 / claims.settled,
           samples_percentile_us(&claims.samples, 0.5), samples_percentile_us(&claims.samples, 0.99));
    samples_release(&claims.samples);
    connections_close(workers, options->connections);
}
