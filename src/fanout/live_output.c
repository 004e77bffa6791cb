#include "fanout/live_output.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"

enum { FOLD_PARTS_MAX = 1024, SCRATCH_BYTES = 480 };

/* Owned by its fold. */
struct live_output_part {
    char *members; /* all but text and dropped_bytes, as `"kind":"text","message_id":"7"` */
    size_t members_len;
    struct buffer text;
    int kind; /* enum delta_kind, or -1 */
    bool has_text;
    int64_t dropped_bytes;
};

static void part_release(struct live_output_part *part)
{
    free(part->members);
    buffer_release(&part->text);
}

void live_output_release(struct live_output *fold)
{
    for (size_t i = 0; i < fold->count; i++) {
        part_release(&fold->parts[i]);
    }
    free(fold->parts);
    arena_release(&fold->scratch);
    *fold = (struct live_output){0};
}

static bool is_text_member(const struct json *member)
{
    return slice_is(member->key, "text") && member->kind == JSON_STRING;
}

static void collect_members(const struct json *object, struct buffer *to)
{
    struct json_out out = json_out_to(to);
    for (const struct json *member = object->child; member; member = member->next) {
        if (!is_text_member(member) && !slice_is(member->key, "dropped_bytes")) {
            json_key_slice(&out, member->key);
            json_raw(&out, member->raw);
        }
    }
}

/* The newest first: output mostly continues what came last. */
static struct live_output_part *part_find(struct live_output *fold, struct slice members)
{
    for (size_t i = fold->count; i > 0; i--) {
        struct live_output_part *part = &fold->parts[i - 1];
        if (part->has_text && slice_eq(slice_from(part->members, part->members_len), members)) {
            return part;
        }
    }
    return NULL;
}

static void drop_oldest_part(struct live_output *fold)
{
    fold->bytes -= fold->parts[0].text.len + fold->parts[0].members_len;
    part_release(&fold->parts[0]);
    fold->count--;
    memmove(fold->parts, fold->parts + 1, fold->count * sizeof *fold->parts);
}

static struct live_output_part *part_add(struct live_output *fold, struct buffer *members, bool has_text)
{
    if (fold->count == FOLD_PARTS_MAX) {
        drop_oldest_part(fold);
    }
    if (fold->count == fold->room) {
        fold->room = fold->room ? fold->room * 2 : 4;
        fold->parts = memory_resize(fold->parts, fold->room * sizeof *fold->parts);
    }
    struct live_output_part *part = &fold->parts[fold->count++];
    *part = (struct live_output_part){.has_text = has_text};
    part->members = buffer_detach(members, &part->members_len);
    fold->bytes += part->members_len;
    return part;
}

/* Cuts at a character, so that what remains is text again. */
static size_t cut_front(struct buffer *text, size_t bytes)
{
    while (bytes < text->len && ((unsigned char)text->ptr[bytes] & 0xC0) == 0x80) {
        bytes++;
    }
    buffer_consume(text, bytes);
    return bytes;
}

static void shrink(struct live_output *fold, size_t bytes_max)
{
    /* To three quarters, so that not every further delta moves the text. */
    size_t aim = fold->bytes > bytes_max ? bytes_max - bytes_max / 4 : fold->bytes;
    for (size_t i = 0; i < fold->count && fold->bytes > aim; i++) {
        struct live_output_part *part = &fold->parts[i];
        size_t excess = fold->bytes - aim;
        size_t cut = cut_front(&part->text, excess < part->text.len ? excess : part->text.len);
        part->dropped_bytes += (int64_t)cut;
        fold->bytes -= cut;
    }
    while (fold->bytes > bytes_max && fold->count > 1) {
        drop_oldest_part(fold);
    }
}

static void add_text(struct live_output *fold, struct live_output_part *part, struct slice text, size_t bytes_max)
{
    buffer_add(&part->text, text);
    fold->bytes += text.len;
    shrink(fold, bytes_max);
}

static bool pass(struct slice *json, struct slice expected)
{
    bool is_there = slice_starts(*json, expected);
    *json = is_there ? slice_after(*json, expected.len) : *json;
    return is_there;
}

/* Nearly every delta says what the one before said but for its text, which is last: then only that is read. */
static bool add_to_newest(struct live_output *fold, struct slice json, size_t bytes_max)
{
    struct live_output_part *part = fold->count ? &fold->parts[fold->count - 1] : NULL;
    const struct json *text;
    if (!part || !part->has_text || !part->members_len || !pass(&json, SLICE("{")) ||
        !pass(&json, slice_from(part->members, part->members_len)) || !pass(&json, SLICE(",\"text\":")) || !json.len ||
        json.ptr[--json.len] != '}' || json_parse(&fold->scratch, json, &text, NULL) != STATUS_OK ||
        !json_is(text, JSON_STRING)) {
        return false;
    }
    add_text(fold, part, text->text, bytes_max);
    return true;
}

static void add_object(struct live_output *fold, const struct json *object, size_t bytes_max)
{
    struct slice text = {0};
    struct buffer members = {0};
    collect_members(object, &members);
    bool has_text = json_as_text(json_get(object, "text"), &text);
    struct live_output_part *part = has_text ? part_find(fold, buffer_slice(&members)) : NULL;
    if (!part) {
        part = part_add(fold, &members, has_text);
        part->kind = enum_names_find(delta_kind_enum, json_text_of(object, "kind"));
    }
    part->dropped_bytes += json_i64_of(object, "dropped_bytes");
    add_text(fold, part, text, bytes_max);
    buffer_release(&members);
}

static void add_any(struct live_output *fold, struct slice json, size_t bytes_max)
{
    const struct json *value;
    if (json_parse(&fold->scratch, json, &value, NULL) != STATUS_OK) {
        return;
    }
    bool is_array = json_is(value, JSON_ARRAY);
    const struct json *object = is_array ? value->child : value;
    for (; object; object = is_array ? object->next : NULL) {
        if (json_is(object, JSON_OBJECT)) {
            add_object(fold, object, bytes_max);
        }
    }
}

void live_output_add(struct live_output *fold, struct slice json, size_t bytes_max)
{
    arena_reserve(&fold->scratch, SCRATCH_BYTES);
    if (!add_to_newest(fold, json, bytes_max)) {
        add_any(fold, json, bytes_max);
    }
    if (fold->scratch.used_bytes > SCRATCH_BYTES) {
        arena_release(&fold->scratch);
    } else {
        arena_reset(&fold->scratch);
    }
}

void live_output_drop(struct live_output *fold, enum delta_kind kind)
{
    size_t kept = 0;
    for (size_t i = 0; i < fold->count; i++) {
        struct live_output_part *part = &fold->parts[i];
        if (part->kind == (int)kind) {
            fold->bytes -= part->text.len + part->members_len;
            part_release(part);
        } else {
            fold->parts[kept++] = *part;
        }
    }
    fold->count = kept;
}

void live_output_write(const struct live_output *fold, struct buffer *to)
{
    buffer_add_byte(to, '[');
    for (size_t i = 0; i < fold->count; i++) {
        const struct live_output_part *part = &fold->parts[i];
        struct json_out out = {to, part->members_len > 0};
        buffer_add(to, i ? SLICE(",{") : SLICE("{"));
        buffer_add(to, slice_from(part->members, part->members_len));
        if (part->has_text) {
            json_put_text(&out, "text", buffer_slice(&part->text));
        }
        if (part->dropped_bytes) {
            json_put_i64(&out, "dropped_bytes", part->dropped_bytes);
        }
        buffer_add_byte(to, '}');
    }
    buffer_add_byte(to, ']');
}
