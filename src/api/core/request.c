#include "api/core/request.h"

#include "api/core/authenticate.h"

struct slice request_param(const struct request *request, const char *name)
{
    return request->query ? url_query_get(request->query, name) : (struct slice){0};
}

int64_t request_param_i64(const struct request *request, const char *name, int64_t fallback)
{
    int64_t value = fallback;
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

bool request_page_is_full(const struct request *request)
{
    return (int64_t)request->exchange->body.len >= request->api->limits.page_bytes_max;
}

int64_t request_list_limit(const struct request *request)
{
    int64_t limit = request_param_i64(request, "limit", request->api->limits.sessions_page_default);
    return limit < request->api->limits.sessions_page_max ? limit : request->api->limits.sessions_page_max;
}

struct slice request_header(const struct request *request, const char *name)
{
    return http_request_header(&request->exchange->request, name);
}

enum status request_check_query(struct request *request, const struct enum_names *accepted, const char *what)
{
    char names[300];
    for (size_t i = 0; request->query && i < request->query->count; i++) {
        struct slice name = request->query->params[i].name;
        if (enum_names_find(*accepted, name) < 0) {
            enum_names_list(*accepted, names, sizeof names);
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
