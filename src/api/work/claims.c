#include "api/core/handlers.h"
#include "api/core/validate.h"
#include "base/clock.h"
#include "service/work/claim.h"

static const struct field claim_body[] = {
    {"worker", FIELD_STRING, true, "Name of the worker, for people.", NULL, 1, 128},
    {"agents", FIELD_TEXTS, false, "Slugs of the agents it runs. Default: any.", NULL, 0, 0},
    {"types", FIELD_TEXTS, false, "Session types it runs. Default: any.", &session_type_enum, 0, 0},
    {"max", FIELD_INTEGER, false, "Maximum number of sessions. Default: 1.", NULL, 1, CLAIM_BATCH_MAX},
    {"wait_ms", FIELD_INTEGER, false, "Maximum wait for work, in milliseconds (option claim-wait-ms-max).", NULL, 0,
     HOUR_MS},
    {"lease_ms", FIELD_INTEGER, false, "Length of the lease.", NULL, 1, INT64_MAX},
    {0},
};

static const struct field heartbeat_body[] = {
    {"lease_ms", FIELD_INTEGER, false, "New length of the lease.", NULL, 1, INT64_MAX},
    {0},
};

static const struct field settle_body[] = {
    {"status", FIELD_WORD, true, "The new status of the session.", &session_status_enum, 0, 0},
    {"result", FIELD_ANY, false, "The result, any JSON.", NULL, 0, 0},
    {"error", FIELD_ANY, false, "What went wrong: text, or an object with code and message.", NULL, 0, 0},
    {"usage", FIELD_OBJECT, false, "Non-negative numbers, added to the session's totals; texts are stored.", NULL, 0,
     0},
    {"reason", FIELD_STRING, false, "One line for people.", NULL, 0, 200},
    {"claim", FIELD_OBJECT, false,
     "Claim the next work in the same step, without waiting: the members of POST /api/claims. The answer then has "
     "claims.",
     NULL, 0, 0},
    {0},
};

static enum status read_agents(struct request *request, const struct json *body, struct claim_request *claim)
{
    const struct json *list = json_get_value(body, "agents");
    for (const struct json *one = list ? list->child : NULL; one; one = one->next) {
        if (claim->agent_count >= CLAIM_AGENTS_MAX || !json_as_text(one, &claim->agents[claim->agent_count])) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                               "`agents` must be at most %d strings.", CLAIM_AGENTS_MAX);
        }
        claim->agent_count++;
    }
    return STATUS_OK;
}

static enum status read_types(struct request *request, const struct json *body, struct claim_request *claim)
{
    const struct json *list = json_get_value(body, "types");
    for (const struct json *one = list ? list->child : NULL; one; one = one->next) {
        int type = json_is(one, JSON_STRING) ? enum_names_find(session_type_enum, one->text) : -1;
        if (type < 0 || claim->type_count >= TYPE_COUNT) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                               "`types` must be session types: agent, response, tool, mixed, each once.");
        }
        claim->types[claim->type_count++] = type;
    }
    return STATUS_OK;
}

/* `body` has the members of claim_body. */
static enum status read_claim(struct request *request, const struct json *body, struct claim_request *out)
{
    *out = (struct claim_request){
        .worker = json_text_of(body, "worker"),
        .max = json_get_value(body, "max") ? json_i64_of(body, "max") : 1,
        .lease_ms = json_i64_of(body, "lease_ms"),
    };
    enum status status = read_agents(request, body, out);
    return status == STATUS_OK ? read_types(request, body, out) : status;
}

/* As much of the session as the caller wants to hear. */
static void write_session(struct request *request, const struct session *session)
{
    struct buffer *body = &request->exchange->body;
    if (request_wants_minimal(request)) {
        session_write_minimal(body, session);
    } else {
        session_write(body, session, true);
    }
}

/* The last member of an object that is open, and its end. */
static void write_claims(struct request *request, const struct claimed *claimed, size_t count)
{
    struct json_out *out = &request->out;
    json_key(out, "claims");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(out);
        json_key(out, "session");
        write_session(request, &claimed[i].loaded->session);
        out->need_comma = true;
        json_key(out, "lease");
        json_begin_object(out);
        json_put_text(out, "token", slice_of(claimed[i].token));
        json_put_i64(out, "fence", claimed[i].fence);
        json_put_time(out, "expires_at", claimed[i].expires_at_ms);
        json_end_object(out);
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
}

/* The wait ends when its time is over, the client is gone or the server stops. */
static bool may_wait(struct request *request)
{
    struct command *command = &request->command;
    int64_t wait_ms = json_i64_of(request->body, "wait_ms");
    int64_t wait_ms_max = request->api->limits.claim_wait_ms_max;
    if (command->waits_until_ms == 0) {
        command->waits_until_ms = request->call.steady_ms + (wait_ms < wait_ms_max ? wait_ms : wait_ms_max);
    }
    return request->call.steady_ms < command->waits_until_ms && !request->api->stopping;
}

static enum status claims_take(struct request *request)
{
    struct claim_request claim;
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    enum status status = read_claim(request, request->body, &claim);
    bool gone = exchange_peer_closed(request->exchange);
    if (status == STATUS_OK && !gone) {
        status = claim_take(&request->call, &claim, claimed, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (count == 0 && !gone && may_wait(request)) {
        request->command.waits = true;
        return STATUS_OK;
    }
    json_begin_object(&request->out);
    write_claims(request, claimed, count);
    return STATUS_OK;
}

static enum status claims_heartbeat(struct request *request)
{
    struct session_access entry;
    int64_t expires_at_ms;
    int64_t writes_before = transaction_writes(request->call.transaction);
    enum status status = claim_heartbeat(&request->call, request->params[0], json_i64_of(request->body, "lease_ms"),
                                         &entry, &expires_at_ms);
    if (status == STATUS_OK) {
        request->command.owes_commit = transaction_writes(request->call.transaction) != writes_before;
        struct json_out *out = &request->out;
        json_begin_object(out);
        json_put_i64(out, "fence", entry.loaded->session.fence);
        json_put_time(out, "expires_at", expires_at_ms);
        json_put_text(out, "status", slice_of(session_status_enum.names[entry.loaded->session.status]));
        json_end_object(out);
    }
    return status;
}

/* Totals only grow. Words beside the numbers, such as the model's name, are kept as they are. */
static enum status check_usage(const struct json *usage, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (const struct json *one = usage ? usage->child : NULL; one && status == STATUS_OK; one = one->next) {
        if (json_is(one, JSON_OBJECT)) {
            status = check_usage(one, failure);
        } else if (json_is(one, JSON_NUMBER) && slice_starts(one->raw, SLICE("-"))) {
            status = failure_set(failure, STATUS_INVALID, "invalid_usage", "`usage.%.*s` must not be negative.",
                                 SLICE_ARG(slice_utf8_prefix(one->key, 60)));
        }
    }
    return status;
}

static enum status read_settlement(struct request *request, struct settlement *out)
{
    const struct json *error = json_get_value(request->body, "error");
    *out = (struct settlement){
        .to = (enum session_status)enum_names_find(session_status_enum, json_text_of(request->body, "status")),
        .result = json_get_value(request->body, "result"),
        .usage = json_get_value(request->body, "usage"),
        .reason = json_text_of(request->body, "reason"),
    };
    if (json_is(error, JSON_OBJECT)) {
        out->error_message = json_text_of(error, "message");
        out->error_code = json_text_of(error, "code");
    } else if (error && !json_as_text(error, &out->error_message)) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "`error` must be a string or an object with code and message.");
    }
    return check_usage(out->usage, &request->call.failure);
}

static enum status settle(struct request *request, struct session_access *out)
{
    struct settlement settlement;
    enum status status = read_settlement(request, &settlement);
    return status == STATUS_OK ? claim_settle(&request->call, request->params[0], &settlement, out) : status;
}

/* Whoever may not claim hears it before anything is written. */
static enum status read_next(struct request *request, const struct json *next, struct claim_request *out)
{
    struct failure *failure = &request->call.failure;
    enum status status = validate_body(claim_body, next, failure);
    if (status == STATUS_OK && json_i64_of(next, "wait_ms") != 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_member",
                           "`claim.wait_ms` must be 0: a settlement waits for nothing.");
    }
    if (status == STATUS_OK && !(request->who.scopes & SCOPE_CLAIM)) {
        return failure_set(failure, STATUS_FORBIDDEN, "scope_required", "This needs a token with the scope claim.");
    }
    if (status == STATUS_OK) {
        status = access_check_claim(&request->who, failure);
    }
    return status == STATUS_OK ? read_claim(request, next, out) : status;
}

/* The answer tells of them as well. */
static void name_subjects(struct request *request, const struct claimed *claimed, size_t count)
{
    int64_t *keys = arena_array(request_arena(request), count, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        keys[i] = claimed[i].loaded->session.key;
    }
    request->further_keys = keys;
    request->further_count = count;
}

static enum status settle_and_claim(struct request *request, const struct json *next)
{
    struct session_access entry;
    struct claim_request claim;
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    enum status status = read_next(request, next, &claim);
    if (status == STATUS_OK) {
        status = settle(request, &entry);
    }
    if (status == STATUS_OK) {
        write_session(request, &entry.loaded->session);
        status = claim_take(&request->call, &claim, claimed, &count);
    }
    if (status == STATUS_OK) {
        request->exchange->body.len--; /* the session's object goes on */
        request->out.need_comma = true;
        write_claims(request, claimed, count);
        name_subjects(request, claimed, count);
    }
    return status;
}

static enum status claims_settle(struct request *request)
{
    struct session_access entry;
    const struct json *next = json_get_value(request->body, "claim");
    if (next) {
        return settle_and_claim(request, next);
    }
    enum status status = settle(request, &entry);
    if (status == STATUS_OK) {
        write_session(request, &entry.loaded->session);
    }
    return status;
}

static enum status claims_release(struct request *request)
{
    struct session_access entry;
    enum status status = claim_release(&request->call, request->params[0], &entry);
    if (status == STATUS_OK) {
        write_session(request, &entry.loaded->session);
    }
    return status;
}

static enum status claims_queue(struct request *request)
{
    struct session_filter filter;
    struct queue_stats *queues;
    struct worker_stats *workers;
    size_t queue_count, worker_count;
    struct call *call = &request->call;
    enum status status = request_check_tenant_wide(request);
    if (status != STATUS_OK) {
        return status;
    }
    request_filter_sessions(request, &filter);
    status = claim_stats(call, &filter, &queues, &queue_count, &workers, &worker_count);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "queues");
    json_begin_array(out);
    for (size_t i = 0; i < queue_count; i++) {
        json_begin_object(out);
        json_put_text(out, "agent", queues[i].agent);
        json_put_i64(out, "pending", queues[i].pending);
        json_put_i64(out, "leased", queues[i].leased);
        json_put_time(out, "oldest_queued_at", queues[i].oldest_queued_ms);
        json_end_object(out);
    }
    json_end_array(out);
    json_key(out, "workers");
    json_begin_array(out);
    for (size_t i = 0; i < worker_count; i++) {
        json_begin_object(out);
        json_put_text(out, "worker", workers[i].worker);
        json_put_i64(out, "leases", workers[i].leases);
        json_put_time(out, "last_heartbeat_at", workers[i].last_heartbeat_ms);
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

const struct route claim_routes[] = {
    {HTTP_POST, "/api/claims", claims_take, .scope = SCOPE_CLAIM, .headers = HEADER_PREFER, .body = claim_body,
     .answer = "Claims",
     .summary = "Claim pending sessions, highest priority first, then oldest; can wait if there are none."},
    {HTTP_GET, "/api/queue", claims_queue, .scope = SCOPE_CLAIM, .answer = "Queue",
     .summary = "Queue lengths and active workers."},
    {HTTP_POST, "/api/sessions/{id}/lease", claims_heartbeat, .scope = SCOPE_CLAIM, .body = heartbeat_body,
     .answer = "Lease", .summary = "Extend the lease (heartbeat)."},
    {HTTP_POST, "/api/sessions/{id}/settle", claims_settle, .idempotent = true, .headers = HEADER_PREFER,
     .body = settle_body, .answer = "Session", .summary = "End or park a claimed turn."},
    {HTTP_POST, "/api/sessions/{id}/release", claims_release, .scope = SCOPE_CLAIM, .headers = HEADER_PREFER,
     .answer = "Session", .summary = "Release a claimed session."},
    {0},
};
