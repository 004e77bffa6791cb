#include <stdlib.h>

#include "api/core/handlers.h"
#include "api/event/streams.h"
#include "service/ask/ask.h"
#include "service/identity/identity.h"
#include "service/prompt/prompt.h"
#include "service/remote/runners.h"
#include "service/session/session.h"
#include "wire/websocket.h"

/* A runner's connection: frames in and out; what they mean is known to service/remote/runners.h. Lives from take-over
 * to the close of its connection, on the loop of that connection. */
struct runner_socket {
    struct stream *stream;
    struct runner_connection *line;
    struct buffer unsent;
    size_t frame_chars_max;
};

/* More that waits to be read than a runner that reads could leave. */
enum { UNSENT_BYTES_MAX = 16 * 1024 * 1024 };

/* What the loop thread needs; in the exchange's arena. */
struct opening {
    struct runner_hello hello;
    struct slice init;
};

static void write_unsent(struct runner_socket *socket)
{
    buffer_consume(&socket->unsent, stream_write(socket->stream, buffer_slice(&socket->unsent)));
    if (socket->unsent.len == 0) {
        buffer_release(&socket->unsent);
    }
}

static void send_text(void *owner, struct slice text)
{
    struct runner_socket *socket = owner;
    bool was_empty = socket->unsent.len == 0;
    websocket_write(&socket->unsent, WEBSOCKET_TEXT, text);
    if (was_empty) {
        write_unsent(socket);
    }
    if (socket->unsent.len > UNSENT_BYTES_MAX) {
        stream_end_because(socket->stream, WEBSOCKET_CLOSE_POLICY, SLICE("reads too slowly"));
    }
}

static void end(void *owner, int code, struct slice reason)
{
    struct runner_socket *socket = owner;
    stream_end_because(socket->stream, code, reason);
}

static void on_writable(void *owner)
{
    write_unsent(owner);
}

static bool is_longer(struct slice text, size_t chars_max)
{
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++) {
        chars += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    }
    return chars > chars_max;
}

static void on_message(void *owner, struct slice text)
{
    struct runner_socket *socket = owner;
    if (text.len > socket->frame_chars_max && is_longer(text, socket->frame_chars_max)) {
        stream_end_because(socket->stream, WEBSOCKET_CLOSE_TOO_LARGE, SLICE("a message is too long"));
        return;
    }
    runner_connection_hear(socket->line, text);
}

static void on_closed(void *owner)
{
    struct runner_socket *socket = owner;
    runner_connection_close(socket->line);
    buffer_release(&socket->unsent);
    free(socket);
}

static const struct stream_handler handler = {on_writable, on_message, on_closed};

static void take_over(struct exchange *exchange)
{
    struct request *request = exchange->owner;
    struct opening *opening = request->state;
    struct loop *loop = exchange->loop;
    struct runners *runners = request->api->runners;
    struct runner_socket *socket = memory_zeroed(sizeof *socket);
    struct runner_sink sink = {socket, send_text, end};
    socket->frame_chars_max = (size_t)request->api->limits.runner_frame_chars_max;
    websocket_write(&socket->unsent, WEBSOCKET_TEXT, opening->init);
    struct arena arena = {0}; /* the exchange is gone once the stream is accepted */
    struct runner_hello hello = opening->hello;
    hello.session_id = arena_copy(&arena, hello.session_id);
    hello.actor = arena_copy(&arena, hello.actor);
    socket->stream = stream_accept(exchange, STREAM_WEBSOCKET, &handler, socket);
    if (socket->stream) {
        socket->line = runner_connection_open(runners, loop, &hello, &sink);
        write_unsent(socket);
    } else {
        buffer_release(&socket->unsent);
        free(socket);
    }
    arena_release(&arena);
}

/* --- init --- */

static void write_agent(struct json_out *out, const struct session *session)
{
    json_key(out, "agent");
    json_begin_object(out);
    json_put_text(out, "id", session->agent);
    json_put_i64(out, "version", session->agent_version);
    json_end_object(out);
}

static enum status write_init(struct request *request, const struct session *session, struct slice *out_text)
{
    struct call *call = &request->call;
    struct prompt_stats queue;
    struct ask *pending;
    size_t count = 0;
    enum status status = prompt_queue_stats(call, session, &queue);
    if (status == STATUS_OK) {
        status = ask_pending(call, session, &pending, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("init"));
    json_key(&out, "session");
    json_begin_object(&out);
    session_write_members(&out, session, true);
    json_end_object(&out);
    write_agent(&out, session);
    json_put_i64(&out, "cursor", session->last_sequence);
    json_put_i64(&out, "queueLength", queue.waiting);
    json_key(&out, "pendingQuestions");
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++) {
        ask_write(&out, &pending[i]);
    }
    json_end_array(&out);
    json_end_object(&out);
    *out_text = arena_copy(call->arena, buffer_slice(&text));
    buffer_release(&text);
    return STATUS_OK;
}

static enum status check_runner(struct request *request, const struct session *session)
{
    struct failure *failure = &request->call.failure;
    if (request->who.kind != PRINCIPAL_RUNNER || !slice_eq(request->who.session_id, session->id)) {
        return failure_set(failure, STATUS_FORBIDDEN, "runner_token_required",
                           "Only the session's runner token (POST runner-token) opens this connection.");
    }
    if (session->driver != DRIVER_RUNNER) {
        return failure_set(failure, STATUS_CONFLICT, "no_runner_session",
                           "Only a session whose agent has the driver runner takes a runner.");
    }
    if (session_status_is_ended(session->status)) {
        return failure_set(failure, STATUS_CONFLICT, "session_ended", "The session has ended: it needs no runner.");
    }
    return STATUS_OK;
}

enum status runner_socket_open(struct request *request)
{
    struct session session;
    struct opening *opening = arena_alloc(request_arena(request), sizeof *opening);
    bool wrong_ticket =
        slice_present(request->ticket_session) && !slice_eq(request->ticket_session, request->params[0]);
    enum status status = streams_check_websocket(request);
    if (status == STATUS_OK && wrong_ticket) {
        return access_not_found(&request->call.failure);
    }
    if (status == STATUS_OK) {
        status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    }
    if (status == STATUS_OK) {
        status = check_runner(request, &session);
    }
    if (status == STATUS_OK) {
        status = write_init(request, &session, &opening->init);
    }
    if (status != STATUS_OK) {
        return status;
    }
    opening->hello = (struct runner_hello){session.tenant_key, session.key, session.id, access_holder(&request->who)};
    request->state = opening;
    request->exchange->owner = request;
    request->exchange->take_over = take_over;
    return STATUS_OK;
}

/* --- tokens --- */

static enum status create_token(struct request *request, enum principal_kind kind)
{
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = token_of_session(&request->call, request->params[0], kind, &token, secret);
    }
    if (status == STATUS_OK) {
        token_write(&request->out, &token, slice_of(secret));
    }
    return status;
}

static enum status runner_tokens_create(struct request *request)
{
    return create_token(request, PRINCIPAL_RUNNER);
}

static enum status sandbox_tokens_create(struct request *request)
{
    return create_token(request, PRINCIPAL_SANDBOX);
}

const struct route runner_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/runner-token", runner_tokens_create, .success = 201, .answer = "Token",
     .summary = "Create a token for the session's runner; revokes the previous one."},
    {HTTP_POST, "/api/sessions/{id}/sandbox-token", sandbox_tokens_create, .success = 201, .answer = "Token",
     .summary = "Create a token for code in the session's sandbox; revokes the previous one."},
    {0},
};
