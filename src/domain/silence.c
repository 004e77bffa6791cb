#include "domain/silence.h"

#include <string.h>

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

/* What stood around a mark may be one itself afterwards. */
static bool take_whole(struct buffer *rest)
{
    for (size_t i = 0; rest->len > 0 && i < MARKS; i++) {
        size_t len = marks[i].len;
        if (rest->len >= len && memcmp(rest->ptr + rest->len - len, marks[i].ptr, len) == 0) {
            rest->len -= len;
            return true;
        }
    }
    return false;
}

bool silence_strip(struct slice text, struct buffer *to)
{
    struct buffer rest = {0};
    bool found = false;
    for (size_t i = 0; i < text.len; i++) {
        buffer_add_byte(&rest, text.ptr[i]);
        found |= text.ptr[i] == '>' && take_whole(&rest);
    }
    buffer_add(to, found ? slice_trim(buffer_slice(&rest)) : buffer_slice(&rest));
    buffer_release(&rest);
    return found;
}

bool silence_find(struct slice text, size_t *out_at, size_t *out_len)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t mark = text.ptr[i] == '<' ? mark_length(slice_after(text, i)) : 0;
        if (mark > 0) {
            *out_at = i;
            *out_len = mark;
            return true;
        }
    }
    return false;
}

size_t silence_begun(struct slice text)
{
    for (size_t i = 0; i < MARKS; i++) {
        size_t most = marks[i].len - 1 < text.len ? marks[i].len - 1 : text.len;
        for (size_t len = most; len > 0; len--) {
            if (memcmp(text.ptr + text.len - len, marks[i].ptr, len) == 0) {
                return len; /* no mark begins inside another */
            }
        }
    }
    return 0;
}

bool silence_concerns(const struct session *session)
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
    if (event->kind != EVENT_AGENT_MESSAGE || !silence_concerns(session) || !slice_present(event->content) ||
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
