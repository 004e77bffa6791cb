#include "api/core/handlers.h"
#include "domain/vocabulary.h"
#include "service/session/session.h"
#include "wire/base64.h"

static const char *const group_names[] = {"active", "live", "failing"};
static const struct enum_names group_enum = {group_names, 3};
static const char *const kind_names[] = {"run", "chat"};
static const struct enum_names kind_enum = {kind_names, 2};
static const char *const ownership_names[] = {"all", "mine", "shared"};
static const struct enum_names ownership_enum = {ownership_names, 3};
static const char *const archived_names[] = {"false", "true", "all"};
static const struct enum_names archived_enum = {archived_names, 3};

static const struct field session_list_query[] = {
    {"type", FIELD_WORD, false, "Only this type.", &session_type_enum, 0, 0},
    {"status", FIELD_WORD, false, "Only in this state.", &session_status_enum, 0, 0},
    {"display_status", FIELD_WORD, false, "Only with this display status.", &display_status_enum, 0, 0},
    {"group", FIELD_WORD, false, "Only in this group of states.", &group_enum, 0, 0},
    {"kind", FIELD_WORD, false, "run: only work that was handed over; chat: only conversations.", &kind_enum, 0, 0},
    {"archived", FIELD_WORD, false, "Archived sessions: false (default), true or all.", &archived_enum, 0, 0},
    {"source_kind", FIELD_STRING, false, "Only from this source.", NULL, 1, 64},
    {"source_platform", FIELD_STRING, false, "Only from this platform.", NULL, 1, 64},
    {"interactive", FIELD_BOOLEAN, false, "Only interactive or only not.", NULL, 0, 0},
    {"ownership", FIELD_WORD, false, "all, mine or shared.", &ownership_enum, 0, 0},
    {"owner", FIELD_STRING, false, "Only of this user.", NULL, 1, 128},
    {"participant", FIELD_STRING, false, "Only with this participant.", NULL, 1, 128},
    {"parent_id", FIELD_STRING, false, "Only children of this session.", NULL, 1, 128},
    {"task_id", FIELD_STRING, false, "Only for this task.", NULL, 1, 128},
    {"entity_id", FIELD_STRING, false, "Only for this entity.", NULL, 1, 128},
    {"workspace", FIELD_STRING, false, "Only in this workspace.", NULL, 1, INT64_MAX},
    {"agent", FIELD_STRING, false, "Only of this agent.", NULL, 1, 128},
    {"visibility", FIELD_WORD, false, "Only with this visibility.", &visibility_enum, 0, 0},
    {"metadata.", FIELD_LABEL, false, "Only where this metadata key has this value.", NULL, 0, 0},
    {"q", FIELD_STRING, false, "Text in title, preview, workspace or branch.", NULL, 1, 200},
    {"id_prefix", FIELD_STRING, false, "Only sessions whose id begins so.", NULL, 1, 128},
    {"created_after", FIELD_TIMESTAMP, false, "Created then or later.", NULL, 0, 0},
    {"created_before", FIELD_TIMESTAMP, false, "Created before that.", NULL, 0, 0},
    {"active_after", FIELD_TIMESTAMP, false, "Last active then or later.", NULL, 0, 0},
    {"active_before", FIELD_TIMESTAMP, false, "Last active before that.", NULL, 0, 0},
    {"cursor", FIELD_STRING, false, "next_cursor of the page before.", NULL, 1, 100},
    {"limit", FIELD_INTEGER, false, "Rows per page.", NULL, 1, 1000},
    {0},
};

static int word_param(const struct request *request, const char *name, const struct enum_names *words)
{
    struct slice value = request_param(request, name);
    return slice_present(value) ? enum_names_find(*words, value) : -1;
}

/* 0 when it is not given; a moment before 1970 is as good as its first one. */
static int64_t time_param(const struct request *request, const char *name)
{
    int64_t ms = 0;
    struct slice value = request_param(request, name);
    if (!slice_present(value) || !time_parse(value, &ms)) {
        return 0;
    }
    return ms > 1 ? ms : 1;
}

/* A cursor is "LISTED.KEY" in base64url: opaque to clients, meaningful to us. */
static enum status read_cursor(struct request *request, struct session_filter *filter)
{
    struct slice text = request_param(request, "cursor"), plain, listed, key;
    if (!slice_present(text)) {
        return STATUS_OK;
    }
    if (base64_decode(request_arena(request), text, BASE64_URL, &plain) && slice_cut(plain, '.', &listed, &key) &&
        slice_to_i64(listed, &filter->cursor_listed_ms) && slice_to_i64(key, &filter->cursor_key)) {
        return STATUS_OK;
    }
    return failure_set(&request->call.failure, STATUS_INVALID, "invalid_cursor",
                       "`cursor` must be the next_cursor of an earlier page.");
}

static struct slice write_cursor(struct request *request, const struct session *last)
{
    struct slice plain =
        arena_format(request_arena(request), "%lld.%lld", (long long)last->listed_at_ms, (long long)last->key);
    struct buffer text = {0};
    base64_encode(&text, plain, BASE64_URL);
    struct slice copy = arena_copy(request_arena(request), buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

/* Who sees what in a list: the order of access_role, as conditions. */
static void limit_to_visible(const struct principal *who, struct session_filter *filter)
{
    struct slice self = slice_present(who->user_id) ? who->user_id : SLICE("");
    filter->id_prefix = who->id_prefix;
    if (who->kind == PRINCIPAL_USER && who->member == MEMBER_OWNER) {
        return;
    }
    filter->private_of = self;
    if (!access_reads_unowned(who)) {
        filter->visible_to = who->kind == PRINCIPAL_USER ? self : SLICE("");
    }
}

void request_filter_sessions(const struct request *request, struct session_filter *out)
{
    *out = (struct session_filter){.tenant_key = request->who.tenant_key,
                                   .type = -1,
                                   .work = -1,
                                   .display = -1,
                                   .archived = -1,
                                   .interactive = -1,
                                   .visibility = -1,
                                   .group = -1};
    limit_to_visible(&request->who, out);
}

static void read_label(const struct request *request, struct session_filter *filter)
{
    for (size_t i = 0; request->query && i < request->query->count; i++) {
        if (slice_starts(request->query->params[i].name, SLICE("metadata."))) {
            filter->label_name = slice_after(request->query->params[i].name, 9);
            filter->label_value = request->query->params[i].value;
        }
    }
}

static void read_ownership(const struct request *request, struct session_filter *filter)
{
    struct slice ownership = request_param(request, "ownership");
    if (slice_is(ownership, "mine")) {
        filter->owner = request->who.user_id;
    } else if (slice_is(ownership, "shared")) {
        filter->shared_with_me = true;
        filter->visible_to = request->who.user_id;
    }
}

/* The narrower of what the caller may see and what they want; nothing begins with both when neither holds the other. */
static struct slice narrower_prefix(struct slice allowed, struct slice wanted)
{
    if (!slice_present(wanted) || slice_starts(allowed, wanted)) {
        return allowed.len ? allowed : wanted;
    }
    return slice_starts(wanted, allowed) ? wanted : SLICE(" "); /* no id has a space */
}

static void read_filter(const struct request *request, struct session_filter *filter)
{
    struct slice interactive = request_param(request, "interactive");
    struct slice archived = request_param(request, "archived");
    int group = word_param(request, "group", &group_enum);
    *filter = (struct session_filter){
        .tenant_key = request->who.tenant_key,
        .type = word_param(request, "type", &session_type_enum),
        .work = word_param(request, "status", &session_status_enum),
        .display = word_param(request, "display_status", &display_status_enum),
        .visibility = word_param(request, "visibility", &visibility_enum),
        .group = group < 0 ? -1 : group + 1,
        .kind = (enum session_kind)(word_param(request, "kind", &kind_enum) + 1),
        .archived = slice_is(archived, "all") ? -1 : slice_is(archived, "true"),
        .interactive = slice_present(interactive) ? slice_is(interactive, "true") : -1,
        .source_kind = request_param(request, "source_kind"),
        .source_platform = request_param(request, "source_platform"),
        .owner = request_param(request, "owner"),
        .participant = request_param(request, "participant"),
        .parent_id = request_param(request, "parent_id"),
        .task_id = request_param(request, "task_id"),
        .entity_id = request_param(request, "entity_id"),
        .workspace = request_param(request, "workspace"),
        .agent = request_param(request, "agent"),
        .text = request_param(request, "q"),
        .created_after_ms = time_param(request, "created_after"),
        .created_before_ms = time_param(request, "created_before"),
        .active_after_ms = time_param(request, "active_after"),
        .active_before_ms = time_param(request, "active_before"),
        .limit = request_list_limit(request),
    };
    limit_to_visible(&request->who, filter);
    filter->id_prefix = narrower_prefix(filter->id_prefix, request_param(request, "id_prefix"));
    read_label(request, filter);
    read_ownership(request, filter);
}

static enum status answer_page(struct request *request, const struct session_filter *filter)
{
    struct session_page page;
    enum status status = session_list(&request->call, filter, &page);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "sessions");
    json_begin_array(out);
    for (size_t i = 0; i < page.count; i++) {
        if (i > 0 && request_page_is_full(request)) {
            page.count = i;
            page.has_more = true;
            break;
        }
        if (i > 0) {
            buffer_add_byte(out->buffer, ',');
        }
        session_write(out->buffer, &page.sessions[i], false);
    }
    json_end_array(out);
    json_put_bool(out, "has_more", page.has_more);
    json_put_text(out, "next_cursor",
                  page.has_more ? write_cursor(request, &page.sessions[page.count - 1]) : (struct slice){0});
    json_end_object(out);
    return STATUS_OK;
}

static enum status sessions_list(struct request *request)
{
    struct session_filter filter;
    enum status status = request_check_unbound(request);
    if (status != STATUS_OK) {
        return status;
    }
    read_filter(request, &filter);
    status = read_cursor(request, &filter);
    return status == STATUS_OK ? answer_page(request, &filter) : status;
}

static enum status sessions_children(struct request *request)
{
    struct session parent;
    struct session_filter filter;
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &parent, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    read_filter(request, &filter);
    filter.parent_id = parent.id;
    filter.archived = -1;
    status = read_cursor(request, &filter);
    return status == STATUS_OK ? answer_page(request, &filter) : status;
}

static void write_by_status(struct json_out *out, int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT])
{
    json_key(out, "by_status");
    json_begin_object(out);
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        int64_t sum = 0;
        for (int type = 0; type < TYPE_COUNT; type++) {
            sum += counts[type][work];
        }
        json_put_i64(out, session_status_enum.names[work], sum);
    }
    json_end_object(out);
}

static void write_by_type(struct json_out *out, int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT], int64_t *out_total)
{
    *out_total = 0;
    json_key(out, "by_type");
    json_begin_object(out);
    for (int type = 0; type < TYPE_COUNT; type++) {
        json_key(out, session_type_enum.names[type]);
        json_begin_object(out);
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            json_put_i64(out, session_status_enum.names[work], counts[type][work]);
            *out_total += counts[type][work];
        }
        json_end_object(out);
    }
    json_end_object(out);
}

static enum status sessions_counts(struct request *request)
{
    int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT] = {{0}}, total;
    struct session_filter filter;
    enum status status = request_check_tenant_wide(request);
    request_filter_sessions(request, &filter);
    if (status == STATUS_OK) {
        status = session_count(&request->call, &filter, counts);
    }
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(&request->out);
    write_by_status(&request->out, counts);
    write_by_type(&request->out, counts, &total);
    json_put_i64(&request->out, "total", total);
    json_end_object(&request->out);
    return STATUS_OK;
}

const struct route session_list_routes[] = {
    {HTTP_GET, "/api/counts", sessions_counts, .answer = "Counts",
     .summary = "The number of sessions by status and type."},
    {HTTP_GET, "/api/sessions", sessions_list, .query = session_list_query, .answer = "SessionList",
     .summary = "Sessions, most recently active first."},
    {HTTP_GET, "/api/sessions/{id}/children", sessions_children, .query = session_list_query, .answer = "SessionList",
     .summary = "The session's children."},
    {0},
};
