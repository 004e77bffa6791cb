#include "api/core/dashboard.h"

#include "api/core/handlers.h"

/* Scripts, styles and connections of our own origin and nothing else; no page may frame us. */
#define CONTENT_POLICY                                                                                                 \
    "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"

/* The page's script reads the query, whatever it holds. */
static const struct field page_query[] = {{"", FIELD_LABEL, false, "Anything.", NULL, 0, 0}, {0}};

static enum status answer_asset(struct request *request, const struct dashboard_asset *asset, struct slice caching)
{
    struct exchange *exchange = request->exchange;
    bool gzip = http_list_has(request_header(request, "accept-encoding"), "gzip");
    exchange->content_type = asset->content_type;
    exchange->static_body = gzip ? asset->gzip : asset->plain;
    if (gzip) {
        exchange_header(exchange, "Content-Encoding", SLICE("gzip"));
    }
    exchange_header(exchange, "Vary", SLICE("Accept-Encoding"));
    exchange_header(exchange, "Cache-Control", caching);
    exchange_header(exchange, "Content-Security-Policy", SLICE(CONTENT_POLICY));
    exchange_header(exchange, "Referrer-Policy", SLICE("no-referrer"));
    exchange_header(exchange, "Cross-Origin-Opener-Policy", SLICE("same-origin"));
    return STATUS_OK;
}

/* Every page is the same document; the script looks at the address. */
enum status dashboard_page(struct request *request)
{
    return answer_asset(request, &dashboard_index, SLICE("no-cache"));
}

bool dashboard_is_wanted(const struct request *request)
{
    const struct http_request *http = &request->exchange->request;
    return http->method == HTTP_GET && !slice_starts(http->path, SLICE("/api/")) &&
           http_list_has(request_header(request, "accept"), "text/html");
}

static enum status dashboard_file(struct request *request)
{
    for (const struct dashboard_asset *asset = dashboard_assets; asset->name; asset++) {
        if (slice_is(request->params[0], asset->name)) {
            return answer_asset(request, asset, SLICE("public, max-age=31536000, immutable"));
        }
    }
    return failure_set(&request->call.failure, STATUS_NOT_FOUND, "not_found", "There is nothing here.");
}

const struct route dashboard_routes[] = {
    {HTTP_GET, "/", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard."},
    {HTTP_GET, "/sign-in", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: sign in."},
    {HTTP_GET, "/inbox", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: pending asks."},
    {HTTP_GET, "/sessions", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: sessions."},
    {HTTP_GET, "/sessions/{id}", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: one session."},
    {HTTP_GET, "/agents", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: agents."},
    {HTTP_GET, "/agents/{agent}", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: one agent."},
    {HTTP_GET, "/rules", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: saved rules."},
    {HTTP_GET, "/today", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: today."},
    {HTTP_GET, "/tasks", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: tasks."},
    {HTTP_GET, "/tasks/{task}", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: one task."},
    {HTTP_GET, "/entities", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: entities."},
    {HTTP_GET, "/entities/{entity}", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: one entity."},
    {HTTP_GET, "/settings", dashboard_page, .run_on = RUN_LOOP, .auth = AUTH_NONE, .query = page_query,
     .summary = "The dashboard: the user's settings."},
    {HTTP_GET, "/assets/{name}", dashboard_file, .run_on = RUN_LOOP, .auth = AUTH_NONE,
     .summary = "A file of the dashboard."},
    {0},
};
