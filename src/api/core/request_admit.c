#include "api/core/accounts.h"
#include "api/core/authenticate.h"
#include "api/core/handlers.h"
#include "api/core/request_internal.h"

/* Up to this much an answer is not worth counting: a connection has few of them. */
enum { SMALL_BYTES = 16 * 1024 };

int64_t request_body_bytes_max(const struct request *request)
{
    const struct route *route = request->route;
    bool is_short = route->auth == AUTH_NONE || !route->body || route->body == empty_body;
    int64_t most = (int64_t)request->exchange->body_bytes_max, guest = request->api->limits.guest_body_bytes_max;
    return is_short && guest < most ? guest : most;
}

enum status request_check_length(const struct request *request, struct failure *failure)
{
    int64_t most = request_body_bytes_max(request);
    if (request->exchange->request.content_length <= most) {
        return STATUS_OK;
    }
    bool is_guest = most == request->api->limits.guest_body_bytes_max;
    return failure_set(failure, STATUS_TOO_LARGE, "body_too_large",
                       "The body of %s has at most %lld bytes (option %s).",
                       is_guest ? "a request without credentials, or to a path that takes none," : "a request",
                       (long long)most, is_guest ? "guest-body-bytes-max" : "body-bytes-max");
}

/* What is there and not counted yet. */
static int64_t uncounted(const struct request *request)
{
    const struct exchange *exchange = request->exchange;
    int64_t bytes = (int64_t)(exchange->arena.used_bytes + exchange->body.len);
    return bytes > SMALL_BYTES && bytes > exchange->hold.bytes ? bytes - exchange->hold.bytes : 0;
}

void request_count_bytes(struct request *request)
{
    int64_t bytes = uncounted(request);
    if (bytes > 0) {
        byte_hold_add(&request->exchange->hold, bytes);
    }
}

enum status request_take_bytes(struct request *request)
{
    int64_t bytes = uncounted(request);
    return bytes > 0 ? byte_hold_take(&request->exchange->hold, bytes, &request->call.failure) : STATUS_OK;
}

enum status request_enter(struct request *request)
{
    struct exchange *exchange = request->exchange;
    accounts_enter_caller(request->api->accounts, &request->who, &exchange->hold);
    request_count_bytes(request);
    bool may_be_long = !request->call.transaction || exchange->hold.bytes > SMALL_BYTES;
    return may_be_long ? byte_hold_check(&exchange->hold, &request->call.failure) : STATUS_OK;
}

/* --- the head --- */

static bool is_short(const struct request *request)
{
    const struct http_request *http = &request->exchange->request;
    int64_t bytes = http->chunked ? request_body_bytes_max(request) : http->content_length;
    return bytes <= request->api->limits.guest_body_bytes_max;
}

/* Only on the writer, when the whole request is there, is it known whose ticket this is. */
static bool names_its_caller(const struct request *request)
{
    return request->route->auth != AUTH_NONE && !slice_present(request_ticket(request));
}

static enum status take_as_guest(struct request *request, struct failure *failure)
{
    struct exchange *exchange = request->exchange;
    int64_t bytes = exchange->request.content_length;
    exchange->body_bytes_max = (size_t)request_body_bytes_max(request);
    accounts_enter_guest(request->api->accounts, &exchange->hold);
    return byte_hold_take(&exchange->hold, bytes >= 0 ? bytes : (int64_t)exchange->body_bytes_max, failure);
}

static enum status check_caller(struct request *request)
{
    struct exchange *exchange = request->exchange;
    struct failure *failure = &request->call.failure;
    enum status status = authenticate(request);
    if (status == STATUS_OK) {
        status = request_check_type(request, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    accounts_enter_caller(request->api->accounts, &request->who, &exchange->hold);
    exchange->body_bytes_max = (size_t)request_body_bytes_max(request);
    int64_t bytes = exchange->request.content_length;
    return bytes > 0 ? byte_hold_take(&exchange->hold, bytes, failure) : STATUS_OK;
}

static void admit_on_reader(struct read_job *job, struct db *db)
{
    struct request *request = (struct request *)((char *)job - offsetof(struct request, read_job));
    request_start(request, db);
    enum status status = reader_begin(db, &request->call.failure);
    if (status == STATUS_OK) {
        status = check_caller(request);
        enum status ended = reader_end(db, &request->call.failure);
        status = ended == STATUS_OK ? status : ended;
    }
    if (status == STATUS_OK) {
        exchange_admit(request->exchange);
    } else {
        request_fail(request, &request->call.failure);
    }
}

/* Short bodies come in at once, as long as there is room for guests, who can't take it from callers who show who they
 * are. A client that waits for a word before it sends gets it when its caller is known. */
void request_admit(struct request *request)
{
    struct failure failure;
    struct exchange *exchange = request->exchange;
    bool has_caller = names_its_caller(request);
    bool asks_first = has_caller && (!is_short(request) || exchange->request.expect_continue);
    if (!asks_first && take_as_guest(request, &failure) == STATUS_OK) {
        exchange_admit(exchange);
    } else if (has_caller) {
        request_read_on(request, admit_on_reader);
    } else {
        request_fail(request, &failure);
    }
}

enum status request_count_body(struct request *request, struct failure *failure)
{
    struct exchange *exchange = request->exchange;
    int64_t more = (int64_t)exchange->request.body.len - exchange->hold.bytes;
    if (!exchange->hold.accounts[0]) {
        accounts_enter_guest(request->api->accounts, &exchange->hold);
    }
    if (more <= 0) {
        return STATUS_OK;
    }
    if (!names_its_caller(request)) {
        return byte_hold_take(&exchange->hold, more, failure);
    }
    byte_hold_add(&exchange->hold, more);
    return STATUS_OK;
}
