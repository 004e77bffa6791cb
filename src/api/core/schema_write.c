#include <string.h>

#include "api/core/schema.h"
#include "api/core/schema_internal.h"

/* `name` may end in the marks of a member that may be null, or missing. */
static void write_reference(struct json_out *out, const char *name)
{
    json_begin_object(out);
    json_key(out, "$ref");
    buffer_format(out->buffer, "\"#/components/schemas/%.*s\"", (int)strcspn(name, "?-"), name);
    out->need_comma = true;
    json_end_object(out);
}

static void write_reference_or_null(struct json_out *out, const char *name)
{
    json_begin_object(out);
    json_key(out, "anyOf");
    json_begin_array(out);
    write_reference(out, name);
    json_raw(out, SLICE("{\"type\":\"null\"}"));
    json_end_array(out);
    json_end_object(out);
}

static const char *type_of(char letter)
{
    switch (letter) {
    case 'i':
        return "integer";
    case 'b':
        return "boolean";
    case 'o':
        return "object";
    case 'a':
    case 'l':
    case '[':
        return "array";
    default:
        return "string";
    }
}

static void write_type(struct json_out *out, const char *shape)
{
    json_key(out, "type");
    if (shape[1] == '?') {
        json_begin_array(out);
        json_text(out, slice_of(type_of(shape[0])));
        json_text(out, SLICE("null"));
        json_end_array(out);
    } else {
        json_text(out, slice_of(type_of(shape[0])));
    }
}

void schema_words_write(struct json_out *out, const struct enum_names *words, bool nullable)
{
    json_key(out, "enum");
    json_begin_array(out);
    for (int i = 0; i < words->count; i++) {
        if (words->names[i][0]) { /* the word for none is null, or is left out */
            json_text(out, slice_of(words->names[i]));
        }
    }
    if (nullable) {
        json_raw(out, SLICE("null"));
    }
    json_end_array(out);
}

void schema_text_write(struct json_out *out, const struct enum_names *words)
{
    json_begin_object(out);
    json_put_text(out, "type", SLICE("string"));
    if (words) {
        schema_words_write(out, words, false);
    }
    json_end_object(out);
}

static void write_inside(struct json_out *out, const struct member *member)
{
    switch (member->shape[0]) {
    case '[':
        json_key(out, "items");
        write_reference(out, member->shape + 1);
        break;
    case 'l':
        json_key(out, "items");
        schema_text_write(out, member->words);
        break;
    case 'a':
        json_put_raw(out, "items", SLICE("{}"));
        break;
    case 'o':
        json_put_bool(out, "additionalProperties", true);
        break;
    default:
        if (member->words) {
            schema_words_write(out, member->words, member->shape[1] == '?');
        }
    }
}

static void write_member(struct json_out *out, const struct member *member)
{
    json_key(out, member->name);
    if (member->shape[0] == '@' && strchr(member->shape, '?')) {
        write_reference_or_null(out, member->shape + 1);
        return;
    }
    if (member->shape[0] == '@') {
        write_reference(out, member->shape + 1);
        return;
    }
    json_begin_object(out);
    if (member->shape[0] != 'x') {
        write_type(out, member->shape);
    }
    if (member->shape[0] == 't') {
        json_put_text(out, "format", SLICE("date-time"));
    }
    write_inside(out, member);
    json_end_object(out);
}

static bool is_others(const struct member *member)
{
    return member->name[0] == '*';
}

static void write_schema(struct json_out *out, const struct schema *schema)
{
    bool is_open = false;
    json_key(out, schema->name);
    json_begin_object(out);
    json_put_text(out, "type", SLICE("object"));
    json_key(out, "properties");
    json_begin_object(out);
    for (const struct member *member = schema->members; member->name; member++) {
        if (!is_others(member)) {
            write_member(out, member);
        }
        is_open |= is_others(member);
    }
    json_end_object(out);
    if (is_open) {
        json_put_bool(out, "additionalProperties", true);
    }
    json_key(out, "required");
    json_begin_array(out);
    for (const struct member *member = schema->members; member->name; member++) {
        if (!strchr(member->shape, '-')) {
            json_text(out, slice_of(member->name));
        }
    }
    json_end_array(out);
    json_end_object(out);
}

void schemas_write(struct json_out *out)
{
    json_begin_object(out);
    for (const struct schema *schema = main_schemas; schema->name; schema++) {
        write_schema(out, schema);
    }
    for (const struct schema *schema = work_schemas; schema->name; schema++) {
        write_schema(out, schema);
    }
    json_end_object(out);
}
