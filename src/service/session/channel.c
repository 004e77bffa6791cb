#include <assert.h>

#include "service/session/channel.h"

#include "domain/input.h"

#define WEB SLICE("web")

static struct slice id_of(struct arena *arena, struct slice kind, struct slice address)
{
    return address.len > 0 ? arena_format(arena, "%.*s:%.*s", SLICE_ARG(kind), SLICE_ARG(address)) : kind;
}

static enum status tell(struct call *call, struct loaded_session *loaded, enum event_kind kind,
                        const struct channel *channel)
{
    const char *keys[] = {"channel_id", "kind"};
    struct slice values[] = {channel->id, channel->kind};
    struct changes changes = {0};
    change_note(call->arena, kind, keys, values, 2, &changes);
    return session_append_changes(call, loaded, &changes);
}

/* --- bindings --- */

static enum status check_request(struct call *call, const struct channel_request *request)
{
    enum status status = input_check_name(request->kind, "kind", NAME_BYTES_MAX, &call->failure);
    if (status == STATUS_OK && memchr(request->kind.ptr, ':', request->kind.len)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_channel", "`kind` holds no colon.");
    }
    return status == STATUS_OK ? input_check_name(request->address, "address", REFERENCE_BYTES_MAX, &call->failure)
                               : status;
}

static enum status check_room(struct call *call, const struct session *session)
{
    struct channel *channels;
    size_t count = 0;
    enum status status =
        store_channel_list(call->db, session->tenant_key, session->key, call->arena, &channels, &count, &call->failure);
    if (status == STATUS_OK && (int64_t)count >= call->service->limits.channel.max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_channels",
                           "A session has at most %lld channels (option channels-max).",
                           (long long)call->service->limits.channel.max);
    }
    return status;
}

/* What stands under this id, or what would. */
static enum status look_up(struct call *call, const struct session *session, const struct channel_request *request,
                           struct channel *out, bool *out_new)
{
    struct slice id = id_of(call->arena, request->kind, request->address);
    enum status status =
        store_channel_get(call->db, session->tenant_key, session->key, id, call->arena, out, &call->failure);
    *out_new = status == STATUS_NOT_FOUND;
    if (!*out_new) {
        return status;
    }
    *out = (struct channel){
        .tenant_key = session->tenant_key,
        .session_key = session->key,
        .id = id,
        .kind = request->kind,
        .address = request->address,
        .followup_ms = slice_eq(request->kind, WEB) ? 0 : call->service->limits.channel.followup_ms,
        .created_at_ms = call->now_ms,
    };
    return check_room(call, session);
}

static enum status put(struct call *call, const struct channel *channel)
{
    return store_channel_put(call->db, channel, &call->failure);
}

/* Who speaks to the agent says where: not the code in its sandbox. */
enum status channel_bind(struct call *call, struct slice session_id, const struct channel_request *request,
                         struct channel *out)
{
    struct session_access entry;
    bool is_new = false;
    enum status status = session_authorize(call, session_id, ACTION_SPEAK, &entry);
    if (status == STATUS_OK) {
        status = check_request(call, request);
    }
    if (status == STATUS_OK) {
        status = look_up(call, &entry.loaded->session, request, out, &is_new);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->followup_ms = request->followup_ms >= 0 ? request->followup_ms : out->followup_ms;
    status = put(call, out);
    return status == STATUS_OK && is_new ? tell(call, entry.loaded, EVENT_CHANNEL_BOUND, out) : status;
}

enum status channel_unbind(struct call *call, struct slice session_id, struct slice channel_id)
{
    struct session_access entry;
    struct channel channel;
    bool deleted = false;
    enum status status = session_authorize(call, session_id, ACTION_SPEAK, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *session = &entry.loaded->session;
    status = store_channel_get(call->db, session->tenant_key, session->key, channel_id, call->arena, &channel,
                               &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "channel_not_found", "The session has no such channel.");
    }
    if (status == STATUS_OK) {
        status =
            store_channel_delete(call->db, session->tenant_key, session->key, channel_id, &deleted, &call->failure);
    }
    return status == STATUS_OK ? tell(call, entry.loaded, EVENT_CHANNEL_UNBOUND, &channel) : status;
}

enum status channel_bind_web(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    if (!slice_present(session->owner) || !session_is_conversation(session)) {
        return STATUS_OK;
    }
    struct channel web = {
        .tenant_key = session->tenant_key,
        .session_key = session->key,
        .id = WEB,
        .kind = WEB,
        .created_at_ms = call->now_ms,
    };
    return put(call, &web);
}

/* --- messages and reminders --- */

static enum status remember(struct call *call, struct loaded_session *loaded, struct channel *channel)
{
    channel->waiting_sequence = loaded->session.last_sequence;
    channel->due_ms = channel->followup_ms > 0 ? call->steady_ms + channel->followup_ms : 0;
    enum status status = put(call, channel);
    bool again;
    return status == STATUS_OK && channel->due_ms > 0 ? channel_followup(call, loaded, &again) : status;
}

enum status channel_note_message(struct call *call, struct loaded_session *loaded, struct slice metadata)
{
    assert(call_writes(call));
    const struct json *said = NULL;
    struct channel channel;
    bool is_new = false;
    if (!slice_present(metadata) || !memmem(metadata.ptr, metadata.len, "\"channel", 8) ||
        json_parse(call->arena, metadata, &said, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    const struct json *sender = json_get_value(said, "sender");
    bool binds = json_text_of(said, "channel_type").len > 0; /* a sender only names a channel that is bound */
    struct channel_request request = {binds ? json_text_of(said, "channel_type") : json_text_of(sender, "channel"),
                                      binds ? json_text_of(said, "channel_id") : json_text_of(sender, "channel_id"),
                                      -1};
    if (request.kind.len == 0) {
        return STATUS_OK;
    }
    enum status status = check_request(call, &request);
    if (status != STATUS_OK) {
        return binds ? status : STATUS_OK;
    }
    status = look_up(call, &loaded->session, &request, &channel, &is_new);
    if (is_new && !binds) {
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = remember(call, loaded, &channel);
    }
    return status == STATUS_OK && is_new ? tell(call, loaded, EVENT_CHANNEL_BOUND, &channel) : status;
}

static bool note_found(void *owner, const struct event *event)
{
    (void)event;
    *(bool *)owner = true;
    return false;
}

/* The log says whether the agent spoke since. */
static enum status is_answered(struct call *call, const struct channel *channel, bool *out)
{
    static const enum event_kind kinds[] = {EVENT_AGENT_MESSAGE};
    struct event_filter filter = {
        .tenant_key = channel->tenant_key,
        .session_key = channel->session_key,
        .after = channel->waiting_sequence,
        .kinds = kinds,
        .kind_count = 1,
        .limit = 1,
    };
    *out = false;
    return store_event_read(call->db, &filter, note_found, out, &call->failure);
}

static enum status tell_due(struct call *call, struct loaded_session *loaded, const struct channel *channel)
{
    struct buffer metadata = {0};
    struct json_out out = json_out_to(&metadata);
    json_begin_object(&out);
    json_put_text(&out, "channel_id", channel->id);
    json_put_text(&out, "kind", channel->kind);
    json_put_text(&out, "address", channel->address);
    json_put_i64(&out, "sequence", channel->waiting_sequence);
    json_put_i64(&out, "waited_ms", channel->followup_ms);
    json_end_object(&out);
    struct event event = {
        .kind = EVENT_CHANNEL_FOLLOWUP_DUE,
        .role = ROLE_SYSTEM,
        .metadata = arena_copy(call->arena, buffer_slice(&metadata)),
    };
    buffer_release(&metadata);
    return session_append_events(call, loaded, &event, 1);
}

static enum status settle_due(struct call *call, struct loaded_session *loaded, struct channel *channel)
{
    bool answered = session_status_is_ended(loaded->session.status);
    enum status status = answered ? STATUS_OK : is_answered(call, channel, &answered);
    if (status == STATUS_OK && !answered) {
        status = tell_due(call, loaded, channel);
    }
    channel->due_ms = 0;
    return status == STATUS_OK ? put(call, channel) : status;
}

enum status channel_followup(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    assert(call_writes(call));
    struct channel *channels;
    size_t count = 0;
    int64_t next_ms = 0;
    const struct session *session = &loaded->session;
    enum status status =
        store_channel_list(call->db, session->tenant_key, session->key, call->arena, &channels, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct channel *channel = &channels[i];
        if (channel->due_ms != 0 && channel->due_ms <= call->steady_ms) {
            status = settle_due(call, loaded, channel);
        }
        if (channel->due_ms != 0 && (next_ms == 0 || channel->due_ms < next_ms)) {
            next_ms = channel->due_ms;
        }
    }
    *out_again = next_ms != 0;
    return status == STATUS_OK && *out_again ? transaction_timer(call, loaded, TIMER_FOLLOWUP, next_ms) : status;
}

enum status channel_list(struct call *call, struct slice session_id, struct channel **out, size_t *out_count)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    return status == STATUS_OK ? store_channel_list(call->db, session.tenant_key, session.key, call->arena, out,
                                                    out_count, &call->failure)
                               : status;
}
