#include "api/sandbox/proxy_socket.h"

#include <stdlib.h>

#include "api/core/outgoing.h"
#include "api/sandbox/proxy_guard.h"
#include "api/sandbox/proxy_target.h"
#include "loop/timer.h"
#include "net/stream.h"
#include "wire/websocket_frames.h"

enum { UNSENT_BYTES_MAX = 256 * 1024 };

/* What passes one way. */
struct lane {
    struct websocket_frames frames;
    struct buffer unsent;
};

/* One WebSocket through a tunnel, on the loop of the caller's connection. The exchange is its own until the service
 * agreed; then the stream is. It lives until the stream is closed. */
struct relay {
    struct api *api;
    struct exchange *exchange; /* until it is answered */
    struct stream *stream;     /* to the caller */
    struct http_call *call;    /* to the service; NULL = it is over */
    struct proxy_guard *guard;
    struct loop_timer *timer;
    struct arena arena;
    struct proxy_target way;
    struct lane there, back;
    int64_t passed_ms; /* when bytes passed last */
    bool ending;       /* the stream ends when all is sent */
};

/* What the loop needs to begin; in the exchange's arena. */
struct opening {
    struct session session;
    struct slice target;
};

static void lane_release(struct lane *lane)
{
    buffer_release(&lane->unsent);
}

static void relay_free(struct relay *relay)
{
    http_call_cancel(relay->call);
    proxy_guard_close(relay->guard);
    if (relay->timer) {
        loop_timer_free(relay->timer);
    }
    lane_release(&relay->there);
    lane_release(&relay->back);
    arena_release(&relay->arena);
    free(relay);
}

/* --- sending --- */

static void send_back(struct relay *relay)
{
    struct buffer *unsent = &relay->back.unsent;
    if (!relay->stream) {
        return;
    }
    if (unsent->len > 0) {
        buffer_consume(unsent, stream_write(relay->stream, buffer_slice(unsent)));
    }
    if (unsent->len == 0) {
        buffer_release(unsent);
    }
    if (unsent->len == 0 && relay->ending) {
        stream_end(relay->stream, 0);
    } else if (relay->call) {
        http_call_pause(relay->call, unsent->len > UNSENT_BYTES_MAX);
    }
}

static void send_there(struct relay *relay)
{
    struct buffer *unsent = &relay->there.unsent;
    if (relay->call && unsent->len > 0) {
        buffer_consume(unsent, http_call_write(relay->call, buffer_slice(unsent)));
    }
    if (unsent->len == 0) {
        buffer_release(unsent);
    }
    if (relay->stream && !relay->ending) {
        stream_pause(relay->stream, unsent->len > UNSENT_BYTES_MAX);
    }
}

/* --- the end --- */

/* A frame of ours may stand only between whole ones, and nothing behind a close. */
static bool takes_close(const struct lane *lane)
{
    return websocket_frames_are_whole(&lane->frames) && !lane->frames.closed;
}

static void end_service(struct relay *relay, int code, const char *reason)
{
    if (!relay->call) {
        return;
    }
    if (takes_close(&relay->there)) {
        websocket_write_masked_close(&relay->there.unsent, relay->api->service->ids, code, slice_of(reason));
    }
    send_there(relay);
    http_call_cancel(relay->call);
    relay->call = NULL;
}

static void end(struct relay *relay, int code, const char *reason)
{
    if (relay->ending) {
        return;
    }
    relay->ending = true;
    if (takes_close(&relay->back)) {
        websocket_write_close(&relay->back.unsent, code, slice_of(reason));
    }
    end_service(relay, code, reason);
    send_back(relay);
}

/* Both said goodbye. */
static void end_if_closed(struct relay *relay)
{
    if (relay->there.frames.closed && relay->back.frames.closed) {
        end(relay, WEBSOCKET_CLOSE_NORMAL, "");
    }
}

/* --- time --- */

static int64_t now_ms(const struct relay *relay)
{
    return clock_steady_ms(relay->api->service->clock);
}

/* After one goodbye the other has the time that a connection has. */
static int64_t patience_ms(const struct relay *relay)
{
    bool closing = relay->there.frames.closed || relay->back.frames.closed;
    return closing ? relay->api->limits.proxy_connect_ms : relay->api->limits.proxy_idle_ms;
}

static void on_timer(void *owner)
{
    struct relay *relay = owner;
    int64_t left_ms = relay->passed_ms + patience_ms(relay) - now_ms(relay);
    if (left_ms > 0) {
        loop_timer_set(relay->timer, left_ms);
    } else {
        end(relay, WEBSOCKET_CLOSE_GOING_AWAY, "nothing passed for too long");
    }
}

static void note_passed(struct relay *relay, const struct lane *lane)
{
    relay->passed_ms = now_ms(relay);
    if (lane->frames.closed) {
        loop_timer_set(relay->timer, patience_ms(relay));
    }
}

/* --- what comes --- */

/* False when the connection had to be ended. */
static bool pass(struct relay *relay, struct lane *lane, struct slice bytes)
{
    bool sound = websocket_frames_pass(&lane->frames, bytes, &lane->unsent);
    note_passed(relay, lane);
    if (!sound) {
        end(relay, lane->frames.close_code, lane->frames.problem);
    }
    return sound;
}

static void on_bytes(void *owner, struct slice bytes)
{
    struct relay *relay = owner;
    if (!relay->ending && pass(relay, &relay->there, bytes)) {
        send_there(relay);
        end_if_closed(relay);
    }
}

static void on_body(void *owner, struct slice bytes)
{
    struct relay *relay = owner;
    if (!relay->ending && pass(relay, &relay->back, bytes)) {
        send_back(relay);
        end_if_closed(relay);
    }
}

static void on_room_there(void *owner)
{
    send_there(owner);
}

static void on_room_back(void *owner)
{
    send_back(owner);
}

static void on_closed(void *owner)
{
    struct relay *relay = owner;
    relay->stream = NULL;
    end_service(relay, WEBSOCKET_CLOSE_GOING_AWAY, "the other side is gone");
    relay_free(relay);
}

static const struct stream_handler stream_handler = {on_room_back, on_bytes, on_closed};

/* --- the answer --- */

static void refuse(struct relay *relay, const struct failure *failure)
{
    struct exchange *exchange = relay->exchange;
    request_refuse(exchange->owner, failure);
    relay_free(relay);
    exchange_send(exchange);
}

static void agree(struct relay *relay, const struct http_header *headers, size_t count)
{
    struct exchange *exchange = relay->exchange;
    exchange->body.len = 0;
    http_write_header(&exchange->body, "Connection", SLICE("Upgrade"));
    http_write_header(&exchange->body, "Upgrade", SLICE("websocket"));
    proxy_target_write_back(&relay->way, &relay->arena, headers, count, &exchange->body);
    relay->exchange = NULL;
    relay->stream = stream_accept(exchange, STREAM_RAW, &stream_handler, relay);
    if (!relay->stream) {
        relay_free(relay);
        return;
    }
    relay->passed_ms = now_ms(relay);
    loop_timer_set(relay->timer, patience_ms(relay));
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    struct relay *relay = owner;
    struct failure failure;
    if (status == 101 && slice_eq_nocase(http_header_find(headers, count, "upgrade"), SLICE("websocket"))) {
        agree(relay, headers, count);
        return;
    }
    (void)failure_set(&failure, STATUS_BAD_GATEWAY, "upgrade_refused",
                      "The service behind the tunnel answers with %d; it does not speak WebSocket here.", status);
    refuse(relay, &failure);
}

static void on_end(void *owner, const struct failure *failure)
{
    struct relay *relay = owner;
    relay->call = NULL;
    if (relay->exchange && failure) {
        struct failure told;
        proxy_tell_failure(failure, &told);
        refuse(relay, &told);
        return;
    }
    bool said_why = relay->back.frames.closed;
    end(relay, said_why ? WEBSOCKET_CLOSE_NORMAL : WEBSOCKET_CLOSE_INTERNAL, "the service behind the tunnel is gone");
}

static void on_over(void *owner, int code, const char *reason)
{
    struct relay *relay = owner;
    struct failure failure;
    if (!relay->exchange) {
        end(relay, code, reason);
        return;
    }
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "tunnel_closed",
                      "The tunnel was closed before the service behind it answered: %s.", reason);
    refuse(relay, &failure);
}

/* --- the beginning --- */

static enum status start(struct relay *relay, struct request *request, struct failure *failure)
{
    struct http_header headers[PROXY_HEADERS_MAX];
    struct http_call_spec spec = {
        .url = relay->way.url,
        .headers = headers,
        .header_count = proxy_target_headers(&relay->way, &request->exchange->request, headers),
        .connect_ms = relay->api->limits.proxy_connect_ms,
        .silence_ms = relay->api->limits.proxy_silence_ms,
        .allow_http = true,
        .allow_address = proxy_target_allows,
        .address_owner = &relay->way,
        .upgrade = "websocket",
        .on_writable = on_room_there,
    };
    struct http_call_handler handler = {relay, on_head, on_body, on_end};
    struct http_client *client = outgoing_client(relay->api->outgoing, request->exchange->loop);
    return http_call_start(client, &spec, &handler, &relay->call, failure);
}

static void take_over(struct exchange *exchange)
{
    struct request *request = exchange->owner;
    struct opening *opening = request->state;
    struct failure failure;
    struct relay *relay = memory_zeroed(sizeof *relay);
    uint64_t frame_bytes_max = (uint64_t)request->api->limits.proxy_frame_bytes_max;
    relay->api = request->api;
    relay->exchange = exchange;
    relay->timer = loop_timer_new(exchange->loop, on_timer, relay);
    websocket_frames_init(&relay->there.frames, WEBSOCKET_FROM_CLIENT, frame_bytes_max);
    websocket_frames_init(&relay->back.frames, WEBSOCKET_FROM_SERVER, frame_bytes_max);
    proxy_target_find(request, opening->target, &relay->arena, &relay->way);
    enum status status = proxy_guard_open(request, &opening->session, relay, on_over, &relay->guard, &failure);
    if (status == STATUS_OK) {
        status = start(relay, request, &failure);
    }
    if (status != STATUS_OK) {
        relay->call = NULL;
        refuse(relay, &failure);
    }
}

enum status proxy_socket_open(struct request *request)
{
    struct opening *opening = arena_alloc(request_arena(request), sizeof *opening);
    bool wrong_ticket =
        slice_present(request->ticket_session) && !slice_eq(request->ticket_session, request->params[0]);
    if (wrong_ticket) {
        return access_not_found(&request->call.failure);
    }
    enum status status = proxy_check(request, false, &opening->session, &opening->target);
    if (status != STATUS_OK) {
        return status;
    }
    request->state = opening;
    request->exchange->owner = request;
    request->exchange->take_over = take_over;
    return STATUS_OK;
}
