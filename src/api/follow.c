#include "api/follow.h"

#include <stdlib.h>

#include "api/problem.h"
#include "domain/turn_follow.h"
#include "fanout/fanout.h"
#include "loop/timer.h"
#include "net/stream.h"
#include "service/session.h"
#include "wire/sse.h"

/* One request that follows its prompt, on the loop of its connection. It owns the viewer, and the exchange or the
 * stream it answers; a timer of no time ends it, because a viewer must not be closed while it writes. */
struct follower {
    struct turn_follow follow;
    struct viewer *viewer;
    struct loop_timer *timer;  /* the end, or the time that a wait has */
    struct exchange *exchange; /* a wait; else NULL */
    struct stream *stream;     /* else NULL */
    struct sse_decoder decoder;
    struct buffer out; /* of the stream: not yet taken by its socket */
    bool over;
    bool stopping; /* the server */
    bool closed;   /* the viewer: access, deletion, stop */
    char prompt_id[UUID_TEXT_BYTES];
};

/* What the loop thread needs to begin; in the exchange's arena. */
struct opening {
    struct viewer_options options;
    struct fanout *fanout;
    struct slice prompt_id;
    int64_t timeout_ms; /* 0 = a stream */
    size_t frame_bytes_max;
};

static void follower_free(struct follower *follower)
{
    if (follower->viewer) {
        viewer_closed(follower->viewer);
    }
    if (follower->timer) {
        loop_timer_free(follower->timer);
    }
    sse_decoder_release(&follower->decoder);
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

static bool belongs(struct follower *follower, const struct sse_event *frame)
{
    struct arena arena = {0};
    const struct json *event;
    bool mine = false;
    if (json_parse(&arena, frame->data, &event, NULL) == STATUS_OK) {
        mine = turn_follow_take(&follower->follow, event);
    }
    arena_release(&arena);
    return mine;
}

static bool take_frame(struct follower *follower, const struct sse_event *frame)
{
    if (slice_is(frame->event, "event")) {
        return belongs(follower, frame);
    }
    if (slice_is(frame->event, "closed")) {
        struct arena arena = {0};
        const struct json *closed;
        if (json_parse(&arena, frame->data, &closed, NULL) == STATUS_OK) {
            follower->stopping = slice_is(json_text_of(closed, "reason"), "server_stopping");
        }
        arena_release(&arena);
        return true;
    }
    return !slice_is(frame->event, "ready") && follower->follow.state == FOLLOW_RUNNING;
}

static void take_frames(struct follower *follower, struct slice bytes)
{
    struct sse_event frame;
    enum sse_step step;
    while ((step = sse_decode(&follower->decoder, &bytes, &frame)) == SSE_EVENT) {
        bool shown = take_frame(follower, &frame);
        bool numbered = slice_is(frame.event, "event") || slice_is(frame.event, "delta");
        frame.id = numbered ? frame.id : (struct slice){0};
        if (shown && follower->stream) {
            sse_write(&follower->out, &frame);
        }
    }
    if (step == SSE_TOO_LARGE || turn_follow_is_over(&follower->follow)) {
        finish_soon(follower);
    }
}

static void flush(struct follower *follower)
{
    size_t taken = follower->out.len ? stream_write(follower->stream, buffer_slice(&follower->out)) : 0;
    buffer_consume(&follower->out, taken);
}

static size_t sink_write(void *owner, struct slice bytes)
{
    struct follower *follower = owner;
    bool heartbeat = bytes.len > 0 && bytes.ptr[0] == ':';
    if (follower->out.len > 0) {
        return 0;
    }
    if (heartbeat && follower->stream) {
        buffer_add(&follower->out, bytes);
    } else if (heartbeat && follower->exchange && exchange_peer_closed(follower->exchange)) {
        finish_soon(follower);
    } else {
        take_frames(follower, bytes);
    }
    if (follower->stream) {
        flush(follower);
    }
    return bytes.len;
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
                       "The turn has not ended in the time given; the message is kept. What there is so far is here.");
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
    struct json_out out = json_out_to(&exchange->body);
    if (outcome(follower, &failure) == STATUS_OK) {
        exchange->status = 200;
        exchange->body.len = 0;
        write_result(&follower->follow, &out);
        return;
    }
    problem_answer(exchange, &failure);
    exchange->body.len--; /* its members go on */
    out.need_comma = true;
    json_key(&out, "result");
    write_result(&follower->follow, &out);
    json_end_object(&out);
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
    options.sink = (struct viewer_sink){follower, sink_write, sink_end};
    options.framing = FRAMING_SSE;
    memcpy(options.accounts, exchange->hold.accounts, sizeof options.accounts);
    memcpy(follower->prompt_id, opening->prompt_id.ptr, opening->prompt_id.len);
    follower->follow.prompt_id = slice_from(follower->prompt_id, opening->prompt_id.len);
    sse_decoder_init(&follower->decoder, opening->frame_bytes_max);
    if (viewer_open(opening->fanout, loop, &options, &follower->viewer, &failure) != STATUS_OK) {
        follower_free(follower);
        problem_answer(exchange, &failure);
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
    flush(follower);
    if (follower->out.len > 0) {
        return;
    }
    if (follower->over) {
        stream_end(follower->stream, 0);
    } else {
        viewer_writable(follower->viewer);
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
    struct session_entry entry;
    struct api *api = request->api;
    struct opening *opening = arena_alloc(request_arena(request), sizeof *opening);
    bool triggered = true;
    enum status status = read_receipt(request, opening, &triggered);
    if (status == STATUS_OK && !triggered) {
        return STATUS_OK; /* the receipt is the whole answer */
    }
    if (status == STATUS_OK) {
        status = session_enter(&request->call, request->params[0], ACTION_READ, &entry);
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
    opening->timeout_ms = timeout_ms < api->limits.prompt_wait_ms_max ? timeout_ms : api->limits.prompt_wait_ms_max;
    opening->frame_bytes_max = 4 * api->service->limits.event.bytes_max + 65536;
    request->state = opening;
    request->exchange->owner = request;
    request->exchange->take_over = streams ? begin_stream : begin_wait;
    return STATUS_OK;
}
