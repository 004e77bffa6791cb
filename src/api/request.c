#include "api/request.h"

#include <stdlib.h>

#include "api/authenticate.h"
#include "api/follow.h"
#include "api/handlers.h"
#include "api/problem.h"
#include "api/validate.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/secret.h"
#include "wire/traceparent.h"

/* --- what handlers ask --- */

struct slice request_param(const struct request *request, const char *name)
{
    return request->query ? url_query_get(request->query, name) : (struct slice){0};
}

int64_t request_param_i64(const struct request *request, const char *name, int64_t otherwise)
{
    int64_t value = otherwise;
    slice_to_i64(request_param(request, name), &value);
    return value;
}

void request_end_page(struct request *request, bool has_more, struct slice last)
{
    json_end_array(&request->out);
    json_put_bool(&request->out, "has_more", has_more);
    json_put_text(&request->out, "next_cursor", has_more ? last : (struct slice){0});
    json_end_object(&request->out);
}

int64_t request_list_limit(const struct request *request)
{
    int64_t limit = request_param_i64(request, "limit", request->api->sessions_page_default);
    return limit < request->api->sessions_page_max ? limit : request->api->sessions_page_max;
}

struct slice request_header(const struct request *request, const char *name)
{
    return http_request_header(&request->exchange->request, name);
}

enum status request_check_query(struct request *request, const struct words *accepted, const char *what)
{
    char names[300];
    for (size_t i = 0; request->query && i < request->query->count; i++) {
        struct slice name = request->query->params[i].name;
        if (words_find(*accepted, name) < 0) {
            words_list(*accepted, names, sizeof names);
            return failure_set(&request->call.failure, STATUS_INVALID, "unknown_member",
                               "%.*s means nothing for %s; accepted are: %s.", SLICE_ARG(name), what, names);
        }
    }
    return STATUS_OK;
}

enum status request_param_of(struct request *request, const char *const *names, size_t count, struct slice *out)
{
    const char *first = NULL;
    *out = (struct slice){0};
    for (size_t i = 0; i < count; i++) {
        struct slice value = request_param(request, names[i]);
        if (slice_present(value) && first) {
            return failure_set(&request->call.failure, STATUS_INVALID, "repeated_parameter",
                               "%s and %s are two names of the same parameter; give one of them.", first, names[i]);
        }
        first = slice_present(value) ? names[i] : first;
        *out = slice_present(value) ? value : *out;
    }
    return STATUS_OK;
}

bool request_is_upgrade(const struct request *request)
{
    const struct http_request *http = &request->exchange->request;
    return http->method == HTTP_GET && slice_eq_nocase(http->upgrade, SLICE("websocket"));
}

struct slice request_ticket(const struct request *request)
{
    enum route_auth auth = request->route->auth;
    bool taken = auth == AUTH_TICKET || (auth == AUTH_UPGRADE && request_is_upgrade(request));
    return taken ? request_param(request, "ticket") : (struct slice){0};
}

bool request_wants_minimal(struct request *request)
{
    struct slice rest = request_header(request, "prefer"), preference;
    bool found = false;
    while (rest.len > 0 && !found) {
        slice_cut(rest, ',', &preference, &rest);
        found = slice_eq_nocase(slice_trim(preference), SLICE("return=minimal"));
    }
    return found;
}

enum status request_check_unbound(struct request *request)
{
    if (!access_is_bound(&request->who) && !slice_present(request->ticket_session)) {
        return STATUS_OK;
    }
    return failure_set(&request->call.failure, STATUS_FORBIDDEN, "session_bound",
                       "This credential reaches one session only; ask for that session itself.");
}

enum status request_check_tenant_wide(struct request *request)
{
    enum status status = request_check_unbound(request);
    if (status != STATUS_OK || access_is_tenant_wide(&request->who)) {
        return status;
    }
    return failure_set(&request->call.failure, STATUS_FORBIDDEN, "tenant_wide",
                       "This is of the whole tenant; this credential only reaches ids that begin with \"%.*s\".",
                       SLICE_ARG(request->who.id_prefix));
}

struct slice request_copy(struct request *request, const char *text)
{
    return arena_copy(request_arena(request), slice_of(text));
}

void api_thread_end(void)
{
    authenticate_thread_end();
}

/* --- answering --- */

static void add_cors(struct request *request)
{
    struct api *api = request->api;
    struct slice origin = request_header(request, "origin");
    for (size_t i = 0; i < api->cors_origin_count && slice_present(origin); i++) {
        bool any = slice_is(slice_of(api->cors_origins[i]), "*");
        if (!any && !slice_is(origin, api->cors_origins[i])) {
            continue;
        }
        struct exchange *exchange = request->exchange;
        exchange_header(exchange, "Access-Control-Allow-Origin", any ? SLICE("*") : origin);
        exchange_header(exchange, "Vary", SLICE("Origin"));
        exchange_header(exchange, "Access-Control-Expose-Headers",
                        SLICE("Idempotency-Replayed, Retry-After, Traceparent, WWW-Authenticate, X-Request-Id"));
        if (!any) {
            exchange_header(exchange, "Access-Control-Allow-Credentials", SLICE("true"));
        }
        return;
    }
}

/* A path that holds a secret is logged as its pattern. */
static struct slice loggable_path(const struct request *request)
{
    bool secret = request->route && strstr(request->route->path, "{token}");
    return secret ? slice_of(request->route->path) : request->exchange->request.path;
}

static void log_request(const struct request *request)
{
    const struct exchange *exchange = request->exchange;
    enum log_level level = exchange->status >= 500 ? LOG_WARN : LOG_DEBUG;
    if (!log_enabled(level)) {
        return;
    }
    struct slice trace = http_request_header(&exchange->request, "traceparent");
    struct log_field fields[] = {LOG_TEXT("request_id", slice_of(exchange->request_id)),
                                 LOG_TEXT("method", exchange->request.method_text),
                                 LOG_TEXT("path", loggable_path(request)),
                                 LOG_NUM("status", exchange->status),
                                 LOG_TEXT("peer", exchange->peer),
                                 slice_present(trace) ? LOG_TEXT("traceparent", trace) : (struct log_field){0},
                                 {0}};
    log_write(level, "request", fields);
}

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

/* The caller's trace goes on in the answer, with a span of our own. */
static void pass_trace_on(struct request *request)
{
    struct traceparent came, ours;
    if (!traceparent_parse(request_header(request, "traceparent"), &came)) {
        return;
    }
    char *text = arena_bytes(request_arena(request), TRACEPARENT_TEXT_BYTES);
    traceparent_child(&came, request->api->service->ids, &ours);
    traceparent_format(&ours, text);
    exchange_header(request->exchange, "traceparent", slice_of(text));
}

static void reply(struct request *request)
{
    add_cors(request);
    pass_trace_on(request);
    log_request(request);
    exchange_reply(request->exchange);
}

static void fail(struct request *request, const struct failure *failure)
{
    problem_answer(request->exchange, failure);
    reply(request);
}

void request_reply(struct request *request)
{
    reply(request);
}

void request_fail(struct request *request, const struct failure *failure)
{
    fail(request, failure);
}

/* --- running --- */

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
                           "This Idempotency-Key was used for a different request; use a new one.");
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

enum status request_once(struct request *request, struct slice key, const struct hash *fingerprint,
                         enum status (*handle)(struct request *request))
{
    bool replayed = false;
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
    return slice_present(request->idempotency_key) ? handle_idempotent(request) : request->route->handle(request);
}

static void finish_job(struct write_job *job, enum status status, const struct failure *failure)
{
    struct request *request = (struct request *)job;
    if (status != STATUS_OK) {
        fail(request, failure);
    } else {
        reply(request);
    }
}

/* Simple clients name the form type (curl -d) or none; what they send is read as JSON all the same. */
static bool is_json_type(struct slice type)
{
    return !slice_present(type) || slice_starts(type, SLICE("application/json")) ||
           slice_starts(type, SLICE("application/x-www-form-urlencoded")) || slice_starts(type, SLICE("text/plain"));
}

/* Where none is taken, nothing, or an object without members, is. */
static const struct field *body_fields(const struct request *request)
{
    return request->route->body ? request->route->body : empty_body;
}

static bool is_long(const struct request *request)
{
    size_t bytes = request->exchange->request.body.len;
    return body_fields(request) != any_body && bytes > (size_t)request->api->guest_body_bytes_max;
}

/* A long body of somebody unknown costs no more than its bytes: it is read after its caller was let in, and not on the
 * loop. */
static bool body_waits(const struct request *request)
{
    return is_long(request) && request->route->auth == AUTH_NEEDED;
}

static enum status read_body(struct request *request, struct failure *failure)
{
    const struct field *fields = body_fields(request);
    struct slice text = request->exchange->request.body;
    if (fields == any_body || (!request->route->body && text.len == 0)) {
        return STATUS_OK;
    }
    if (is_long(request) && !body_waits(request)) {
        return failure_set(failure, STATUS_TOO_LARGE, "body_too_large",
                           "The body of a request without credentials has at most %lld bytes (option "
                           "guest-body-bytes-max).",
                           (long long)request->api->guest_body_bytes_max);
    }
    struct slice type = request_header(request, "content-type");
    if (text.len > 0 && !is_json_type(type)) {
        return failure_set(failure, STATUS_UNSUPPORTED, "unsupported_media_type", "Send the body as application/json.");
    }
    enum status status = json_parse_within(request_arena(request), text.len ? text : SLICE("{}"),
                                           (size_t)request->api->body_values_max, &request->body, failure);
    return status == STATUS_OK ? validate_body(fields, request->body, failure) : status;
}

/* Whatever a route does with its body: the server's own secrets are in none. Strangers learn nothing by guessing. */
static enum status let_in(struct request *request)
{
    enum status status = authenticate(request);
    bool is_known = request->route->auth == AUTH_NEEDED;
    if (status == STATUS_OK && body_waits(request) && !request->body) {
        status = read_body(request, &request->call.failure);
    }
    return status == STATUS_OK && is_known && request->body ? secret_check_json(&request->call, request->body->raw)
                                                            : status;
}

static enum status try_on_writer(struct request *request, struct unit *unit)
{
    start_over(request);
    start_call(request, unit->db, unit);
    request->writes_before = unit->writes;
    request->ask_again = false;
    unit_start_command(unit);
    enum status status = let_in(request);
    if (status == STATUS_OK) {
        status = run_handler(request);
    }
    return status == STATUS_OK && follow_is_wanted(request) ? follow_begin(request) : status;
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
        fail(request, &failure);
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
    start_over(request);
    start_call(request, db, NULL);
    enum status status = db_begin_read(db, &request->call.failure);
    if (status == STATUS_OK) {
        status = let_in(request);
        if (status == STATUS_OK) {
            status = prepare_only ? prepare(request) : request->route->handle(request);
        }
        db_end_read(db);
    }
    if (status != STATUS_OK) {
        fail(request, &request->call.failure);
    } else if (prepare_only) {
        submit_write(request);
    } else if (request->defer) {
        request->defer(request);
    } else {
        reply(request);
    }
}

static void submit_read(struct request *request)
{
    request->read_job.run = run_on_reader;
    bool full = readers_queue_length(request->api->readers) >= request->api->reads_waiting_max;
    if (full || !readers_submit(request->api->readers, &request->read_job)) {
        struct failure failure;
        failure_set(&failure, STATUS_UNAVAILABLE, "overloaded",
                    "Too many queries wait, or the server stops; try again.");
        failure.retry_after_s = 1;
        fail(request, &failure);
    }
}

/* --- from the socket --- */

static enum status read_query(struct request *request, struct failure *failure)
{
    struct slice text = request->exchange->request.query;
    if (text.len == 0) {
        return STATUS_OK;
    }
    struct url_query *query = arena_alloc(request_arena(request), sizeof *query);
    enum status status = url_query_parse(request_arena(request), text, query, failure);
    request->query = query;
    return request->route->query == any_query ? STATUS_OK
           : status == STATUS_OK              ? validate_query(request->route->query, query, failure)
                                              : status;
}

static const struct {
    enum http_method method;
    const char *name;
} method_names[] = {
    {HTTP_GET, "GET"}, {HTTP_POST, "POST"}, {HTTP_PUT, "PUT"}, {HTTP_PATCH, "PATCH"}, {HTTP_DELETE, "DELETE"}};

static struct slice allow_list(struct request *request, unsigned allowed)
{
    struct buffer list = {0};
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++) {
        if (allowed & (1u << method_names[i].method)) {
            buffer_format(&list, "%s%s", list.len ? ", " : "", method_names[i].name);
            if (method_names[i].method == HTTP_GET) {
                buffer_add(&list, SLICE(", HEAD"));
            }
        }
    }
    buffer_add(&list, SLICE(", OPTIONS"));
    struct slice copy = arena_copy(request_arena(request), buffer_slice(&list));
    buffer_release(&list);
    return copy;
}

static void answer_options(struct request *request, unsigned allowed)
{
    struct exchange *exchange = request->exchange;
    exchange->status = 204;
    exchange_header(exchange, "Allow", allow_list(request, allowed));
    if (slice_present(request_header(request, "access-control-request-method")) &&
        request->api->cors_origin_count > 0) {
        exchange_header(exchange, "Access-Control-Allow-Methods", SLICE("GET, POST, PUT, PATCH, DELETE"));
        exchange_header(exchange, "Access-Control-Allow-Headers",
                        SLICE("Authorization, Content-Type, Idempotency-Key, If-Match, If-Sequence, Last-Event-ID, "
                              "Prefer, Sojourn-Lease, X-CSRF-Token, X-Request-Id, traceparent"));
        exchange_header(exchange, "Access-Control-Max-Age", SLICE("600"));
    }
    reply(request);
}

static enum status match(struct request *request, unsigned *out_allowed, struct failure *failure)
{
    struct path path;
    const struct http_request *http = &request->exchange->request;
    if (http->method == HTTP_OPTIONS && slice_is(http->path, "*")) { /* of the server as a whole */
        *out_allowed = ~0u;
        return STATUS_OK;
    }
    enum status status = path_split(request_arena(request), http->path, &path, failure);
    *out_allowed = 0;
    if (status != STATUS_OK) {
        return status;
    }
    request->route = route_find(http->method, &path, request->params, out_allowed);
    if (request->route) {
        return STATUS_OK;
    }
    if (*out_allowed != 0) {
        return failure_set(failure, STATUS_NOT_ALLOWED, "method_not_allowed", "This path does not answer %.*s.",
                           SLICE_ARG(slice_utf8_prefix(http->method_text, 20)));
    }
    return failure_set(failure, STATUS_NOT_FOUND, "not_found", "There is nothing here.");
}

static void refuse(struct request *request, const struct failure *failure, unsigned allowed)
{
    if (failure->status == STATUS_NOT_FOUND && dashboard_is_wanted(request)) {
        request->exchange->status = 404;
        if (dashboard_page(request) == STATUS_OK) {
            reply(request);
            return;
        }
    }
    problem_answer(request->exchange, failure);
    if (failure->status == STATUS_NOT_ALLOWED) {
        exchange_header(request->exchange, "Allow", allow_list(request, allowed));
    }
    reply(request);
}

/* A ticket is used up by a write, so the route runs where writes do. */
static bool needs_writer(const struct request *request)
{
    return request->route->run_on == RUN_WRITER || slice_present(request_ticket(request));
}

static void dispatch(struct request *request)
{
    if (request->route->run_on == RUN_LOOP) {
        start_over(request);
        start_call(request, NULL, NULL);
        enum status status = request->route->handle(request);
        if (status != STATUS_OK) {
            problem_answer(request->exchange, &request->call.failure);
        }
        if (status == STATUS_OK && request->defer) {
            request->defer(request);
        } else {
            reply(request);
        }
    } else if (needs_writer(request) && !needs_prepare(request) && !body_waits(request)) {
        submit_write(request);
    } else {
        submit_read(request);
    }
}

/* Who shows no credentials at all hears that first, before anything about the request itself. */
static enum status check_credentials(struct request *request, struct failure *failure)
{
    bool shown = slice_present(request_header(request, "authorization")) ||
                 slice_present(request_header(request, "cookie")) ||
                 (request->route->auth >= AUTH_TICKET && request->exchange->request.query.len > 0);
    if (request->route->auth == AUTH_NONE || shown) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_UNAUTHENTICATED, "unauthenticated",
                       "Send a valid API token as \"Authorization: Bearer TOKEN\", or sign in.");
}

void api_on_request(void *owner, struct exchange *exchange)
{
    struct failure failure;
    unsigned allowed;
    struct request *request = arena_alloc(&exchange->arena, sizeof *request);
    request->api = owner;
    request->exchange = exchange;
    enum status status = match(request, &allowed, &failure);
    if (exchange->request.method == HTTP_OPTIONS && allowed != 0) {
        answer_options(request, allowed);
        return;
    }
    if (status == STATUS_OK) {
        status = check_credentials(request, &failure);
    }
    if (status == STATUS_OK) {
        status = read_query(request, &failure);
    }
    if (status == STATUS_OK && !body_waits(request)) {
        status = read_body(request, &failure);
    }
    if (status == STATUS_OK) {
        dispatch(request);
    } else {
        refuse(request, &failure, allowed);
    }
}
