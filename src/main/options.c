#include "main/options.h"

#include <stdio.h>

#include "main/read_file.h"
#include "net/listener.h"
#include "runner/sandbox/bubble.h"
#include "wire/yaml.h"

/* --- the configuration file --- */

struct config_file {
    const char *path;
    struct yaml yaml;
};

static void place_in_file(const void *owner, const struct json *member, char *out, size_t room)
{
    const struct config_file *file = owner;
    snprintf(out, room, "%s:%u: ", file->path, yaml_line(&file->yaml, member));
}

static enum status read_config(const struct option_target *target, const char *path, struct failure *failure)
{
    struct buffer bytes = {0};
    struct failure reason;
    struct config_file file = {.path = path};
    enum status status = read_file(path, YAML_BYTES_MAX, &bytes, failure);
    if (status == STATUS_OK) {
        struct slice text = arena_copy(target->arena, buffer_slice(&bytes));
        status = yaml_parse(target->arena, text, &file.yaml, &reason);
        if (status != STATUS_OK) {
            status = failure_set(failure, STATUS_INVALID, "bad_config", "%s: %s", path, reason.detail);
        }
    }
    buffer_release(&bytes);
    if (status != STATUS_OK) {
        return status;
    }
    if (json_get(file.yaml.root, "config")) {
        return failure_set(failure, STATUS_INVALID, "bad_config", "%s: a file can't name another file in config", path);
    }
    return options_read_document(target, &(struct option_document){file.yaml.root, &file, place_in_file}, failure);
}

/* --- what belongs together --- */

static enum status refuse(struct failure *failure, const char *what)
{
    return failure_set(failure, STATUS_INVALID, "bad_option", "%s", what);
}

/* Pairs of which the first must not be greater than the second. */
static const struct {
    size_t less, more;
    const char *what;
} ordered_pairs[] = {
    {offsetof(struct options, api.events_page_default), offsetof(struct options, api.events_page_max),
     "--events-page-default must not be greater than --events-page-max"},
    {offsetof(struct options, api.sessions_page_default), offsetof(struct options, api.sessions_page_max),
     "--sessions-page-default must not be greater than --sessions-page-max"},
    {offsetof(struct options, limits.claim.lease_ms_min), offsetof(struct options, limits.claim.lease_ms_default),
     "--lease-ms-min must not be greater than --lease-ms-default"},
    {offsetof(struct options, limits.claim.lease_ms_default), offsetof(struct options, limits.claim.lease_ms_max),
     "--lease-ms-default must not be greater than --lease-ms-max"},
    {offsetof(struct options, limits.event.bytes_max), offsetof(struct options, net.body_bytes_max),
     "--event-bytes-max must not be greater than --body-bytes-max"},
    {offsetof(struct options, net.body_bytes_max), offsetof(struct options, caller_bytes_max),
     "--body-bytes-max must not be greater than --caller-bytes-max"},
    {offsetof(struct options, caller_bytes_max), offsetof(struct options, tenant_bytes_max),
     "--caller-bytes-max must not be greater than --tenant-bytes-max"},
    {offsetof(struct options, api.guest_body_bytes_max), offsetof(struct options, guest_bytes_max),
     "--guest-body-bytes-max must not be greater than --guest-bytes-max"},
};

static enum status check_pairs(const struct options *options, struct failure *failure)
{
    for (size_t i = 0; i < sizeof ordered_pairs / sizeof ordered_pairs[0]; i++) {
        const char *base = (const char *)options;
        int64_t less = *(const int64_t *)(const void *)(base + ordered_pairs[i].less);
        int64_t more = *(const int64_t *)(const void *)(base + ordered_pairs[i].more);
        if (less > more) {
            return refuse(failure, ordered_pairs[i].what);
        }
    }
    return STATUS_OK;
}

static bool starts(const char *text, const char *prefix)
{
    return slice_starts(slice_of(text), slice_of(prefix));
}

static enum status check_listen(const struct options *options, struct failure *failure)
{
    struct failure reason;
    for (size_t i = 0; i < options->listen.count; i++) {
        if (listener_check_address(slice_of(options->listen.items[i]), &reason) != STATUS_OK) {
            return failure_set(failure, STATUS_INVALID, "bad_option", "--listen: %s", reason.detail);
        }
    }
    return STATUS_OK;
}

/* SCHEME://HOST[:PORT], as browsers send it: anything behind it, a slash too, would never match. */
static bool is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    return host && host > text && host[3] && !strpbrk(host + 3, "/?# ");
}

static enum status check_origins(const struct options *options, struct failure *failure)
{
    for (size_t i = 0; i < options->cors_origin.count; i++) {
        const char *origin = options->cors_origin.items[i];
        if (strcmp(origin, "*") != 0 && !is_origin(origin)) {
            return failure_set(failure, STATUS_INVALID, "bad_option",
                               "--cors-origin: give * or an origin such as https://app.example.org, without a slash "
                               "at its end, not \"%s\"",
                               origin);
        }
    }
    return STATUS_OK;
}

static enum status check_shown(const struct options *options, struct failure *failure)
{
    struct failure reason;
    for (size_t i = 0; i < options->sandbox_show.count; i++) {
        if (bubble_check_shown(options->sandbox_show.items[i], &reason) != STATUS_OK) {
            return failure_set(failure, STATUS_INVALID, "bad_option", "--sandbox-show: %s", reason.detail);
        }
    }
    return STATUS_OK;
}

enum { NODE_NAME_CHARS_MAX = 64 };

static enum status options_check(const struct options *options, struct failure *failure)
{
    if (!options->tls_cert != !options->tls_key) {
        return refuse(failure, "--tls-cert and --tls-key belong together: give both or none");
    }
    if (options->database && !starts(options->database, "postgres://") && !starts(options->database, "postgresql://")) {
        return refuse(failure, "--database: give a URL that begins with postgres://, or leave it out for SQLite");
    }
    if (options->public_url && !starts(options->public_url, "http://") && !starts(options->public_url, "https://")) {
        return refuse(failure, "--public-url: give a URL that begins with http:// or https://");
    }
    if (options->gateway_url && !starts(options->gateway_url, "http://") && !starts(options->gateway_url, "https://")) {
        return refuse(failure, "--gateway-url: give a URL that begins with http:// or https://");
    }
    if (options->node && (!options->node[0] || strlen(options->node) > NODE_NAME_CHARS_MAX)) {
        return refuse(failure, "--node: give a name of 1 to 64 characters");
    }
    if (options->bootstrap_token && strlen(options->bootstrap_token) < 32) {
        return refuse(failure, "SOJOURN_BOOTSTRAP_TOKEN: give at least 32 characters");
    }
    enum status status = check_listen(options, failure);
    if (status == STATUS_OK) {
        status = check_origins(options, failure);
    }
    if (status == STATUS_OK) {
        status = check_shown(options, failure);
    }
    return status == STATUS_OK ? check_pairs(options, failure) : status;
}

/* Environment and command line are read twice: once to find the file, once over what it says. */
static enum status read_layers(const struct option_target *target, const struct invocation *invocation,
                               struct failure *failure)
{
    enum status status = options_read_environment(target, invocation->environment, failure);
    if (status == STATUS_OK) {
        status = options_read_arguments(target, invocation->arguments, failure);
    }
    return status;
}

enum status options_load(const struct invocation *invocation, struct options *out, enum option_origin *origins,
                         struct failure *failure)
{
    struct options options = {0};
    size_t rows = option_table_count(server_options);
    enum option_origin *own = arena_array(invocation->arena, rows, sizeof *own);
    struct option_target target = {server_options, &options, invocation->arena, own};
    options_set_fallbacks(server_options, &options, invocation->arena);
    enum status status = read_layers(&target, invocation, failure);
    const char *path = options.config;
    if (status == STATUS_OK && path) {
        options = (struct options){0};
        memset(own, 0, rows * sizeof *own);
        options_set_fallbacks(server_options, &options, invocation->arena);
        status = read_config(&target, path, failure);
        if (status == STATUS_OK) {
            status = read_layers(&target, invocation, failure);
        }
    }
    if (status == STATUS_OK) {
        status = options_check(&options, failure);
    }
    if (status == STATUS_OK) {
        *out = options;
        if (origins) {
            memcpy(origins, own, rows * sizeof *own);
        }
    }
    return status;
}
