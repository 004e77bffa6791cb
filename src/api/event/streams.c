#include "api/event/streams.h"

#include <stdlib.h>

#include "api/core/handlers.h"
#include "api/event/ws_commands.h"
#include "service/sandbox/runtime.h"
#include "service/session/event.h"
#include "wire/websocket.h"

static const char *const stream_role_names[] = {"client", "runner"};
static const struct enum_names stream_role_enum = {stream_role_names, 2};

static const struct field stream_query[] = {
    {"resume_from", FIELD_STRING, false, "Cursor SEQ or SEQ.N after which to continue.", NULL, 1, 40},
    {"after", FIELD_STRING, false, "The same as resume_from.", NULL, 1, 40},
    {"types", FIELD_STRING, false, "Comma-separated types; tool.* matches a prefix.", NULL, 1, 1000},
    {"thread_id", FIELD_STRING, false, "Only of this thread.", NULL, 1, 128},
    {"deltas", FIELD_BOOLEAN, false, "Include live deltas. Default: true.", NULL, 0, 0},
    {"role", FIELD_WORD, false, "client, or runner: a remote agent that runs the session's turns.", &stream_role_enum,
     0, 0},
    {"ticket", FIELD_STRING, false, "A one-use ticket.", NULL, 1, 100},
    {0},
};

static const struct field firehose_query[] = {
    {"after", FIELD_STRING, false, "Cursor of the last frame seen. Default: the end of the stream.", NULL, 1, 60},
    {"types", FIELD_STRING, false, "Comma-separated types; tool.* matches a prefix.", NULL, 1, 1000},
    {"ticket", FIELD_STRING, false, "A one-use ticket.", NULL, 1, 100},
    {0},
};

/* Results that wait to be read: more than a client that reads could leave. */
enum { RESULTS_BYTES_MAX = 1024 * 1024 };

/* A connection that watches. Lives from take-over to the close of its connection. */
struct watcher {
    struct stream *stream;
    struct viewer *viewer;
    struct ws_commands *speaker; /* of a session's WebSocket */
    struct buffer results;       /* frames of its own, written between those of the viewer */
    bool mid_frame;              /* the viewer's frame was taken in part */
    bool is_ending;              /* it does not read its results: nothing more is done for it */
};

/* What the loop thread needs to open the viewer; in the exchange's arena. */
struct opening {
    struct viewer_options options;
    enum stream_kind kind;
    struct fanout *fanout;
    struct api *api;
    const struct principal *who; /* NULL: nothing can be said here */
};

/* False while a frame of ours is taken in part: nothing else may go before its rest. */
static bool write_results(struct watcher *watcher)
{
    if (watcher->results.len == 0 || watcher->mid_frame) {
        return true;
    }
    buffer_consume(&watcher->results, stream_write(watcher->stream, buffer_slice(&watcher->results)));
    if (watcher->results.len > 0) {
        return false;
    }
    buffer_release(&watcher->results);
    return true;
}

static void take_result(void *owner, struct slice frame)
{
    struct watcher *watcher = owner;
    if (watcher->is_ending) {
        return;
    }
    buffer_add(&watcher->results, frame);
    (void)write_results(watcher); /* what was not taken goes when the stream is writable */
    if (watcher->results.len > RESULTS_BYTES_MAX) {
        watcher->is_ending = true;
        buffer_release(&watcher->results);
        stream_end_because(watcher->stream, WEBSOCKET_CLOSE_POLICY, SLICE("reads too slowly"));
    }
}

static void on_writable(void *owner)
{
    struct watcher *watcher = owner;
    if (write_results(watcher) && watcher->viewer) {
        viewer_writable(watcher->viewer);
    }
}

static void on_closed(void *owner)
{
    struct watcher *watcher = owner;
    if (watcher->viewer) {
        viewer_closed(watcher->viewer);
    }
    ws_commands_close(watcher->speaker);
    buffer_release(&watcher->results);
    free(watcher);
}

static void on_message(void *owner, struct slice text)
{
    struct watcher *watcher = owner;
    if (watcher->speaker && !watcher->is_ending) {
        ws_commands_hear(watcher->speaker, text);
    }
}

static const struct stream_handler handler = {on_writable, on_message, on_closed};

static size_t sink_write(void *owner, struct slice bytes)
{
    struct watcher *watcher = owner;
    if (!write_results(watcher)) {
        return 0;
    }
    size_t taken = stream_write(watcher->stream, bytes);
    watcher->mid_frame = taken < bytes.len && (taken > 0 || watcher->mid_frame);
    (void)write_results(watcher);
    return taken;
}

static void sink_end(void *owner, int code)
{
    struct watcher *watcher = owner;
    stream_end(watcher->stream, code);
}

static void take_over(struct exchange *exchange)
{
    struct request *request = exchange->owner;
    struct opening *opening = request->state;
    struct loop *loop = exchange->loop;
    struct failure failure;
    struct watcher *watcher = memory_zeroed(sizeof *watcher);
    struct viewer_options options = opening->options; /* its slices live in the arena of the exchange */
    memcpy(options.accounts, exchange->hold.accounts, sizeof options.accounts);
    options.sink = (struct viewer_sink){.owner = watcher, .write = sink_write, .end = sink_end};
    options.encoder = opening->kind == STREAM_SSE ? request->door->sse : request->door->websocket;
    struct viewer *viewer;
    if (viewer_open(opening->fanout, loop, &options, &viewer, &failure) != STATUS_OK) {
        free(watcher);
        request_refuse(request, &failure);
        exchange_send(exchange);
        return;
    }
    struct ws_commands *speaker = NULL; /* made before the exchange, and with it who speaks, is gone */
    if (opening->who && opening->kind == STREAM_WEBSOCKET) {
        speaker = ws_commands_new(opening->api, loop, opening->who, options.session_id, watcher, take_result);
    }
    watcher->stream = stream_accept(exchange, opening->kind, &handler, watcher);
    if (!watcher->stream) {
        ws_commands_close(speaker);
        viewer_closed(viewer);
        free(watcher);
        return;
    }
    watcher->viewer = viewer;
    watcher->speaker = speaker;
    viewer_writable(viewer);
}

static enum status begin(struct request *request, struct opening *opening)
{
    opening->fanout = request->api->fanout;
    opening->api = request->api;
    request->state = opening;
    request->exchange->owner = request;
    request->exchange->take_over = take_over;
    return STATUS_OK;
}

enum status streams_check_websocket(struct request *request)
{
    if (!slice_eq_nocase(request->exchange->request.upgrade, SLICE("websocket"))) {
        return failure_set(&request->call.failure, STATUS_INVALID, "upgrade_required",
                           "This path speaks WebSocket: send Connection: Upgrade and Upgrade: websocket.");
    }
    return STATUS_OK;
}

enum status streams_session(struct request *request, enum stream_kind kind)
{
    struct session session;
    struct opening *opening = arena_alloc(request_arena(request), sizeof *opening);
    struct viewer_options *options = &opening->options;
    bool given;
    enum status status = kind == STREAM_WEBSOCKET ? streams_check_websocket(request) : STATUS_OK;
    bool wrong_ticket =
        slice_present(request->ticket_session) && !slice_eq(request->ticket_session, request->params[0]);
    if (status == STATUS_OK && wrong_ticket) {
        return access_not_found(&request->call.failure);
    }
    if (status == STATUS_OK) {
        status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    }
    if (status == STATUS_OK) {
        status = request_event_types(request, options->types, &options->type_count);
    }
    if (status == STATUS_OK) {
        status = request_cursor(request, &options->after, &given);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (request->api->limits.wake_on_view && runtime_is_hibernated(session.runtime)) {
        runtime_wake_soon(request->api->writer, session.tenant_key, session.key);
    }
    options->tenant_key = session.tenant_key;
    options->user_id = access_holder(&request->who);
    options->credential = request->who.credential;
    options->member = slice_present(request->who.user_id) ? request->who.member : MEMBER_NONE;
    options->session_key = session.key;
    options->session_id = session.id;
    options->thread_id = request_param(request, "thread_id");
    options->deltas = !slice_is(request_param(request, "deltas"), "false");
    opening->kind = kind;
    opening->who = &request->who;
    return begin(request, opening);
}

static enum status streams_websocket(struct request *request)
{
    static const char *const names[] = {"role", "ticket"};
    static const struct enum_names runner_params = {names, 2};
    if (!slice_is(request_param(request, "role"), "runner")) {
        return streams_session(request, STREAM_WEBSOCKET);
    }
    enum status status = request_check_query(request, &runner_params, "the connection of a runner");
    return status == STATUS_OK ? runner_socket_open(request) : status;
}

static enum status streams_firehose(struct request *request)
{
    struct opening *opening = arena_alloc(request_arena(request), sizeof *opening);
    struct viewer_options *options = &opening->options;
    struct slice after = request_header(request, "last-event-id");
    after = slice_present(after) ? after : request_param(request, "after");
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = request_event_types(request, options->types, &options->type_count);
    }
    if (status == STATUS_OK) {
        status = slice_present(after) ? position_parse(after, &options->position, &request->call.failure)
                                      : event_firehose_end(&request->call, &options->position);
    }
    if (status != STATUS_OK) {
        return status;
    }
    options->tenant_key = request->who.tenant_key;
    options->user_id = access_holder(&request->who);
    options->credential = request->who.credential;
    options->member = slice_present(request->who.user_id) ? request->who.member : MEMBER_NONE;
    options->who = request->who;
    options->sees_all = access_rank(&request->who) == MEMBER_OWNER && !slice_present(request->who.id_prefix);
    opening->kind =
        slice_eq_nocase(request->exchange->request.upgrade, SLICE("websocket")) ? STREAM_WEBSOCKET : STREAM_SSE;
    return begin(request, opening);
}

const struct route stream_routes[] = {
    {HTTP_GET, "/api/stream", streams_firehose, .auth = AUTH_TICKET, .query = firehose_query,
     .summary = "All events the caller may see, as server-sent events or over WebSocket."},
    {HTTP_GET, "/api/sessions/{id}/ws", streams_websocket, .auth = AUTH_TICKET, .query = stream_query, .success = 101,
     .summary = "The session's stream over WebSocket."},
    {0},
};
