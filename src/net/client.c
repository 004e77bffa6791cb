#include "net/client.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <time.h>

#include "wire/url.h"

enum { POLL_MS = 1000, ADDRESS_BYTES = 2048 };

struct client {
    struct client_options options;
    CURLM *multi;
    CURL *easy;                  /* kept between requests, and with it the connection */
    char address[ADDRESS_BYTES]; /* for people */
    struct buffer base;          /* the URL in front of every target */
    struct buffer authorization;
    char error[CURL_ERROR_SIZE];
};

/* One request under way; on the caller's stack. */
struct sending {
    struct client *client;
    const struct client_request *request;
    struct client_answer *answer;
    struct curl_slist *headers;
    int64_t started_ms;
    int64_t heard_ms; /* when the last bytes came */
    bool is_ended;    /* by on_bytes */
    bool is_too_large;
};

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- the address --- */

static bool is_loopback(struct slice host)
{
    return slice_is(host, "localhost") || slice_is(host, "::1") || slice_starts(host, SLICE("127."));
}

static struct slice without_last_slash(struct slice path)
{
    return path.len && path.ptr[path.len - 1] == '/' ? slice_from(path.ptr, path.len - 1) : path;
}

static enum status set_address(struct client *client, const struct url *url, struct failure *failure)
{
    bool is_unix = url->scheme == URL_UNIX;
    if (url->scheme != URL_HTTP && url->scheme != URL_HTTPS && !is_unix) {
        return failure_set(failure, STATUS_INVALID, "invalid_url", "give http://…, https://… or unix:PATH");
    }
    if (slice_present(url->user) || slice_present(url->query)) {
        return failure_set(failure, STATUS_INVALID, "invalid_url",
                           "the address can't hold a user, a password or a query; a token has an option of its own");
    }
    if (is_unix) {
        char *path = strndup(url->path.ptr, url->path.len);
        curl_easy_setopt(client->easy, CURLOPT_UNIX_SOCKET_PATH, path);
        free(path);
        buffer_add(&client->base, SLICE("http://localhost"));
    } else {
        bool is_ipv6 = memchr(url->host.ptr, ':', url->host.len) != NULL;
        buffer_format(&client->base, is_ipv6 ? "%s://[%.*s]:%d%.*s" : "%s://%.*s:%d%.*s", url->tls ? "https" : "http",
                      SLICE_ARG(url->host), url->port, SLICE_ARG(without_last_slash(url->path)));
    }
    if (is_unix || is_loopback(url->host)) {
        curl_easy_setopt(client->easy, CURLOPT_PROXY, "");
    }
    return STATUS_OK;
}

static enum status read_address(struct client *client, const char *text, struct failure *failure)
{
    struct arena arena = {0};
    struct url url;
    struct failure reason;
    struct slice shown = without_last_slash(url_without_password(&arena, slice_of(text)));
    snprintf(client->address, sizeof client->address, "%.*s", SLICE_ARG(shown));
    enum status status = url_parse(&arena, slice_of(text), &url, &reason);
    if (status == STATUS_OK) {
        status = set_address(client, &url, &reason);
    }
    if (status != STATUS_OK) {
        status = failure_set(failure, STATUS_INVALID, "invalid_url", "%s: %s", client->address, reason.detail);
    }
    arena_release(&arena);
    return status;
}

/* --- open and close --- */

static void set_lasting_options(struct client *client)
{
    CURL *easy = client->easy;
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->error);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)client->options.connect_ms);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "sojourn/" SOJOURN_VERSION);
    if (client->options.ca_file) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->options.ca_file);
    }
}

enum status client_open(const struct client_options *options, struct client **out, struct failure *failure)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct client *client = memory_zeroed(sizeof *client);
    client->options = *options;
    client->multi = curl_multi_init();
    client->easy = curl_easy_init();
    if (!client->multi || !client->easy) {
        abort(); /* out of memory */
    }
    set_lasting_options(client);
    if (options->token) {
        buffer_format(&client->authorization, "Authorization: Bearer %s", options->token);
        buffer_add_byte(&client->authorization, '\0');
    }
    enum status status = read_address(client, options->url, failure);
    if (status != STATUS_OK) {
        client_close(client);
        return status;
    }
    *out = client;
    return STATUS_OK;
}

void client_close(struct client *client)
{
    if (!client) {
        return;
    }
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    buffer_release(&client->base);
    buffer_release(&client->authorization);
    free(client);
    curl_global_cleanup();
}

const char *client_address(const struct client *client)
{
    return client->address;
}

/* --- one request --- */

static bool is_success(CURL *easy)
{
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300;
}

/* A count that is not `size` makes curl end the transfer. */
static size_t on_body(char *bytes, size_t one, size_t size, void *owner)
{
    struct sending *sending = owner;
    struct buffer *body = &sending->answer->body;
    (void)one;
    sending->heard_ms = monotonic_ms();
    if (sending->request->on_bytes && is_success(sending->client->easy)) {
        sending->is_ended = !sending->request->on_bytes(sending->request->owner, slice_from(bytes, size));
        return sending->is_ended ? CURL_WRITEFUNC_ERROR : size;
    }
    if (body->len + size > sending->client->options.answer_bytes_max) {
        sending->is_too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    buffer_add(body, slice_from(bytes, size));
    return size;
}

static void add_header(struct sending *sending, const char *name, struct slice value)
{
    struct buffer line = {0};
    buffer_format(&line, "%s: %.*s", name, SLICE_ARG(value));
    buffer_add_byte(&line, '\0');
    sending->headers = curl_slist_append(sending->headers, line.ptr);
    buffer_release(&line);
}

static void add_headers(struct sending *sending)
{
    const struct client_request *request = sending->request;
    add_header(sending, "Accept", request->on_bytes ? SLICE("text/event-stream") : SLICE("application/json"));
    sending->headers = curl_slist_append(sending->headers, "Expect:");
    if (slice_present(request->body)) {
        add_header(sending, "Content-Type", SLICE("application/json"));
    }
    if (sending->client->authorization.len) {
        sending->headers = curl_slist_append(sending->headers, sending->client->authorization.ptr);
    }
    for (size_t i = 0; i < CLIENT_HEADERS_MAX; i++) {
        if (slice_present(request->headers[i].value)) {
            add_header(sending, request->headers[i].name, request->headers[i].value);
        }
    }
}

static void prepare(struct sending *sending, const struct buffer *url)
{
    CURL *easy = sending->client->easy;
    const struct client_request *request = sending->request;
    add_headers(sending);
    curl_easy_setopt(easy, CURLOPT_URL, url->ptr);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, sending->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, sending);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L); /* forgets the body of the request before */
    if (slice_present(request->body)) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body.len ? request->body.ptr : "");
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static int64_t deadline_ms(const struct sending *sending)
{
    const struct client_options *options = &sending->client->options;
    return sending->request->on_bytes ? sending->heard_ms + options->silence_ms
                                      : sending->started_ms + options->answer_ms;
}

static enum status cannot_reach(const struct sending *sending, CURLcode code, struct failure *failure)
{
    const struct client *client = sending->client;
    if (sending->is_ended) {
        return STATUS_OK;
    }
    if (sending->is_too_large) {
        return failure_set(failure, STATUS_TOO_LARGE, "answer_too_large",
                           "The answer of %s has more than %zu bytes; ask for less.", client->address,
                           client->options.answer_bytes_max);
    }
    return failure_set(failure, STATUS_UNAVAILABLE, "unreachable", "%s can't be reached: %s.", client->address,
                       client->error[0] ? client->error : curl_easy_strerror(code));
}

static enum status finished(struct sending *sending, struct failure *failure)
{
    int left;
    CURLMsg *message = curl_multi_info_read(sending->client->multi, &left);
    CURLcode code = message ? message->data.result : CURLE_OK;
    long status = 0;
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(sending->client->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(sending->client->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    sending->answer->status = (int)status;
    sending->answer->retry_after_s = (int)retry_after_s;
    return code == CURLE_OK ? STATUS_OK : cannot_reach(sending, code, failure);
}

/* The stop descriptor first, then the watches that are wanted; `watches` says which. */
static unsigned fill_waits(const struct sending *sending, struct curl_waitfd *waits,
                           const struct client_watch **watches)
{
    unsigned count = 0;
    if (sending->client->options.stop_fd >= 0) {
        waits[count++] = (struct curl_waitfd){.fd = sending->client->options.stop_fd, .events = CURL_WAIT_POLLIN};
    }
    for (size_t i = 0; i < sending->request->watch_count && i < CLIENT_WATCHES_MAX; i++) {
        const struct client_watch *watch = &sending->request->watches[i];
        if (watch->fd >= 0) {
            watches[count] = watch;
            waits[count++] = (struct curl_waitfd){.fd = watch->fd, .events = CURL_WAIT_POLLIN};
        }
    }
    return count;
}

enum waited { WAITED, WAITED_STOP, WAITED_END };

static enum waited wait_for_something(struct sending *sending, int timeout_ms)
{
    struct curl_waitfd waits[1 + CLIENT_WATCHES_MAX];
    const struct client_watch *watches[1 + CLIENT_WATCHES_MAX] = {NULL};
    unsigned count = fill_waits(sending, waits, watches);
    curl_multi_poll(sending->client->multi, waits, count, timeout_ms, NULL);
    for (unsigned i = 0; i < count; i++) {
        if (waits[i].revents && !watches[i]) {
            return WAITED_STOP;
        }
        if (waits[i].revents && !watches[i]->on_ready(watches[i]->owner)) {
            return WAITED_END;
        }
    }
    return WAITED;
}

static enum status transfer(struct sending *sending, struct failure *failure)
{
    struct client *client = sending->client;
    int running = 1;
    for (;;) {
        curl_multi_perform(client->multi, &running);
        if (!running) {
            return finished(sending, failure);
        }
        int64_t left_ms = deadline_ms(sending) - monotonic_ms();
        if (left_ms <= 0) {
            return failure_set(failure, STATUS_TIMEOUT, "no_answer", "%s has not answered in time.", client->address);
        }
        enum waited waited = wait_for_something(sending, (int)(left_ms < POLL_MS ? left_ms : POLL_MS));
        if (waited == WAITED_STOP) {
            return failure_set(failure, STATUS_GONE, "stopped", "Stopped.");
        }
        if (waited == WAITED_END) {
            return STATUS_OK;
        }
    }
}

enum status client_send(struct client *client, const struct client_request *request, struct client_answer *out,
                        struct failure *failure)
{
    struct buffer url = {0};
    struct sending sending = {.client = client, .request = request, .answer = out};
    sending.started_ms = sending.heard_ms = monotonic_ms();
    *out = (struct client_answer){0};
    client->error[0] = '\0';
    buffer_add(&url, buffer_slice(&client->base));
    buffer_add(&url, request->target);
    buffer_add_byte(&url, '\0');
    prepare(&sending, &url);
    curl_multi_add_handle(client->multi, client->easy);
    enum status status = transfer(&sending, failure);
    curl_multi_remove_handle(client->multi, client->easy);
    curl_slist_free_all(sending.headers);
    buffer_release(&url);
    return status;
}
