#include "wire/cookie.h"

static bool is_token(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c <= ' ' || c >= 0x7F || strchr("()<>@,;:\\\"/[]?={}", c)) {
            return false;
        }
    }
    return s.len > 0;
}

/* US-ASCII without control characters, white space, quotes, comma, semicolon and backslash. */
static bool is_cookie_value(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c <= ' ' || c >= 0x7F || strchr("\",;\\", c)) {
            return false;
        }
    }
    return true;
}

static bool is_path(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < ' ' || s.ptr[i] >= 0x7F || s.ptr[i] == ';') {
            return false;
        }
    }
    return s.len > 0 && s.ptr[0] == '/';
}

static struct slice unquote(struct slice value)
{
    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"') {
        return slice_from(value.ptr + 1, value.len - 2);
    }
    return value;
}

bool cookie_next(struct slice *rest, struct cookie *out)
{
    while (rest->len > 0) {
        struct slice pair, tail, name, value;
        slice_cut(*rest, ';', &pair, &tail);
        *rest = tail;
        if (!slice_cut(slice_trim(pair), '=', &name, &value)) {
            continue;
        }
        value = unquote(value);
        if (is_token(name) && is_cookie_value(value)) {
            *out = (struct cookie){name, value};
            return true;
        }
    }
    return false;
}

struct slice cookie_find(struct slice header, const char *name)
{
    struct cookie cookie;
    while (cookie_next(&header, &cookie)) {
        if (slice_is(cookie.name, name)) {
            return cookie.value;
        }
    }
    return (struct slice){NULL, 0};
}

bool set_cookie_write(struct buffer *buffer, const struct set_cookie *cookie)
{
    static const char *const same_sites[] = {"Lax", "Strict", "None"};
    const char *path = cookie->path ? cookie->path : "/";
    if (!is_token(slice_of(cookie->name)) || !is_cookie_value(cookie->value) || !is_path(slice_of(path))) {
        return false;
    }
    buffer_add(buffer, slice_of(cookie->name));
    buffer_add_byte(buffer, '=');
    buffer_add(buffer, cookie->value);
    buffer_format(buffer, "; Path=%s", path);
    if (cookie->max_age_s >= 0) {
        buffer_format(buffer, "; Max-Age=%lld", (long long)cookie->max_age_s);
    }
    buffer_format(buffer, "; SameSite=%s", same_sites[cookie->same_site]);
    buffer_add(buffer, cookie->http_only ? SLICE("; HttpOnly") : SLICE(""));
    buffer_add(buffer, cookie->secure ? SLICE("; Secure") : SLICE(""));
    return true;
}
