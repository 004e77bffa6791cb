#include "main/secrets.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "main/maintenance.h"
#include "service/identity/secret.h"
#include "store/seal/secret_file.h"

/* clang-format off */
static const struct option secrets_table[] = {
    {.name = "data", .type = OPTION_TEXT, .value = "DIR", .help = "The data directory of the server."},
    {.name = "config", .type = OPTION_TEXT, .value = "FILE",
     .help = "The configuration file of the server, which names it."},
    {0},
};
/* clang-format on */

const struct option *const secrets_tables[] = {secrets_table, NULL};

static int fail(const struct failure *failure)
{
    fprintf(stderr, "sojourn: %s\n", failure->detail);
    return failure->status == STATUS_NOT_FOUND ? EXIT_MISSING : EXIT_REFUSED;
}

/* A data directory that is not there yet is made, as the server would. */
static enum status find_place(const struct invocation *invocation, struct secret_place *out, struct failure *failure)
{
    struct options options;
    enum status status = maintenance_load(invocation, &options, failure);
    if (status == STATUS_OK && sodium_init() < 0) {
        abort();
    }
    if (status == STATUS_OK && mkdir(options.data, 0700) != 0 && errno != EEXIST) {
        status =
            failure_set(failure, STATUS_INVALID, "bad_data", "%s can't be made: %s.", options.data, strerror(errno));
    }
    *out = (struct secret_place){options.data, options.secret_key};
    return status;
}

/* --- set --- */

static void show_typing(bool shown)
{
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes.c_lflag = shown ? modes.c_lflag | ECHO : modes.c_lflag & ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes);
    }
}

/* Everything up to the end of the input, or on a terminal of the line; the last line break is not part of it. */
static struct slice read_value(const char *name, unsigned char *room)
{
    bool typed = isatty(STDIN_FILENO);
    size_t len = 0;
    ssize_t count = 1;
    if (typed) {
        show_typing(false);
        fprintf(stderr, "%s: ", name);
    }
    while (len <= SECRET_BYTES_MAX && count > 0 && !(typed && len && room[len - 1] == '\n')) {
        count = read(STDIN_FILENO, room + len, SECRET_BYTES_MAX + 1 - len);
        len += count > 0 ? (size_t)count : 0;
    }
    if (typed) {
        show_typing(true);
        fputc('\n', stderr);
    }
    while (len && (room[len - 1] == '\n' || room[len - 1] == '\r')) {
        len--;
    }
    return slice_from(room, len);
}

/* It becomes part of a header: one line of visible characters. */
static enum status check_value(struct slice value, struct failure *failure)
{
    bool good = value.len > 0 && value.len <= SECRET_BYTES_MAX;
    for (size_t i = 0; i < value.len && good; i++) {
        good = (unsigned char)value.ptr[i] >= 0x20 && value.ptr[i] != 0x7F;
    }
    return good ? STATUS_OK
                : failure_set(failure, STATUS_INVALID, "invalid_secret",
                              "The value must be one line of 1 to %d bytes without control characters.",
                              SECRET_BYTES_MAX);
}

static enum status check_name(const char *name, struct failure *failure)
{
    return secret_name_is_good(slice_of(name))
               ? STATUS_OK
               : failure_set(failure, STATUS_INVALID, "invalid_name",
                             "A secret is named by letters, digits and underscores, as ANTHROPIC_API_KEY.");
}

static enum status set(const struct invocation *invocation, struct failure *failure)
{
    const char *name = invocation->arguments->positionals[0];
    struct secret_place place;
    enum status status = check_name(name, failure);
    if (status == STATUS_OK) {
        status = find_place(invocation, &place, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    secrets_guard_process();
    unsigned char *room = sodium_malloc(SECRET_BYTES_MAX + 1);
    if (!room) {
        abort(); /* out of memory */
    }
    struct slice value = read_value(name, room);
    status = check_value(value, failure);
    if (status == STATUS_OK) {
        status = secret_file_put(&place, slice_of(name), value, failure);
    }
    sodium_free(room);
    return status;
}

int command_secrets_set(const struct invocation *invocation)
{
    struct failure failure;
    return set(invocation, &failure) == STATUS_OK ? EXIT_DONE : fail(&failure);
}

/* --- list and remove --- */

int command_secrets_list(const struct invocation *invocation)
{
    struct secret_place place;
    struct failure failure;
    struct secret_records records = {0};
    struct slice name, value;
    size_t count = 0;
    enum status status = find_place(invocation, &place, &failure);
    if (status == STATUS_OK) {
        status = secret_file_read(&place, &records, &failure);
    }
    if (status != STATUS_OK) {
        return fail(&failure);
    }
    for (size_t at = 0; secret_records_next(&records, &at, &name, &value);) {
        printf("%.*s\n", SLICE_ARG(name));
        count++;
    }
    if (count == 0) {
        fprintf(stderr, "no secrets; store one with: sojourn secrets set NAME\n");
    }
    secret_records_release(&records);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

int command_secrets_remove(const struct invocation *invocation)
{
    const char *name = invocation->arguments->positionals[0];
    struct secret_place place;
    struct failure failure;
    enum status status = find_place(invocation, &place, &failure);
    if (status == STATUS_OK) {
        status = secret_file_put(&place, slice_of(name), (struct slice){0}, &failure);
    }
    return status == STATUS_OK ? EXIT_DONE : fail(&failure);
}
