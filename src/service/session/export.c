#include "service/session/export.h"

#include "service/agent/agent.h"
#include "service/identity/secret.h"
#include "wire/yaml_write.h"

enum { PAGE_EVENTS = 500 };

struct transcript {
    struct arena *arena;
    struct event *events;
    size_t count, room;
    size_t bytes, bytes_max;
    size_t page; /* events of the running read */
};

static bool keep_event(void *owner, const struct event *event)
{
    struct transcript *transcript = owner;
    if (transcript->count == transcript->room) {
        size_t room = transcript->room ? transcript->room * 2 : PAGE_EVENTS;
        struct event *more = arena_array(transcript->arena, room, sizeof *more);
        if (transcript->count > 0) {
            memcpy(more, transcript->events, transcript->count * sizeof *more);
        }
        transcript->events = more;
        transcript->room = room;
    }
    struct event *kept = &transcript->events[transcript->count++];
    *kept =
        (struct event){.sequence = event->sequence, .at_ms = event->at_ms, .kind = event->kind, .role = event->role};
    kept->content = arena_copy(transcript->arena, event->content);
    kept->metadata = arena_copy(transcript->arena, event->metadata);
    transcript->bytes += event->content.len + event->metadata.len;
    transcript->page++;
    return transcript->bytes <= transcript->bytes_max;
}

static enum status read_page(struct call *call, const struct session *session, struct transcript *transcript)
{
    struct event_filter filter = {
        .tenant_key = session->tenant_key,
        .session_key = session->key,
        .after = transcript->count > 0 ? transcript->events[transcript->count - 1].sequence : 0,
        .before = session->last_sequence + 1,
        .kinds = export_event_kinds,
        .kind_count = export_event_kind_count(),
        .limit = PAGE_EVENTS,
    };
    transcript->page = 0;
    return store_event_read(call->db, &filter, keep_event, transcript, &call->failure);
}

static enum status read_transcript(struct call *call, const struct session *session, struct transcript *out)
{
    enum status status;
    do {
        status = read_page(call, session, out);
    } while (status == STATUS_OK && out->page == PAGE_EVENTS && out->bytes <= out->bytes_max);
    if (status == STATUS_OK && out->bytes > out->bytes_max) {
        return failure_set(&call->failure, STATUS_TOO_LARGE, "export_too_large",
                           "This conversation has more than %zu bytes; that is the limit (option export-bytes-max).",
                           out->bytes_max);
    }
    return status;
}

static enum status read_agent(struct call *call, const struct session *session, struct slice *out)
{
    struct agent_row row;
    *out = (struct slice){0};
    if (session->agent_version == 0) {
        return STATUS_OK;
    }
    enum status status = agent_find(call, session->agent, session->agent_version, &row);
    if (status == STATUS_OK) {
        *out = row.definition;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status write_yaml(struct call *call, const struct export_source *source, struct export_document *out)
{
    struct buffer json = {0}, yaml = {0};
    const struct json *document = NULL;
    enum status status = export_write(call->arena, source, &json, &call->failure);
    if (status == STATUS_OK) {
        status = secret_check_json(call, buffer_slice(&json));
    }
    if (status == STATUS_OK) {
        status = json_parse(call->arena, buffer_slice(&json), &document, &call->failure);
    }
    if (status == STATUS_OK) {
        struct slice id = json_text_of(document, "id");
        memcpy(out->workflow_id, id.ptr, id.len);
        out->workflow_id[id.len] = '\0';
        yaml_write(&yaml, call->arena, document);
        out->yaml = arena_copy(call->arena, buffer_slice(&yaml));
    }
    buffer_release(&json);
    buffer_release(&yaml);
    return status;
}

enum status export_make(struct call *call, struct slice session_id, struct export_document *out)
{
    struct session session;
    struct transcript transcript = {.arena = call->arena, .bytes_max = call->service->limits.event.export_bytes_max};
    struct export_source source = {.session = &session};
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    if (status == STATUS_OK) {
        status = export_check(&session, &call->failure);
    }
    if (status == STATUS_OK) {
        status = read_transcript(call, &session, &transcript);
    }
    if (status == STATUS_OK) {
        status = read_agent(call, &session, &source.agent);
    }
    if (status != STATUS_OK) {
        return status;
    }
    source.events = transcript.events;
    source.count = transcript.count;
    out->through = session.last_sequence;
    return write_yaml(call, &source, out);
}

enum status export_note(struct call *call, struct slice session_id, const struct export_document *document,
                        struct slice path, int64_t *out_sequence)
{
    struct session_access entry;
    struct changes changes = {0};
    enum status status = session_authorize(call, session_id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        status = export_check(&entry.loaded->session, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct exported exported = {document->workflow_id, path, document->through, (int64_t)document->yaml.len};
    change_export(call->arena, &exported, &changes);
    *out_sequence = entry.loaded->session.last_sequence + 1;
    return session_append_changes(call, entry.loaded, &changes);
}
