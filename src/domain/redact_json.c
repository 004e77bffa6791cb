#include "domain/redact.h"

/* A value is looked at with its name in front, as it would stand in a file of settings. */
static void write_text(struct json_out *out, struct slice name, struct slice text)
{
    struct buffer masked = {0};
    redact_add(&masked, text);
    bool named = slice_eq(buffer_slice(&masked), text) && slice_present(name) && redact_finds(name, text);
    json_text(out, named ? SLICE(REDACTED) : buffer_slice(&masked));
    buffer_release(&masked);
}

void redact_json(struct json_out *out, const struct json *value)
{
    bool is_object = value->kind == JSON_OBJECT;
    if (value->kind == JSON_STRING) {
        write_text(out, value->key, value->text);
        return;
    }
    if (!is_object && value->kind != JSON_ARRAY) {
        json_raw(out, value->raw);
        return;
    }
    is_object ? json_begin_object(out) : json_begin_array(out);
    for (const struct json *child = value->child; child; child = child->next) {
        if (is_object) {
            json_key_slice(out, child->key);
        }
        redact_json(out, child);
    }
    is_object ? json_end_object(out) : json_end_array(out);
}
