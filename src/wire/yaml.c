#include "wire/yaml.h"

#include <stdlib.h>
#include <yaml.h>

#include "base/map.h"

/* The document is written as JSON text, with a mark for each value, and that text is read by the JSON reader: one
 * meaning of depth, of text and of numbers. */

struct level {
    bool is_mapping;
    bool wants_name;
    unsigned name_line;
    struct map names;
};

struct reader {
    struct arena *arena;
    struct failure *failure;
    struct buffer text;
    struct json_out out;
    struct yaml_mark *marks; /* on the heap while it grows */
    size_t mark_count;
    size_t mark_room;
    struct level levels[JSON_DEPTH_MAX];
    int depth;
    int documents;
};

static enum status refuse(struct reader *r, size_t line, const char *problem)
{
    return failure_set(r->failure, STATUS_INVALID, "invalid_yaml", "Line %zu: %s.", line, problem);
}

static struct level *top(struct reader *r)
{
    return r->depth > 0 ? &r->levels[r->depth - 1] : NULL;
}

/* Called before each value is written. */
static void add_mark(struct reader *r, size_t line)
{
    if (r->mark_count == r->mark_room) {
        r->mark_room = r->mark_room ? r->mark_room * 2 : 64;
        r->marks = memory_resize(r->marks, r->mark_room * sizeof *r->marks);
    }
    struct level *level = top(r);
    r->marks[r->mark_count++] = (struct yaml_mark){
        .offset = (uint32_t)(r->text.len + (r->out.need_comma ? 1 : 0)),
        .line = level && level->is_mapping ? level->name_line : (unsigned)line,
    };
}

static void value_written(struct reader *r)
{
    if (top(r)) {
        top(r)->wants_name = top(r)->is_mapping;
    }
}

static bool is_any(struct slice text, const char *const *words)
{
    for (; *words; words++) {
        if (slice_is(text, *words)) {
            return true;
        }
    }
    return false;
}

static bool is_number(struct reader *r, struct slice text)
{
    const struct json *value;
    bool maybe = text.len > 0 && (text.ptr[0] == '-' || (text.ptr[0] >= '0' && text.ptr[0] <= '9'));
    return maybe && json_parse(r->arena, text, &value, NULL) == STATUS_OK && value->kind == JSON_NUMBER;
}

static void write_scalar(struct reader *r, struct slice text, bool plain)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    if (!plain) {
        json_text(&r->out, text);
    } else if (is_any(text, nulls)) {
        json_null(&r->out);
    } else if (is_any(text, trues) || is_any(text, falses)) {
        json_bool(&r->out, is_any(text, trues));
    } else if (is_number(r, text)) {
        json_raw(&r->out, text);
    } else {
        json_text(&r->out, text);
    }
}

static enum status read_name(struct reader *r, size_t line, struct slice text)
{
    struct level *level = top(r);
    struct slice name = arena_copy(r->arena, text);
    if (map_put(&level->names, name, level)) {
        return failure_set(r->failure, STATUS_INVALID, "invalid_yaml", "Line %zu: \"%.*s\" is named twice.", line,
                           SLICE_ARG(slice_utf8_prefix(name, 100)));
    }
    json_key_slice(&r->out, name);
    level->name_line = (unsigned)line;
    level->wants_name = false;
    return STATUS_OK;
}

static enum status read_scalar(struct reader *r, size_t line, const yaml_event_t *event)
{
    struct slice text = slice_from(event->data.scalar.value, event->data.scalar.length);
    if (text.len > 0 && memchr(text.ptr, '\0', text.len)) {
        return refuse(r, line, "a zero byte is not accepted in text");
    }
    if (top(r) && top(r)->wants_name) {
        return read_name(r, line, text);
    }
    add_mark(r, line);
    write_scalar(r, text, event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
    value_written(r);
    return STATUS_OK;
}

static enum status begin_level(struct reader *r, size_t line, bool is_mapping)
{
    if (top(r) && top(r)->wants_name) {
        return refuse(r, line, "a name must be plain text, not a list or a mapping");
    }
    if (r->depth == JSON_DEPTH_MAX) {
        return refuse(r, line, "it is nested too deeply");
    }
    add_mark(r, line);
    is_mapping ? json_begin_object(&r->out) : json_begin_array(&r->out);
    r->levels[r->depth++] = (struct level){.is_mapping = is_mapping, .wants_name = is_mapping};
    return STATUS_OK;
}

static enum status end_level(struct reader *r)
{
    struct level *level = top(r);
    level->is_mapping ? json_end_object(&r->out) : json_end_array(&r->out);
    map_release(&level->names);
    r->depth--;
    value_written(r);
    return STATUS_OK;
}

static bool is_tagged(const yaml_event_t *event)
{
    switch ((int)event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag || event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag || event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag || event->data.mapping_start.anchor;
    case YAML_ALIAS_EVENT:
        return true;
    }
    return false;
}

static enum status read_event(struct reader *r, const yaml_event_t *event)
{
    size_t line = event->start_mark.line + 1;
    if (is_tagged(event)) {
        return refuse(r, line, "anchors (&), aliases (*) and tags (!) are not accepted");
    }
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->documents++ == 0 ? STATUS_OK : refuse(r, line, "only one document is accepted");
    case YAML_SCALAR_EVENT:
        return read_scalar(r, line, event);
    case YAML_SEQUENCE_START_EVENT:
        return begin_level(r, line, false);
    case YAML_MAPPING_START_EVENT:
        return begin_level(r, line, true);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end_level(r);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_ALIAS_EVENT:
        break;
    }
    return STATUS_OK;
}

static enum status read_stream(struct reader *r, yaml_parser_t *parser)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            return refuse(r, parser->problem_mark.line + 1,
                          parser->problem ? parser->problem : "the text is not valid UTF-8");
        }
        more = event.type != YAML_STREAM_END_EVENT;
        enum status status = read_event(r, &event);
        yaml_event_delete(&event);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status finish(struct reader *r, struct yaml *out)
{
    if (r->mark_count == 0) {
        add_mark(r, 1);
        json_null(&r->out);
    }
    struct yaml yaml = {.text = arena_copy(r->arena, buffer_slice(&r->text)), .mark_count = r->mark_count};
    yaml.marks = arena_array(r->arena, r->mark_count, sizeof *yaml.marks);
    memcpy(yaml.marks, r->marks, r->mark_count * sizeof *yaml.marks);
    enum status status = json_parse(r->arena, yaml.text, &yaml.root, r->failure);
    if (status == STATUS_OK) {
        *out = yaml;
    }
    return status;
}

enum status yaml_parse(struct arena *arena, struct slice text, struct yaml *out, struct failure *failure)
{
    struct reader r = {.arena = arena, .failure = failure};
    r.out = json_out_to(&r.text);
    if (text.len > YAML_BYTES_MAX) {
        return failure_set(failure, STATUS_TOO_LARGE, "yaml_too_large", "A YAML file may hold at most %d bytes.",
                           YAML_BYTES_MAX);
    }
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        abort(); /* out of memory */
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.ptr ? text.ptr : ""), text.len);
    enum status status = read_stream(&r, &parser);
    yaml_parser_delete(&parser);
    if (status == STATUS_OK) {
        status = finish(&r, out);
    }
    while (r.depth > 0) {
        map_release(&r.levels[--r.depth].names);
    }
    free(r.marks);
    buffer_release(&r.text);
    return status;
}

unsigned yaml_line(const struct yaml *yaml, const struct json *value)
{
    size_t offset = (size_t)(value->raw.ptr - yaml->text.ptr);
    size_t low = 0, high = yaml->mark_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (yaml->marks[middle].offset <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return yaml->marks[low].line;
}
