#include <assert.h>

#include "service/turn/turn.h"
#include "service/session/event.h"

enum { MESSAGES_LOOKED_AT = 200 };

/* --- the message --- */

struct message_search {
    struct arena *arena;
    struct turn_message *found;
};

static size_t read_ids(const struct json *metadata, struct arena *arena, const struct slice **out)
{
    const struct json *collected = json_get(metadata, "prompts");
    struct slice single = json_text_of(metadata, "prompt_id");
    size_t room = collected ? collected->count : 1, count = 0;
    struct slice *ids = arena_array(arena, room ? room : 1, sizeof *ids);
    if (slice_present(single)) {
        ids[count++] = arena_copy(arena, single);
    }
    for (const struct json *one = json_is(collected, JSON_ARRAY) ? collected->child : NULL; one && count < room;
         one = one->next) {
        ids[count++] = arena_copy(arena, json_text_of(one, "prompt_id"));
    }
    *out = ids;
    return count;
}

static bool keep_first_prompt(void *owner, const struct event *event)
{
    struct message_search *search = owner;
    const struct json *metadata;
    struct slice text = arena_copy(search->arena, event->metadata);
    if (!slice_present(text) || json_parse(search->arena, text, &metadata, NULL) != STATUS_OK) {
        return true;
    }
    struct turn_message message = {.sequence = event->sequence};
    message.prompt_count = read_ids(metadata, search->arena, &message.prompt_ids);
    if (message.prompt_count == 0) {
        return true;
    }
    message.content = arena_copy(search->arena, event->content);
    message.thread_id = arena_copy(search->arena, event->thread_id);
    *search->found = message;
    return false;
}

enum status turn_read_message(struct call *call, const struct session *session, struct turn_message *out)
{
    static const enum event_kind kinds[] = {EVENT_USER_MESSAGE};
    struct event_filter filter = {.tenant_key = session->tenant_key,
                                  .session_key = session->key,
                                  .kinds = kinds,
                                  .kind_count = 1,
                                  .newest_first = true,
                                  .limit = MESSAGES_LOOKED_AT};
    struct message_search search = {call->arena, out};
    *out = (struct turn_message){0};
    return store_event_read(call->db, &filter, keep_first_prompt, &search, &call->failure);
}

/* --- interrupting --- */

static bool keep_turn(void *owner, const struct event *event)
{
    struct arena arena = {0};
    const struct json *metadata;
    if (json_parse(&arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        *(int64_t *)owner = json_i64_of(metadata, "turn");
    }
    arena_release(&arena);
    return false;
}

enum status turn_is_interrupted(struct call *call, const struct session *session, bool *out)
{
    int64_t turn = -1;
    static const enum event_kind kind = EVENT_TURN_INTERRUPT_REQUESTED;
    enum status status = event_last(call, session, &kind, 1, keep_turn, &turn);
    *out = turn == session->fence;
    return status;
}

static enum status come_to_rest(struct call *call, struct loaded_session *loaded)
{
    struct changes changes = {0};
    enum status status =
        change_status(call->arena, &loaded->session, SESSION_IDLE, "interrupted", STOP_NONE, &changes, &call->failure);
    return status == STATUS_OK ? session_append_changes(call, loaded, &changes) : status;
}

static enum status note_interrupt(struct call *call, struct loaded_session *loaded, const char *reason,
                                  struct slice prompt_id)
{
    struct changes changes = {0};
    bool already;
    enum status status = turn_is_interrupted(call, &loaded->session, &already);
    if (status != STATUS_OK || already) {
        return status;
    }
    change_interrupt(call->arena, &loaded->session, reason, call->who->name, prompt_id, &changes);
    return session_append_changes(call, loaded, &changes);
}

enum status turn_interrupt_for_prompt(struct call *call, struct loaded_session *loaded, const char *reason,
                                      struct slice prompt_id, struct turn_interrupted *out)
{
    assert(call_writes(call));
    const struct lease *lease;
    *out = (struct turn_interrupted){loaded->session.fence, session_status_is_in_turn(loaded->session.status)};
    if (!out->requested) {
        return STATUS_OK;
    }
    enum status status = note_interrupt(call, loaded, reason, prompt_id);
    if (status == STATUS_OK) {
        status = transaction_lease(call->transaction, loaded, &lease, &call->failure);
    }
    return status == STATUS_OK && !lease ? come_to_rest(call, loaded) : status;
}

enum status turn_request_interrupt(struct call *call, struct loaded_session *loaded, const char *reason)
{
    assert(call_writes(call));
    struct turn_interrupted ignored;
    return turn_interrupt_for_prompt(call, loaded, reason, (struct slice){0}, &ignored);
}

/* Nobody has it yet: its prompts are not run. */
static enum status give_up_pending(struct call *call, struct loaded_session *loaded)
{
    struct turn_message message;
    enum status status = turn_read_message(call, &loaded->session, &message);
    for (size_t i = 0; i < message.prompt_count && status == STATUS_OK; i++) {
        struct changes changes = {0};
        struct prompt prompt = {.id = message.prompt_ids[i], .thread_id = message.thread_id};
        change_withdraw(call->arena, &prompt, "interrupted", &changes);
        status = session_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? come_to_rest(call, loaded) : status;
}

enum status turn_interrupt(struct call *call, struct slice session_id, struct turn_interrupted *out)
{
    struct session_access entry;
    enum status status = session_authorize(call, session_id, ACTION_INTERRUPT, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    struct loaded_session *loaded = entry.loaded;
    *out = (struct turn_interrupted){loaded->session.fence, true};
    if (session_status_is_claimable(loaded->session.status)) {
        status = give_up_pending(call, loaded);
    } else {
        status = turn_interrupt_for_prompt(call, loaded, "user", (struct slice){0}, out);
    }
    bool rests = session_status_takes_prompt(loaded->session.status);
    return status == STATUS_OK && out->requested && rests ? session_after_move(call, loaded) : status;
}

/* One that waits for a person would be run again by the answer. */
enum status turn_after_requeue(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    bool interrupted = false;
    if (!session_status_is_claimable(loaded->session.status) && !session_status_is_waiting(loaded->session.status)) {
        return STATUS_OK;
    }
    enum status status = turn_is_interrupted(call, &loaded->session, &interrupted);
    return status == STATUS_OK && interrupted ? come_to_rest(call, loaded) : status;
}
