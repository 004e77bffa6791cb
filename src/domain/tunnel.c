#include "domain/tunnel.h"

#define LOCAL_PREFIX "local:"

bool tunnel_name_is_valid(struct slice name)
{
    bool only_dots = true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '.' && c != '_' && c != '-') {
            return false;
        }
        only_dots &= c == '.';
    }
    return name.len > 0 && name.len <= TUNNEL_NAME_BYTES_MAX && !only_dots;
}

int64_t tunnel_local_port(struct slice target)
{
    int64_t port = 0;
    bool local = slice_starts(target, SLICE(LOCAL_PREFIX)) &&
                 slice_to_i64(slice_after(target, sizeof LOCAL_PREFIX - 1), &port) && port > 0 && port < 65536;
    return local ? port : 0;
}

static bool is_address(struct slice url)
{
    size_t scheme = slice_starts(url, SLICE("https://")) ? 8 : slice_starts(url, SLICE("http://")) ? 7 : 0;
    if (scheme == 0 || url.len <= scheme || url.len > TUNNEL_URL_BYTES_MAX || url.ptr[scheme] == '/') {
        return false;
    }
    for (size_t i = 0; i < url.len; i++) {
        unsigned char c = (unsigned char)url.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr("@#\\\"<>", c)) {
            return false;
        }
    }
    return true;
}

enum status tunnel_check_target(struct slice target, struct failure *failure)
{
    if (tunnel_local_port(target) != 0 || is_address(target)) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_INVALID, "invalid_tunnel",
                       "A tunnel leads to an address with http or https, a host and no user, of at most %d bytes, or "
                       "to a port from 1 to 65535 of the session's sandbox.",
                       TUNNEL_URL_BYTES_MAX);
}

enum status tunnel_check_all(const struct json *tunnels, struct failure *failure)
{
    enum status status = STATUS_OK;
    if (tunnels && !json_is(tunnels, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_tunnel",
                           "`tunnel_urls` must be an object of names and addresses.");
    }
    for (const struct json *one = tunnels ? tunnels->child : NULL; one && status == STATUS_OK; one = one->next) {
        if (!tunnel_name_is_valid(one->key)) {
            return failure_set(failure, STATUS_INVALID, "invalid_tunnel",
                               "The name of a tunnel has 1 to %d characters of A-Z a-z 0-9 . _ -",
                               TUNNEL_NAME_BYTES_MAX);
        }
        status = tunnel_check_target(json_is(one, JSON_STRING) ? one->text : SLICE(""), failure);
    }
    return status;
}

const struct json *tunnels_of(struct arena *arena, const struct session *session)
{
    const struct json *details = NULL;
    if (!slice_present(session->details) ||
        json_parse(arena, arena_copy(arena, session->details), &details, NULL) != STATUS_OK) {
        return NULL;
    }
    const struct json *tunnels = json_get_value(details, "tunnel_urls");
    return json_is(tunnels, JSON_OBJECT) && tunnels->child ? tunnels : NULL;
}

void change_tunnel_opened(struct arena *arena, struct slice name, struct slice target, struct changes *out)
{
    const char *keys[] = {"name", "target"};
    struct slice values[] = {name, target};
    change_note(arena, EVENT_SESSION_TUNNEL_OPENED, keys, values, 2, out);
}

void change_tunnel_closed(struct arena *arena, struct slice name, struct changes *out)
{
    const char *keys[] = {"name"};
    change_note(arena, EVENT_SESSION_TUNNEL_CLOSED, keys, &name, 1, out);
}
