#include "api/core/handlers.h"
#include "api/event/streams.h"
#include "domain/silence.h"
#include "service/session/event.h"
#include "service/identity/secret.h"

static const char *const order_names[] = {"oldest", "newest"};
static const struct enum_names order_enum = {order_names, 2};

static const struct field event_append_body[] = {
    {"events", FIELD_LIST, true, "Events in order; all are appended or none.", NULL, 0, 0},
    {0},
};

static const struct field event_list_query[] = {
    {"after", FIELD_STRING, false, "Only events after this sequence or cursor (SEQ or SEQ.N).", NULL, 1, 40},
    {"afterSequence", FIELD_STRING, false, "The same as after.", NULL, 1, 40},
    {"before", FIELD_INTEGER, false, "Pages only: events before this sequence.", NULL, 1, INT64_MAX},
    {"types", FIELD_STRING, false, "Comma-separated types; tool.* matches a prefix.", NULL, 1, 1000},
    {"eventTypes", FIELD_STRING, false, "The same as types.", NULL, 1, 1000},
    {"thread_id", FIELD_STRING, false, "Only of this thread.", NULL, 1, 128},
    {"limit", FIELD_INTEGER, false, "Pages only: events per page. Default: 100.", NULL, 1, 1000},
    {"order", FIELD_WORD, false, "Pages only: oldest first (default) or newest first.", &order_enum, 0, 0},
    {"deltas", FIELD_BOOLEAN, false, "Streams only: include live deltas. Default: true.", NULL, 0, 0},
    {"ticket", FIELD_STRING, false, "A one-use ticket.", NULL, 1, 100},
    {0},
};

/* Which of them a stream takes: it begins where it is told, goes forward and has no end. And which a page. */
static const char *const stream_param_names[] = {"after",     "afterSequence", "types", "eventTypes",
                                                 "thread_id", "deltas",        "ticket"};
static const struct enum_names stream_params = {stream_param_names, 7};
static const char *const page_param_names[] = {"after",     "afterSequence", "before", "types", "eventTypes",
                                               "thread_id", "limit",         "order",  "ticket"};
static const struct enum_names page_params = {page_param_names, 9};

static const struct field audit_query[] = {
    {"after", FIELD_INTEGER, false, "Only events after this sequence.", NULL, 0, INT64_MAX},
    {"before", FIELD_INTEGER, false, "Only events before this sequence.", NULL, 1, INT64_MAX},
    {"limit", FIELD_INTEGER, false, "Events per page.", NULL, 1, 1000},
    {"order", FIELD_WORD, false, "oldest first (default) or newest first.", &order_enum, 0, 0},
    {0},
};

static const struct field delta_body[] = {
    {"deltas", FIELD_LIST, true, "Live output: objects with kind (text, reasoning, tool_input, tool_output) and text.",
     NULL, 0, 0},
    {0},
};

/* --- append --- */

static enum status read_if_sequence(struct request *request, int64_t *out)
{
    struct slice text = request_header(request, "if-sequence");
    *out = -1;
    if (!slice_present(text) || (slice_to_i64(text, out) && *out >= 0)) {
        return STATUS_OK;
    }
    return failure_set(&request->call.failure, STATUS_INVALID, "invalid_if_sequence",
                       "If-Sequence must be the sequence at which the log ends, a whole number from 0.");
}

static enum status read_events(struct request *request, struct append *append)
{
    const struct service *service = request->api->service;
    struct failure *failure = &request->call.failure;
    const struct json *list = json_get(request->body, "events");
    if (list->count == 0 || list->count > service->limits.event.per_append_max) {
        return failure_set(failure, STATUS_INVALID, "invalid_member", "events must hold 1 to %zu events.",
                           service->limits.event.per_append_max);
    }
    append->count = list->count;
    append->events = arena_array(request_arena(request), list->count, sizeof *append->events);
    append->duplicates = arena_array(request_arena(request), list->count, sizeof *append->duplicates);
    size_t at = 0;
    for (const struct json *one = list->child; one; one = one->next) {
        if (one->raw.len > service->limits.event.bytes_max) {
            return failure_set(failure, STATUS_TOO_LARGE, "event_too_large",
                               "Event %zu has %zu bytes; at most %zu are accepted (option event-bytes-max).", at + 1,
                               one->raw.len, service->limits.event.bytes_max);
        }
        enum status status = event_read(one, &append->events[at++], failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static void write_appended(struct request *request, const struct append *append)
{
    struct buffer *body = &request->exchange->body;
    struct slice session_id = append->entry.loaded->session.id;
    buffer_add(body, SLICE("{\"events\":["));
    for (size_t i = 0; i < append->count; i++) {
        if (i > 0) {
            buffer_add_byte(body, ',');
        }
        event_write(body, session_id, &append->events[i]);
        if (append->duplicates[i]) {
            body->len--; /* reopen the object */
            buffer_add(body, SLICE(",\"duplicate\":true}"));
        }
    }
    buffer_add(body, SLICE("],\"last_sequence\":"));
    buffer_add_i64(body, append->entry.loaded->session.last_sequence);
    buffer_add_byte(body, '}');
}

static enum status events_append(struct request *request)
{
    struct append append = {0};
    enum status status = read_if_sequence(request, &append.if_sequence);
    if (status == STATUS_OK) {
        status = read_events(request, &append);
    }
    if (status == STATUS_OK) {
        status = event_append(&request->call, request->params[0], &append);
    }
    if (status == STATUS_OK) {
        write_appended(request, &append);
    }
    return status;
}

/* --- lists --- */

struct page {
    const struct request *request;
    struct buffer *body;
    struct slice session_id;
    int64_t room; /* how many more are shown */
    bool has_more;
    bool first;
};

static bool add_to_page(void *owner, const struct event *event)
{
    struct page *page = owner;
    if (page->room == 0 || (!page->first && request_page_is_full(page->request))) {
        page->has_more = true;
        return false;
    }
    if (!page->first) {
        buffer_add_byte(page->body, ',');
    }
    page->first = false;
    page->room--;
    event_write(page->body, page->session_id, event);
    return true;
}

static enum status answer_page(struct request *request, const struct session *session, struct event_filter *filter)
{
    struct buffer *body = &request->exchange->body;
    struct page page = {request, body, session->id, filter->limit, false, true};
    filter->limit++; /* one more tells whether there is more */
    buffer_add(body, SLICE("{\"events\":["));
    enum status status = event_log_read(&request->call, session, filter, add_to_page, &page);
    buffer_add(body, page.has_more ? SLICE("],\"has_more\":true}") : SLICE("],\"has_more\":false}"));
    return status;
}

int64_t request_page_limit(const struct request *request)
{
    int64_t limit = request_param_i64(request, "limit", request->api->limits.events_page_default);
    return limit < request->api->limits.events_page_max ? limit : request->api->limits.events_page_max;
}

enum status request_event_types(struct request *request, struct slice *types, size_t *count)
{
    static const char *const names[] = {"types", "eventTypes"};
    struct slice list, one;
    enum status status = request_param_of(request, names, 2, &list);
    *count = 0;
    while (status == STATUS_OK && list.len > 0) {
        slice_cut(list, ',', &one, &list);
        bool prefix = one.len > 2 && one.ptr[one.len - 1] == '*' && one.ptr[one.len - 2] == '.';
        if (*count >= VIEWER_TYPES_MAX || !event_type_is_valid(prefix ? slice_from(one.ptr, one.len - 2) : one)) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_types",
                               "types must be at most %d event types or prefixes such as tool.*, separated by commas.",
                               VIEWER_TYPES_MAX);
        }
        types[(*count)++] = one;
    }
    return status;
}

enum status request_cursor(struct request *request, struct cursor *out, bool *out_given)
{
    static const char *const names[] = {"after", "afterSequence", "resume_from"};
    struct slice text, last_seen = request_header(request, "last-event-id");
    enum status status = request_param_of(request, names, 3, &text);
    text =
        slice_present(last_seen) ? last_seen : text; /* of a browser that comes back, with the address it began with */
    *out = (struct cursor){0};
    *out_given = slice_present(text) && text.len > 0;
    return status == STATUS_OK && *out_given ? cursor_parse(text, out, &request->call.failure) : status;
}

static bool wants_stream(const struct request *request)
{
    return http_list_has(request_header(request, "accept"), "text/event-stream");
}

static enum status list_page(struct request *request)
{
    struct session session;
    struct slice types[VIEWER_TYPES_MAX];
    struct cursor after;
    bool given;
    struct event_filter filter = {.types = types, .limit = request_page_limit(request)};
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    if (status == STATUS_OK) {
        status = request_event_types(request, types, &filter.type_count);
    }
    if (status == STATUS_OK) {
        status = request_cursor(request, &after, &given);
    }
    if (status != STATUS_OK) {
        return status;
    }
    filter.after = after.sequence;
    filter.before = request_param_i64(request, "before", 0);
    filter.thread_id = request_param(request, "thread_id");
    filter.newest_first = slice_is(request_param(request, "order"), "newest");
    return answer_page(request, &session, &filter);
}

static enum status events_list(struct request *request)
{
    bool streams = wants_stream(request);
    enum status status = streams ? request_check_query(request, &stream_params, "a stream of server-sent events")
                                 : request_check_query(request, &page_params, "a page of events");
    return status != STATUS_OK ? status : streams ? streams_session(request, STREAM_SSE) : list_page(request);
}

static enum status events_audit(struct request *request)
{
    struct session session;
    struct event_filter filter = {
        .after = request_param_i64(request, "after", 0),
        .before = request_param_i64(request, "before", 0),
        .audit_only = true,
        .newest_first = slice_is(request_param(request, "order"), "newest"),
        .limit = request_page_limit(request),
    };
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    return status == STATUS_OK ? answer_page(request, &session, &filter) : status;
}

/* --- deltas --- */

/* -1 when it is none. */
static int kind_of(const struct json *delta)
{
    return enum_names_find(delta_kind_enum, json_text_of(delta, "kind"));
}

static enum status check_delta(struct request *request, const struct json *delta)
{
    struct slice text;
    size_t bytes_max = request->api->service->limits.event.delta_bytes_max;
    if (delta->raw.len > bytes_max) {
        return failure_set(&request->call.failure, STATUS_TOO_LARGE, "delta_too_large",
                           "A delta has at most %zu bytes (option delta-bytes-max).", bytes_max);
    }
    if (kind_of(delta) >= 0 && json_as_text(json_get(delta, "text"), &text)) {
        return STATUS_OK;
    }
    return failure_set(&request->call.failure, STATUS_INVALID, "invalid_delta",
                       "A delta is an object with kind (text, reasoning, tool_input or tool_output) and text.");
}

/* The delta with other words. */
static struct slice with_text(struct arena *arena, const struct json *delta, struct slice text)
{
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    json_begin_object(&out);
    for (const struct json *member = delta->child; member; member = member->next) {
        json_key_slice(&out, member->key);
        if (slice_is(member->key, "text")) {
            json_text(&out, text);
        } else {
            json_raw(&out, member->raw);
        }
    }
    json_end_object(&out);
    struct slice copy = arena_copy(arena, buffer_slice(&json));
    buffer_release(&json);
    return copy;
}

/* As viewers see it: what may be the beginning of a secret comes with the delta that shows that it is none, or with the
 * event. Absent = nothing of it. */
static struct slice shown_of(struct request *request, const struct session *session, const struct json *delta)
{
    struct secrets *secrets = request->call.service->secrets;
    struct arena *arena = request_arena(request);
    struct slice text = json_text_of(delta, "text"), id = json_text_of(delta, "id");
    struct buffer scratch = {0};
    bool hides_marks = silence_concerns(session) && kind_of(delta) == DELTA_TEXT;
    if (!hides_marks && !secrets_any(secrets)) {
        return delta->raw;
    }
    struct slice key = arena_format(arena, "%lld/%.*s/%.*s", (long long)session->key,
                                    SLICE_ARG(json_text_of(delta, "kind")), SLICE_ARG(id));
    struct slice shown = secrets_pass_live(secrets, hides_marks, key, session->last_sequence, text, &scratch),
                 json = delta->raw;
    if (!slice_eq(shown, text)) {
        json = shown.len > 0 ? with_text(arena, delta, shown) : (struct slice){0};
    }
    buffer_release(&scratch);
    return json;
}

static void publish_deltas(struct request *request, const struct session *session, const struct partial *saved)
{
    struct publication *publication = publication_new();
    const struct json *list = json_get(request->body, "deltas");
    for (const struct json *delta = list->child; delta; delta = delta->next) {
        struct slice json = shown_of(request, session, delta);
        if (!slice_present(json)) {
            continue;
        }
        publication_add(publication, &(struct publication_entry){
                                         .kind = PUBLISH_DELTA,
                                         .tenant_key = session->tenant_key,
                                         .session_key = session->key,
                                         .session_id = session->id,
                                         .sequence = session->last_sequence,
                                         .count_base = saved->sequence == session->last_sequence ? saved->count : 0,
                                         .delta_kind = (enum delta_kind)kind_of(delta), /* checked before */
                                         .thread_id = json_text_of(delta, "thread_id"),
                                         .json = json,
                                     });
    }
    fanout_publish(request->api->fanout, publication);
}

/* Live output is not stored here and waits for nobody: it runs on a reader and goes straight to the viewers. */
static enum status deltas_accept(struct request *request)
{
    struct session session;
    struct partial saved;
    struct call *call = &request->call;
    enum access_role role;
    enum status status = session_authorize_read(call, request->params[0], ACTION_APPEND, &session, &role);
    if (status == STATUS_OK) {
        status = access_check_event(call->who, &session, role, slice_present(call->lease_token),
                                    event_kind_name(EVENT_AGENT_MESSAGE), &call->failure);
    }
    if (status == STATUS_OK) {
        status = event_check_live(call, &session);
    }
    for (const struct json *delta = json_get(request->body, "deltas")->child; delta && status == STATUS_OK;
         delta = delta->next) {
        status = check_delta(request, delta);
    }
    if (status == STATUS_OK) {
        status = event_read_partial(call, &session, &saved);
    }
    if (status == STATUS_OK) {
        publish_deltas(request, &session, &saved);
    }
    return status;
}

const struct route event_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/audit-log", events_audit, .query = audit_query, .answer = "EventList",
     .summary = "The events relevant to an audit, with who caused them."},
    {HTTP_POST, "/api/sessions/{id}/events", events_append, .idempotent = true, .headers = HEADER_IF_SEQUENCE,
     .body = event_append_body, .prepare = media_prepare, .success = 201, .answer = "Appended",
     .summary = "Append events, all or none."},
    {HTTP_GET, "/api/sessions/{id}/events", events_list, .auth = AUTH_TICKET, .query = event_list_query,
     .answer = "EventList", .summary = "The session's events; with Accept: text/event-stream, a stream of them."},
    {HTTP_POST, "/api/sessions/{id}/deltas", deltas_accept, .run_on = RUN_READER, .body = delta_body, .success = 202,
     .summary = "Publish live output of the running turn."},
    {0},
};
