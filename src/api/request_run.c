#include <stdlib.h>

#include "api/authenticate.h"
#include "api/follow.h"
#include "api/handlers.h"
#include "api/problem.h"
#include "api/request_parts.h"
#include "base/budget.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/secret.h"
#include "service/session.h"

/* Who tried what, when the table of states did not allow it. */
static void log_refused_move(const struct request *request)
{
    const struct failure *failure = &request->call.failure;
    if (slice_is(slice_of(failure->code), "illegal_transition")) {
        log_info("move_refused", LOG_TEXT("request_id", slice_of(request->exchange->request_id)),
                 LOG_TEXT("session", request->params[0]), LOG_TEXT("actor", request->who.name),
                 LOG_TEXT("detail", slice_of(failure->detail)));
    }
}

/* A job may run a second time: it starts from the request as it came. */
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
    request->needs_commit = true;
    request->subject_key = 0;
    request->further_count = 0;
}

static void start_call(struct request *request, struct db *db, struct unit *unit)
{
    struct service *service = request->api->service;
    request->call = (struct call){
        .service = service,
        .db = db,
        .unit = unit,
        .arena = request_arena(request),
        .who = &request->who,
        .lease_token = request_header(request, "sojourn-lease"),
        .media = &request->media,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
}

/* The caller may have lost access to what the kept answer tells of. */
static enum status check_subjects(struct request *request, struct slice key)
{
    struct call *call = &request->call;
    int64_t *keys;
    size_t count = 0;
    enum status status = store_idempotency_subjects(call->db, request->who.tenant_key, request->who.name, key,
                                                    call->arena, &keys, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = session_check_reached(call, keys[i]);
    }
    return status;
}

void request_start(struct request *request, struct db *db, struct unit *unit)
{
    start_over(request);
    start_call(request, db, unit);
}

static enum status replay_idempotent(struct request *request, struct slice key, const struct hash *fingerprint,
                                     bool *out_replayed)
{
    struct idempotent_reply stored;
    struct call *call = &request->call;
    enum status status = store_idempotency_get(call->db, request->who.tenant_key, request->who.name, key, call->arena,
                                               &stored, &call->failure);
    *out_replayed = status == STATUS_OK;
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status == STATUS_OK && !hash_equal(stored.fingerprint, hash_slice(fingerprint))) {
        return failure_set(&call->failure, STATUS_CONFLICT, "idempotency_key_reused",
                           "This Idempotency-Key was used for a different request, or with a credential of other "
                           "scopes; use a new one.");
    }
    if (status == STATUS_OK) {
        status = check_subjects(request, key);
    }
    if (status == STATUS_OK) {
        request->exchange->status = stored.status;
        buffer_add(&request->exchange->body, stored.body);
        exchange_header(request->exchange, "Idempotency-Replayed", SLICE("true"));
    }
    return status;
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
    enum status status = unit_load(call->unit, request->who.tenant_key, request->params[0], &loaded, &call->failure);
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
    return store_idempotency_forget(request->call.db, request->who.tenant_key, subject, &request->call.failure);
}

static enum status keep_idempotent(struct request *request, struct slice key, const struct hash *fingerprint)
{
    struct idempotent_reply answer = {
        .fingerprint = hash_slice(fingerprint),
        .status = request->exchange->status,
        .body = buffer_slice(&request->exchange->body),
        .further_keys = request->further_keys,
        .further_count = request->further_count,
    };
    enum status status = find_subject(request, &answer.session_key);
    if (status != STATUS_OK) {
        return status;
    }
    if (answer.session_key == 0) {
        answer.subject = find_other_subject(request);
    }
    unit_wrote(request->call.unit);
    return store_idempotency_put(request->call.db, request->who.tenant_key, request->who.name, key, &answer,
                                 request->call.now_ms, &request->call.failure);
}

/* A refusal, or an answer that changes nothing, such as that a session has ended already, must not rest on what this
 * node remembers: on PostgreSQL another one may have changed it since. What is remembered is forgotten then, and the
 * command runs again. A claim that waits, and a caller who follows a turn, hear of changes anyway. */
static bool rests_on_memory(struct request *request, enum status status)
{
    struct unit *unit = request->call.unit;
    bool waits = status == STATUS_OK && (request->exchange->status == 0 || follow_is_wanted(request));
    if (unit && unit->writes == request->writes_before && !waits && unit_forget_remembered(unit)) {
        request->ask_again = true;
    }
    return request->ask_again;
}

/* A kept answer is only for credentials with the same bounds. */
static struct hash bind_to_credential(const struct principal *who, const struct hash *fingerprint)
{
    struct slice bounds[] = {
        hash_slice(fingerprint), {(const char *)&who->scopes, sizeof who->scopes}, who->id_prefix, who->session_id};
    return hash_of_parts(bounds, sizeof bounds / sizeof *bounds);
}

enum status request_once(struct request *request, struct slice key, const struct hash *of_request,
                         enum status (*handle)(struct request *request))
{
    bool replayed = false;
    struct hash bound = bind_to_credential(&request->who, of_request), *fingerprint = &bound;
    enum status status = replay_idempotent(request, key, fingerprint, &replayed);
    if (status != STATUS_OK || replayed) {
        return status;
    }
    status = handle(request);
    if (status != STATUS_OK || rests_on_memory(request, status)) {
        return status;
    }
    return keep_idempotent(request, key, fingerprint);
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
    bool idempotent = request->route->idempotent && request->call.unit != NULL;
    request->idempotency_key = idempotent ? request_header(request, "idempotency-key") : (struct slice){0};
    if (slice_present(request->idempotency_key)) {
        return handle_idempotent(request);
    }
    enum status status = request->route->handle(request);
    return status == STATUS_OK ? forget_answers(request) : status;
}

static void finish_job(struct write_job *job, enum status status, const struct failure *failure)
{
    struct request *request = (struct request *)job;
    if (status != STATUS_OK) {
        request_fail(request, failure);
    } else {
        request_reply(request);
    }
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

static enum status try_on_writer(struct request *request, struct unit *unit)
{
    request_start(request, unit->db, unit);
    request->writes_before = unit->writes;
    request->ask_again = false;
    unit_start_command(unit);
    enum status status = let_in(request);
    if (status == STATUS_OK) {
        status = run_handler(request);
    }
    if (status == STATUS_OK && follow_is_wanted(request)) {
        status = follow_begin(request);
    }
    return keep_in_budget(request, status);
}

static enum job_outcome run_on_writer(struct write_job *job, struct unit *unit)
{
    struct request *request = (struct request *)job;
    int64_t writes_before = unit->writes;
    job->parked_until_ms = job->parked ? job->parked_until_ms : 0;
    enum status status = try_on_writer(request, unit);
    if (rests_on_memory(request, status)) {
        status = try_on_writer(request, unit);
    }
    if (status == STATUS_OK && !request->needs_commit && unit->writes == writes_before) {
        return JOB_ANSWERED;
    }
    if (status == STATUS_OK) {
        return request->exchange->status == 0 ? JOB_PARKED : JOB_DONE;
    }
    problem_answer(request->exchange, &request->call.failure);
    log_refused_move(request);
    return unit->writes != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void submit_write(struct request *request)
{
    request->write_job.run = run_on_writer;
    request->write_job.finish = finish_job;
    if (!writer_submit(request->api->writer, &request->write_job)) {
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
    request_start(request, db, NULL);
    enum status status = db_begin_read(db, &request->call.failure);
    if (status == STATUS_OK) {
        status = let_in(request);
        if (status == STATUS_OK) {
            status = prepare_only ? prepare(request) : request->route->handle(request);
        }
        status = keep_in_budget(request, status);
        enum status ended = db_end_read(db, &request->call.failure);
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
    bool full = readers_queue_length(request->api->readers) >= request->api->reads_waiting_max;
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
        request_start(request, NULL, NULL);
        enum status status = request->route->handle(request);
        if (status == STATUS_OK) {
            status = request_take_bytes(request);
        }
        if (status != STATUS_OK) {
            problem_answer(request->exchange, &request->call.failure);
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
