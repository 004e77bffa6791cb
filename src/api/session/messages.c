#include "api/core/handlers.h"
#include "base/map.h"
#include "domain/prompt.h"
#include "service/identity/identity.h"
#include "service/session/event.h"

static const char *const order_names[] = {"oldest", "newest"};
static const struct enum_names order_enum = {order_names, 2};

static const struct field message_list_query[] = {
    {"after", FIELD_INTEGER, false, "Only messages behind this sequence.", NULL, 0, INT64_MAX},
    {"before", FIELD_INTEGER, false, "Only messages before this sequence.", NULL, 1, INT64_MAX},
    {"thread_id", FIELD_STRING, false, "Only of this thread.", NULL, 1, 128},
    {"roles", FIELD_STRING, false, "Comma-separated: user, assistant, system, tool. Default: user,assistant.", NULL, 1,
     100},
    {"limit", FIELD_INTEGER, false, "Messages per page.", NULL, 1, 1000},
    {"order", FIELD_WORD, false, "oldest first (default) or newest first.", &order_enum, 0, 0},
    {0},
};

/* Which events are messages, and whose. */
static const struct message_type {
    enum event_kind kind;
    const char *role;
} message_types[] = {
    {EVENT_USER_MESSAGE, "user"},     {EVENT_AGENT_MESSAGE, "assistant"}, {EVENT_SESSION_CONTEXT_INJECTED, "system"},
    {EVENT_SYSTEM_MESSAGE, "system"}, {EVENT_AGENT_TOOL_RESULT, "tool"},  {EVENT_USER_TOOL_RESULT, "tool"},
};
enum { MESSAGE_TYPES = sizeof message_types / sizeof *message_types };

struct message_page {
    struct arena *arena;
    struct event *events;
    size_t count, room;
    size_t bytes, bytes_max;
    bool has_more;
};

static bool keep_event(void *owner, const struct event *event)
{
    struct message_page *page = owner;
    if (page->count == page->room || (page->count > 0 && page->bytes >= page->bytes_max)) {
        page->has_more = true;
        return false;
    }
    page->bytes += 2 * event->content.len + event->metadata.len; /* its text and its parts are told */
    struct event *kept = &page->events[page->count++];
    *kept = *event;
    kept->custom = arena_copy(page->arena, event->custom);
    kept->content = arena_copy(page->arena, event->content);
    kept->metadata = arena_copy(page->arena, event->metadata);
    kept->thread_id = arena_copy(page->arena, event->thread_id);
    kept->external_id = arena_copy(page->arena, event->external_id);
    kept->actor = arena_copy(page->arena, event->actor);
    return true;
}

/* --- who said it --- */

/* The users of one page by id; their names are as they are now, not as they were. */
struct authors {
    struct map by_id;
    struct request *request;
    int64_t tenant_key;
};

static enum status find_author(struct authors *authors, struct slice user_id, const struct user **out)
{
    struct call *call = &authors->request->call;
    enum member_role role = MEMBER_NONE;
    struct user *user = map_get(&authors->by_id, user_id);
    if (user) {
        *out = user;
        return STATUS_OK;
    }
    user = arena_alloc(call->arena, sizeof *user);
    *user = (struct user){.id = user_id};
    enum status status = user_role(call, authors->tenant_key, user_id, &role);
    if (status == STATUS_OK && role != MEMBER_NONE) {
        status = user_find(call, user_id, user);
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    map_put(&authors->by_id, user_id, user);
    *out = user;
    return STATUS_OK;
}

static struct slice first_present(struct slice a, struct slice b)
{
    return slice_present(a) ? a : b;
}

static void put_author(struct json_out *out, struct slice id, struct slice name, struct slice email)
{
    json_key(out, "author");
    json_begin_object(out);
    json_put_text(out, "id", id);
    json_put_text(out, "name", name);
    json_put_text(out, "email", email);
    json_end_object(out);
}

/* Who a channel says has spoken counts more than the account of the channel; the agent speaks in its own name. */
static enum status write_author(struct json_out *out, struct authors *authors, const struct session *session,
                                const struct event *event, const struct json *sender)
{
    const struct user *user = NULL;
    struct slice kind, id = {0};
    if (event->role == ROLE_AGENT) {
        put_author(out, session->agent, session->agent, (struct slice){0});
        return STATUS_OK;
    }
    if (sender) {
        put_author(out, json_text_of(sender, "channel_user_id"), json_text_of(sender, "display_name"),
                   json_text_of(sender, "email"));
        return STATUS_OK;
    }
    if (!slice_cut(event->actor, ':', &kind, &id) || !slice_is(kind, "user")) {
        put_author(out, event->actor, (struct slice){0}, (struct slice){0});
        return STATUS_OK;
    }
    enum status status = find_author(authors, id, &user);
    if (status == STATUS_OK) {
        put_author(out, id, user->name, user->email);
    }
    return status;
}

static void write_channel(struct json_out *out, const struct session *session, const struct json *sender)
{
    json_key(out, "channel");
    json_begin_object(out);
    json_put_text(out, "type", first_present(json_text_of(sender, "channel"), session->source_platform));
    json_put_text(out, "id", json_text_of(sender, "channel_id"));
    json_end_object(out);
}

/* --- one message --- */

static const char *role_of(enum event_kind kind)
{
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        if (kind == message_types[i].kind) {
            return message_types[i].role;
        }
    }
    return "system";
}

static struct slice id_of(struct arena *arena, const struct event *event, const struct json *metadata)
{
    struct slice id = first_present(json_text_of(metadata, "message_id"), json_text_of(metadata, "prompt_id"));
    return slice_present(id) ? id : arena_format(arena, "%lld", (long long)event->sequence);
}

static void write_body(struct json_out *out, struct arena *arena, const struct event *event,
                       const struct json *metadata)
{
    struct slice format = json_text_of(metadata, "format");
    json_put_text(out, "id", id_of(arena, event, metadata));
    json_put_i64(out, "sequence", event->sequence);
    json_put_text(out, "role", slice_of(role_of(event->kind)));
    json_put_text(out, "content", prompt_text_of(arena, event->content));
    json_put_raw(out, "parts", slice_present(event->content) ? event->content : SLICE("[]"));
    json_put_text(out, "format", slice_present(format) ? format : SLICE("parts"));
    json_put_text(out, "agent_session_id", json_text_of(metadata, "agent_session_id"));
    json_put_text(out, "thread_id", event->thread_id);
    json_put_raw(out, "metadata", slice_present(event->metadata) ? event->metadata : SLICE("{}"));
}

static enum status write_message(struct request *request, struct authors *authors, const struct session *session,
                                 const struct event *event)
{
    struct json_out *out = &request->out;
    struct arena *arena = request_arena(request);
    const struct json *metadata = NULL;
    if (slice_present(event->metadata) && json_parse(arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        metadata = NULL;
    }
    const struct json *sender = json_get_value(metadata, "sender");
    json_begin_object(out);
    json_put_text(out, "session_id", session->id);
    write_body(out, arena, event, metadata);
    enum status status = write_author(out, authors, session, event, sender);
    write_channel(out, session, sender);
    json_put_time(out, "created_at", event->at_ms);
    json_end_object(out);
    return status;
}

static enum status write_page(struct request *request, const struct session *session, const struct message_page *page)
{
    struct json_out *out = &request->out;
    struct authors authors = {.request = request, .tenant_key = session->tenant_key};
    enum status status = STATUS_OK;
    json_begin_object(out);
    json_key(out, "messages");
    json_begin_array(out);
    for (size_t i = 0; i < page->count && status == STATUS_OK; i++) {
        status = write_message(request, &authors, session, &page->events[i]);
    }
    json_end_array(out);
    json_put_bool(out, "has_more", page->has_more);
    json_end_object(out);
    map_release(&authors.by_id);
    return status;
}

/* --- the list --- */

static size_t kinds_of_role(struct slice role, enum event_kind kinds[MESSAGE_TYPES], size_t count)
{
    for (size_t i = 0; i < MESSAGE_TYPES && count < MESSAGE_TYPES; i++) {
        if (slice_is(role, message_types[i].role)) {
            kinds[count++] = message_types[i].kind;
        }
    }
    return count;
}

static enum status read_roles(struct request *request, enum event_kind kinds[MESSAGE_TYPES], size_t *count)
{
    struct slice roles = request_param(request, "roles"), role;
    roles = slice_present(roles) ? roles : SLICE("user,assistant");
    *count = 0;
    while (roles.len > 0) {
        slice_cut(roles, ',', &role, &roles);
        size_t more = kinds_of_role(role, kinds, *count);
        if (more == *count) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_roles",
                               "`roles` must be some of user, assistant, system and tool, each once, with commas.");
        }
        *count = more;
    }
    return STATUS_OK;
}

static enum status messages_list(struct request *request)
{
    struct session session;
    enum event_kind kinds[MESSAGE_TYPES];
    struct message_page page = {
        .arena = request_arena(request),
        .room = (size_t)request_page_limit(request),
        .bytes_max = (size_t)request->api->limits.page_bytes_max,
    };
    struct event_filter filter = {
        .kinds = kinds,
        .after = request_param_i64(request, "after", 0),
        .before = request_param_i64(request, "before", 0),
        .thread_id = request_param(request, "thread_id"),
        .newest_first = slice_is(request_param(request, "order"), "newest"),
        .limit = (int64_t)page.room + 1, /* one more tells whether there is more */
    };
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    if (status == STATUS_OK) {
        status = read_roles(request, kinds, &filter.kind_count);
    }
    if (status == STATUS_OK) {
        page.events = arena_array(page.arena, page.room, sizeof *page.events);
        status = event_log_read(&request->call, &session, &filter, keep_event, &page);
    }
    return status == STATUS_OK ? write_page(request, &session, &page) : status;
}

const struct route message_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/messages", messages_list, .query = message_list_query, .answer = "MessageList",
     .summary = "The messages of people and of the agent, with their senders."},
    {0},
};
