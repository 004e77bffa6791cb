#include "api/core/handlers.h"
#include "api/core/request_internal.h"
#include "api/core/validate.h"

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
    return body_fields(request) != any_body && bytes > (size_t)request->api->limits.guest_body_bytes_max;
}

bool request_body_waits(const struct request *request)
{
    return is_long(request) && request->route->auth == AUTH_NEEDED;
}

enum status request_check_type(const struct request *request, struct failure *failure)
{
    if (body_fields(request) == any_body || is_json_type(request_header(request, "content-type"))) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_UNSUPPORTED, "unsupported_media_type", "Send the body as application/json.");
}

enum status request_read_body(struct request *request, struct failure *failure)
{
    const struct field *fields = body_fields(request);
    struct slice text = request->exchange->request.body;
    if (fields == any_body || (!request->route->body && text.len == 0)) {
        return STATUS_OK;
    }
    enum status status = text.len > 0 ? request_check_type(request, failure) : STATUS_OK;
    if (status == STATUS_OK) {
        status = json_parse_within(request_arena(request), text.len ? text : SLICE("{}"),
                                   (size_t)request->api->limits.body_values_max, &request->body, failure);
    }
    return status == STATUS_OK ? validate_body_as(request->door->ignores_unknown, fields, request->body, failure)
                               : status;
}
