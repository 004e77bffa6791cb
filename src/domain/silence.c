#include "domain/silence.h"

static const struct slice marks[] = {SLICE("<NO_REPLY>"), SLICE("<EMPTY_RESPONSE>")};
enum { MARKS = sizeof marks / sizeof *marks };

/* The length of the mark that stands here; 0 when none does. */
static size_t mark_length(struct slice text)
{
    for (size_t i = 0; i < MARKS; i++) {
        if (slice_starts(text, marks[i])) {
            return marks[i].len;
        }
    }
    return 0;
}

bool silence_strip(struct slice text, struct buffer *to)
{
    struct buffer rest = {0};
    bool found = false;
    for (size_t i = 0; i < text.len;) {
        size_t mark = text.ptr[i] == '<' ? mark_length(slice_after(text, i)) : 0;
        if (mark == 0) {
            buffer_add_byte(&rest, text.ptr[i]);
        }
        found |= mark > 0;
        i += mark > 0 ? mark : 1;
    }
    buffer_add(to, found ? slice_trim(buffer_slice(&rest)) : buffer_slice(&rest));
    buffer_release(&rest);
    return found;
}

static bool talks_to_channel(const struct session *session)
{
    return session->source_type != CHAT_NONE || slice_is(session->source_kind, "channel");
}

/* Writes the part unless nothing is left of it. */
static bool write_part(struct json_out *out, const struct json *part)
{
    struct buffer text = {0};
    struct slice said = json_text_of(part, "text");
    bool found = slice_present(said) && silence_strip(said, &text);
    if (!found) {
        json_raw(out, part->raw);
    } else if (text.len > 0) {
        json_begin_object(out);
        for (const struct json *member = part->child; member; member = member->next) {
            json_key_slice(out, member->key);
            slice_is(member->key, "text") ? json_text(out, buffer_slice(&text)) : json_raw(out, member->raw);
        }
        json_end_object(out);
    }
    buffer_release(&text);
    return found;
}

static void keep_silent(struct arena *arena, struct event *event)
{
    const struct json *metadata = NULL;
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    if (slice_present(event->metadata) && json_parse(arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        metadata = NULL;
    }
    json_begin_object(&out);
    for (const struct json *member = metadata ? metadata->child : NULL; member; member = member->next) {
        if (!slice_is(member->key, "suppressed")) {
            json_key_slice(&out, member->key);
            json_raw(&out, member->raw);
        }
    }
    json_put_bool(&out, "suppressed", true);
    json_end_object(&out);
    event->kind = EVENT_AGENT_SILENT;
    event->content = (struct slice){NULL, 0};
    event->metadata = arena_copy(arena, buffer_slice(&json));
    buffer_release(&json);
}

void silence_keep(struct arena *arena, const struct session *session, struct event *event)
{
    const struct json *parts;
    bool found = false;
    if (event->kind != EVENT_AGENT_MESSAGE || !talks_to_channel(session) || !slice_present(event->content) ||
        json_parse(arena, event->content, &parts, NULL) != STATUS_OK) {
        return;
    }
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    json_begin_array(&out);
    for (const struct json *part = parts->child; part; part = part->next) {
        found |= write_part(&out, part);
    }
    json_end_array(&out);
    if (found && slice_is(buffer_slice(&json), "[]")) {
        keep_silent(arena, event);
    } else if (found) {
        event->content = arena_copy(arena, buffer_slice(&json));
    }
    buffer_release(&json);
}
