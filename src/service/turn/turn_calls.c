#include <assert.h>

#include "domain/change_turn.h"
#include "domain/prompt.h"
#include "service/turn/turn_close.h"

enum { TURN_EVENTS_MAX = 10000 };

struct open_calls {
    struct arena *arena;
    struct slice ids[64]; /* of tool calls without a result; more are not marked */
    size_t count;
};

static struct slice call_id_of(const struct event *event, struct arena *arena)
{
    const struct json *content = NULL, *metadata = NULL;
    struct slice id = {0};
    if (slice_present(event->content) && json_parse(arena, event->content, &content, NULL) == STATUS_OK) {
        id = json_text_of(content->child, "tool_call_id");
    }
    if (!slice_present(id) && slice_present(event->metadata) &&
        json_parse(arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        id = json_text_of(metadata, "call_id");
    }
    return slice_present(id) ? arena_copy(arena, id) : id;
}

static void note_call(struct open_calls *calls, const struct event *event)
{
    struct slice id = call_id_of(event, calls->arena);
    if (slice_present(id) && calls->count < sizeof calls->ids / sizeof *calls->ids) {
        calls->ids[calls->count++] = id;
    }
}

static void note_result(struct open_calls *calls, const struct event *event)
{
    struct slice id = call_id_of(event, calls->arena);
    for (size_t i = 0; i < calls->count; i++) {
        if (slice_eq(calls->ids[i], id)) {
            calls->ids[i] = calls->ids[--calls->count];
            return;
        }
    }
}

static bool note_event(void *owner, const struct event *event)
{
    struct open_calls *calls = owner;
    if (event->kind == EVENT_AGENT_TOOL_CALL) {
        note_call(calls, event);
    } else if (event->kind == EVENT_AGENT_TOOL_RESULT) {
        note_result(calls, event);
    } else if (prompt_begins_turn(event)) { /* what people only appended meanwhile closes no call */
        calls->count = 0;
    }
    return true;
}

static enum status read_turn(struct call *call, const struct session *session, struct open_calls *out)
{
    static const enum event_kind kinds[] = {EVENT_USER_MESSAGE, EVENT_AGENT_TOOL_CALL, EVENT_AGENT_TOOL_RESULT};
    int64_t after = session->last_sequence > TURN_EVENTS_MAX ? session->last_sequence - TURN_EVENTS_MAX : 0;
    struct event_filter filter = {.tenant_key = session->tenant_key,
                                  .session_key = session->key,
                                  .kinds = kinds,
                                  .kind_count = 3,
                                  .after = after,
                                  .limit = TURN_EVENTS_MAX};
    out->arena = call->arena;
    enum status status = transaction_flush(call->transaction, &call->failure);
    return status == STATUS_OK ? store_event_read(call->db, &filter, note_event, out, &call->failure) : status;
}

static bool is_asked(const struct ask *pending, size_t count, struct slice call_id)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_present(pending[i].call_id) && slice_eq(pending[i].call_id, call_id)) {
            return true;
        }
    }
    return false;
}

/* Nobody knows whether the call was done: it is never silently repeated. */
static enum status mark_open_calls(struct call *call, struct loaded_session *loaded, struct slice thread_id,
                                   const struct open_calls *calls)
{
    struct ask *pending;
    size_t count = 0;
    const struct session *session = &loaded->session;
    enum status status =
        store_ask_pending(call->db, session->tenant_key, session->key, call->arena, &pending, &count, &call->failure);
    for (size_t i = 0; i < calls->count && status == STATUS_OK; i++) {
        struct changes changes = {0};
        change_tool_cut(call->arena, calls->ids[i], is_asked(pending, count, calls->ids[i]), &changes);
        changes.events[0].thread_id = thread_id;
        status = session_append_changes(call, loaded, &changes);
    }
    return status;
}

enum status turn_close_calls(struct call *call, struct loaded_session *loaded, struct slice thread_id)
{
    assert(call_writes(call));
    struct open_calls calls = {0};
    enum status status = read_turn(call, &loaded->session, &calls);
    return status == STATUS_OK ? mark_open_calls(call, loaded, thread_id, &calls) : status;
}
