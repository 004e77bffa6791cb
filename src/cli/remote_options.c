#include "cli/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_FILE_BYTES_MAX = 4096 };

/* clang-format off */
const struct option remote_option_table[] = {
    {.name = "Server", .type = OPTION_SECTION},
    {.name = "url", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct remote_options, url, const char *),
     .value = "URL", .fallback = "http://127.0.0.1:7070",
     .help = "The server's address: http://HOST:PORT, https://HOST or unix:PATH; also from SOJOURN_URL."},
    {.name = "token", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct remote_options, token, const char *),
     .value = "TOKEN",
     .help = "An API token. Prefer SOJOURN_TOKEN: other users of the machine can read a command line."},
    {.name = "token-file", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct remote_options, token_file, const char *), .value = "FILE",
     .help = "A file with the token, readable only by you; also from SOJOURN_TOKEN_FILE."},
    {.name = "ca-file", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct remote_options, ca_file, const char *),
     .value = "FILE", .help = "Certificates (PEM) to trust in addition to the system's; also from SOJOURN_CA_FILE."},
    {.name = "timeout-ms", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct remote_options, timeout_ms, int64_t),
     .value = "TIME", .fallback = "30s", .min = 1, .max = 24 * 3600 * 1000, .unit = UNIT_MS,
     .help = "Maximum time for an answer; also from SOJOURN_TIMEOUT_MS."},
    {0},
};

struct output_options {
    bool json;
};

const struct option output_option_table[] = {
    {.name = "Output", .type = OPTION_SECTION},
    {.name = "json", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct output_options, json, bool),
     .help = "Print the server's JSON unchanged instead of a table."},
    {0},
};
/* clang-format on */

static enum status read_arguments(const struct remote *remote, const struct option *table, void *values,
                                  struct failure *failure)
{
    struct option_target target = {table, values, remote->arena, NULL};
    return options_read_arguments(&target, remote->invocation->arguments, failure);
}

static enum status read_tables(struct remote *remote, const struct remote_setup *setup, struct failure *failure)
{
    struct output_options output = {0};
    struct option_target target = {remote_option_table, &remote->options, remote->arena, remote->origins};
    options_set_fallbacks(remote_option_table, &remote->options, remote->arena);
    enum status status = options_read_environment(&target, remote->invocation->environment, failure);
    if (status == STATUS_OK) {
        status = options_read_arguments(&target, remote->invocation->arguments, failure);
    }
    if (status == STATUS_OK) {
        status = read_arguments(remote, output_option_table, &output, failure);
    }
    if (status == STATUS_OK && setup->table) {
        options_set_fallbacks(setup->table, setup->values, remote->arena);
        status = read_arguments(remote, setup->table, setup->values, failure);
    }
    remote->wants_json = output.json;
    return status;
}

/* A token that others can read is no secret: better said than used. */
static enum status read_token_file(struct remote *remote, struct failure *failure)
{
    const char *path = remote->options.token_file;
    char text[TOKEN_FILE_BYTES_MAX];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 && fstat(fd, &info) == 0 ? read(fd, text, sizeof text) : -1;
    int code = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (count < 0) {
        return failure_set(failure, STATUS_INVALID, "token_file", "--token-file %s can't be read: %s", path,
                           strerror(code));
    }
    if (S_ISREG(info.st_mode) && (info.st_mode & 077) != 0) {
        return failure_set(failure, STATUS_INVALID, "token_file",
                           "--token-file %s can be read by others; make it private with chmod 600", path);
    }
    remote->options.token = arena_copy(remote->arena, slice_trim(slice_from(text, (size_t)count))).ptr;
    return STATUS_OK;
}

static enum option_origin origin_of(const struct remote *remote, const char *name)
{
    return remote->origins[option_find(remote_option_table, slice_of(name)) - remote_option_table];
}

/* Two options say the same: the one from the higher layer holds, whatever the other says; in one layer the token. */
static enum status read_token(struct remote *remote, struct failure *failure)
{
    enum option_origin token = origin_of(remote, "token"), file = origin_of(remote, "token-file");
    bool is_file = remote->options.token_file && (!remote->options.token || file > token);
    const char *name = is_file ? "token-file" : "token";
    remote->token_source =
        arena_format(remote->arena, "%s (%s)", name, option_origin_enum.names[is_file ? file : token]).ptr;
    return is_file ? read_token_file(remote, failure) : STATUS_OK;
}

enum status remote_read_options(struct remote *remote, const struct remote_setup *setup, struct failure *failure)
{
    enum status status = read_tables(remote, setup, failure);
    return status == STATUS_OK ? read_token(remote, failure) : status;
}
