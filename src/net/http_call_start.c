#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "net/http_call.h"

enum { CONNECT_MS = 30000 };

/* --- what curl is told --- */

static void set_verb(CURL *easy, const struct http_call_spec *spec)
{
    bool has_body = slice_present(spec->body);
    if (has_body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)spec->body.len);
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, spec->body.ptr);
    }
    if (spec->method && strcmp(spec->method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (spec->method) {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, spec->method);
    }
}

static void set_trust(struct http_call *call, const struct http_call_spec *spec)
{
    CURL *easy = call->easy;
    const struct http_client_options *options = &call->client->options;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, spec->allow_http ? "http,https" : "https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, spec->allow_http ? "http,https" : "https");
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (options->ca_file) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
    }
    if (options->ignores_environment || spec->allow_address || spec->allow_http) {
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
    if (spec->allow_address) { /* a connection opened for somebody else was never asked about */
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, spec->upgrade ? 0L : 1L);
    }
    if (spec->upgrade) { /* such a connection ends with its call; forbidding its reuse would end it before */
        curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    }
}

static void set_limits(CURL *easy, const struct http_call_spec *spec)
{
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(spec->connect_ms > 0 ? spec->connect_ms : CONNECT_MS));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)spec->total_ms);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, spec->follow_redirects > 0 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)spec->follow_redirects);
}

static const char *user_agent_of(const struct http_client *client)
{
    return client->options.user_agent ? client->options.user_agent : "sojourn/" SOJOURN_VERSION;
}

static void set_all(struct http_call *call, const struct http_call_spec *spec)
{
    CURL *easy = call->easy;
    curl_easy_setopt(easy, CURLOPT_URL, spec->url);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, user_agent_of(call->client));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    set_verb(easy, spec);
    set_trust(call, spec);
    set_limits(easy, spec);
    http_call_listen(call);
}

/* --- starting --- */

static enum status spec_check(const struct http_call_spec *spec, struct failure *failure)
{
    struct slice url = slice_of(spec->url);
    bool is_https = slice_starts(url, SLICE("https://"));
    if (!is_https && !(spec->allow_http && slice_starts(url, SLICE("http://")))) {
        return failure_set(failure, STATUS_INVALID, "invalid_url", "The URL must begin with https://%s.",
                           spec->allow_http ? " or http://" : "");
    }
    for (size_t i = 0; i < spec->header_count; i++) {
        struct http_header checked;
        if (!http_header_make(spec->headers[i].name, spec->headers[i].value, &checked)) {
            return failure_set(failure, STATUS_INVALID, "invalid_header",
                               "The name of header %zu must be a token, and its value one line without control "
                               "characters.",
                               i + 1);
        }
    }
    return STATUS_OK;
}

static struct curl_slist *headers_add(struct curl_slist *headers, const char *line)
{
    struct curl_slist *longer = curl_slist_append(headers, line);
    if (!longer) {
        abort();
    }
    return longer;
}

static struct curl_slist *headers_new(const struct http_call_spec *spec)
{
    struct curl_slist *headers = headers_add(NULL, "Expect:"); /* no pause before a large body */
    struct buffer line = {0};
    for (size_t i = 0; i < spec->header_count; i++) {
        const struct http_header *header = &spec->headers[i];
        line.len = 0;
        buffer_reserve(&line, header->name.len + header->value.len + 3); /* one place, wiped below */
        buffer_add(&line, header->name);
        buffer_add(&line, header->value.len ? SLICE(": ") : SLICE(";"));
        buffer_add(&line, header->value);
        buffer_add_byte(&line, '\0');
        headers = headers_add(headers, line.ptr);
        explicit_bzero(line.ptr, line.len);
    }
    buffer_release(&line);
    return headers;
}

static void call_link(struct http_call *call)
{
    struct http_client *client = call->client;
    call->next = client->calls;
    call->link = &client->calls;
    if (call->next) {
        call->next->link = &call->next;
    }
    client->calls = call;
    socket_set_hold(&client->sockets, true);
}

enum status http_call_start(struct http_client *client, const struct http_call_spec *spec,
                            const struct http_call_handler *handler, struct http_call **out, struct failure *failure)
{
    enum status status = spec_check(spec, failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (client->is_stopping) {
        return failure_set(failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops; try again.");
    }
    struct http_call *call = memory_zeroed(sizeof *call);
    call->client = client;
    call->handler = *handler;
    call->allow_address = spec->allow_address;
    call->address_owner = spec->address_owner;
    call->redirects_left = spec->follow_redirects;
    call->body_bytes_max = spec->body_bytes_max;
    call->headers = headers_new(spec);
    call->upgrade = spec->upgrade ? http_upgrade_new(spec, user_agent_of(client)) : NULL;
    call->easy = curl_easy_init();
    if (!call->easy) {
        abort();
    }
    set_all(call, spec);
    call_link(call);
    uv_update_time(loop_uv(client->loop));
    http_call_heard(call);
    http_call_watch_silence(call, spec->silence_ms);
    *out = call;
    if (client->inside || client->is_settling) {
        client->is_unsettled = true;
    } else {
        http_call_add(call);
    }
    return STATUS_OK;
}
