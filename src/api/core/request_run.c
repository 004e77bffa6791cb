#include <stdlib.h>

#include "api/core/authenticate.h"
#include "api/prompt/follow.h"
#include "api/core/handlers.h"
#include "api/core/request_internal.h"
#include "base/budget.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/identity/secret.h"
#include "service/session/session.h"

/* A command may run a second time: it starts from the request as it came. */
static void start_over(struct request *request)
{
    struct exchange *exchange = request->exchange;
    exchange->status = request->route->success;
    exchange->content_type = "application/json";
    exchange->header_count = 0;
    exchange->body.len = 0;
    exchange->static_body = (struct slice){0};
    exchange->take_over = NULL;
    request->out = json_out_to(&exchange->body);
    request->call.failure = (struct failure){0};
    request->subject_key = 0;
    request->further_count = 0;
}

static void start_call(struct request *request, struct db *db)
{
    const struct service *service = request->api->service;
    request->call = (struct call){
        .service = service,
        .db = db,
        .arena = request_arena(request),
        .who = &request->who,
        .lease_token = request_header(request, "sojourn-lease"),
        .media = &request->media,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
}

void request_start(struct request *request, struct db *db)
{
    start_over(request);
    start_call(request, db);
}

/* What is told of a session is kept only as long as it. */
static enum status find_subject(struct request *request, int64_t *out_key)
{
    struct loaded_session *loaded;
    struct call *call = &request->call;
    *out_key = request->subject_key;
    if (*out_key != 0 || !route_names_session(request->route)) {
        return STATUS_OK;
    }
    enum status status =
        transaction_load(call->transaction, request->who.tenant_key, request->params[0], &loaded, &call->failure);
    if (status == STATUS_OK) {
        *out_key = loaded->session.key;
    }
    return status;
}

/* What else is told of, too: its path, as whoever deletes it names it. */
static struct slice find_other_subject(struct request *request)
{
    const struct json *answer;
    struct failure unheard;
    struct arena *arena = request->call.arena;
    if (json_parse(arena, buffer_slice(&request->exchange->body), &answer, &unheard) != STATUS_OK) {
        return (struct slice){0};
    }
    struct slice id = json_text_of(answer, "id");
    return slice_present(id) ? arena_format(arena, "%s/%.*s", request->route->path, SLICE_ARG(id)) : id;
}

/* "/api/entities/{entity}" and its id. */
static enum status forget_answers(struct request *request)
{
    const struct route *route = request->route;
    const char *start = strchr(route->path, '{');
    if (route->method != HTTP_DELETE || route_names_session(route) || !start || strchr(start, '/')) {
        return STATUS_OK;
    }
    struct slice subject = arena_format(request->call.arena, "%.*s%.*s", (int)(start - route->path), route->path,
                                        SLICE_ARG(request->params[0]));
    return command_forget_answers(&request->call, subject);
}

static struct request *request_of(struct command *command)
{
    return (struct request *)command;
}

static enum status once_run(struct call *call, struct command *command)
{
    (void)call; /* the request keeps it */
    return request_of(command)->once(request_of(command));
}

static enum status once_answer(struct call *call, struct command *command, struct idempotent_reply *out)
{
    struct request *request = request_of(command);
    (void)call;
    *out = (struct idempotent_reply){
        .status = request->exchange->status,
        .body = buffer_slice(&request->exchange->body),
        .further_keys = request->further_keys,
        .further_count = request->further_count,
    };
    enum status status = find_subject(request, &out->session_key);
    if (status == STATUS_OK && out->session_key == 0) {
        out->subject = find_other_subject(request);
    }
    return status;
}

static void once_replay(struct command *command, const struct idempotent_reply *kept)
{
    struct exchange *exchange = request_of(command)->exchange;
    exchange->status = kept->status;
    buffer_add(&exchange->body, kept->body);
    exchange_header(exchange, "Idempotency-Replayed", SLICE("true"));
}

enum status request_once(struct request *request, struct slice key, const struct hash *fingerprint,
                         enum status (*handle)(struct request *request))
{
    struct command_once once = {key, hash_slice(fingerprint), once_run, once_answer, once_replay};
    request->once = handle;
    return command_run_once(&request->call, &request->command, &once);
}

static enum status handle_idempotent(struct request *request)
{
    const struct http_request *http = &request->exchange->request;
    struct slice parts[] = {http->method_text, http->target, http->body};
    struct hash fingerprint = hash_of_parts(parts, 3);
    if (request->idempotency_key.len == 0 || request->idempotency_key.len > 255) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_idempotency_key",
                           "Idempotency-Key must have 1 to 255 characters.");
    }
    return request_once(request, request->idempotency_key, &fingerprint, request->route->handle);
}

static enum status run_handler(struct request *request)
{
    bool idempotent = request->route->idempotent && request->call.transaction != NULL;
    request->idempotency_key = idempotent ? request_header(request, "idempotency-key") : (struct slice){0};
    if (slice_present(request->idempotency_key)) {
        return handle_idempotent(request);
    }
    enum status status = request->route->handle(request);
    return status == STATUS_OK ? forget_answers(request) : status;
}

static enum status read_waiting_body(struct request *request)
{
    enum status status = request_read_body(request, &request->call.failure);
    request_count_bytes(request);
    return status;
}

static enum status know_caller(struct request *request)
{
    enum status status = authenticate(request);
    if (status == STATUS_OK && request->route->auth != AUTH_NONE) {
        status = request_enter(request);
    }
    if (status == STATUS_OK && request->fault) {
        request->call.failure = *request->fault;
        status = request->fault->status;
    }
    return status;
}

/* Whatever a route does with its body: the server's own secrets are in none. Strangers learn nothing by guessing. */
static enum status let_in(struct request *request)
{
    enum status status = know_caller(request);
    bool is_known = request->route->auth == AUTH_NEEDED;
    if (status == STATUS_OK && request_body_waits(request) && !request->body) {
        status = read_waiting_body(request);
    }
    return status == STATUS_OK && is_known && request->body ? secret_check_json(&request->call, request->body->raw)
                                                            : status;
}

/* Whatever was decided with a spent budget is refused. */
static enum status keep_in_budget(struct request *request, enum status status)
{
    enum status spent = budget_check(&request->call.failure);
    return spent == STATUS_OK ? status : spent;
}

static enum status run_on_writer(struct call *call, struct command *command)
{
    struct request *request = request_of(command);
    start_over(request);
    request->call = *call;
    request->call.who = &request->who; /* known in a moment */
    enum status status = let_in(request);
    if (status == STATUS_OK) {
        command->follows_session = follow_is_wanted(request);
        status = run_handler(request);
    }
    if (status == STATUS_OK && command->follows_session) {
        status = follow_begin(request);
    }
    call->failure = request->call.failure;
    return status;
}

static void finish_on_writer(struct command *command, enum status status, const struct failure *failure)
{
    if (status != STATUS_OK) {
        request_fail(request_of(command), failure);
    } else {
        request_reply(request_of(command));
    }
}

static const struct command_type request_command = {"http", COMMAND_RERUNS, run_on_writer, finish_on_writer};

static void submit_write(struct request *request)
{
    request->command.type = &request_command;
    request->command.who = &request->who;
    request->command.about = route_names_session(request->route) ? request->params[0] : (struct slice){0};
    request->command.lease_token = request_header(request, "sojourn-lease");
    request->command.media = &request->media;
    request->command.arena = request_arena(request);
    if (!writer_submit(request->api->writer, &request->command)) {
        struct failure failure;
        failure_set(&failure, STATUS_UNAVAILABLE, "overloaded",
                    "Too many writes wait, or the server stops; try again.");
        failure.retry_after_s = 1;
        request_fail(request, &failure);
    }
}

static bool needs_prepare(const struct request *request)
{
    bool for_media = request->route->prepare == media_prepare;
    return request->route->prepare && (!for_media || media_is_likely(request->exchange->request.body));
}

static enum status prepare(struct request *request)
{
    return needs_prepare(request) ? request->route->prepare(request) : STATUS_OK;
}

static void run_on_reader(struct read_job *job, struct db *db)
{
    struct request *request = (struct request *)((char *)job - offsetof(struct request, read_job));
    bool prepare_only = request->route->run_on == RUN_WRITER;
    request_start(request, db);
    enum status status = reader_begin(db, &request->call.failure);
    if (status == STATUS_OK) {
        status = let_in(request);
        if (status == STATUS_OK) {
            status = prepare_only ? prepare(request) : request->route->handle(request);
        }
        status = keep_in_budget(request, status);
        enum status ended = reader_end(db, &request->call.failure);
        status = ended == STATUS_OK ? status : ended; /* a refusal, too, must not rest on what may be lost */
    }
    if (status != STATUS_OK) {
        request_fail(request, &request->call.failure);
    } else if (prepare_only) {
        submit_write(request);
    } else if (request->defer) {
        request->defer(request);
    } else {
        request_reply(request);
    }
}

void request_read_on(struct request *request, void (*run)(struct read_job *job, struct db *db))
{
    request->read_job.run = run;
    bool full = readers_queue_length(request->api->readers) >= request->api->limits.reads_waiting_max;
    if (full || !readers_submit(request->api->readers, &request->read_job)) {
        struct failure failure;
        failure_set(&failure, STATUS_UNAVAILABLE, "overloaded",
                    "Too many queries wait, or the server stops; try again.");
        failure.retry_after_s = 1;
        request_fail(request, &failure);
    }
}

/* A ticket is used up by a write, so the route runs where writes do. What is known to be wrong is told by a reader. */
static bool begins_on_writer(const struct request *request)
{
    if (request->fault || needs_prepare(request) || request_body_waits(request)) {
        return slice_present(request_ticket(request));
    }
    return request->route->run_on == RUN_WRITER || slice_present(request_ticket(request));
}

void request_run(struct request *request)
{
    if (request->route->run_on == RUN_LOOP) {
        request_start(request, NULL);
        enum status status = request->route->handle(request);
        if (status == STATUS_OK) {
            status = request_take_bytes(request);
        }
        if (status != STATUS_OK) {
            request_refuse(request, &request->call.failure);
        }
        if (status == STATUS_OK && request->defer) {
            request->defer(request);
        } else {
            request_reply(request);
        }
    } else if (begins_on_writer(request)) {
        submit_write(request);
    } else {
        request_read_on(request, run_on_reader);
    }
}
