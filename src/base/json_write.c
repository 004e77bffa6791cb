#include "base/clock.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_plain.h"

static void before_value(struct json_out *out)
{
    if (out->need_comma) {
        buffer_add_byte(out->buffer, ',');
    }
    out->need_comma = true;
}

static void open(struct json_out *out, char mark)
{
    before_value(out);
    buffer_add_byte(out->buffer, mark);
    out->need_comma = false;
}

static void close(struct json_out *out, char mark)
{
    buffer_add_byte(out->buffer, mark);
    out->need_comma = true;
}

void json_begin_object(struct json_out *out)
{
    open(out, '{');
}

void json_end_object(struct json_out *out)
{
    close(out, '}');
}

void json_begin_array(struct json_out *out)
{
    open(out, '[');
}

void json_end_array(struct json_out *out)
{
    close(out, ']');
}

static void add_escaped_byte(struct buffer *buffer, unsigned char c)
{
    char text[6] = {'\\', 'u', '0', '0'};
    switch (c) {
    case '"':
        buffer_add(buffer, SLICE("\\\""));
        break;
    case '\\':
        buffer_add(buffer, SLICE("\\\\"));
        break;
    case '\n':
        buffer_add(buffer, SLICE("\\n"));
        break;
    case '\r':
        buffer_add(buffer, SLICE("\\r"));
        break;
    case '\t':
        buffer_add(buffer, SLICE("\\t"));
        break;
    default:
        hex_write(&c, 1, text + 4);
        buffer_add(buffer, slice_from(text, sizeof text));
    }
}

static size_t plain_bytes(struct slice text, size_t from)
{
    const char *first = text.ptr + from;
    return (size_t)(json_skip_plain(first, text.ptr + text.len) - first);
}

static void add_quoted(struct buffer *buffer, struct slice text)
{
    buffer_reserve(buffer, text.len + 2);
    buffer_add_byte(buffer, '"');
    size_t at = 0;
    for (;;) {
        size_t plain = plain_bytes(text, at);
        buffer_add(buffer, slice_from(text.ptr + at, plain));
        at += plain;
        if (at == text.len) {
            break;
        }
        add_escaped_byte(buffer, (unsigned char)text.ptr[at++]);
    }
    buffer_add_byte(buffer, '"');
}

void json_key_slice(struct json_out *out, struct slice key)
{
    before_value(out);
    add_quoted(out->buffer, key);
    buffer_add_byte(out->buffer, ':');
    out->need_comma = false;
}

/* An answer is half keys, and keys are plain: one reservation, no second look. */
void json_key(struct json_out *out, const char *key)
{
    struct slice name = slice_of(key);
    struct buffer *buffer = out->buffer;
    if (plain_bytes(name, 0) < name.len) {
        json_key_slice(out, name);
        return;
    }
    buffer_reserve(buffer, name.len + 4);
    char *at = buffer->ptr + buffer->len;
    if (out->need_comma) {
        *at++ = ',';
    }
    *at++ = '"';
    memcpy(at, name.ptr, name.len);
    at += name.len;
    *at++ = '"';
    *at++ = ':';
    buffer->len = (size_t)(at - buffer->ptr);
    out->need_comma = false;
}

void json_text(struct json_out *out, struct slice text)
{
    if (!slice_present(text)) {
        json_null(out);
        return;
    }
    before_value(out);
    add_quoted(out->buffer, text);
}

void json_i64(struct json_out *out, int64_t value)
{
    before_value(out);
    buffer_add_i64(out->buffer, value);
}

void json_bool(struct json_out *out, bool value)
{
    json_raw(out, value ? SLICE("true") : SLICE("false"));
}

void json_null(struct json_out *out)
{
    json_raw(out, SLICE("null"));
}

void json_raw(struct json_out *out, struct slice json)
{
    before_value(out);
    buffer_add(out->buffer, slice_present(json) ? json : SLICE("null"));
}

void json_time(struct json_out *out, int64_t wall_ms)
{
    if (wall_ms == 0) {
        json_null(out);
        return;
    }
    char text[TIME_TEXT_BYTES];
    time_format(wall_ms, text);
    json_text(out, slice_from(text, TIME_TEXT_BYTES - 1));
}

void json_put_text(struct json_out *out, const char *key, struct slice text)
{
    json_key(out, key);
    json_text(out, text);
}

void json_put_i64(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    json_i64(out, value);
}

void json_put_bool(struct json_out *out, const char *key, bool value)
{
    json_key(out, key);
    json_bool(out, value);
}

void json_put_raw(struct json_out *out, const char *key, struct slice json)
{
    json_key(out, key);
    json_raw(out, json);
}

void json_put_time(struct json_out *out, const char *key, int64_t wall_ms)
{
    json_key(out, key);
    json_time(out, wall_ms);
}

void json_maybe_text(struct json_out *out, const char *key, struct slice text)
{
    if (slice_present(text)) {
        json_put_text(out, key, text);
    }
}

void json_maybe_raw(struct json_out *out, const char *key, struct slice json)
{
    if (slice_present(json)) {
        json_put_raw(out, key, json);
    }
}
