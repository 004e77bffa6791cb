#include "api/core/handlers.h"
#include "base/clock.h"
#include "domain/tunnel.h"
#include "service/session/channel.h"
#include "service/prompt/prompt.h"
#include "service/session/tunnel.h"

static const struct field channel_body[] = {
    {"kind", FIELD_STRING, true, "Where it is: web, slack, telegram …", NULL, 1, 64},
    {"address", FIELD_STRING, false, "Which one of that kind.", NULL, 1, 200},
    {"followup_ms", FIELD_INTEGER, false,
     "After how long an unanswered message whose `sender` names this channel and channel_id becomes "
     "channel.followup_due; 0 = never.",
     NULL, 0, 30 * DAY_MS},
    {0},
};
static const struct field tunnel_body[] = {
    {"name", FIELD_STRING, true, "Its name in the session.", NULL, 1, 64},
    {"url", FIELD_STRING, false, "Where it leads. Either this or port.", NULL, 1, 2048},
    {"port", FIELD_INTEGER, false, "A port in the session's sandbox on this machine.", NULL, 1, 65535},
    {0},
};
static const struct field system_message_body[] = {
    {"text", FIELD_STRING, false, "Text of the message. Either this or content.", NULL, 0, 0},
    {"content", FIELD_LIST, false, "The message as a list of parts.", NULL, 0, 0},
    {"trigger", FIELD_BOOLEAN, false, "Say it to the agent too, as a message that begins a turn.", NULL, 0, 0},
    {0},
};

/* --- channels --- */

static void write_channel(struct json_out *out, const struct channel *channel)
{
    json_begin_object(out);
    json_put_text(out, "id", channel->id);
    json_put_text(out, "kind", channel->kind);
    json_put_text(out, "address", channel->address);
    json_put_i64(out, "followup_ms", channel->followup_ms);
    json_put_bool(out, "waiting", channel->due_ms != 0);
    json_put_time(out, "created_at", channel->created_at_ms);
    json_end_object(out);
}

static enum status channels_list(struct request *request)
{
    struct channel *channels;
    size_t count = 0;
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    enum status status = channel_list(call, request->params[0], &channels, &count);
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_key(out, "channels");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_channel(out, &channels[i]);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

static enum status channels_bind(struct request *request)
{
    const struct json *body = request->body;
    struct channel channel;
    struct channel_request wanted = {
        .kind = json_text_of(body, "kind"),
        .address = json_text_of(body, "address"),
        .followup_ms = json_get_value(body, "followup_ms") ? json_i64_of(body, "followup_ms") : -1,
    };
    enum status status = channel_bind(&request->call, request->params[0], &wanted, &channel);
    if (status == STATUS_OK) {
        write_channel(&request->out, &channel);
    }
    return status;
}

static enum status channels_unbind(struct request *request)
{
    return channel_unbind(&request->call, request->params[0], request->params[1]);
}

/* --- tunnels --- */

static void write_tunnel(struct request *request, struct slice session_id, struct slice name, struct slice target)
{
    struct json_out *out = &request->out;
    int64_t port = tunnel_local_port(target);
    json_begin_object(out);
    json_put_text(out, "name", name);
    json_put_text(out, "url", port ? (struct slice){0} : target);
    json_key(out, "port");
    if (port) {
        json_i64(out, port);
    } else {
        json_null(out);
    }
    json_put_text(
        out, "proxy",
        arena_format(request_arena(request), "/api/sessions/%.*s/proxy/%.*s/", SLICE_ARG(session_id), SLICE_ARG(name)));
    json_end_object(out);
}

static enum status tunnels_list(struct request *request)
{
    struct session session;
    struct json_out *out = &request->out;
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    const struct json *tunnels = tunnels_of(request_arena(request), &session);
    json_begin_object(out);
    json_key(out, "tunnels");
    json_begin_array(out);
    for (const struct json *one = tunnels ? tunnels->child : NULL; one; one = one->next) {
        write_tunnel(request, session.id, one->key, one->text);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

static enum status tunnels_open(struct request *request)
{
    const struct json *body = request->body;
    struct slice name = json_text_of(body, "name"), target = json_text_of(body, "url");
    int64_t port = json_i64_of(body, "port");
    bool is_new = false;
    if (slice_present(target) == (port != 0) || tunnel_local_port(target) != 0) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_tunnel", "Send either `url` or `port`.");
    }
    if (port) {
        target = arena_format(request_arena(request), "local:%lld", (long long)port);
    }
    enum status status = tunnel_open(&request->call, request->params[0], name, target, &is_new);
    if (status == STATUS_OK) {
        request->exchange->status = is_new ? 201 : 200;
        write_tunnel(request, request->params[0], name, target);
    }
    return status;
}

static enum status tunnels_close(struct request *request)
{
    return tunnel_close(&request->call, request->params[0], request->params[1]);
}

/* --- system messages --- */

static enum status trigger(struct request *request, struct slice content)
{
    struct prompt_receipt receipt;
    struct prompt_request prompt = {
        .mode = -1, .content = content, .metadata = SLICE("{\"system\":true}"), .debounce_ms = -1};
    enum status status = prompt_send(&request->call, request->params[0], &prompt, &receipt);
    if (status == STATUS_OK) {
        json_put_text(&request->out, "prompt_id", receipt.id);
    }
    return status;
}

static enum status system_messages_append(struct request *request)
{
    struct session_access entry;
    struct slice content;
    struct call *call = &request->call;
    bool triggers = false;
    json_as_bool(json_get(request->body, "trigger"), &triggers);
    enum status status = prompts_read_content(request, true, &content);
    if (status == STATUS_OK) {
        status = prompts_check_size(request, content, (struct slice){0});
    }
    if (status == STATUS_OK) {
        status = session_authorize(call, request->params[0], ACTION_UPDATE, &entry);
    }
    if (status == STATUS_OK) {
        status = system_message_append(call, entry.loaded, content, (struct slice){0});
    }
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(&request->out);
    json_put_text(&request->out, "session_id", request->params[0]);
    json_put_i64(&request->out, "sequence", entry.loaded->session.last_sequence);
    status = triggers ? trigger(request, content) : STATUS_OK;
    json_end_object(&request->out);
    return status;
}

const struct route channel_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/channels", channels_list, .answer = "ChannelList",
     .summary = "The channels bound to the session."},
    {HTTP_POST, "/api/sessions/{id}/channels", channels_bind, .idempotent = true, .body = channel_body, .success = 201,
     .answer = "Channel",
     .summary = "Bind a channel; binding the same kind and address again changes its notifications."},
    {HTTP_DELETE, "/api/sessions/{id}/channels/{channel_id}", channels_unbind, .success = 204,
     .summary = "Unbind a channel."},
    {HTTP_POST, "/api/sessions/{id}/system-messages", system_messages_append, .idempotent = true,
     .body = system_message_body, .success = 201, .answer = "SystemMessage",
     .summary = "Append a system message to the log, as owner; no turn starts."},
    {0},
};

const struct route tunnel_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/tunnels", tunnels_list, .answer = "TunnelList",
     .summary = "The tunnels into the session's sandbox."},
    {HTTP_POST, "/api/sessions/{id}/tunnels", tunnels_open, .idempotent = true, .body = tunnel_body, .success = 201,
     .answer = "Tunnel", .summary = "Open a tunnel, as owner or lease holder; 200 if the name already exists."},
    {HTTP_DELETE, "/api/sessions/{id}/tunnels/{tunnel}", tunnels_close, .success = 204, .summary = "Close a tunnel."},
    {0},
};
