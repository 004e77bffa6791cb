#include "api/core/handlers.h"
#include "service/core/watchdog.h"
#include "api/core/accounts.h"
#include "net/server.h"

static enum status system_health(struct request *request)
{
    buffer_add(&request->exchange->body, SLICE("{\"status\":\"ok\"}"));
    return STATUS_OK;
}

struct metric {
    const char *name;
    const char *kind;
    const char *text;
    int64_t value;
};

static void write_metrics(struct buffer *body, const struct metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_format(body, "# HELP sojourn_%s %s\n# TYPE sojourn_%s %s\nsojourn_%s %lld\n", metrics[i].name,
                      metrics[i].text, metrics[i].name, metrics[i].kind, metrics[i].name, (long long)metrics[i].value);
    }
}

static void write_watchdogs(struct buffer *body, const struct service *service)
{
    for (int i = 0; i < WATCHDOG_COUNT; i++) {
        const char *name = watchdog_enum.names[i];
        buffer_format(body,
                      "# HELP sojourn_watchdog_%s_total Times this watchdog acted.\n"
                      "# TYPE sojourn_watchdog_%s_total counter\nsojourn_watchdog_%s_total %lld\n",
                      name, name, name, (long long)service->watchdog_record->findings[i]);
    }
}

/* Whole-server figures only: no tenant is named or told apart. */
static enum status system_metrics(struct request *request)
{
    struct api *api = request->api;
    struct server_stats net;
    struct fanout_stats fan;
    struct writer_stats writer;
    struct budget_stats budget;
    if (!api->metrics_public) {
        return failure_set(&request->call.failure, STATUS_NOT_FOUND, "not_found", "There is nothing here.");
    }
    server_figures_read(api->server, &net);
    fanout_figures_read(api->fanout, &fan);
    writer_figures_read(api->writer, &writer);
    budget_stats_read(&budget);
    const struct metric metrics[] = {
        {"connections", "gauge", "Open connections.", net.connections},
        {"connections_total", "counter", "Connections accepted.", net.connections_total},
        {"requests_total", "counter", "Requests received.", net.requests_total},
        {"requests_refused_total", "counter", "Requests refused before they reached a handler.", net.refused_total},
        {"bytes_received_total", "counter", "Bytes read from clients.", net.bytes_in},
        {"bytes_sent_total", "counter", "Bytes written to clients.", net.bytes_out},
        {"streams", "gauge", "Open event streams.", net.streams},
        {"request_bytes_held", "gauge", "Memory that requests and answers are counted for.",
         accounts_held(api->accounts)},
        {"viewers", "gauge", "Viewers of sessions and firehoses.", fan.viewers},
        {"watched_sessions", "gauge", "Sessions with at least one viewer.", fan.watched_sessions},
        {"frames_sent_total", "counter", "Frames sent to viewers.", fan.frames_sent},
        {"frame_bytes_sent_total", "counter", "Bytes of frames sent to viewers.", fan.bytes_sent},
        {"slow_viewers_total", "counter", "Times a viewer fell behind and was switched to the store.", fan.slow_total},
        {"store_pages_total", "counter", "Pages read for viewers.", fan.store_pages},
        {"write_jobs_total", "counter", "Commands run by the writer.", writer.jobs},
        {"group_commits_total", "counter", "Transactions committed.", writer.groups},
        {"commit_failures_total", "counter", "Transactions that could not be committed.", writer.commit_failures},
        {"write_retries_total", "counter", "Commands run again alone after their group was rolled back.",
         writer.retries_alone},
        {"write_queue_length", "gauge", "Commands that wait for the writer.", writer.queue_length},
        {"read_queue_length", "gauge", "Queries that wait for a reader.", readers_queue_length(api->readers)},
        {"claims_waiting", "gauge", "Workers that wait for work.", writer.parked},
        {"timers_fired_total", "counter", "Durable timers fired.", writer.timers_fired},
        {"steps_total", "counter", "Work of all commands and queries, in steps.", budget.steps},
        {"steps_refusals_total", "counter", "Commands and queries that took too many steps.", budget.steps_refusals},
        {"deadline_refusals_total", "counter", "Commands and queries that took too long.", budget.deadline_refusals},
        {"start_time_ms", "gauge", "When the server started, in milliseconds since 1970.", api->started_at_ms},
    };
    request->exchange->content_type = "text/plain; version=0.0.4; charset=utf-8";
    write_metrics(&request->exchange->body, metrics, sizeof metrics / sizeof *metrics);
    write_watchdogs(&request->exchange->body, api->service);
    return STATUS_OK;
}

const struct route system_routes[] = {
    {HTTP_GET, "/healthz", system_health, .run_on = RUN_LOOP, .auth = AUTH_NONE, .answer = "Health",
     .summary = "The process is running."},
    {HTTP_GET, "/readyz", system_ready, .run_on = RUN_LOOP, .auth = AUTH_NONE, .answer = "Health",
     .summary = "The server accepts requests and its database answers."},
    {HTTP_GET, "/metrics", system_metrics, .run_on = RUN_LOOP, .auth = AUTH_NONE,
     .summary = "Metrics in the Prometheus text format."},
    {HTTP_GET, "/api/openapi.json", system_openapi, .run_on = RUN_LOOP, .auth = AUTH_NONE, .summary = "This document."},
    {0},
};
