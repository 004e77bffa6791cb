#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "net/http_call.h"

enum {
    READ_BYTES = 16 * 1024,
    SEND_BYTES = 16 * 1024,
    READS_PER_EVENT = 16,
    URI_BYTES_MAX = 64 * 1024,
    HEADERS_MAX = 128
};

/* A call that leaves HTTP: curl makes the connection, with its names, addresses and certificates; the request, the head
 * of the answer and the bytes after it go over the connection by hand. Owned by its call. */
struct http_upgrade {
    uv_poll_t *poll; /* NULL until there is a connection */
    struct http_call *call;
    struct buffer request; /* not sent yet */
    struct buffer held;    /* being sent: TLS wants the same bytes from the same place until they are taken */
    struct buffer answer;  /* of the head, until it is whole */
    struct http_scan scan;
    void (*on_writable)(void *owner);
    bool is_blocked; /* the owner is told when bytes are taken again */
};

/* --- the request --- */

/* The URL was checked to begin with http:// or https://. */
static void split_url(struct slice url, struct slice *out_authority, struct slice *out_target)
{
    struct slice rest = slice_after(url, slice_starts(url, SLICE("https://")) ? 8 : 7);
    size_t end = 0;
    while (end < rest.len && !strchr("/?#", rest.ptr[end])) {
        end++;
    }
    *out_authority = slice_from(rest.ptr, end);
    *out_target = slice_after(rest, end);
}

struct http_upgrade *http_upgrade_new(const struct http_call_spec *spec, const char *user_agent)
{
    struct http_upgrade *upgrade = memory_zeroed(sizeof *upgrade);
    struct buffer *out = &upgrade->request;
    struct slice authority, target;
    split_url(slice_of(spec->url), &authority, &target);
    buffer_format(out, "GET %s%.*s HTTP/1.1\r\n", slice_starts(target, SLICE("/")) ? "" : "/", SLICE_ARG(target));
    http_write_header(out, "Host", authority);
    http_write_header(out, "Connection", SLICE("Upgrade"));
    http_write_header(out, "Upgrade", slice_of(spec->upgrade));
    if (!slice_present(http_header_find(spec->headers, spec->header_count, "user-agent"))) {
        http_write_header(out, "User-Agent", slice_of(user_agent));
    }
    for (size_t i = 0; i < spec->header_count; i++) {
        http_write_header_as_is(out, &spec->headers[i]);
    }
    http_write_end(out);
    http_scan_init(&upgrade->scan, HTTP_RESPONSE);
    upgrade->on_writable = spec->on_writable;
    return upgrade;
}

static void on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

void http_upgrade_free(struct http_upgrade *upgrade)
{
    if (!upgrade) {
        return;
    }
    if (upgrade->poll) {
        uv_poll_stop(upgrade->poll);
        uv_close((uv_handle_t *)upgrade->poll, on_poll_closed);
    }
    if (upgrade->request.len > 0) { /* its headers may hold secrets */
        explicit_bzero(upgrade->request.ptr, upgrade->request.len);
    }
    buffer_release(&upgrade->request);
    buffer_release(&upgrade->held);
    buffer_release(&upgrade->answer);
    free(upgrade);
}

/* --- the socket --- */

static void on_poll(uv_poll_t *poll, int status, int events);

void http_upgrade_watch(struct http_call *call)
{
    struct http_upgrade *upgrade = call->upgrade;
    bool wants_room = upgrade->request.len > 0 || upgrade->held.len > 0 || upgrade->is_blocked;
    int events = (call->is_paused ? 0 : UV_READABLE) | (wants_room ? UV_WRITABLE : 0);
    uv_poll_start(upgrade->poll, events, on_poll);
}

/* The client looks at the call again when nobody is on the stack. */
static void kick(struct http_call *call)
{
    call->client->is_unsettled = true;
    loop_timer_set(call->client->kick, 0);
}

static void break_off(struct http_call *call, const char *code)
{
    call->broken = code;
    kick(call);
}

static void end(struct http_call *call)
{
    call->is_over = true;
    kick(call);
}

static bool is_ended(const struct http_call *call)
{
    return call->stage != CALL_UPGRADING || call->is_over || call->broken;
}

static size_t send_bytes(struct http_call *call, struct slice bytes)
{
    size_t sent = 0;
    CURLcode result = curl_easy_send(call->easy, bytes.ptr, bytes.len, &sent);
    if (result != CURLE_OK && result != CURLE_AGAIN) {
        break_off(call, "cut");
        return 0;
    }
    return result == CURLE_OK ? sent : 0;
}

/* True when nothing is held any more. */
static bool send_held(struct http_call *call)
{
    struct buffer *held = &call->upgrade->held;
    if (held->len > 0) {
        buffer_consume(held, send_bytes(call, buffer_slice(held)));
    }
    return held->len == 0 && !call->broken;
}

size_t http_call_write(struct http_call *call, struct slice bytes)
{
    struct http_upgrade *upgrade = call->upgrade;
    size_t taken = 0;
    if (is_ended(call)) {
        return 0;
    }
    while (send_held(call) && taken < bytes.len) {
        struct slice rest = slice_after(bytes, taken);
        size_t count = rest.len < SEND_BYTES ? rest.len : SEND_BYTES;
        buffer_add(&upgrade->held, slice_from(rest.ptr, count));
        taken += count;
    }
    upgrade->is_blocked = taken < bytes.len;
    http_upgrade_watch(call);
    return taken;
}

/* --- what comes --- */

static void tell_head(struct http_call *call, size_t head_bytes)
{
    struct http_upgrade *upgrade = call->upgrade;
    struct arena arena = {0};
    struct http_response response;
    struct slice head = slice_from(upgrade->answer.ptr, head_bytes);
    if (http_response_read(&upgrade->scan, head, &arena, &response) != HTTP_FAULT_NONE) {
        break_off(call, "protocol");
    } else if (response.status == 101 || response.status >= 200) {
        call->is_headed = true;
        if (call->silence) {
            uv_timer_stop(call->silence);
        }
        call->handler.on_head(call->handler.owner, response.status, response.headers, response.header_count);
        if (response.status != 101 && call->stage == CALL_UPGRADING) {
            end(call);
        }
    }
    arena_release(&arena);
}

static void tell_bytes(struct http_call *call, struct slice bytes)
{
    if (bytes.len > 0 && !is_ended(call)) {
        call->handler.on_body(call->handler.owner, bytes);
    }
}

/* Heads of 1xx before the last one are passed over. */
static void take_head(struct http_call *call, struct slice bytes)
{
    struct http_upgrade *upgrade = call->upgrade;
    struct http_limits limits = {URI_BYTES_MAX, call->client->options.header_bytes_max, HEADERS_MAX};
    buffer_add(&upgrade->answer, bytes);
    while (!call->is_headed && !is_ended(call) && upgrade->answer.len > 0) {
        enum http_progress progress = http_scan(&upgrade->scan, &limits, buffer_slice(&upgrade->answer));
        if (progress == HTTP_MORE) {
            return;
        }
        if (progress == HTTP_REFUSED) {
            break_off(call, "protocol");
            return;
        }
        size_t head_bytes = upgrade->scan.at;
        tell_head(call, head_bytes);
        buffer_consume(&upgrade->answer, head_bytes);
        http_scan_init(&upgrade->scan, HTTP_RESPONSE);
    }
    tell_bytes(call, buffer_slice(&upgrade->answer));
    buffer_release(&upgrade->answer);
}

static void receive(struct http_call *call)
{
    char bytes[READ_BYTES];
    for (int i = 0; i < READS_PER_EVENT && !is_ended(call) && !call->is_paused; i++) {
        size_t got = 0;
        CURLcode result = curl_easy_recv(call->easy, bytes, sizeof bytes, &got);
        if (result == CURLE_AGAIN) {
            return;
        }
        if (result != CURLE_OK || got == 0) {
            result == CURLE_OK && call->is_headed ? end(call) : break_off(call, "cut");
            return;
        }
        call->heard_ms = uv_now(loop_uv(call->client->loop));
        if (call->is_headed) {
            tell_bytes(call, slice_from(bytes, got));
        } else {
            take_head(call, slice_from(bytes, got));
        }
    }
    call->is_held = true; /* with TLS, bytes may be here that the socket will not announce */
    if (!call->is_paused && !is_ended(call)) {
        kick(call);
    }
}

static void send_request(struct http_call *call)
{
    struct buffer *request = &call->upgrade->request;
    buffer_consume(request, send_bytes(call, buffer_slice(request)));
}

/* Handlers may cancel the call, which frees it unless it seems to be curl that runs. */
static void act(struct http_call *call, bool reads, bool writes)
{
    struct http_client *client = call->client;
    client->inside++;
    if (writes && call->upgrade->request.len > 0) {
        send_request(call);
    } else if (writes && send_held(call) && call->upgrade->is_blocked && !is_ended(call)) {
        call->upgrade->is_blocked = false;
        call->upgrade->on_writable(call->handler.owner);
    }
    if (reads && !is_ended(call)) {
        receive(call);
    }
    if (call->stage == CALL_UPGRADING) {
        http_upgrade_watch(call);
    }
    client->inside--;
    http_client_run_deferred(client);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct http_upgrade *upgrade = poll->data;
    bool failed = status < 0; /* reading tells why */
    act(upgrade->call, failed || (events & UV_READABLE) != 0, (events & UV_WRITABLE) != 0);
}

void http_upgrade_resume(struct http_call *call)
{
    act(call, true, false);
}

void http_upgrade_begin(struct http_call *call)
{
    struct http_upgrade *upgrade = call->upgrade;
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(call->easy, CURLINFO_ACTIVESOCKET, &fd);
    upgrade->call = call;
    if (fd != CURL_SOCKET_BAD) {
        http_client_forget_socket(call->client, fd);
        upgrade->poll = memory_zeroed(sizeof *upgrade->poll);
    }
    if (fd == CURL_SOCKET_BAD || uv_poll_init_socket(loop_uv(call->client->loop), upgrade->poll, fd) != 0) {
        free(upgrade->poll);
        upgrade->poll = NULL;
        break_off(call, "connect");
        return;
    }
    upgrade->poll->data = upgrade;
    send_request(call);
    http_upgrade_watch(call);
}
