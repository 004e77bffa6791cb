#include "api/ask/asks.h"
#include "api/core/handlers.h"
#include "api/core/validate.h"

/* A page without scripts; it may send its own form and nothing else. */
#define PAGE_POLICY                                                                                                    \
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

static const char page_head[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\"><meta name=\"robots\" content=\"noindex\"><title>Sojourn asks</title><style>"
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 "
    "1rem}pre{overflow:auto;padding:.8rem;border:1px solid;border-radius:.4rem;white-space:pre-wrap}"
    "button,input,textarea{font:inherit;padding:.4rem 1rem;margin:.2rem .4rem .2rem 0}textarea{width:100%}"
    "</style></head><body>";

/* --- making one --- */

static const struct field ask_link_body[] = {
    {"expires_in_ms", FIELD_INTEGER, false, "How long it is valid. Maximum and default: the option ask-link-ms.", NULL,
     1, 366 * DAY_MS},
    {0},
};

static enum status ask_links_create(struct request *request)
{
    char token[TOKEN_TEXT_BYTES];
    int64_t expires_at_ms;
    enum status status = ask_link_create(&request->call, request->params[0], request->params[1],
                                         json_i64_of(request->body, "expires_in_ms"), token, &expires_at_ms);
    if (status == STATUS_OK) {
        const char *base = request->api->public_url ? request->api->public_url : "";
        size_t length = strlen(base);
        length -= length > 0 && base[length - 1] == '/';
        json_begin_object(&request->out);
        json_put_text(&request->out, "url",
                      arena_format(request_arena(request), "%.*s/asks/%s", (int)length, base, token));
        json_put_time(&request->out, "expires_at", expires_at_ms);
        json_end_object(&request->out);
    }
    return status;
}

/* --- the page --- */

static bool wants_page(const struct request *request)
{
    struct slice accept = request_header(request, "accept");
    return slice_present(accept) && slice_starts(accept, SLICE("text/html"));
}

static void add_escaped(struct buffer *to, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '<':
            buffer_add(to, SLICE("&lt;"));
            break;
        case '>':
            buffer_add(to, SLICE("&gt;"));
            break;
        case '&':
            buffer_add(to, SLICE("&amp;"));
            break;
        case '"':
            buffer_add(to, SLICE("&quot;"));
            break;
        case '\'':
            buffer_add(to, SLICE("&#39;"));
            break;
        default:
            buffer_add_byte(to, text.ptr[i]);
        }
    }
}

static void add_element(struct buffer *to, const char *name, struct slice text)
{
    buffer_format(to, "<%s>", name);
    add_escaped(to, text);
    buffer_format(to, "</%s>", name);
}

static void add_button(struct buffer *to, const char *name, struct slice value, struct slice label)
{
    buffer_format(to, "<button name=\"%s\" value=\"", name);
    add_escaped(to, value);
    buffer_add(to, SLICE("\">"));
    add_escaped(to, label);
    buffer_add(to, SLICE("</button>"));
}

static void add_choices(struct buffer *to, struct arena *arena, struct slice options)
{
    const struct json *list;
    if (!slice_present(options) || json_parse(arena, options, &list, NULL) != STATUS_OK) {
        buffer_add(to, SLICE("<textarea name=\"answer\" rows=\"3\"></textarea><button>Answer</button>"));
        return;
    }
    for (const struct json *one = list->child; one; one = one->next) {
        add_button(to, "answer", one->text, one->text);
    }
}

static void add_form(struct buffer *to, struct arena *arena, const struct ask *ask)
{
    buffer_add(to, SLICE("<form method=\"post\">"));
    switch (ask->kind) {
    case ASK_APPROVAL:
        add_button(to, "decision", slice_of(ask_decision_enum.names[DECISION_ONCE]), SLICE("Approve once"));
        break;
    case ASK_QUESTION:
        add_choices(to, arena, ask->options);
        break;
    case ASK_ELICITATION:
    case ASK_KIND_COUNT:
        buffer_add(to, SLICE("<p>The form, as JSON:</p><textarea name=\"form\" rows=\"8\">{}</textarea>"
                             "<button>Send</button>"));
        break;
    }
    buffer_add(to, SLICE("</form><form method=\"post\"><input name=\"reason\" placeholder=\"Reason\">"));
    add_button(to, "decision", slice_of(ask_decision_enum.names[DECISION_DENY]), SLICE("Deny"));
    buffer_add(to, SLICE("</form>"));
}

static void add_ask(struct buffer *to, struct arena *arena, const struct ask *ask, const struct session *session)
{
    struct slice title = session && slice_present(session->title) ? session->title : SLICE("A session asks");
    buffer_add(to, slice_of(page_head));
    add_element(to, "h1", title);
    add_element(to, "p", ask->text);
    if (slice_present(ask->tool)) {
        add_element(to, "p", arena_format(arena, "Tool: %.*s", SLICE_ARG(ask->tool)));
    }
    if (slice_present(ask->arguments)) {
        add_element(to, "pre", ask->arguments);
    }
    if (slice_present(ask->schema)) {
        add_element(to, "pre", ask->schema);
    }
    if (ask->state == ASK_PENDING) {
        add_form(to, arena, ask);
    } else {
        add_element(to, "p", arena_format(arena, "It is %s.", ask_state_enum.names[ask->state]));
    }
    buffer_add(to, SLICE("</body></html>"));
}

/* A page that was opened by a secret is nobody else's to keep or to frame. */
static void guard(struct exchange *exchange)
{
    exchange_header(exchange, "Cache-Control", SLICE("no-store"));
    exchange_header(exchange, "Referrer-Policy", SLICE("no-referrer"));
    exchange_header(exchange, "X-Robots-Tag", SLICE("noindex"));
    exchange_header(exchange, "Content-Security-Policy", SLICE(PAGE_POLICY));
}

static void answer(struct request *request, const struct ask *ask, const struct session *session)
{
    guard(request->exchange);
    if (wants_page(request)) {
        request->exchange->content_type = "text/html; charset=utf-8";
        add_ask(&request->exchange->body, request_arena(request), ask, session);
        return;
    }
    ask_write(&request->out, ask);
}

static enum status ask_links_show(struct request *request)
{
    struct ask_link link;
    struct ask ask;
    struct session session;
    struct call *call = &request->call;
    enum status status = ask_link_resolve(call, request->params[0], &link);
    if (status != STATUS_OK) {
        return status;
    }
    call->who = &link.who;
    status = ask_view(call, link.session_id, link.ask_id, &ask, &session);
    call->who = &request->who;
    if (status == STATUS_NOT_FOUND) { /* deleted, or not for its maker any more */
        return ask_link_refuse(call);
    }
    if (status == STATUS_OK) {
        answer(request, &ask, &session);
    }
    return status;
}

/* --- deciding --- */

/* A page's form: decision, answer, reason, and a form written as JSON. */
static enum status read_form(struct request *request, struct slice text, const struct json **out)
{
    struct url_query form;
    struct buffer buffer = {0};
    struct failure *failure = &request->call.failure;
    enum status status = url_query_parse(request_arena(request), text, &form, failure);
    if (status != STATUS_OK) {
        return status;
    }
    static const char *const names[] = {"decision", "answer", "reason"};
    struct json_out json = json_out_to(&buffer);
    json_begin_object(&json);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct slice value = url_query_get(&form, names[i]);
        if (slice_present(value) && value.len > 0) {
            json_put_text(&json, names[i], value);
        }
    }
    struct slice filled = url_query_get(&form, "form");
    if (slice_present(filled) && filled.len > 0) {
        json_put_raw(&json, "answer", filled);
    }
    json_end_object(&json);
    status =
        json_parse(request_arena(request), arena_copy(request_arena(request), buffer_slice(&buffer)), out, failure);
    buffer_release(&buffer);
    return status;
}

static enum status read_decision(struct request *request, const struct json **out)
{
    struct slice text = request->exchange->request.body, type = request_header(request, "content-type");
    bool form = slice_present(type) && slice_starts(type, SLICE("application/x-www-form-urlencoded")) &&
                !(text.len > 0 && text.ptr[0] == '{');
    enum status status =
        form ? read_form(request, text, out)
             : json_parse(request_arena(request), text.len ? text : SLICE("{}"), out, &request->call.failure);
    return status == STATUS_OK ? validate_body(answer_body, *out, &request->call.failure) : status;
}

static enum status ask_links_answer(struct request *request)
{
    struct ask_link link;
    struct ask_reply reply;
    struct ask ask;
    const struct json *body;
    /* Who has no link hears nothing about what a body should look like. */
    enum status status = ask_link_resolve(&request->call, request->params[0], &link);
    if (status == STATUS_OK) {
        status = read_decision(request, &body);
    }
    if (status == STATUS_OK) {
        asks_read_reply(body, &reply);
        status = ask_link_answer(&request->call, request->params[0], &reply, &ask);
        request->call.who = &request->who;
    }
    if (status == STATUS_OK) {
        answer(request, &ask, NULL);
    }
    return status;
}

const struct route ask_link_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/asks/{ask_id}/link", ask_links_create, .body = ask_link_body, .success = 201,
     .answer = "AskLink", .summary = "Create a one-time link that shows and answers the ask."},
    {HTTP_GET, "/asks/{token}", ask_links_show, .auth = AUTH_NONE, .answer = "AskShown",
     .summary = "The ask of a one-time link: JSON, or a page for browsers."},
    {HTTP_POST, "/asks/{token}", ask_links_answer, .auth = AUTH_NONE, .body = any_body, .answer = "AskShown",
     .summary = "Answer the ask of a one-time link: JSON, or a page's form."},
    {0},
};
