#include "main/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/core/request.h"
#include "api/core/outgoing.h"
#include "api/sandbox/proxy_guard.h"
#include "api/core/accounts.h"
#include "api/identity/signin_guard.h"
#include "base/log.h"
#include "fanout/fanout.h"
#include "main/agent_check.h"
#include "main/agents.h"
#include "main/announce.h"
#include "main/doors.h"
#include "main/environment.h"
#include "main/hosting.h"
#include "main/limits.h"
#include "main/master_key.h"
#include "main/node_name.h"
#include "main/node_listener.h"
#include "main/reload.h"
#include "main/signals.h"
#include "net/server.h"
#include "service/identity/identity.h"
#include "service/identity/secret.h"
#include "service/core/viewer_rights.h"
#include "store/seal/secret_file.h"

enum { ADDRESS_BYTES = 256, FIRST_START_TRIES = 8 };

/* Everything that runs, in the order it is started. Owned by serve(). */
struct instance {
    const struct options *options;
    struct options own_options; /* with what serve() opened */
    struct secret_place secret_place;
    struct master_key master_key;
    struct clock clock;
    struct id_source ids;
    int lock_fd;
    struct db_options db;
    char sqlite_path[4096], blobs_path[4096];
    struct service service;
    struct identity_epoch identity_epoch;
    struct watchdog_record watchdog_record;
    char node[NODE_NAME_BYTES];
    struct loop **loops;
    size_t loop_count;
    struct fanout *fanout;
    struct writer *writer;
    struct readers *readers;
    struct node_listener *nodes;
    struct hosting hosting;
    struct api api;
    struct server *server;
    char first_link[TOKEN_TEXT_BYTES];
    char owner_token[TOKEN_TEXT_BYTES]; /* not yet in its file */
};

/* --- what each room is told --- */

/* Behind a proxy that ends TLS, too, a cookie goes nowhere in the clear. */
static bool speaks_https(const char *url)
{
    return url && strncmp(url, "https://", 8) == 0;
}

static void fill_api(struct instance *instance)
{
    const struct options *options = instance->options;
    instance->api = (struct api){
        .service = &instance->service,
        .fanout = instance->fanout,
        .writer = instance->writer,
        .readers = instance->readers,
        .runners = instance->hosting.runners,
        .gateway = instance->hosting.gateway,
        .runtimes = instance->hosting.runtimes,
        .models = instance->hosting.models,
        .outgoing = outgoing_new(options->ca_file),
        .limits = options->api,
        .proxy_guards = proxy_guards_new(),
        .doors = doors_new(server_doors),
        .tunnel_hosts = (const char *const *)options->tunnel_hosts.items,
        .tunnel_host_count = options->tunnel_hosts.count,
        .accounts = accounts_new(&(struct accounts_options){
            .guest_bytes_max = options->guest_bytes_max,
            .caller_bytes_max = options->caller_bytes_max,
            .tenant_bytes_max = options->tenant_bytes_max,
            .ids = &instance->ids,
        }),
        .signin_guard = signin_guard_new(options->signin_attempts_max, options->signin_window_ms),
        .cors_origins = (const char *const *)options->cors_origin.items,
        .cors_origin_count = options->cors_origin.count,
        .metrics_public = options->metrics == METRICS_PUBLIC,
        .public_url = options->public_url,
        .secure_cookies = options->tls_cert != NULL || speaks_https(options->public_url),
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

static enum status first_commands(struct instance *instance, struct call *call)
{
    bool made;
    enum status status =
        identity_first_start(call, slice_of(instance->options->bootstrap_token), &made, instance->first_link);
    if (status == STATUS_OK) {
        status = owner_token_make(instance->options->owner_token_file, call, instance->owner_token);
    }
    if (status == STATUS_OK) {
        status = store_lease_renew_all(call->db, call->steady_ms, &call->failure);
    }
    return status == STATUS_OK ? agents_share(instance->options, call) : status;
}

/* What every start writes, in one transaction. The owner's token is told only when it is kept. */
static enum status write_first(struct instance *instance, struct transaction *transaction, struct call *call)
{
    struct publication *nothing = NULL;
    enum status status = transaction_begin(transaction, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = first_commands(instance, call);
    if (status != STATUS_OK) {
        transaction_rollback(transaction);
        return status;
    }
    status = transaction_commit(transaction, &nothing, &call->failure);
    publication_unref(nothing);
    return status == STATUS_OK
               ? owner_token_keep(instance->options->owner_token_file, instance->owner_token, &call->failure)
               : status;
}

static enum status first_start_once(struct instance *instance, struct db *db, struct failure *failure)
{
    struct transaction transaction;
    struct arena arena = {0};
    transaction_init(&transaction, &instance->service, db);
    struct call call = transaction_call(&transaction, &arena, &server_principal);
    enum status status = write_first(instance, &transaction, &call);
    transaction_release(&transaction);
    arena_release(&arena);
    *failure = call.failure;
    return status;
}

/* Another node may begin at the same moment, or change a lease that is renewed here: then it goes again. */
static enum status first_start(struct instance *instance, struct db *db, struct failure *failure)
{
    enum status status = STATUS_STALE;
    for (int tries = 0; tries < FIRST_START_TRIES && (status == STATUS_STALE || status == STATUS_CONFLICT); tries++) {
        status = first_start_once(instance, db, failure);
    }
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

/* The data directory is this server's own by now. */
static void place_blobs(struct instance *instance)
{
    snprintf(instance->blobs_path, sizeof instance->blobs_path, "%s/blobs", instance->options->data);
    instance->service.blobs = blobs_of(instance->options, instance->blobs_path);
    blob_forget_halves(&instance->service.blobs);
}

static enum status open_store(struct instance *instance, struct db **out, struct failure *failure)
{
    const struct options *options = instance->options;
    enum status status = master_key_load(options, &instance->master_key, failure);
    if (status == STATUS_OK) {
        status = make_directory(options->data, failure);
    }
    if (status == STATUS_OK) {
        status = store_lock_directory(options->data, &instance->lock_fd, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(instance->sqlite_path, sizeof instance->sqlite_path, "%s/sojourn.db", options->data);
    instance->db = (struct db_options){
        .engine = db_engine_of(options->database),
        .path = instance->sqlite_path,
        .url = options->database,
        .busy_ms = options->sqlite_busy_ms,
        .postgres_connect_ms = options->postgres_connect_ms,
        .postgres_answer_ms = options->postgres_answer_ms,
        .postgres_outcome_ms = options->postgres_outcome_ms,
        .postgres_durability_elsewhere = options->postgres_durability_elsewhere,
        .cache_kib = options->sqlite_cache_kib,
        .checkpoint_pages = options->sqlite_checkpoint_pages,
        .sqlite_log_ms = options->sqlite_log_ms,
        .master_key = instance->master_key.given ? instance->master_key.bytes : NULL,
    };
    place_blobs(instance);
    status = open_secrets(instance, failure);
    if (status == STATUS_OK && options->database) {
        status = node_name_find(options->node, options->data, &instance->ids, clock_wall_ms(&instance->clock),
                                instance->node, failure);
        instance->service.node = slice_of(instance->node);
    }
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
        .rights = &service_viewer_rights,
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
        .budget = {.steps_max = options->command_steps_max,
                   .timeout_ms = options->command_timeout_ms,
                   .steps_option = "command-steps-max",
                   .timeout_option = "command-timeout-ms"},
        .on_thread_end = api_thread_end,
        .on_commit = hosting_on_commit,
        .on_commit_owner = &instance->hosting,
    };
    instance->writer = writer_new(&writer);
    struct readers_options readers = {
        .db = instance->db,
        .count = (size_t)options->reader_threads,
        .budget = {.steps_max = options->query_steps_max,
                   .timeout_ms = options->query_timeout_ms,
                   .steps_option = "query-steps-max",
                   .timeout_option = "query-timeout-ms"},
        .on_thread_end = api_thread_end,
    };
    readers.db.read_only = true;
    readers.db.query_ms = options->query_timeout_ms;
    return readers_new(&readers, &instance->readers, failure);
}

static void make_hosting(struct instance *instance)
{
    struct hosting_place place = {
        .options = instance->options,
        .service = &instance->service,
        .writer = instance->writer,
        .fanout = instance->fanout,
        .loop = instance->loops[0],
        .read_owner = instance,
        .submit_read = submit_read,
    };
    hosting_make(&instance->hosting, &place);
}

static enum status start_nodes(struct instance *instance, struct failure *failure)
{
    struct db_options listening = instance->db;
    listening.read_only = true;
    struct node_listener_options nodes = {
        .db = &listening,
        .poll_ms = instance->options->postgres_poll_ms,
        .fanout = instance->fanout,
        .writer = instance->writer,
        .turns = instance->hosting.turns,
        .runners = instance->hosting.runners,
        .runtimes = instance->hosting.runtimes,
    };
    return db_options_have_other_writers(&instance->db) ? node_listener_start(&nodes, &instance->nodes, failure)
                                                        : STATUS_OK;
}

static void start_server(struct instance *instance)
{
    const struct options *options = instance->options;
    struct server_options server = {
        .limits = options->net,
        .tls_cert_path = options->tls_cert,
        .tls_key_path = options->tls_key,
        .clock = &instance->clock,
        .ids = &instance->ids,
        .owner = &instance->api,
        .on_head = api_on_head,
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
        drivers_listen(instance->hosting.drivers, address);
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
    uint64_t seeds[2];
    id_source_init_system(&instance->ids);
    instance->ids.fill(&instance->ids, seeds, sizeof seeds);
    slice_hash_seed(seeds[0], seeds[1]);
    instance->service = (struct service){
        .clock = &instance->clock,
        .ids = &instance->ids,
        .limits = instance->options->limits,
        .identity_epoch = &instance->identity_epoch,
        .watchdog_record = &instance->watchdog_record,
    };
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
        make_hosting(instance);
        status = start_nodes(instance, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    fill_api(instance);
    start_server(instance);
    readers_start(instance->readers);
    writer_start(instance->writer);
    for (size_t i = 0; i < instance->loop_count; i++) {
        loop_start(instance->loops[i]);
    }
    hosting_start(&instance->hosting);
    agents_warn(instance->options);
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

/* Streams are told `closed`, waiting claims get their empty answer, who waits for another server is told that this one
 * stops, requests under way are finished. */
static void drain(struct instance *instance)
{
    struct drained drained = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    instance->api.stopping = true;
    writer_retry_parked(instance->writer);
    server_drain(instance->server, instance->options->stop_timeout_ms, on_drained, &drained);
    fanout_close_all(instance->fanout, "server_stopping");
    models_stop(instance->hosting.models);
    outgoing_stop_waiting(instance->api.outgoing, instance->loops, instance->loop_count);
    pthread_mutex_lock(&drained.lock);
    while (!drained.done) {
        pthread_cond_wait(&drained.changed, &drained.lock);
    }
    pthread_mutex_unlock(&drained.lock);
}

static void stop(struct instance *instance)
{
    hosting_stop(&instance->hosting); /* its sessions are pending again before anybody is told to go */
    if (instance->server) {
        drain(instance);
    }
    node_listener_stop(instance->nodes);
    if (instance->writer) {
        writer_stop(instance->writer);
    }
    if (instance->readers) {
        readers_stop(instance->readers);
    }
    if (instance->api.outgoing && instance->server) {
        outgoing_leave(instance->api.outgoing, instance->loops, instance->loop_count);
    }
    for (size_t i = 0; i < instance->loop_count && instance->server; i++) {
        loop_stop(instance->loops[i]);
    }
    for (size_t i = 0; i < instance->loop_count && instance->server; i++) {
        loop_join(instance->loops[i]);
    }
    hosting_free(&instance->hosting);
    server_free(instance->server);
    fanout_free(instance->fanout);
    readers_free(instance->readers);
    writer_free(instance->writer);
    for (size_t i = 0; i < instance->loop_count; i++) {
        loop_free(instance->loops[i]);
    }
    free(instance->loops);
    signin_guard_free(instance->api.signin_guard);
    accounts_free(instance->api.accounts);
    outgoing_free(instance->api.outgoing);
    proxy_guards_free(instance->api.proxy_guards);
    doors_free(instance->api.doors);
    store_unlock_directory(instance->lock_fd);
}

static void run_until_stop(struct instance *instance, struct signals *signals)
{
    while (signals_next(signals) == SIGNAL_RELOAD) {
        reload_secrets(instance->options->secrets);
        reload_agents(instance->options, instance->writer);
    }
}

int serve(const struct options *options, char *const *environment)
{
    struct instance *instance = memory_zeroed(sizeof *instance);
    struct failure failure = {0};
    instance->own_options = *options;
    instance->options = &instance->own_options;
    instance->lock_fd = -1;
    log_configure((enum log_level)options->log_level, (enum log_format)options->log_format);
    environment_warn(environment);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failing write, not an end */
    if (sodium_init() < 0) {
        return EXIT_REFUSED;
    }
    struct signals *signals = signals_start(options->stop_timeout_ms + options->stop_force_ms);
    enum status status = start(instance, &failure);
    if (status == STATUS_OK) {
        run_until_stop(instance, signals);
    } else {
        log_error("start_failed", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
    signals_begin_stop(signals);
    stop(instance);
    signals_end(signals);
    secrets_close(instance->own_options.secrets);
    master_key_forget(&instance->master_key);
    free(instance);
    return status == STATUS_OK ? EXIT_DONE : EXIT_REFUSED;
}
