#include "api/prompt/follow.h"

#include <stdlib.h>

#include "domain/turn_follow.h"
#include "loop/timer.h"
#include "net/stream.h"
#include "service/session/session.h"
#include "wire/sse.h"

/* One request that follows its prompt, on the loop of its connection. It owns the viewer, and the exchange or the
 * stream it answers; a timer of no time ends it, because a viewer must not be closed while it writes. */
struct follower {
    struct turn_follow follow;
    const struct door *door;
    struct viewer *viewer;
    struct loop_timer *timer;  /* the end, or the time that a wait has */
    struct exchange *exchange; /* a wait; else NULL */
    struct stream *stream;     /* else NULL */
    struct buffer out;         /* of the stream: not yet taken by its socket */
    bool over;
    bool stopping; /* the server */
    bool closed;   /* the viewer: access, deletion, stop */
    char prompt_id[UUID_TEXT_BYTES];
};

/* What the loop thread needs to begin; in the exchange's arena. */
struct opening {
    struct viewer_options options;
    struct fanout *fanout;
    const struct door *door;
    struct slice prompt_id;
    int64_t timeout_ms; /* 0 = a stream */
};

static void follower_free(struct follower *follower)
{
    if (follower->viewer) {
        viewer_closed(follower->viewer);
    }
    if (follower->timer) {
        loop_timer_free(follower->timer);
    }
    buffer_release(&follower->out);
    turn_follow_release(&follower->follow);
    free(follower);
}

static void finish_soon(struct follower *follower)
{
    if (!follower->over) {
        follower->over = true;
        loop_timer_set(follower->timer, 0);
    }
}

/* --- frames of the viewer --- */

static void finish_if_alone(struct follower *follower)
{
    if (follower->exchange && exchange_peer_closed(follower->exchange)) {
        finish_soon(follower);
    }
}

/* True when the client of a stream is shown the frame. */
static bool take_frame(struct follower *follower, const struct frame *frame)
{
    switch (frame->kind) {
    case FRAME_EVENT:
        return turn_follow_take(&follower->follow, frame->entry.kind, frame->at.sequence, frame->entry.json);
    case FRAME_DELTA:
    case FRAME_SNAPSHOT:
    case FRAME_GAP:
    case FRAME_SLOW:
        return follower->follow.state == FOLLOW_RUNNING;
    case FRAME_CLOSED:
        follower->stopping = slice_is(frame->closed.reason, "server_stopping");
        return true;
    case FRAME_HEARTBEAT:
        finish_if_alone(follower);
        return true;
    case FRAME_READY:
    case FRAME_KIND_COUNT:
        break;
    }
    return false;
}

static void flush(struct follower *follower)
{
    size_t taken = follower->out.len ? stream_write(follower->stream, buffer_slice(&follower->out)) : 0;
    buffer_consume(&follower->out, taken);
}

static bool sink_take(void *owner, const struct frame *frame)
{
    struct follower *follower = owner;
    if (follower->out.len > 0) {
        return false;
    }
    if (take_frame(follower, frame) && follower->stream) {
        follower->door->sse->encode(&follower->out, frame);
        flush(follower);
    }
    if (turn_follow_is_over(&follower->follow)) {
        finish_soon(follower);
    }
    return true;
}

static void sink_end(void *owner, int code)
{
    struct follower *follower = owner;
    (void)code;
    follower->closed = true;
    finish_soon(follower);
}

/* --- a wait --- */

static enum status outcome(const struct follower *follower, struct failure *failure)
{
    const struct turn_follow *follow = &follower->follow;
    if (follow->state == FOLLOW_ENDED) {
        return STATUS_OK;
    }
    if (follow->state == FOLLOW_WITHDRAWN) {
        return failure_set(failure, STATUS_CONFLICT, "prompt_withdrawn", "The message was withdrawn: %.*s.",
                           SLICE_ARG(buffer_slice(&follow->status)));
    }
    if (follower->stopping) {
        failure_set(failure, STATUS_UNAVAILABLE, "server_stopping",
                    "The server stops; the message is kept and its turn goes on when it is back.");
        failure->retry_after_s = 1;
        return STATUS_UNAVAILABLE;
    }
    if (follower->closed) {
        return failure_set(failure, STATUS_GONE, "session_closed",
                           "The session was deleted, or you may not see it any more.");
    }
    return failure_set(failure, STATUS_TIMEOUT, "wait_over",
                       "Timed out; the message is saved. `result` has partial output.");
}

static void write_result(const struct turn_follow *follow, struct json_out *out)
{
    json_begin_object(out);
    turn_follow_write(follow, out);
    json_end_object(out);
}

/* A problem carries what there is so far as `result`. */
static void answer_wait(struct follower *follower)
{
    struct failure failure = {0};
    struct exchange *exchange = follower->exchange;
    const struct door *door = follower->door;
    struct json_out out = json_out_to(&exchange->body);
    if (outcome(follower, &failure) == STATUS_OK) {
        exchange->status = 200;
        exchange->body.len = 0;
        write_result(&follower->follow, &out);
        return;
    }
    struct buffer members = {0};
    out = json_out_to(&members);
    json_key(&out, "result");
    write_result(&follower->follow, &out);
    door->refuse(exchange, &failure, buffer_slice(&members));
    buffer_release(&members);
}

static void on_time(void *owner)
{
    struct follower *follower = owner;
    follower->over = true;
    if (follower->stream) {
        if (follower->out.len == 0) {
            stream_end(follower->stream, 0);
        }
        return;
    }
    struct exchange *exchange = follower->exchange;
    answer_wait(follower);
    follower_free(follower);
    exchange_send(exchange);
}

static struct follower *follower_new(struct opening *opening, struct exchange *exchange)
{
    struct failure failure;
    struct follower *follower = memory_zeroed(sizeof *follower);
    struct viewer_options options = opening->options;
    struct loop *loop = exchange->loop;
    options.sink = (struct viewer_sink){.owner = follower, .take = sink_take, .end = sink_end};
    memcpy(options.accounts, exchange->hold.accounts, sizeof options.accounts);
    follower->door = opening->door;
    memcpy(follower->prompt_id, opening->prompt_id.ptr, opening->prompt_id.len);
    follower->follow.prompt_id = slice_from(follower->prompt_id, opening->prompt_id.len);
    if (viewer_open(opening->fanout, loop, &options, &follower->viewer, &failure) != STATUS_OK) {
        follower_free(follower);
        request_refuse(exchange->owner, &failure);
        exchange_send(exchange);
        return NULL;
    }
    follower->timer = loop_timer_new(loop, on_time, follower);
    return follower;
}

static void begin_wait(struct exchange *exchange)
{
    struct request *request = exchange->owner;
    struct opening *opening = request->state;
    if (exchange_peer_closed(exchange)) {
        exchange_send(exchange);
        return;
    }
    struct follower *follower = follower_new(opening, exchange);
    if (follower) {
        follower->exchange = exchange;
        loop_timer_set(follower->timer, opening->timeout_ms);
        viewer_writable(follower->viewer);
    }
}

/* --- a stream --- */

static void on_writable(void *owner)
{
    struct follower *follower = owner;
    bool over = follower->over;
    flush(follower);
    if (follower->out.len > 0) {
        return;
    }
    viewer_writable(follower->viewer); /* after the end, too: what the last transaction added waits there */
    if (over && follower->out.len == 0) {
        stream_end(follower->stream, 0);
    }
}

static void on_message(void *owner, struct slice text)
{
    (void)owner;
    (void)text;
}

static void on_closed(void *owner)
{
    follower_free(owner);
}

static const struct stream_handler handler = {on_writable, on_message, on_closed};

static void begin_stream(struct exchange *exchange)
{
    struct request *request = exchange->owner;
    struct follower *follower = follower_new(request->state, exchange);
    if (!follower) {
        return;
    }
    struct sse_event receipt = {.event = SLICE("message_ack"), .data = buffer_slice(&exchange->body)};
    sse_write(&follower->out, &receipt);
    follower->stream = stream_accept(exchange, STREAM_SSE, &handler, follower);
    if (!follower->stream) {
        follower_free(follower);
        return;
    }
    on_writable(follower);
}

/* --- from the request --- */

static bool asks(const struct request *request, const char *name)
{
    return slice_is(request_param(request, name), "true");
}

bool follow_is_wanted(const struct request *request)
{
    return asks(request, "wait") || asks(request, "stream");
}

static enum status read_receipt(struct request *request, struct opening *opening, bool *out_triggered)
{
    const struct json *receipt;
    enum status status =
        json_parse(request_arena(request), buffer_slice(&request->exchange->body), &receipt, &request->call.failure);
    if (status == STATUS_OK) {
        opening->prompt_id = json_text_of(receipt, "prompt_id");
        opening->options.after.sequence = json_i64_of(receipt, "sequence") - 1;
        json_as_bool(json_get(receipt, "triggered"), out_triggered);
    }
    bool usable = opening->prompt_id.len > 0 && opening->prompt_id.len < UUID_TEXT_BYTES;
    return status != STATUS_OK || usable ? status
                                         : failure_set(&request->call.failure, STATUS_INVALID, "nothing_to_follow",
                                                       "An appended message begins no turn that could be followed.");
}

enum status follow_begin(struct request *request)
{
    struct session_access entry;
    struct api *api = request->api;
    struct opening *opening = arena_alloc(request_arena(request), sizeof *opening);
    bool triggered = true;
    enum status status = read_receipt(request, opening, &triggered);
    if (status == STATUS_OK && !triggered) {
        return STATUS_OK; /* the receipt is the whole answer */
    }
    if (status == STATUS_OK) {
        status = session_authorize(&request->call, request->params[0], ACTION_READ, &entry);
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool streams = asks(request, "stream");
    int64_t timeout_ms = request_param_i64(request, "timeout_ms", api->limits.prompt_wait_ms_max);
    opening->options.tenant_key = entry.loaded->session.tenant_key;
    opening->options.session_key = entry.loaded->session.key;
    opening->options.session_id = arena_copy(request_arena(request), entry.loaded->session.id);
    opening->options.user_id = access_holder(&request->who);
    opening->options.deltas = streams;
    opening->fanout = api->fanout;
    opening->door = request->door;
    opening->timeout_ms = timeout_ms < api->limits.prompt_wait_ms_max ? timeout_ms : api->limits.prompt_wait_ms_max;
    request->state = opening;
    request->exchange->owner = request;
    request->exchange->take_over = streams ? begin_stream : begin_wait;
    return STATUS_OK;
}
