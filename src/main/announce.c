#include "main/announce.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_URL "http://127.0.0.1:7070"

/* --- the token of the owner --- */

enum status owner_token_make(const char *path, struct call *call, char out_token[TOKEN_TEXT_BYTES])
{
    out_token[0] = '\0';
    if (!path || access(path, F_OK) == 0) {
        return STATUS_OK;
    }
    enum status status = identity_owner_token(call, SLICE("owner-token-file"), out_token);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool write_private(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    size_t length = strlen(text);
    bool ok = fd >= 0 && write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    int code = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = code;
    return ok;
}

enum status owner_token_keep(const char *path, char token[TOKEN_TEXT_BYTES], struct failure *failure)
{
    char line[TOKEN_TEXT_BYTES + 1];
    if (token[0] == '\0') {
        return STATUS_OK;
    }
    snprintf(line, sizeof line, "%s\n", token);
    bool ok = write_private(path, line);
    int code = errno;
    sodium_memzero(line, sizeof line);
    sodium_memzero(token, TOKEN_TEXT_BYTES);
    return ok ? STATUS_OK
              : failure_set(failure, STATUS_INVALID, "owner_token_file", "--owner-token-file %s can't be written: %s.",
                            path, strerror(code));
}

/* --- what is printed --- */

static void print_first_link(const char *base, const char *secret)
{
    printf("Sign in as the owner (" FIRST_OWNER_EMAIL ") with this link, which works once:\n  %s/sign-in#%s\n", base,
           secret);
}

static void print_chat_line(const struct options *options, const char *base)
{
    const char *agent = options->demo_agent ? " demo" : "";
    printf("Then talk to %s, in a second terminal:\n  %s chat%s", options->demo_agent ? "the demo agent" : "an agent",
           program_invocation_name, agent);
    if (strcmp(base, DEFAULT_URL) != 0) {
        printf(" --url %s", base);
    }
    if (options->owner_token_file) {
        printf(" --token-file %s\n", options->owner_token_file);
    } else {
        printf("\nwith a token in SOJOURN_TOKEN (the dashboard makes one).\n");
    }
}

bool announce_is_for_browsers(const char *address)
{
    return strncmp(address, "http", 4) == 0;
}

void announce_socket(const struct options *options, const char *address, const char *first_link)
{
    if (first_link[0]) {
        printf("Sojourn runs at %s\n", address);
        print_first_link(options->public_url ? options->public_url : "", first_link);
        fflush(stdout);
    }
}

void announce(const struct options *options, const char *address, const char *first_link)
{
    const char *base = options->public_url ? options->public_url : address;
    bool has_file = options->owner_token_file && access(options->owner_token_file, R_OK) == 0;
    if (!announce_is_for_browsers(address) || (!first_link[0] && !has_file)) {
        return;
    }
    printf("Sojourn runs at %s\n", base);
    if (first_link[0]) {
        print_first_link(base, first_link);
    }
    print_chat_line(options, base);
    fflush(stdout);
}
