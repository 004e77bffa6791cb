#include <assert.h>

#include "service/turn/turn_partial.h"

#include "domain/change_turn.h"
#include "service/session/event.h"

/* Which live output has become an event since it was saved. */
struct since {
    int64_t sequence; /* of what was saved */
    bool text, reasoning, turn;
};

static bool keep_sequence(void *owner, const struct event *event)
{
    *(int64_t *)owner = event->sequence;
    return false;
}

static enum status is_after(struct call *call, const struct session *session, int64_t sequence,
                            const enum event_kind *kinds, size_t count, bool *out)
{
    int64_t last = 0;
    enum status status = event_last(call, session, kinds, count, keep_sequence, &last);
    *out = last > sequence;
    return status;
}

/* Another turn may have begun or ended, too. */
static enum status learn_since(struct call *call, const struct session *session, struct since *since)
{
    static const enum event_kind text[] = {EVENT_AGENT_MESSAGE}, reasoning[] = {EVENT_AGENT_THINKING},
                                 turn[] = {EVENT_TURN_ENDED, EVENT_SESSION_CLAIMED};
    int64_t sequence = since->sequence;
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = is_after(call, session, sequence, turn, sizeof turn / sizeof turn[0], &since->turn);
    }
    if (status == STATUS_OK) {
        status = is_after(call, session, sequence, text, 1, &since->text);
    }
    return status == STATUS_OK ? is_after(call, session, sequence, reasoning, 1, &since->reasoning) : status;
}

static void add_part(struct call *call, const struct session *session, const struct since *since,
                     const struct json *part, struct slice thread_id, struct changes *out)
{
    int kind = enum_names_find(delta_kind_enum, json_text_of(part, "kind"));
    struct slice text = json_text_of(part, "text");
    bool thinking = kind == DELTA_REASONING;
    bool is_said = thinking || kind == DELTA_TEXT;
    bool is_known = thinking ? since->reasoning : since->text;
    if (is_said && !is_known && text.len > 0 && out->count < CHANGES_MAX) {
        change_partial(call->arena, session, thinking, text, out);
        out->events[out->count - 1].thread_id = thread_id;
    }
}

enum status turn_keep_partial(struct call *call, struct loaded_session *loaded, struct slice thread_id)
{
    assert(call_writes(call));
    struct partial partial = {0};
    const struct json *parts = NULL;
    struct changes changes = {0};
    const struct session *session = &loaded->session;
    enum status status =
        store_partial_load(call->db, session->tenant_key, session->key, call->arena, &partial, &call->failure);
    if (status != STATUS_OK || partial.body.len == 0 ||
        json_parse(call->arena, partial.body, &parts, NULL) != STATUS_OK) {
        return status;
    }
    struct since since = {.sequence = partial.sequence};
    status = learn_since(call, session, &since);
    if (status != STATUS_OK || since.turn) {
        return status;
    }
    for (const struct json *part = parts->child; part; part = part->next) {
        add_part(call, session, &since, part, thread_id, &changes);
    }
    return changes.count > 0 ? session_append_changes(call, loaded, &changes) : status;
}
