#include "wire/url.h"

#include "base/hex.h"

/* Returns the number of bytes written, or -1. */
static int64_t decode_bytes(struct slice text, bool plus_is_space, char *to)
{
    char *start = to;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = text.len - i > 2 ? hex_value(text.ptr[i + 1]) : -1;
            int low = high >= 0 ? hex_value(text.ptr[i + 2]) : -1;
            if (low < 0) {
                return -1;
            }
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        *to++ = c;
    }
    return to - start;
}

static bool is_clean_text(struct slice text)
{
    return (text.len == 0 || !memchr(text.ptr, '\0', text.len)) && slice_is_utf8(text);
}

static bool decode(struct arena *arena, struct slice text, bool plus_is_space, struct slice *out)
{
    struct slice result = text;
    bool encoded =
        text.len > 0 && (memchr(text.ptr, '%', text.len) || (plus_is_space && memchr(text.ptr, '+', text.len)));
    if (encoded) {
        char *bytes = arena_bytes(arena, text.len + 1);
        int64_t len = decode_bytes(text, plus_is_space, bytes);
        if (len < 0) {
            return false;
        }
        bytes[len] = '\0';
        result = slice_from(bytes, (size_t)len);
    }
    if (!is_clean_text(result)) {
        return false;
    }
    *out = result;
    return true;
}

bool url_decode(struct arena *arena, struct slice text, struct slice *out)
{
    return decode(arena, text, false, out);
}

bool form_decode(struct arena *arena, struct slice text, struct slice *out)
{
    return decode(arena, text, true, out);
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

void url_encode(struct buffer *buffer, struct slice text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (is_unreserved((char)c)) {
            buffer_add_byte(buffer, (char)c);
        } else {
            buffer_add(buffer, slice_from((char[]){'%', hex[c >> 4], hex[c & 15]}, 3));
        }
    }
}

void form_add(struct buffer *buffer, struct slice name, struct slice value)
{
    char last = buffer->len ? buffer->ptr[buffer->len - 1] : '&';
    if (last != '&' && last != '?') {
        buffer_add_byte(buffer, '&');
    }
    url_encode(buffer, name);
    buffer_add_byte(buffer, '=');
    url_encode(buffer, value);
}

enum status url_query_parse(struct arena *arena, struct slice text, struct url_query *out, struct failure *failure)
{
    out->count = 0;
    while (text.len > 0) {
        struct slice part, name, value;
        slice_cut(text, '&', &part, &text);
        if (part.len == 0) {
            continue;
        }
        if (out->count == QUERY_PARAMS_MAX) {
            return failure_set(failure, STATUS_INVALID, "invalid_query", "The query has more than %d parameters.",
                               QUERY_PARAMS_MAX);
        }
        if (!slice_cut(part, '=', &name, &value)) {
            value = SLICE("");
        }
        struct query_param *param = &out->params[out->count++];
        if (!form_decode(arena, name, &param->name) || !form_decode(arena, value, &param->value)) {
            return failure_set(failure, STATUS_INVALID, "invalid_query",
                               "A query parameter is not percent-encoded UTF-8 (every %% needs two hex digits).");
        }
    }
    return STATUS_OK;
}

struct slice url_query_get(const struct url_query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (slice_is(query->params[i].name, name)) {
            return query->params[i].value;
        }
    }
    return (struct slice){NULL, 0};
}

static enum status add_segment(struct arena *arena, struct slice text, struct path *out, struct failure *failure)
{
    struct slice segment;
    if (out->count == PATH_SEGMENTS_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_path", "The path has more than %d segments.",
                           PATH_SEGMENTS_MAX);
    }
    if (!url_decode(arena, text, &segment)) {
        return failure_set(failure, STATUS_INVALID, "invalid_path",
                           "The path is not percent-encoded UTF-8 (every %% needs two hex digits).");
    }
    if (slice_is(segment, ".") || slice_is(segment, "..")) {
        return failure_set(failure, STATUS_INVALID, "invalid_path", "The path must not hold . or .. segments.");
    }
    out->segments[out->count++] = segment;
    return STATUS_OK;
}

enum status path_split(struct arena *arena, struct slice text, struct path *out, struct failure *failure)
{
    out->count = 0;
    if (text.len == 0 || text.ptr[0] != '/') {
        return failure_set(failure, STATUS_INVALID, "invalid_path", "The path must begin with a slash.");
    }
    struct slice rest = slice_after(text, 1);
    bool more = rest.len > 0;
    while (more) {
        struct slice segment;
        more = slice_cut(rest, '/', &segment, &rest);
        enum status status = add_segment(arena, segment, out, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}
