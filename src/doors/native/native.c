#include "doors/native/native.h"

#include "api/core/authenticate.h"
#include "api/core/handlers.h"
#include "api/core/problem.h"
#include "doors/native/frame_encoders.h"
#include "wire/cookie.h"

static bool bearer_token(const struct request *request, struct slice *out)
{
    struct slice header = request_header(request, "authorization");
    if (header.len < 7 || !slice_eq_nocase(slice_from(header.ptr, 7), SLICE("bearer "))) {
        return false;
    }
    *out = slice_trim(slice_after(header, 7));
    return true;
}

/* A token goes before a ticket, a ticket before a cookie. */
static struct presented_credential credential(const struct request *request)
{
    struct slice secret;
    if (bearer_token(request, &secret)) {
        return (struct presented_credential){PRESENTED_TOKEN, secret};
    }
    struct slice ticket = request_ticket(request);
    if (slice_present(ticket)) {
        return (struct presented_credential){PRESENTED_TICKET, ticket};
    }
    struct slice cookies = request_header(request, "cookie");
    struct slice cookie = cookie_find(cookies, COOKIE_NAME);
    if (slice_present(cookie)) {
        return (struct presented_credential){PRESENTED_COOKIE, cookie};
    }
    bool any = slice_present(cookies) || slice_present(request_header(request, "authorization"));
    return (struct presented_credential){.kind = any ? PRESENTED_UNUSABLE : PRESENTED_NOTHING};
}

static bool serve_page(struct request *request)
{
    if (!dashboard_is_wanted(request)) {
        return false;
    }
    request->exchange->status = 404;
    return dashboard_page(request) == STATUS_OK;
}

const struct door native_door = {
    .name = "native",
    .prefix = "",
    .tables = route_tables,
    .credential = credential,
    .unauthenticated = "Send a valid API token as \"Authorization: Bearer TOKEN\", or sign in.",
    .refuse = problem_answer,
    .serve_page = serve_page,
    .sse = &encoder_sse,
    .websocket = &encoder_websocket,
};
