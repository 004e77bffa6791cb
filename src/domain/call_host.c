#include "domain/call_host.h"

/* What follows "scheme://"; absent when there is no scheme. */
static struct slice after_scheme(struct slice text)
{
    size_t at = 0;
    while (at < text.len && at < 20 &&
           ((text.ptr[at] >= 'a' && text.ptr[at] <= 'z') || (text.ptr[at] >= 'A' && text.ptr[at] <= 'Z') ||
            (at > 0 && strchr("+-.0123456789", text.ptr[at])))) {
        at++;
    }
    return at > 0 && slice_starts(slice_after(text, at), SLICE("://")) ? slice_after(text, at + 3) : (struct slice){0};
}

bool call_host_is_url(struct slice text)
{
    return slice_present(after_scheme(text));
}

static bool is_host_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

/* Between "[" and "]", or up to the first mark; the user and what is secret before "@" is left out. */
static struct slice host_part(struct slice text)
{
    size_t len = 0, begin = 0;
    while (len < text.len && !strchr("/?#\\", text.ptr[len])) {
        len++;
    }
    for (size_t i = 0; i < len; i++) {
        begin = text.ptr[i] == '@' ? i + 1 : begin;
    }
    struct slice host = slice_from(text.ptr + begin, len - begin), head, tail;
    if (host.len > 0 && host.ptr[0] == '[') {
        slice_cut(slice_after(host, 1), ']', &head, &tail);
        return head;
    }
    slice_cut(host, ':', &head, &tail);
    while (head.len > 0 && head.ptr[head.len - 1] == '.') {
        head.len--;
    }
    return head;
}

/* 2130706433, 0x7f.1, 127.1: an address, but not as it is usually written. */
static bool is_odd_address(struct slice name)
{
    struct slice last = name, part, left = name;
    size_t dots = 0, odd = 0;
    while (left.len > 0) {
        dots += slice_cut(left, '.', &part, &left);
        odd += part.len > 3 || (part.len > 1 && part.ptr[0] == '0');
        last = part;
    }
    bool is_number = last.len > 0 && last.ptr[0] >= '0' && last.ptr[0] <= '9';
    for (size_t i = 0; i < last.len && is_number; i++) {
        char c = last.ptr[i];
        is_number = (c >= '0' && c <= '9') || c == 'x' || (c >= 'a' && c <= 'f');
    }
    return is_number && (dots != 3 || odd > 0);
}

/* "host:80/x"; but "https:/host" and "https:host" are something else. */
static bool has_odd_port(struct slice text)
{
    struct slice rest;
    slice_cut(text, ':', &text, &rest);
    for (size_t i = 0; i < rest.len && rest.ptr[i] != '/' && rest.ptr[i] != '?' && rest.ptr[i] != '#'; i++) {
        if (rest.ptr[i] < '0' || rest.ptr[i] > '9') {
            return true;
        }
    }
    return rest.len > 0 && rest.ptr[0] == '/';
}

bool call_host_read(struct arena *arena, struct slice text, struct call_host *out)
{
    struct slice rest = after_scheme(text);
    if (text.len == 0) {
        return false;
    }
    struct slice host = host_part(slice_present(rest) ? rest : text);
    bool is_address = host.len > 0 && host.ptr > text.ptr && host.ptr[-1] == '[';
    if (host.len == 0 || host.len > HOST_BYTES_MAX) {
        return false;
    }
    char *name = arena_bytes(arena, host.len + 1);
    out->is_known = !memchr(text.ptr, '\\', text.len) && !memchr(text.ptr, '@', text.len);
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        name[i] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
        out->is_known = out->is_known && (is_host_char(name[i]) || (is_address && name[i] == ':'));
    }
    out->name = slice_from(name, host.len);
    out->is_known =
        out->is_known && (is_address || (!is_odd_address(out->name) && (slice_present(rest) || !has_odd_port(text))));
    out->is_named = slice_present(rest);
    return true;
}
