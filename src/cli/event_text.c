#include "cli/event_line.h"
#include "cli/usage.h"
#include "domain/event_kind.h"

/* --- any event --- */

static void add_part(const struct json *part, struct buffer *out)
{
    struct slice text = json_text_of(part, "text"), name = json_text_of(part, "name");
    if (slice_present(text)) {
        buffer_add(out, text);
    } else {
        buffer_format(out, "[%.*s%s%.*s]", SLICE_ARG(json_text_of(part, "type")), name.len ? " " : "", SLICE_ARG(name));
    }
}

static void add_value(const struct json *value, struct buffer *out)
{
    buffer_add(out, value->kind == JSON_STRING ? value->text : value->raw);
}

static void add_members(const struct json *object, struct buffer *out)
{
    for (const struct json *member = object ? object->child : NULL; member; member = member->next) {
        buffer_format(out, "%s%.*s=", member == object->child ? "" : " ", SLICE_ARG(member->key));
        add_value(member, out);
    }
}

/* --- calls --- */

static void add_named(const struct json *part, struct buffer *out)
{
    const struct json *input = json_get_value(part, "input");
    buffer_format(out, "%.*s", SLICE_ARG(json_text_of(part, "name")));
    if (input && !slice_is(input->raw, "{}")) {
        buffer_add_byte(out, ' ');
        add_value(input, out);
    }
}

static void add_output(const struct json *part, struct buffer *out)
{
    const struct json *output = json_get_value(part, "output");
    bool is_error = false;
    (void)json_as_bool(json_get(part, "is_error"), &is_error);
    buffer_add(out, is_error ? SLICE("✗ ") : SLICE("✓ "));
    if (output) {
        add_value(output, out);
    }
}

static const struct {
    const char *type;
    void (*add)(const struct json *part, struct buffer *out);
} parts[] = {{"tool_call", add_named}, {"tool_result", add_output}};

static void add_content(const struct json *content, struct buffer *out)
{
    for (const struct json *part = content->child; part; part = part->next) {
        void (*add)(const struct json *part, struct buffer *out) = add_part;
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            add = slice_is(json_text_of(part, "type"), parts[i].type) ? parts[i].add : add;
        }
        buffer_add(out, part == content->child ? SLICE("") : SLICE(" "));
        add(part, out);
    }
}

/* --- asks, turns, states --- */

static void add_text(struct buffer *out, const char *before, struct slice text)
{
    if (text.len) {
        buffer_add(out, slice_of(before));
        buffer_add(out, text);
    }
}

static void add_asked(const struct json *metadata, struct buffer *out)
{
    const struct json *ask = json_get(metadata, "ask"), *arguments = json_get_value(ask, "arguments");
    const struct json *options = json_get_value(ask, "options"), *details = json_get_value(ask, "details");
    add_text(out, "", json_text_of(ask, "kind"));
    add_text(out, " ", json_text_of(ask, "id"));
    add_text(out, " risk ", json_text_of(details, "risk"));
    add_text(out, ": ", json_text_of(ask, "tool"));
    if (arguments) {
        add_text(out, " ", arguments->raw);
    }
    add_text(out, ": ", json_text_of(ask, "text"));
    if (options) {
        add_text(out, " ", options->raw);
    }
}

static void add_answered(const struct json *metadata, struct buffer *out)
{
    const struct json *answer = json_get_value(metadata, "answer");
    add_text(out, "", json_text_of(metadata, "kind"));
    add_text(out, " ", json_text_of(metadata, "id"));
    add_text(out, " ", json_text_of(metadata, "tool"));
    add_text(out, ": ", json_text_of(metadata, "decision"));
    if (answer) {
        buffer_add(out, SLICE(", "));
        add_value(answer, out);
    }
    add_text(out, ", ", json_text_of(metadata, "reason"));
    add_text(out, ", by ", json_text_of(metadata, "by"));
}

static void add_ended(const struct json *metadata, struct buffer *out)
{
    const struct json *usage = json_get_value(metadata, "usage");
    struct usage numbers = {0};
    buffer_format(out, "turn %lld ", (long long)json_i64_of(metadata, "turn"));
    add_text(out, "ended: ", json_text_of(metadata, "stop_reason"));
    add_text(out, ": ", json_text_of(json_get(metadata, "error"), "message"));
    if (usage) {
        usage_add(&numbers, usage);
        buffer_add(out, SLICE("; "));
        usage_write(&numbers, out);
    }
}

static void add_moved(const struct json *metadata, struct buffer *out)
{
    const struct json *usage = json_get_value(metadata, "usage"), *result = json_get_value(metadata, "result");
    add_text(out, "", json_text_of(metadata, "from"));
    add_text(out, " → ", json_text_of(metadata, "to"));
    add_text(out, ": ", json_text_of(metadata, "reason"));
    add_text(out, " result=", result ? result->raw : (struct slice){0});
    add_text(out, " usage=", usage ? usage->raw : (struct slice){0});
}

static const struct {
    enum event_kind kind;
    void (*add)(const struct json *metadata, struct buffer *out);
} adders[] = {
    {EVENT_ASK_REQUESTED, add_asked},    {EVENT_ASK_ANSWERED, add_answered}, {EVENT_ASK_EXPIRED, add_answered},
    {EVENT_ASK_CANCELLED, add_answered}, {EVENT_TURN_ENDED, add_ended},      {EVENT_SESSION_STATUS_CHANGE, add_moved},
};

void event_text(const struct json *event, struct buffer *out)
{
    const struct json *content = json_get_value(event, "content"), *metadata = json_get_value(event, "metadata");
    void (*add)(const struct json *metadata, struct buffer *out) = add_members;
    enum event_kind kind = event_kind_find(json_text_of(event, "type"));
    for (size_t i = 0; i < sizeof adders / sizeof adders[0]; i++) {
        add = kind == adders[i].kind ? adders[i].add : add;
    }
    if (json_is(content, JSON_ARRAY) && content->count) {
        add_content(content, out);
    } else if (json_is(metadata, JSON_OBJECT)) {
        add(metadata, out);
    }
}
