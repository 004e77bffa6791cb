#include "domain/change_payload.h"
#include "domain/prompt.h"

/* The members of an object's text, in front of whatever follows. */
static enum status put_members(struct arena *arena, struct payload *payload, struct slice object,
                               struct failure *failure)
{
    const struct json *parsed = NULL;
    enum status status = slice_present(object) ? json_parse(arena, object, &parsed, failure) : STATUS_OK;
    for (const struct json *member = status == STATUS_OK && parsed ? parsed->child : NULL; member;
         member = member->next) {
        json_key_slice(&payload->out, member->key);
        json_raw(&payload->out, member->raw);
    }
    return status;
}

static struct event *end_message(struct payload *payload, struct arena *arena, const struct prompt *prompt,
                                 struct changes *out)
{
    payload_end(payload, arena, EVENT_USER_MESSAGE, out);
    struct event *message = &out->events[out->count - 1];
    message->role = ROLE_USER;
    message->content = prompt->content;
    message->thread_id = prompt->thread_id;
    message->actor = prompt->actor;
    return message;
}

static enum status say_one(struct arena *arena, const struct prompt *prompt, struct changes *out,
                           struct failure *failure)
{
    struct payload payload;
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    enum status status = put_members(arena, &payload, prompt->metadata, failure);
    end_message(&payload, arena, prompt, out);
    return status;
}

/* --- collected prompts --- */

static enum status add_parts(struct arena *arena, const struct prompt *prompt, struct json_out *parts, int64_t *out,
                             struct failure *failure)
{
    const struct json *content;
    enum status status = json_parse(arena, prompt->content, &content, failure);
    *out = status == STATUS_OK ? (int64_t)content->count : 0;
    for (const struct json *part = status == STATUS_OK ? content->child : NULL; part; part = part->next) {
        json_raw(parts, part->raw);
    }
    return status;
}

static void put_author(struct json_out *out, const struct prompt *prompt, int64_t parts)
{
    json_begin_object(out);
    json_put_text(out, "prompt_id", prompt->id);
    json_put_text(out, "actor", prompt->actor);
    json_put_time(out, "created_at", prompt->created_at_ms);
    json_put_i64(out, "parts", parts);
    json_put_raw(out, "metadata", slice_present(prompt->metadata) ? prompt->metadata : SLICE("{}"));
    json_end_object(out);
}

static enum status say_collected(struct arena *arena, const struct prompt *prompts, size_t count, struct changes *out,
                                 struct failure *failure)
{
    struct payload payload;
    struct buffer buffer = {0};
    struct json_out parts = json_out_to(&buffer);
    enum status status = STATUS_OK;
    payload_begin(&payload);
    json_key(&payload.out, "prompts");
    json_begin_array(&payload.out);
    json_begin_array(&parts);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        int64_t part_count;
        status = add_parts(arena, &prompts[i], &parts, &part_count, failure);
        put_author(&payload.out, &prompts[i], part_count);
    }
    json_end_array(&parts);
    json_end_array(&payload.out);
    end_message(&payload, arena, &prompts[0], out)->content = arena_copy(arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return status;
}

enum status change_dispatch(struct arena *arena, const struct session *session, const struct prompt *prompts,
                            size_t count, struct changes *out, struct failure *failure)
{
    struct changes move = {0};
    out->count = 0;
    enum status status = change_status(arena, session, SESSION_PENDING, "prompt", STOP_NONE, &move, failure);
    if (status == STATUS_OK) {
        status = prompts[0].mode == QUEUE_COLLECT ? say_collected(arena, prompts, count, out, failure)
                                                  : say_one(arena, prompts, out, failure);
    }
    if (status == STATUS_OK) {
        out->events[out->count++] = move.events[0];
    }
    return status;
}

enum status change_append_message(struct arena *arena, const struct prompt *prompt, struct changes *out,
                                  struct failure *failure)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_bool(&payload.out, "appended", true);
    enum status status = put_members(arena, &payload, prompt->metadata, failure);
    end_message(&payload, arena, prompt, out);
    return status;
}

/* --- about the queue --- */

/* An event of the prompt's thread. */
static void end_note(struct payload *payload, struct arena *arena, enum event_kind kind, const struct prompt *prompt,
                     struct changes *out)
{
    payload_end(payload, arena, kind, out);
    out->events[out->count - 1].thread_id = prompt->thread_id;
}

void change_queue(struct arena *arena, const struct prompt *prompt, int64_t place, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    payload_word(&payload, "mode", queue_mode_enum, (int)prompt->mode);
    json_put_i64(&payload.out, "position", place);
    if (prompt->priority != 0) {
        json_put_i64(&payload.out, "priority", prompt->priority);
    }
    end_note(&payload, arena, EVENT_PROMPT_QUEUED, prompt, out);
}

void change_edit_prompt(struct arena *arena, const struct prompt *prompt, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    json_put_i64(&payload.out, "revision", prompt->revision);
    end_note(&payload, arena, EVENT_PROMPT_EDITED, prompt, out);
}

void change_move_prompt(struct arena *arena, const struct prompt *prompt, int64_t place, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    payload_word(&payload, "mode", queue_mode_enum, (int)prompt->mode);
    json_put_i64(&payload.out, "position", place);
    json_put_i64(&payload.out, "revision", prompt->revision);
    end_note(&payload, arena, EVENT_PROMPT_MOVED, prompt, out);
}

void change_withdraw(struct arena *arena, const struct prompt *prompt, const char *reason, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    json_put_text(&payload.out, "reason", slice_of(reason));
    end_note(&payload, arena, EVENT_PROMPT_WITHDRAWN, prompt, out);
}

void change_interrupt(struct arena *arena, const struct session *session, const char *reason, struct slice by,
                      struct slice prompt_id, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_i64(&payload.out, "turn", session->fence);
    json_put_text(&payload.out, "reason", slice_of(reason));
    json_put_text(&payload.out, "by", by);
    json_maybe_text(&payload.out, "prompt_id", prompt_id);
    payload_end(&payload, arena, EVENT_TURN_INTERRUPT_REQUESTED, out);
}
