#include "domain/routing.h"

static const char *const routing_names[ROUTING_COUNT] = {
    [ROUTING_DIRECT] = "direct",
    [ROUTING_OWNER] = "owner",
    [ROUTING_OWNER_UNDIRECTED] = "owner_undirected",
    [ROUTING_MENTIONED] = "mentioned",
    [ROUTING_NOT_MENTIONED] = "not_mentioned",
};

enum routing routing_of(const struct session *session, bool is_owner, bool is_mentioned)
{
    static const enum routing rules[2][2] = {
        [true] = {[true] = ROUTING_OWNER, [false] = ROUTING_OWNER_UNDIRECTED},
        [false] = {[true] = ROUTING_MENTIONED, [false] = ROUTING_NOT_MENTIONED},
    };
    return session->source_type == CHAT_GROUP ? rules[is_owner][is_mentioned] : ROUTING_DIRECT;
}

bool routing_triggers(enum routing routing)
{
    return routing != ROUTING_NOT_MENTIONED;
}

bool routing_names_owner(const struct session *session, const struct json *sender)
{
    struct slice channel = json_text_of(sender, "channel"), id = json_text_of(sender, "channel_user_id");
    struct arena scratch = {0};
    const struct json *metadata = NULL;
    bool found = false;
    if (channel.len > 0 && id.len > 0 && slice_present(session->metadata) &&
        json_parse(&scratch, session->metadata, &metadata, NULL) == STATUS_OK) {
        struct slice key = arena_format(&scratch, "%.*s_owner_id", SLICE_ARG(channel));
        const struct json *value = json_get_value(metadata, key.ptr);
        found = value && slice_eq(value->kind == JSON_STRING ? value->text : value->raw, id);
    }
    arena_release(&scratch);
    return found;
}

/* --- what is said --- */

/* The length of what ends a line here, for any reader; 0 = nothing does. */
static size_t line_end_length(struct slice text)
{
    static const struct slice ends[] = {SLICE("\r\n"), SLICE("\n"),       SLICE("\r"),           SLICE("\v"),
                                        SLICE("\f"),   SLICE("\xC2\x85"), SLICE("\xE2\x80\xA8"), SLICE("\xE2\x80\xA9")};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (slice_starts(text, ends[i])) {
            return ends[i].len;
        }
    }
    return 0;
}

/* The length of a character that shows nothing, or turns the direction of what follows; 0 = none. */
static size_t unseen_length(struct slice text)
{
    const unsigned char *c = (const unsigned char *)text.ptr;
    if (text.len < 3 || (c[0] != 0xE2 && c[0] != 0xEF)) {
        return 0;
    }
    bool unseen = (c[0] == 0xE2 && c[1] == 0x80 && c[2] >= 0x8B && c[2] <= 0x8F) ||
                  (c[0] == 0xE2 && c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) ||
                  (c[0] == 0xE2 && c[1] == 0x81 && c[2] >= 0xA0 && c[2] <= 0xAF) ||
                  (c[0] == 0xEF && c[1] == 0xBB && c[2] == 0xBF);
    return unseen ? 3 : 0;
}

static void add_name(struct buffer *to, struct slice name)
{
    for (size_t i = 0; i < name.len;) {
        struct slice rest = slice_after(name, i);
        size_t end = line_end_length(rest), unseen = unseen_length(rest);
        unsigned char c = (unsigned char)rest.ptr[0];
        if (unseen == 0) {
            buffer_add_byte(to, end > 0 || c < 0x20 || c == 0x7F ? ' ' : c == '[' ? '(' : c == ']' ? ')' : (char)c);
        }
        i += end > 0 ? end : unseen > 0 ? unseen : 1;
    }
}

/* Every line but the first begins with a mark of its own. */
static void add_quoted(struct buffer *to, struct slice text)
{
    for (size_t i = 0; i < text.len;) {
        size_t end = line_end_length(slice_after(text, i));
        buffer_add(to, slice_from(text.ptr + i, end > 0 ? end : 1));
        if (end > 0) {
            buffer_add(to, SLICE("| "));
        }
        i += end > 0 ? end : 1;
    }
}

static bool has_text(const struct json *part)
{
    return json_is(part, JSON_STRING) || json_is(json_get(part, "text"), JSON_STRING);
}

static bool is_plain(const struct json *part)
{
    struct slice type = json_text_of(part, "type");
    return has_text(part) && (!slice_present(type) || slice_is(type, "text"));
}

/* `begin` stands before its text. */
static void write_part(struct json_out *out, const struct json *part, struct slice begin)
{
    struct buffer text = {0};
    if (!has_text(part)) {
        json_raw(out, part->raw);
        return;
    }
    bool is_string = json_is(part, JSON_STRING);
    buffer_add(&text, begin);
    add_quoted(&text, is_string ? part->text : json_text_of(part, "text"));
    json_begin_object(out);
    if (is_string) {
        json_put_text(out, "type", SLICE("text"));
        json_put_text(out, "text", buffer_slice(&text));
    }
    for (const struct json *member = is_string ? NULL : part->child; member; member = member->next) {
        json_key_slice(out, member->key);
        slice_is(member->key, "text") ? json_text(out, buffer_slice(&text)) : json_raw(out, member->raw);
    }
    json_end_object(out);
    buffer_release(&text);
}

static void write_content(struct json_out *out, const struct json *parts, struct slice mark)
{
    const struct json *part = parts->child;
    struct buffer begin = {0};
    json_begin_array(out);
    buffer_add(&begin, mark);
    if (is_plain(part)) {
        buffer_add_byte(&begin, ' ');
        write_part(out, part, buffer_slice(&begin));
        part = part->next;
    } else {
        json_begin_object(out);
        json_put_text(out, "type", SLICE("text"));
        json_put_text(out, "text", mark);
        json_end_object(out);
    }
    for (; part; part = part->next) {
        write_part(out, part, SLICE("| "));
    }
    json_end_array(out);
    buffer_release(&begin);
}

struct slice routing_content(struct arena *arena, enum routing routing, struct slice name, struct slice content)
{
    const struct json *parts;
    struct buffer mark = {0}, json = {0};
    struct json_out out = json_out_to(&json);
    if (routing == ROUTING_DIRECT || json_parse(arena, content, &parts, NULL) != STATUS_OK) {
        return content;
    }
    bool is_owner = routing == ROUTING_OWNER || routing == ROUTING_OWNER_UNDIRECTED;
    buffer_add_byte(&mark, '[');
    add_name(&mark, name);
    buffer_add(&mark, is_owner ? SLICE(", owner]") : SLICE(", member]")); /* last, so that no name takes its place */
    buffer_add(&mark, routing == ROUTING_OWNER_UNDIRECTED ? SLICE(" [not directed at you]") : SLICE(""));
    write_content(&out, parts, buffer_slice(&mark));
    struct slice said = arena_copy(arena, buffer_slice(&json));
    buffer_release(&mark);
    buffer_release(&json);
    return said;
}

struct slice routing_metadata(struct arena *arena, enum routing routing, struct slice metadata)
{
    const struct json *object = NULL;
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    if (routing == ROUTING_DIRECT ||
        (slice_present(metadata) && json_parse(arena, metadata, &object, NULL) != STATUS_OK)) {
        return metadata;
    }
    json_begin_object(&out);
    for (const struct json *member = object ? object->child : NULL; member; member = member->next) {
        json_key_slice(&out, member->key);
        json_raw(&out, member->raw);
    }
    json_key(&out, "routing");
    json_begin_object(&out);
    json_put_text(&out, "rule", slice_of(routing_names[routing]));
    json_put_bool(&out, "triggered", routing_triggers(routing));
    json_end_object(&out);
    json_end_object(&out);
    struct slice with = arena_copy(arena, buffer_slice(&json));
    buffer_release(&json);
    return with;
}
