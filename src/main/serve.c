#include "main/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/request.h"
#include "api/signin_guard.h"
#include "base/log.h"
#include "fanout/fanout.h"
#include "main/agents.h"
#include "main/announce.h"
#include "main/drivers.h"
#include "main/nodes.h"
#include "main/reload.h"
#include "main/sandboxing.h"
#include "net/server.h"
#include "service/identity.h"
#include "service/gateway_snapshot.h"
#include "service/secret.h"
#include "service/runners.h"
#include "service/turns.h"
#include "service/watchdog.h"
#include "store/secret_file.h"

enum { ADDRESS_BYTES = 256 };

/* Everything that runs, in the order it is started. Owned by serve(). */
struct instance {
    const struct options *options;
    struct options own_options; /* with what serve() opened */
    struct secret_place secret_place;
    struct clock clock;
    struct id_source ids;
    int lock_fd;
    struct db_options db;
    char sqlite_path[4096];
    struct service service;
    struct loop **loops;
    size_t loop_count;
    struct fanout *fanout;
    struct writer *writer;
    struct readers *readers;
    struct nodes *nodes;
    struct drivers *drivers;
    struct sandboxing *sandboxing;
    struct runtimes *runtimes;
    struct runners *runners;
    struct gateway *gateway;
    struct gateway_snapshots snapshots;
    char files_dir[4096];
    struct turns *turns;
    struct watchdogs *watchdogs;
    struct api api;
    struct server *server;
    char first_link[TOKEN_TEXT_BYTES];
    char owner_token[TOKEN_TEXT_BYTES]; /* not yet in its file */
};

/* --- what each room is told --- */

static void fill_service(struct instance *instance)
{
    const struct options *options = instance->options;
    instance->service = (struct service){
        .clock = &instance->clock,
        .ids = &instance->ids,
        .session_limits =
            {
                .metadata_bytes_max = (size_t)options->metadata_bytes_max,
                .title_chars_max = (size_t)options->title_chars_max,
                .workspace_chars_max = (size_t)options->workspace_chars_max,
                .prompt_chars_max = (size_t)options->prompt_chars_max,
                .ttl_ms =
                    {
                        [TYPE_AGENT] = options->ttl_agent_ms,
                        [TYPE_RESPONSE] = options->ttl_response_ms,
                        [TYPE_TOOL] = options->ttl_tool_ms,
                        [TYPE_MIXED] = options->ttl_mixed_ms,
                    },
            },
        .events_per_append_max = (size_t)options->events_per_append_max,
        .event_bytes_max = (size_t)options->event_bytes_max,
        .sessions_per_user_max = options->sessions_per_user_max,
        .bulk_delete_max = (size_t)options->bulk_delete_max,
        .participants_max = (size_t)options->participants_max,
        .share_links_max = (size_t)options->share_links_max,
        .children_max = options->children_max,
        .children_end_with_parent = options->end_children,
        .lease_ms_default = options->lease_ms_default,
        .lease_ms_min = options->lease_ms_min,
        .lease_ms_max = options->lease_ms_max,
        .claim_max = options->claim_max,
        .claim_attempts_max = options->claim_attempts_max,
        .prompts_queued_max = options->prompts_queued_max,
        .asks_pending_max = options->asks_pending_max,
        .ask_rules_max = options->ask_rules_max,
        .ask_expiry_ms =
            {
                [ASK_APPROVAL] = options->approval_expiry_ms,
                [ASK_QUESTION] = options->question_expiry_ms,
                [ASK_ELICITATION] = options->elicitation_expiry_ms,
            },
        .ask_link_ms = options->ask_link_ms,
        .ask_role = options->ask_role == ASK_ROLE_OWNER ? ACCESS_OWNER : ACCESS_COLLABORATOR,
        .collect_debounce_ms = options->collect_debounce_ms,
        .turns_per_session_max = options->turns_per_session_max,
        .health =
            {
                .turn_silence_ms = options->turn_silence_ms,
                .worker_silence_ms = options->worker_silence_ms,
                .stream_silence_ms = options->stream_silence_ms,
                .cut_ms = options->turn_cut_ms,
                .runner_ms = options->lease_over_ms,
                .queue_ms = options->queue_stuck_ms,
                .error_ms = options->turn_unled_ms,
                .waiting_ms = options->waiting_unasked_ms,
            },
        .human_session_ms = options->human_session_ms,
        .idempotency_keep_ms = options->idempotency_keep_ms,
        .cookie_ms = options->cookie_ms,
        .ticket_ms = options->ticket_ms,
        .link_ms = options->setup_link_ms,
        .password_chars_min = (size_t)options->password_chars_min,
        .tokens_per_user_max = (size_t)options->tokens_per_user_max,
        .delta_bytes_max = (size_t)options->delta_bytes_max,
        .cached_sessions_max = (size_t)options->cached_sessions_max,
        .agents_reach_host = options->agents_reach_host,
    };
}

static void fill_api(struct instance *instance)
{
    const struct options *options = instance->options;
    instance->api = (struct api){
        .service = &instance->service,
        .fanout = instance->fanout,
        .writer = instance->writer,
        .readers = instance->readers,
        .runners = instance->runners,
        .gateway = instance->gateway,
        .signin_guard = signin_guard_new(options->signin_attempts_max, options->signin_window_ms),
        .cors_origins = (const char *const *)options->cors_origin.items,
        .cors_origin_count = options->cors_origin.count,
        .reads_waiting_max = options->reads_waiting_max,
        .events_page_default = options->events_page_default,
        .events_page_max = options->events_page_max,
        .sessions_page_default = options->sessions_page_default,
        .sessions_page_max = options->sessions_page_max,
        .claim_wait_ms_max = options->claim_wait_ms_max,
        .prompt_wait_ms_max = options->prompt_wait_max_ms,
        .runner_frame_chars_max = options->runner_frame_chars_max,
        .wake_on_view = options->wake_on_view,
        .metrics_public = options->metrics == METRICS_PUBLIC,
        .public_url = options->public_url,
        .secure_cookies = options->tls_cert != NULL,
        .version = SOJOURN_VERSION,
        .started_at_ms = clock_wall_ms(&instance->clock),
    };
}

/* --- the store --- */

static enum status make_directory(const char *path, struct failure *failure)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_UNAVAILABLE, "no_data_directory", "The data directory %s cannot be made: %s.",
                       path, strerror(errno));
}

static enum status first_start(struct instance *instance, struct db *db, struct failure *failure)
{
    struct unit unit;
    struct arena arena = {0};
    struct publication *nothing = NULL;
    struct principal nobody = {.kind = PRINCIPAL_SYSTEM, .name = SLICE("system")};
    unit_init(&unit, &instance->service, db);
    struct call call = {
        .service = &instance->service,
        .db = db,
        .unit = &unit,
        .arena = &arena,
        .who = &nobody,
        .now_ms = clock_wall_ms(&instance->clock),
        .steady_ms = clock_steady_ms(&instance->clock),
    };
    bool made;
    enum status status = unit_begin(&unit, &call.failure);
    if (status == STATUS_OK) {
        status = identity_first_start(&call, slice_of(instance->options->bootstrap_token), &made, instance->first_link);
        if (status == STATUS_OK) {
            status = owner_token_make(instance->options->owner_token_file, &call, instance->owner_token);
        }
        if (status == STATUS_OK) {
            status = store_lease_renew_all(db, call.steady_ms, &call.failure);
        }
        if (status == STATUS_OK) {
            status = agents_share(instance->options, &call);
        }
        if (status == STATUS_OK) {
            status = unit_commit(&unit, &nothing, &call.failure);
            if (status == STATUS_OK) {
                status = owner_token_keep(instance->options->owner_token_file, instance->owner_token, &call.failure);
            }
        } else {
            unit_rollback(&unit);
        }
    }
    publication_unref(nothing);
    unit_release(&unit);
    arena_release(&arena);
    *failure = call.failure;
    return status;
}

/* Before anything that may name a provider's key. */
static enum status open_secrets(struct instance *instance, struct failure *failure)
{
    instance->secret_place = (struct secret_place){instance->options->data, instance->options->secret_key};
    enum status status = secrets_open(&instance->secret_place, &instance->own_options.secrets, failure);
    instance->service.secrets = instance->own_options.secrets;
    return status;
}

static enum status open_store(struct instance *instance, struct db **out, struct failure *failure)
{
    const struct options *options = instance->options;
    enum status status = make_directory(options->data, failure);
    if (status == STATUS_OK) {
        status = store_lock_directory(options->data, &instance->lock_fd, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(instance->sqlite_path, sizeof instance->sqlite_path, "%s/sojourn.db", options->data);
    instance->db = (struct db_options){
        .engine = options->database ? DB_POSTGRES : DB_SQLITE,
        .path = instance->sqlite_path,
        .url = options->database,
        .busy_ms = options->sqlite_busy_ms,
        .cache_kib = options->sqlite_cache_kib,
        .checkpoint_pages = options->sqlite_checkpoint_pages,
    };
    status = open_secrets(instance, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = db_open(&instance->db, out, failure);
    return status == STATUS_OK ? first_start(instance, *out, failure) : status;
}

/* --- upward calls between rooms --- */

static bool submit_read(void *owner, struct read_job *job)
{
    struct instance *instance = owner;
    return readers_submit(instance->readers, job);
}

static void save_partial(void *owner, int64_t tenant_key, int64_t session_key, const struct partial *partial)
{
    struct instance *instance = owner;
    writer_save_partial(instance->writer, tenant_key, session_key, partial);
}

static void hear_commit(void *owner, const struct publication *publication)
{
    struct instance *instance = owner;
    runtimes_hear(instance->runtimes, publication);
    turns_hear(instance->turns, publication);
    runners_hear(instance->runners, publication);
}

/* --- start --- */

static void start_loops(struct instance *instance)
{
    instance->loop_count = (size_t)instance->options->loop_threads;
    instance->loops = memory_zeroed(instance->loop_count * sizeof *instance->loops);
    for (size_t i = 0; i < instance->loop_count; i++) {
        instance->loops[i] = loop_new((int)i);
    }
}

static void start_fanout(struct instance *instance)
{
    const struct options *options = instance->options;
    struct fanout_options fanout = {
        .clock = &instance->clock,
        .heartbeat_ms = options->heartbeat_ms,
        .partial_flush_ms = options->partial_flush_ms,
        .tail_bytes_max = (size_t)options->stream_tail_bytes,
        .window_bytes_max = (size_t)options->delta_window_bytes,
        .page_events = options->stream_page_events,
        .viewers_max = (size_t)options->viewers_max,
        .owner = instance,
        .submit_read = submit_read,
        .save_partial = save_partial,
    };
    instance->fanout = fanout_new(&fanout, instance->loops, instance->loop_count);
}

static enum status start_workers(struct instance *instance, struct db *db, struct failure *failure)
{
    const struct options *options = instance->options;
    struct writer_options writer = {
        .service = &instance->service,
        .db = db,
        .fanout = instance->fanout,
        .group_max = (size_t)options->group_commit_max,
        .queue_max = (size_t)options->commands_waiting_max,
        .on_thread_end = api_thread_end,
        .on_commit = hear_commit,
        .on_commit_owner = instance,
    };
    instance->writer = writer_new(&writer);
    struct readers_options readers = {
        .db = instance->db,
        .count = (size_t)options->reader_threads,
        .on_thread_end = api_thread_end,
    };
    readers.db.read_only = true;
    return readers_new(&readers, &instance->readers, failure);
}

static enum status start_nodes(struct instance *instance, struct failure *failure)
{
    struct nodes_options nodes = {
        .url = instance->options->database,
        .poll_ms = instance->options->postgres_poll_ms,
        .fanout = instance->fanout,
        .writer = instance->writer,
        .turns = instance->turns,
        .runners = instance->runners,
        .runtimes = instance->runtimes,
    };
    return instance->db.engine == DB_POSTGRES ? nodes_start(&nodes, &instance->nodes, failure) : STATUS_OK;
}

static void leave_backends(void *owner)
{
    struct instance *instance = owner;
    sandboxing_leave(instance->sandboxing, instance->loops[0]);
}

static void start_runtimes(struct instance *instance)
{
    const struct options *options = instance->options;
    instance->sandboxing = sandboxing_new(options);
    struct runtimes_options runtimes = {
        .service = &instance->service,
        .writer = instance->writer,
        .fanout = instance->fanout,
        .loop = instance->loops[0],
        .sandboxes = sandboxing_registry(instance->sandboxing),
        .idle_grace_ms = options->idle_grace_ms,
        .idle_grace_automated_ms = options->idle_grace_automated_ms,
        .snapshot_failures_max = options->snapshot_failures_max,
        .tool_call_ms = options->gateway_call_ms_max,
        .lock_ms = options->runtime_lock_ms,
        .owner = instance,
        .on_stopped = leave_backends,
    };
    for (int kind = 0; kind < DRIVER_COUNT; kind++) {
        runtimes.drivers[kind] = drivers_of(instance->drivers, (enum agent_driver)kind);
    }
    instance->runtimes = runtimes_new(&runtimes);
}

static void start_runners(struct instance *instance)
{
    struct runners_options runners = {
        .service = &instance->service,
        .writer = instance->writer,
        .loop = instance->loops[0],
        .grace_ms = instance->options->runner_grace_ms,
        .lost_ms = instance->options->runner_lost_ms,
        .silence_ms = instance->options->runner_silence_ms,
    };
    instance->runners = runners_new(&runners);
}

static void start_gateway(struct instance *instance)
{
    struct gateway_options gateway = {
        .service = &instance->service,
        .writer = instance->writer,
        .read_owner = instance,
        .submit_read = submit_read,
        .files_dir = instance->files_dir,
        .timeout_ms = instance->options->gateway_timeout_ms,
        .result_bytes_max = (size_t)instance->options->gateway_result_bytes_max,
        .snapshot_owner = &instance->snapshots,
        .snapshot = gateway_snapshot_take,
    };
    instance->snapshots = (struct gateway_snapshots){
        .runtimes = instance->runtimes,
        .sandboxes = sandboxing_registry(instance->sandboxing),
        .loop = instance->loops[0],
    };
    snprintf(instance->files_dir, sizeof instance->files_dir, "%s/files", instance->options->data);
    instance->gateway = gateway_new(&gateway);
}

static void start_turns(struct instance *instance)
{
    const struct options *options = instance->options;
    struct turns_options turns = {
        .service = &instance->service,
        .writer = instance->writer,
        .fanout = instance->fanout,
        .loop = instance->loops[0],
        .read_owner = instance,
        .submit_read = submit_read,
        .runtimes = instance->runtimes,
        .turns_max = options->turns_max,
        .interrupt_ms = options->interrupt_ms,
        .history_events_max = options->history_events_max,
        .said_bytes_max = (size_t)options->said_bytes_max,
    };
    for (int kind = 0; kind < DRIVER_COUNT; kind++) {
        turns.drivers[kind] = drivers_of(instance->drivers, (enum agent_driver)kind);
    }
    start_runners(instance);
    start_gateway(instance);
    turns.drivers[DRIVER_RUNNER] = runners_driver(instance->runners);
    turns.ready_owner = instance->runners;
    turns.take_ready = runners_take_ready;
    instance->turns = turns_new(&turns);
}

static void start_watchdogs(struct instance *instance)
{
    struct watchdogs_options watchdogs = {
        .service = &instance->service,
        .writer = instance->writer,
        .loop = instance->loops[0],
        .sweep_ms = instance->options->watchdog_sweep_ms,
        .sessions_max = instance->options->watchdog_sessions_max,
    };
    instance->watchdogs = watchdogs_new(&watchdogs);
    watchdogs_start(instance->watchdogs);
}

static void start_server(struct instance *instance)
{
    const struct options *options = instance->options;
    struct server_options server = {
        .limits =
            {
                .header_bytes_max = (size_t)options->header_bytes_max,
                .uri_bytes_max = (size_t)options->uri_bytes_max,
                .header_count_max = (size_t)options->header_count_max,
                .body_bytes_max = (size_t)options->body_bytes_max,
                .pipeline_max = (size_t)options->pipeline_max,
                .connections_max = (size_t)options->connections_max,
                .header_timeout_ms = options->header_timeout_ms,
                .body_timeout_ms = options->body_timeout_ms,
                .idle_timeout_ms = options->idle_timeout_ms,
                .write_timeout_ms = options->write_timeout_ms,
            },
        .tls_cert_path = options->tls_cert,
        .tls_key_path = options->tls_key,
        .clock = &instance->clock,
        .ids = &instance->ids,
        .owner = &instance->api,
        .on_request = api_on_request,
    };
    instance->server = server_new(&server, instance->loops, instance->loop_count);
    instance->api.server = instance->server;
}

static enum status listen_all(struct instance *instance, struct failure *failure)
{
    const struct text_list *addresses = &instance->options->listen;
    char address[ADDRESS_BYTES] = "";
    bool reached = false;
    for (size_t i = 0; i < addresses->count; i++) {
        enum status status =
            server_listen(instance->server, slice_of(addresses->items[i]), address, sizeof address, failure);
        if (status != STATUS_OK) {
            return status;
        }
        log_info("listening", LOG_TEXT("address", slice_of(address)));
        announce(instance->options, address, instance->first_link);
        reached = reached || announce_is_for_browsers(address);
    }
    if (!reached) {
        announce_socket(instance->options, address, instance->first_link);
    }
    instance->api.ready = true;
    return STATUS_OK;
}

static enum status start(struct instance *instance, struct failure *failure)
{
    struct db *db = NULL;
    clock_init_system(&instance->clock);
    id_source_init_system(&instance->ids);
    fill_service(instance);
    enum status status = open_store(instance, &db, failure);
    if (status != STATUS_OK) {
        if (db) {
            db_close(db);
        }
        return status;
    }
    start_loops(instance);
    start_fanout(instance);
    status = start_workers(instance, db, failure);
    if (status == STATUS_OK) {
        instance->drivers = drivers_new(instance->options);
        start_runtimes(instance);
        start_turns(instance);
        status = start_nodes(instance, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    routes_prepare();
    fill_api(instance);
    start_server(instance);
    readers_start(instance->readers);
    writer_start(instance->writer);
    for (size_t i = 0; i < instance->loop_count; i++) {
        loop_start(instance->loops[i]);
    }
    runtimes_start(instance->runtimes);
    turns_start(instance->turns);
    start_watchdogs(instance);
    return listen_all(instance, failure);
}

/* --- stop --- */

struct drained {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
};

static void on_drained(void *owner)
{
    struct drained *drained = owner;
    pthread_mutex_lock(&drained->lock);
    drained->done = true;
    pthread_cond_signal(&drained->changed);
    pthread_mutex_unlock(&drained->lock);
}

/* Streams are told `closed`, waiting claims get their empty answer, requests under way are finished. */
static void drain(struct instance *instance)
{
    struct drained drained = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    instance->api.stopping = true;
    writer_poke(instance->writer);
    server_drain(instance->server, instance->options->stop_timeout_ms, on_drained, &drained);
    fanout_close_all(instance->fanout, "server_stopping");
    pthread_mutex_lock(&drained.lock);
    while (!drained.done) {
        pthread_cond_wait(&drained.changed, &drained.lock);
    }
    pthread_mutex_unlock(&drained.lock);
}

static void stop(struct instance *instance)
{
    watchdogs_stop(instance->watchdogs);
    turns_stop(instance->turns); /* its sessions are pending again before anybody is told to go */
    runtimes_stop(instance->runtimes);
    if (instance->server) {
        drain(instance);
    }
    nodes_stop(instance->nodes);
    if (instance->writer) {
        writer_stop(instance->writer);
    }
    if (instance->readers) {
        readers_stop(instance->readers);
    }
    for (size_t i = 0; i < instance->loop_count && instance->server; i++) {
        loop_stop(instance->loops[i]);
    }
    for (size_t i = 0; i < instance->loop_count && instance->server; i++) {
        loop_join(instance->loops[i]);
    }
    turns_free(instance->turns);
    watchdogs_free(instance->watchdogs);
    runtimes_free(instance->runtimes);
    sandboxing_free(instance->sandboxing);
    runners_free(instance->runners);
    gateway_free(instance->gateway);
    drivers_free(instance->drivers);
    server_free(instance->server);
    fanout_free(instance->fanout);
    readers_free(instance->readers);
    writer_free(instance->writer);
    for (size_t i = 0; i < instance->loop_count; i++) {
        loop_free(instance->loops[i]);
    }
    free(instance->loops);
    signin_guard_free(instance->api.signin_guard);
    store_unlock_directory(instance->lock_fd);
}

static void wait_for_signal(struct instance *instance, const sigset_t *signals)
{
    int got;
    while (sigwait(signals, &got) != 0 || got == SIGHUP) {
        if (got == SIGHUP) {
            reload_secrets(instance->options->secrets);
            reload_agents(instance->options, &instance->service, instance->writer);
        }
    }
    log_info("stopping", LOG_TEXT("signal", slice_of(got == SIGINT ? "INT" : "TERM")));
}

int serve(const struct options *options)
{
    struct instance *instance = memory_zeroed(sizeof *instance);
    struct failure failure = {0};
    sigset_t signals;
    instance->own_options = *options;
    instance->options = &instance->own_options;
    instance->lock_fd = -1;
    log_configure((enum log_level)options->log_level, (enum log_format)options->log_format);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failing write, not an end */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* inherited by every thread: only sigwait sees them */
    if (sodium_init() < 0) {
        return EXIT_REFUSED;
    }
    enum status status = start(instance, &failure);
    if (status == STATUS_OK) {
        wait_for_signal(instance, &signals);
    } else {
        log_error("start_failed", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
    stop(instance);
    secrets_close(instance->own_options.secrets);
    free(instance);
    return status == STATUS_OK ? EXIT_DONE : EXIT_REFUSED;
}
