#include "net/http_call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { HEADERS_MAX = 128 };

/* --- what ended a call --- */

/* Our own reasons (`broken`) and curl's, with the words for people. The last row stands for all others. */
static const struct ending {
    CURLcode result; /* CURLE_OK = our own */
    enum status status;
    const char *code;
    const char *text;
} endings[] = {
    {CURLE_OK, STATUS_TIMEOUT, "silent", "the other side said nothing for too long"},
    {CURLE_OK, STATUS_TOO_LARGE, "too_large", "the answer is larger than allowed"},
    {CURLE_OK, STATUS_FORBIDDEN, "address_refused", "the address may not be reached from here"},
    {CURLE_OK, STATUS_UNAVAILABLE, "stopping", "the server stops"},
    {CURLE_OPERATION_TIMEDOUT, STATUS_TIMEOUT, "timeout", "the call took longer than allowed"},
    {CURLE_COULDNT_RESOLVE_HOST, STATUS_UNAVAILABLE, "resolve", "the name of the host can't be resolved"},
    {CURLE_COULDNT_RESOLVE_PROXY, STATUS_UNAVAILABLE, "resolve", "the name of the proxy can't be resolved"},
    {CURLE_COULDNT_CONNECT, STATUS_UNAVAILABLE, "connect", "no connection could be made"},
    {CURLE_PEER_FAILED_VERIFICATION, STATUS_UNAVAILABLE, "tls", "the certificate of the other side is not trusted"},
    {CURLE_SSL_CONNECT_ERROR, STATUS_UNAVAILABLE, "tls", "no TLS connection could be made"},
    {CURLE_SSL_CACERT_BADFILE, STATUS_UNAVAILABLE, "tls", "the file of trusted certificates can't be read"},
    {CURLE_PARTIAL_FILE, STATUS_UNAVAILABLE, "cut", "the connection ended before the answer did"},
    {CURLE_RECV_ERROR, STATUS_UNAVAILABLE, "cut", "the connection broke"},
    {CURLE_SEND_ERROR, STATUS_UNAVAILABLE, "cut", "the connection broke"},
    {CURLE_GOT_NOTHING, STATUS_UNAVAILABLE, "cut", "the connection ended without an answer"},
    {CURLE_TOO_MANY_REDIRECTS, STATUS_UNAVAILABLE, "protocol", "there were too many redirects"},
    {CURLE_OK, STATUS_UNAVAILABLE, "protocol", "the call failed"},
};

static const struct ending *ending_of(const struct http_call *call, CURLcode result)
{
    size_t last = sizeof endings / sizeof endings[0] - 1;
    for (size_t i = 0; i < last; i++) {
        if (call->broken ? strcmp(endings[i].code, call->broken) == 0
                         : endings[i].result != CURLE_OK && endings[i].result == result) {
            return &endings[i];
        }
    }
    return &endings[last];
}

/* --- what curl tells; each returns less than it got to end the call --- */

void http_call_heard(struct http_call *call)
{
    assert(loop_is_mine(call->client->loop));
    call->heard_ms = uv_now(loop_uv(call->client->loop));
}

static size_t break_off(struct http_call *call, const char *code)
{
    call->broken = code;
    return 0;
}

static struct slice line_take(struct slice *rest)
{
    struct slice line;
    slice_cut(*rest, '\n', &line, rest);
    return line;
}

static void tell_head(struct http_call *call, long status)
{
    struct http_header headers[HEADERS_MAX];
    struct slice rest = buffer_slice(&call->head);
    size_t count = 0;
    while (rest.len && count < HEADERS_MAX) {
        if (http_header_of_line(line_take(&rest), &headers[count])) {
            count++;
        }
    }
    call->is_headed = true;
    if (call->handler.on_head) {
        call->handler.on_head(call->handler.owner, (int)status, headers, count);
    }
}

static bool is_followed(const struct http_call *call, long status)
{
    struct slice rest = buffer_slice(&call->head), name, value;
    if (call->redirects_left <= 0 || status < 300 || status >= 400) {
        return false;
    }
    while (rest.len) {
        if (slice_cut(line_take(&rest), ':', &name, &value) && slice_eq_nocase(name, SLICE("location"))) {
            return true;
        }
    }
    return false;
}

static struct slice without_end(struct slice line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) {
        line.len--;
    }
    return line;
}

/* The lines of every head: of 100 Continue, of redirects that are followed, of the answer. */
static size_t on_header(char *bytes, size_t one, size_t count, void *owner)
{
    struct http_call *call = owner;
    struct slice line = without_end(slice_from(bytes, count));
    struct http_header header;
    long status = 0;
    (void)one;
    http_call_heard(call);
    if (call->stage == CALL_CANCELLED || call->is_headed) { /* trailers are not told */
        return call->is_headed ? count : 0;
    }
    if (slice_starts(line, SLICE("HTTP/"))) {
        call->head.len = 0;
        return count;
    }
    if (line.len > 0) {
        if (!http_header_of_line(line, &header)) {
            return break_off(call, "protocol");
        }
        buffer_add(&call->head, line);
        buffer_add_byte(&call->head, '\n');
        return call->head.len <= call->client->options.header_bytes_max ? count : break_off(call, "too_large");
    }
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (is_followed(call, status)) {
        call->redirects_left--;
    } else if (status >= 200) {
        tell_head(call, status);
    }
    return call->stage == CALL_CANCELLED ? 0 : count;
}

static size_t on_bytes(char *bytes, size_t one, size_t count, void *owner)
{
    struct http_call *call = owner;
    (void)one;
    http_call_heard(call);
    if (call->stage == CALL_CANCELLED) {
        return 0;
    }
    if (call->is_paused) {
        call->is_held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (!call->is_headed) { /* the body of a redirect that is followed */
        return count;
    }
    call->body_bytes += count;
    if (call->body_bytes_max && call->body_bytes > call->body_bytes_max) {
        return break_off(call, "too_large");
    }
    if (call->handler.on_body) {
        call->handler.on_body(call->handler.owner, slice_from(bytes, count));
    }
    return call->stage == CALL_CANCELLED ? 0 : count;
}

static curl_socket_t on_open(void *owner, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_call *call = owner;
    (void)purpose;
    if (call->allow_address && !call->allow_address(call->address_owner, &address->addr)) {
        call->broken = "address_refused"; /* curl would try other addresses, or wait */
        call->client->is_unsettled = true;
        loop_timer_set(call->client->kick, 0);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int on_close(void *owner, curl_socket_t fd)
{
    http_client_close_socket(owner, fd);
    return 0;
}

/* --- silence --- */

static void on_silence(uv_timer_t *timer)
{
    struct http_call *call = timer->data;
    uint64_t now = uv_now(loop_uv(call->client->loop));
    int64_t quiet_ms = (int64_t)(now - call->heard_ms);
    if (call->is_paused) {
        call->heard_ms = now;
        quiet_ms = 0;
    }
    if (quiet_ms < call->silence_ms) {
        uv_timer_start(timer, on_silence, (uint64_t)(call->silence_ms - quiet_ms), 0);
        return;
    }
    struct http_client *client = call->client;
    call->broken = "silent";
    http_call_finish(call, CURLE_OK);
    http_client_run_deferred(client);
}

static void on_silence_closed(uv_handle_t *handle)
{
    free(handle);
}

void http_call_watch_silence(struct http_call *call, int64_t silence_ms)
{
    assert(loop_is_mine(call->client->loop));
    if (silence_ms <= 0) {
        return;
    }
    call->silence_ms = silence_ms;
    call->silence = memory_zeroed(sizeof *call->silence);
    call->silence->data = call;
    uv_timer_init(loop_uv(call->client->loop), call->silence);
    uv_timer_start(call->silence, on_silence, (uint64_t)silence_ms, 0);
}

/* --- the life of a call --- */

static void headers_wipe(struct curl_slist *headers)
{
    for (struct curl_slist *one = headers; one; one = one->next) {
        explicit_bzero(one->data, strlen(one->data));
    }
    curl_slist_free_all(headers);
}

void http_call_free(struct http_call *call)
{
    http_upgrade_free(call->upgrade); /* it watches the socket that curl closes */
    if (call->stage != CALL_WAITING) {
        curl_multi_remove_handle(call->client->multi, call->easy);
    }
    curl_easy_cleanup(call->easy);
    headers_wipe(call->headers);
    if (call->silence) {
        uv_close((uv_handle_t *)call->silence, on_silence_closed);
    }
    *call->link = call->next;
    if (call->next) {
        call->next->link = call->link;
    }
    socket_set_hold(&call->client->sockets, call->client->calls);
    buffer_release(&call->head);
    free(call);
}

void http_call_finish(struct http_call *call, CURLcode result)
{
    assert(loop_is_mine(call->client->loop));
    bool is_told = call->stage != CALL_CANCELLED;
    struct failure failure = {0};
    if (call->upgrade && call->stage == CALL_RUNNING && !call->broken && result == CURLE_OK) {
        call->stage = CALL_UPGRADING;
        http_upgrade_begin(call);
        return;
    }
    if (result == CURLE_OK && !call->is_headed && !call->broken) { /* 101 to what asked for no upgrade */
        call->broken = "protocol";
    }
    if (call->broken || result != CURLE_OK) {
        const struct ending *ending = ending_of(call, result);
        bool says_more = !call->broken && call->error[0];
        failure_set(&failure, ending->status, ending->code, "%s%s%s", ending->text, says_more ? ": " : "",
                    says_more ? call->error : "");
    }
    call->stage = CALL_ENDED;
    if (is_told) {
        call->handler.on_end(call->handler.owner, failure.status ? &failure : NULL);
    }
    http_call_free(call);
}

void http_call_listen(struct http_call *call)
{
    assert(loop_is_mine(call->client->loop));
    CURL *easy = call->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, call->client); /* connections outlive their call */
}

void http_call_add(struct http_call *call)
{
    assert(loop_is_mine(call->client->loop));
    call->stage = CALL_RUNNING;
    if (curl_multi_add_handle(call->client->multi, call->easy) != CURLM_OK) {
        abort(); /* only for want of memory or a broken handle */
    }
}

void http_call_cancel(struct http_call *call)
{
    if (!call || call->stage == CALL_ENDED) {
        return;
    }
    struct http_client *client = call->client;
    if (call->stage == CALL_WAITING || !client->inside) {
        http_call_free(call);
        return;
    }
    call->stage = CALL_CANCELLED;
    client->is_unsettled = true;
}

void http_call_pause(struct http_call *call, bool paused)
{
    assert(loop_is_mine(call->client->loop));
    if (call->stage == CALL_ENDED || call->is_paused == paused) {
        return;
    }
    call->is_paused = paused;
    http_call_heard(call);
    if (call->stage == CALL_UPGRADING) {
        http_upgrade_watch(call);
    }
    if (!paused && call->is_held) {
        loop_timer_set(call->client->kick, 0);
    }
}
