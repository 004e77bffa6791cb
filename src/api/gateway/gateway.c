#include "service/gateway/gateway.h"

#include "api/core/handlers.h"

static const struct field tool_call_body[] = {
    {"call_id", FIELD_STRING, true, "Your name for this call: called again with it, the answer is the same.", NULL, 1,
     200},
    {"arguments", FIELD_OBJECT, false, "Of the tool.", NULL, 0, 0},
    {0},
};

/* The wait for a call that runs ends when its time is over, the client is gone or the server stops. */
static bool may_wait(struct request *request)
{
    struct command *command = &request->command;
    if (command->waits_until_ms == 0) {
        command->waits_until_ms = request->call.steady_ms + gateway_timeout_ms(request->api->gateway);
    }
    return request->call.steady_ms < command->waits_until_ms && !request->api->stopping &&
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

static enum status gateway_call_tool(struct request *request)
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
        request->command.waits = true;
        return STATUS_OK;
    }
    if (answer.waits) {
        return failure_set(&request->call.failure, STATUS_TIMEOUT, "still_running",
                           "The call still runs; ask again with the same call_id.");
    }
    write_answer(&request->out, &asked, &answer);
    return STATUS_OK;
}

const struct route gateway_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/tools/{tool}", gateway_call_tool, .body = tool_call_body, .answer = "ToolCall",
     .summary = "Call a server tool from the session's sandbox; runs once per call_id."},
    {0},
};
