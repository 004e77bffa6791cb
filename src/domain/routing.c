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

static void add_name(struct buffer *to, struct slice name)
{
    buffer_add_byte(to, '[');
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        buffer_add_byte(to, c < 0x20 || c == 0x7F ? ' ' : c == '[' ? '(' : c == ']' ? ')' : (char)c);
    }
    buffer_add_byte(to, ']');
}

static void write_first(struct json_out *out, const struct json *part, struct slice mark)
{
    struct buffer text = {0};
    struct slice said = json_text_of(part, "text");
    bool is_text = slice_is(json_text_of(part, "type"), "text") && slice_present(said);
    buffer_add(&text, mark);
    if (is_text) {
        buffer_add_byte(&text, ' ');
        buffer_add(&text, said);
    }
    json_begin_object(out);
    json_put_text(out, "type", SLICE("text"));
    json_put_text(out, "text", buffer_slice(&text));
    json_end_object(out);
    if (part && !is_text) {
        json_raw(out, part->raw);
    }
    buffer_release(&text);
}

static void write_content(struct json_out *out, const struct json *parts, struct slice mark)
{
    json_begin_array(out);
    write_first(out, parts->child, mark);
    for (const struct json *part = parts->child ? parts->child->next : NULL; part; part = part->next) {
        json_raw(out, part->raw);
    }
    json_end_array(out);
}

struct slice routing_content(struct arena *arena, enum routing routing, struct slice name, struct slice content)
{
    const struct json *parts;
    struct buffer mark = {0}, json = {0};
    struct json_out out = json_out_to(&json);
    if (routing == ROUTING_DIRECT || json_parse(arena, content, &parts, NULL) != STATUS_OK) {
        return content;
    }
    add_name(&mark, name);
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
