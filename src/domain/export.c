#include "domain/export.h"

#include "domain/change_payload.h"
#include "domain/export_turns.h"
#include "domain/redact.h"

struct writing {
    struct arena *arena;
    const struct export_source *source;
    const struct export_turn *turns;
    size_t turn_count;
    struct json_out out;
};

enum status export_check(const struct session *session, struct failure *failure)
{
    if (!session_is_conversation(session)) {
        return failure_set(failure, STATUS_CONFLICT, "not_a_conversation",
                           "Only conversations can be exported: sessions of type agent and mixed.");
    }
    if (session_status_is_in_turn(session->status) || session_status_is_claimable(session->status)) {
        return failure_set(failure, STATUS_CONFLICT, "turn_running",
                           "This session is %s; export it when it is idle, or interrupt it.",
                           session_status_enum.names[session->status]);
    }
    return STATUS_OK;
}

void export_id(struct slice title, char out[EXPORT_ID_BYTES])
{
    size_t len = 0;
    bool gap = false;
    for (size_t i = 0; i < title.len && len + 2 < EXPORT_ID_BYTES; i++) {
        char c = title.ptr[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        bool counts = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (counts && gap && len > 0) {
            out[len++] = '-';
        }
        if (counts) {
            out[len++] = c;
        }
        gap = counts ? false : gap || (unsigned char)c < 0x80;
    }
    out[len] = '\0';
    if (len == 0) {
        memcpy(out, "exported-session", sizeof "exported-session");
    }
}

/* --- nodes and edges --- */

/* Nothing that somebody said is taken for a placeholder. */
static void add_neutralised(struct buffer *to, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        buffer_add_byte(to, text.ptr[i]);
        if (text.ptr[i] == '{' && i + 1 < text.len && text.ptr[i + 1] == '{') {
            buffer_add_byte(to, ' ');
        }
    }
}

static void add_text_parts(struct writing *w, struct buffer *text, const struct event *event)
{
    const struct json *content = NULL;
    if (!slice_present(event->content) || json_parse(w->arena, event->content, &content, NULL) != STATUS_OK) {
        return;
    }
    for (const struct json *part = content->child; part; part = part->next) {
        struct slice said = json_text_of(part, "text");
        if (slice_is(json_text_of(part, "type"), "text") && said.len > 0) {
            buffer_add(text, text->len > 0 ? SLICE("\n\n") : SLICE(""));
            buffer_add(text, said);
        }
    }
}

static void put_prompt(struct writing *w, const struct export_turn *turn)
{
    struct buffer said = {0}, neutral = {0};
    for (size_t i = turn->first; i < turn->end; i++) {
        if (export_role_of(w->source->events[i].kind) == EXPORT_USER) {
            add_text_parts(w, &said, &w->source->events[i]);
        }
    }
    add_neutralised(&neutral, buffer_slice(&said));
    if (neutral.len > 0) {
        json_put_text(&w->out, "prompt_template", buffer_slice(&neutral));
    }
    buffer_release(&said);
    buffer_release(&neutral);
}

static bool is_among(struct slice name, const struct slice *names, size_t count)
{
    size_t i = 0;
    while (i < count && !slice_eq(name, names[i])) {
        i++;
    }
    return i < count;
}

static void put_tools(struct writing *w, const struct export_turn *turn)
{
    struct slice *names = arena_array(w->arena, turn->end - turn->first, sizeof *names);
    size_t count = 0;
    for (size_t i = turn->first; i < turn->end; i++) {
        const struct event *event = &w->source->events[i];
        struct slice name = event->kind == EVENT_AGENT_TOOL_CALL ? export_tool_of(w->arena, event) : (struct slice){0};
        if (slice_present(name) && !is_among(name, names, count)) {
            names[count++] = name;
        }
    }
    if (count > 0) {
        json_key(&w->out, "tools");
        json_begin_array(&w->out);
        for (size_t i = 0; i < count; i++) {
            json_text(&w->out, names[i]);
        }
        json_end_array(&w->out);
    }
}

static void write_end_node(struct json_out *out, const char *id)
{
    json_begin_object(out);
    json_put_text(out, "id", slice_of(id));
    json_put_text(out, "type", slice_of(id));
    json_end_object(out);
}

static struct slice node_id(struct writing *w, size_t number)
{
    return arena_format(w->arena, "turn-%zu", number);
}

static void write_nodes(struct writing *w)
{
    struct json_out *out = &w->out;
    size_t number = 0;
    json_begin_array(out);
    write_end_node(out, "input");
    for (size_t i = 0; i < w->turn_count; i++) {
        if (!w->turns[i].is_answered) {
            continue;
        }
        json_begin_object(out);
        json_put_text(out, "id", node_id(w, ++number));
        json_put_text(out, "type", SLICE("agent"));
        json_maybe_text(out, "agent_ref", w->source->session->agent);
        put_prompt(w, &w->turns[i]);
        put_tools(w, &w->turns[i]);
        json_end_object(out);
    }
    write_end_node(out, "output");
    json_end_array(out);
}

static void write_edge(struct json_out *out, struct slice from, struct slice to)
{
    json_begin_object(out);
    json_put_text(out, "from", from);
    json_put_text(out, "to", to);
    json_end_object(out);
}

static void write_edges(struct writing *w)
{
    struct slice from = SLICE("input");
    size_t number = 0;
    json_begin_array(&w->out);
    for (size_t i = 0; i < w->turn_count; i++) {
        if (w->turns[i].is_answered) {
            struct slice to = node_id(w, ++number);
            write_edge(&w->out, from, to);
            from = to;
        }
    }
    write_edge(&w->out, from, SLICE("output"));
    json_end_array(&w->out);
}

/* --- the transcript --- */

/* What a provider sealed is worth nothing elsewhere, and not for others. */
static bool is_sealed(const struct json *part)
{
    return slice_is(json_text_of(part, "type"), "redacted_thinking");
}

static bool is_seal(struct slice key)
{
    return slice_is(key, "signature") || slice_is(key, "encrypted_content");
}

static void write_part(struct json_out *out, const struct json *part, bool is_reasoning)
{
    json_begin_object(out);
    for (const struct json *member = part->child; member; member = member->next) {
        if (is_seal(member->key)) {
            continue;
        }
        json_key_slice(out, member->key);
        bool renames = is_reasoning && slice_is(member->key, "type");
        renames ? json_text(out, SLICE("reasoning")) : json_raw(out, member->raw);
    }
    json_end_object(out);
}

static void write_content(struct writing *w, const struct event *event)
{
    const struct json *content = NULL;
    bool is_reasoning = event->kind == EVENT_AGENT_THINKING;
    bool read = slice_present(event->content) && json_parse(w->arena, event->content, &content, NULL) == STATUS_OK;
    json_begin_array(&w->out);
    for (const struct json *part = read ? content->child : NULL; part; part = part->next) {
        if (json_is(part, JSON_OBJECT) && !is_sealed(part)) {
            write_part(&w->out, part, is_reasoning);
        }
    }
    json_end_array(&w->out);
}

static struct slice message_id(struct writing *w, const struct event *event)
{
    return arena_format(w->arena, "%.*s/%lld", SLICE_ARG(w->source->session->id), (long long)event->sequence);
}

static void write_message(struct writing *w, const struct event *event, enum export_role role)
{
    const struct json *metadata = NULL;
    struct json_out *out = &w->out;
    if (slice_present(event->metadata) && json_parse(w->arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        metadata = NULL;
    }
    json_begin_object(out);
    json_put_text(out, "id", message_id(w, event));
    json_put_text(out, "sessionId", w->source->session->id);
    json_put_i64(out, "sequenceNumber", event->sequence);
    json_put_text(out, "role", slice_of(export_role_names[role]));
    json_key(out, "content");
    write_content(w, event);
    json_maybe_text(out, "modelId", json_text_of(metadata, "model"));
    json_put_time(out, "timestamp", event->at_ms);
    json_end_object(out);
}

static int64_t last_said_ms(const struct export_source *source)
{
    int64_t last = source->session->created_at_ms;
    for (size_t i = 0; i < source->count; i++) {
        last = export_role_of(source->events[i].kind) != EXPORT_NO_MESSAGE ? source->events[i].at_ms : last;
    }
    return last;
}

/* updatedAt is when something was last said: an export is no change of what it exports. */
static void write_transcript(struct writing *w)
{
    const struct session *session = w->source->session;
    struct json_out *out = &w->out;
    json_begin_object(out);
    json_put_text(out, "source", SLICE("session"));
    json_put_text(out, "sessionId", session->id);
    json_maybe_text(out, "agentSlug", session->agent);
    json_maybe_text(out, "title", session->title);
    json_put_time(out, "createdAt", session->created_at_ms);
    json_put_time(out, "updatedAt", last_said_ms(w->source));
    json_key(out, "messages");
    json_begin_array(out);
    for (size_t i = 0; i < w->source->count; i++) {
        enum export_role role = export_role_of(w->source->events[i].kind);
        if (role != EXPORT_NO_MESSAGE) {
            write_message(w, &w->source->events[i], role);
        }
    }
    json_end_array(out);
    json_end_object(out);
}

/* --- the document --- */

/* As its author would write it: what nobody said, and the number the server gave it, are left out. */
static void put_agents(struct writing *w)
{
    const struct json *agent = NULL;
    if (!slice_present(w->source->agent) || json_parse(w->arena, w->source->agent, &agent, NULL) != STATUS_OK) {
        return;
    }
    json_key(&w->out, "agents");
    json_begin_array(&w->out);
    json_begin_object(&w->out);
    for (const struct json *member = agent->child; member; member = member->next) {
        if (!json_is(member, JSON_NULL) && !slice_is(member->key, "version")) {
            json_key_slice(&w->out, member->key);
            json_raw(&w->out, member->raw);
        }
    }
    json_end_object(&w->out);
    json_end_array(&w->out);
}

static struct slice redacted(struct arena *arena, struct slice text)
{
    struct buffer masked = {0};
    redact_add(&masked, text);
    struct slice kept = slice_present(text) ? arena_copy(arena, buffer_slice(&masked)) : text;
    buffer_release(&masked);
    return kept;
}

static void write_document(struct writing *w)
{
    char id[EXPORT_ID_BYTES];
    struct json_out *out = &w->out;
    export_id(redacted(w->arena, w->source->session->title), id);
    json_begin_object(out);
    json_put_text(out, "schema_version", SLICE("1.0"));
    json_put_text(out, "id", slice_of(id));
    json_maybe_text(out, "name", w->source->session->title);
    put_agents(w);
    json_key(out, "nodes");
    write_nodes(w);
    json_key(out, "edges");
    write_edges(w);
    json_key(out, "metadata");
    json_begin_object(out);
    json_key(out, "relaviumExport");
    write_transcript(w);
    json_end_object(out);
    json_end_object(out);
}

enum status export_write(struct arena *arena, const struct export_source *source, struct buffer *to,
                         struct failure *failure)
{
    struct export_turn *turns = arena_array(arena, source->count + 1, sizeof *turns);
    struct buffer plain = {0};
    struct writing w = {.arena = arena, .source = source, .turns = turns, .out = json_out_to(&plain)};
    const struct json *document;
    w.turn_count = export_turns_of(arena, source->events, source->count, turns);
    write_document(&w);
    enum status status = json_parse(arena, arena_copy(arena, buffer_slice(&plain)), &document, failure);
    if (status == STATUS_OK) {
        struct json_out out = json_out_to(to);
        redact_json(&out, document);
    }
    buffer_release(&plain);
    return status;
}

void change_export(struct arena *arena, const struct exported *exported, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "workflow_id", slice_of(exported->workflow_id));
    json_put_text(&payload.out, "workflow_path", exported->workflow_path);
    json_put_i64(&payload.out, "through", exported->through);
    json_put_i64(&payload.out, "bytes", exported->bytes);
    payload_end(&payload, arena, EVENT_SESSION_EXPORTED, out);
}
