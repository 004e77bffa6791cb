#include "service/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/handlers.h"
#include "api/validate.h"

const struct field tool_call_body[] = {
    {"call_id", FIELD_STRING, true, "Your name for this call: called again with it, the answer is the same.", NULL, 1,
     200},
    {"arguments", FIELD_OBJECT, false, "Of the tool.", NULL, 0, 0},
    {0},
};

/* The wait for a call that runs ends when its time is over, the client is gone or the server stops. */
static bool may_wait(struct request *request)
{
    struct write_job *job = &request->write_job;
    if (job->parked_until_ms == 0) {
        job->parked_until_ms = request->call.steady_ms + gateway_timeout_ms(request->api->gateway);
    }
    return request->call.steady_ms < job->parked_until_ms && !request->api->stopping &&
           !exchange_peer_closed(request->exchange);
}

static void write_answer(struct json_out *out, const struct gateway_request *asked, const struct gateway_answer *answer)
{
    json_begin_object(out);
    json_put_text(out, "tool", asked->tool);
    json_put_text(out, "call_id", asked->call_id);
    json_put_bool(out, "success", answer->success);
    json_put_raw(out, "result", answer->result);
    json_end_object(out);
}

enum status gateway_call_tool(struct request *request)
{
    static const struct json nothing = {.kind = JSON_OBJECT, .raw = {"{}", 2}};
    const struct json *arguments = json_get_value(request->body, "arguments");
    struct gateway_answer answer;
    struct gateway_request asked = {
        .tool = request->params[1],
        .call_id = json_text_of(request->body, "call_id"),
        .arguments = arguments ? arguments : &nothing,
    };
    enum status status = gateway_call(request->api->gateway, &request->call, request->params[0], &asked, &answer);
    if (status != STATUS_OK) {
        return status;
    }
    if (answer.waits && may_wait(request)) {
        request->exchange->status = 0;
        return STATUS_OK;
    }
    if (answer.waits) {
        return failure_set(&request->call.failure, STATUS_TIMEOUT, "still_running",
                           "The call still runs; ask again with the same call_id.");
    }
    write_answer(&request->out, &asked, &answer);
    return STATUS_OK;
}

/* --- evidence --- */

static enum status read_whole(struct request *request, int fd)
{
    struct buffer *body = &request->exchange->body;
    struct stat file;
    ssize_t got = 0;
    if (fstat(fd, &file) != 0 || file.st_size < 0) {
        return failure_set(&request->call.failure, STATUS_UNAVAILABLE, "unreadable", "The file cannot be read.");
    }
    buffer_reserve(body, (size_t)file.st_size + 1);
    while ((got = read(fd, body->ptr + body->len, body->room - body->len - 1)) > 0 || (got < 0 && errno == EINTR)) {
        body->len += got > 0 ? (size_t)got : 0;
        buffer_reserve(body, 2);
    }
    return got == 0 ? STATUS_OK
                    : failure_set(&request->call.failure, STATUS_UNAVAILABLE, "unreadable", "The file cannot be read.");
}

enum status gateway_get_file(struct request *request)
{
    struct session session;
    struct slice path;
    struct call *call = &request->call;
    enum status status = session_view(call, request->params[0], ACTION_READ, &session, NULL);
    if (status == STATUS_OK) {
        status =
            gateway_file_path(request->api->gateway, call->arena, &session, request->params[1], &path, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    int fd = open(path.ptr, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "No such file.");
    }
    status = read_whole(request, fd);
    close(fd);
    request->exchange->content_type = "application/octet-stream";
    exchange_header(request->exchange, "Content-Disposition", SLICE("attachment"));
    return status;
}
