#include "wire/url.h"

static const struct scheme {
    const char *prefix;
    enum url_scheme scheme;
    int port;
    bool tls;
} schemes[] = {
    {"http://", URL_HTTP, 80, false},
    {"https://", URL_HTTPS, 443, true},
    {"ws://", URL_WS, 80, false},
    {"wss://", URL_WSS, 443, true},
    {"postgres://", URL_POSTGRES, 5432, false},
    {"postgresql://", URL_POSTGRES, 5432, false},
    {"unix:", URL_UNIX, 0, false},
};

static enum status refuse(struct failure *failure, const char *problem)
{
    return failure_set(failure, STATUS_INVALID, "invalid_url", "The URL is not valid: %s.", problem);
}

static const struct scheme *find_scheme(struct slice text)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        struct slice prefix = slice_of(schemes[i].prefix);
        if (text.len >= prefix.len && slice_eq_nocase(slice_from(text.ptr, prefix.len), prefix)) {
            return &schemes[i];
        }
    }
    return NULL;
}

static size_t find_any(struct slice text, const char *marks)
{
    size_t i = 0;
    while (i < text.len && !(text.ptr[i] && strchr(marks, text.ptr[i]))) {
        i++;
    }
    return i;
}

static bool has_bad_byte(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c >= 0x7F || c == '#') {
            return true;
        }
    }
    return false;
}

/* The last @ ends the user information: a password may hold one. */
static size_t user_info_len(struct slice authority)
{
    size_t at = authority.len;
    while (at > 0 && authority.ptr[at - 1] != '@') {
        at--;
    }
    return at; /* with the @, or 0 */
}

static bool read_user(struct arena *arena, struct slice info, struct url *url)
{
    struct slice user, password;
    bool has_password = slice_cut(info, ':', &user, &password);
    return url_decode(arena, user, &url->user) && (!has_password || url_decode(arena, password, &url->password));
}

static bool is_host(struct slice host, bool is_ipv6)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool digit = c >= '0' && c <= '9';
        if (is_ipv6 ? !(letter || digit || strchr(":.%", c)) : !(letter || digit || strchr("-._", c))) {
            return false;
        }
    }
    return host.len > 0;
}

/* host, host:port or [v6]:port */
static bool read_host(struct slice text, struct url *url)
{
    struct slice port = {NULL, 0};
    bool is_ipv6 = text.len > 0 && text.ptr[0] == '[';
    if (is_ipv6) {
        struct slice tail;
        if (!slice_cut(slice_after(text, 1), ']', &url->host, &tail) || (tail.len > 0 && tail.ptr[0] != ':')) {
            return false;
        }
        port = tail.len > 0 ? slice_after(tail, 1) : port;
    } else {
        slice_cut(text, ':', &url->host, &port);
    }
    if (slice_present(port)) {
        int64_t number;
        if (port.len > 5 || !slice_to_i64(port, &number) || number < 1 || number > 65535) {
            return false;
        }
        url->port = (int)number;
    }
    return is_host(url->host, is_ipv6);
}

static enum status read_authority(struct arena *arena, struct slice rest, struct url *url, struct failure *failure)
{
    if (has_bad_byte(rest)) {
        return refuse(failure, "it holds a space, a fragment or a character that must be percent-encoded");
    }
    struct slice authority = slice_from(rest.ptr, find_any(rest, "/?"));
    struct slice tail = slice_after(rest, authority.len);
    size_t user_len = user_info_len(authority);
    if (user_len > 0 && !read_user(arena, slice_from(authority.ptr, user_len - 1), url)) {
        return refuse(failure, "the user or password is not percent-encoded UTF-8");
    }
    if (!read_host(slice_after(authority, user_len), url)) {
        return refuse(failure, "HOST or HOST:PORT is expected, an IPv6 address in brackets");
    }
    slice_cut(tail, '?', &url->path, &url->query);
    url->path = url->path.len ? url->path : SLICE("/");
    return STATUS_OK;
}

enum status url_parse(struct arena *arena, struct slice text, struct url *out, struct failure *failure)
{
    const struct scheme *scheme = find_scheme(text);
    if (!scheme) {
        return refuse(failure, "it must begin with http://, https://, ws://, wss://, postgres:// or unix:");
    }
    struct url url = {.scheme = scheme->scheme, .port = scheme->port, .tls = scheme->tls};
    struct slice rest = slice_after(text, strlen(scheme->prefix));
    if (scheme->scheme == URL_UNIX) {
        if (rest.len == 0 || !url_decode(arena, rest, &url.path)) {
            return refuse(failure, "unix: must be followed by the path of a socket");
        }
    } else {
        enum status status = read_authority(arena, rest, &url, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *out = url;
    return STATUS_OK;
}

/* Everything between the first colon and the last @ of the user information. */
static struct slice hide_user_password(struct arena *arena, struct slice text)
{
    const char *mark = text.len ? memmem(text.ptr, text.len, "://", 3) : NULL;
    if (!mark) {
        return text;
    }
    struct slice rest = slice_after(text, (size_t)(mark + 3 - text.ptr));
    struct slice authority = slice_from(rest.ptr, find_any(rest, "/?#"));
    /* A password that was not encoded may hold the marks themselves: rather hide too much. */
    size_t user_len = user_info_len(authority) ? user_info_len(authority) : user_info_len(rest);
    struct slice user, password;
    if (!user_len || !slice_cut(slice_from(rest.ptr, user_len - 1), ':', &user, &password)) {
        return text;
    }
    struct slice host = slice_after(rest, user_len);
    return arena_format(arena, "%.*s%.*s:***@%.*s", (int)(rest.ptr - text.ptr), text.ptr, SLICE_ARG(user),
                        SLICE_ARG(host));
}

/* libpq also takes password=… and sslpassword=… as parameters. */
static struct slice hide_query_password(struct arena *arena, struct slice text)
{
    static const char name[] = "password=";
    size_t done = 0;
    for (;;) {
        struct slice rest = slice_after(text, done);
        const char *found = rest.len ? memmem(rest.ptr, rest.len, name, sizeof name - 1) : NULL;
        if (!found) {
            return text;
        }
        size_t value_at = (size_t)(found - text.ptr) + sizeof name - 1;
        struct slice value = slice_after(text, value_at);
        struct slice tail = slice_after(value, find_any(value, "&#"));
        text = arena_format(arena, "%.*s***%.*s", (int)value_at, text.ptr, SLICE_ARG(tail));
        done = value_at + 3;
    }
}

struct slice url_without_password(struct arena *arena, struct slice text)
{
    return hide_query_password(arena, hide_user_password(arena, text));
}
