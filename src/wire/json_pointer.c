#include "wire/json_pointer.h"

#include "base/budget.h"

static bool decode_token(struct arena *arena, struct slice text, struct slice *out)
{
    if (text.len == 0 || !memchr(text.ptr, '~', text.len)) {
        *out = text;
        return true;
    }
    char *bytes = arena_bytes(arena, text.len);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '~') {
            char kind = ++i < text.len ? text.ptr[i] : '\0';
            if (kind != '0' && kind != '1') {
                return false;
            }
            c = kind == '0' ? '~' : '/';
        }
        bytes[len++] = c;
    }
    *out = slice_from(bytes, len);
    return true;
}

static size_t count_slashes(struct slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += text.ptr[i] == '/';
    }
    return count;
}

bool json_pointer_parse(struct arena *arena, struct slice text, struct json_pointer *out)
{
    struct json_pointer pointer = {NULL, count_slashes(text)};
    if ((text.len > 0 && text.ptr[0] != '/') || pointer.count > JSON_DEPTH_MAX) {
        return false;
    }
    pointer.tokens = arena_array(arena, pointer.count + 1, sizeof *pointer.tokens);
    struct slice rest = slice_after(text, 1);
    for (size_t i = 0; i < pointer.count; i++) {
        struct slice token;
        slice_cut(rest, '/', &token, &rest);
        if (!decode_token(arena, token, &pointer.tokens[i])) {
            return false;
        }
    }
    *out = pointer;
    return true;
}

bool json_pointer_index(struct slice token, uint32_t *out)
{
    int64_t index;
    bool leading_zero = token.len > 1 && token.ptr[0] == '0';
    if (token.len == 0 || token.ptr[0] == '-' || leading_zero || !slice_to_i64(token, &index) || index > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)index;
    return true;
}

static const struct json *get_child(const struct json *parent, struct slice token)
{
    uint32_t index = 0;
    bool is_array = parent->kind == JSON_ARRAY;
    if ((!is_array && parent->kind != JSON_OBJECT) || (is_array && !json_pointer_index(token, &index))) {
        return NULL;
    }
    if (!is_array) {
        return json_member(parent, token);
    }
    budget_spend(index < parent->count ? index : parent->count);
    const struct json *child = parent->child;
    while (child && index-- > 0) {
        child = child->next;
    }
    return child;
}

const struct json *json_pointer_get(const struct json_pointer *pointer, const struct json *document)
{
    const struct json *at = document;
    for (size_t i = 0; at && i < pointer->count; i++) {
        at = get_child(at, pointer->tokens[i]);
    }
    return at;
}
