#include "domain/agent_fields.h"

#include <stdlib.h>

static void write_members(struct json_out *out, const struct agent_field *fields, const void *base);

static size_t count_of(const struct agent_field *field, const void *base)
{
    return *(const size_t *)((const char *)base + field->count_offset);
}

static void write_texts(struct json_out *out, const struct slice *texts, size_t count)
{
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_text(out, texts[i]);
    }
    json_end_array(out);
}

static void write_items(struct json_out *out, const struct agent_field *field, const char *items, size_t count)
{
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(out);
        write_members(out, field->members, items + i * field->item_size);
        json_end_object(out);
    }
    json_end_array(out);
}

static void write_pairs(struct json_out *out, const struct name_value *pairs, size_t count)
{
    json_begin_object(out);
    for (size_t i = 0; i < count; i++) {
        json_key_slice(out, pairs[i].name);
        json_text(out, pairs[i].value);
    }
    json_end_object(out);
}

static void write_fraction(struct json_out *out, double number)
{
    struct buffer digits = {0};
    buffer_format(&digits, "%.6g", number);
    json_raw(out, buffer_slice(&digits));
    buffer_release(&digits);
}

/* What says nothing is left out. */
static bool says_something(const struct agent_field *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    switch (field->kind) {
    case AGENT_TEXT:
        return slice_present(*(const struct slice *)at);
    case AGENT_WORD:
        return *(const int *)at >= 0;
    case AGENT_GIVEN:
        return *(const int64_t *)at > 0;
    case AGENT_NUMBER:
    case AGENT_FRACTION:
    case AGENT_SWITCH:
    case AGENT_TEXTS:
    case AGENT_ITEMS:
    case AGENT_PAIRS:
    case AGENT_GROUP:
        break;
    }
    return true;
}

static void write_value(struct json_out *out, const struct agent_field *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    switch (field->kind) {
    case AGENT_TEXT:
        json_text(out, *(const struct slice *)at);
        return;
    case AGENT_NUMBER:
    case AGENT_GIVEN:
        json_i64(out, *(const int64_t *)at);
        return;
    case AGENT_FRACTION:
        write_fraction(out, *(const double *)at);
        return;
    case AGENT_SWITCH:
        json_bool(out, *(const bool *)at);
        return;
    case AGENT_WORD:
        json_text(out, slice_of(field->words->names[*(const int *)at]));
        return;
    case AGENT_TEXTS:
        write_texts(out, *(const struct slice *const *)at, count_of(field, base));
        return;
    case AGENT_ITEMS:
        write_items(out, field, *(const char *const *)at, count_of(field, base));
        return;
    case AGENT_PAIRS:
        write_pairs(out, *(const struct name_value *const *)at, count_of(field, base));
        return;
    case AGENT_GROUP:
        json_begin_object(out);
        write_members(out, field->members, base);
        json_end_object(out);
        return;
    }
    abort();
}

static void write_members(struct json_out *out, const struct agent_field *fields, const void *base)
{
    for (const struct agent_field *field = fields; field->name; field++) {
        if (says_something(field, base)) {
            json_key(out, field->name);
            write_value(out, field, base);
        }
    }
}

void agent_write(struct buffer *to, const struct agent *agent)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    write_members(&out, agent_fields, agent);
    json_end_object(&out);
}
