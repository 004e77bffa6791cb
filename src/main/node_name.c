#include "main/node_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "main/read_file.h"

enum { PATH_BYTES = 4096 };

static enum status keep(const char *path, const char *name, struct failure *failure)
{
    size_t len = strlen(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool kept = fd >= 0 && write(fd, name, len) == (ssize_t)len && fsync(fd) == 0;
    int code = errno;
    if (fd >= 0) {
        close(fd);
    }
    return kept ? STATUS_OK
                : failure_set(failure, STATUS_UNAVAILABLE, "no_node_name",
                              "The name of this server can't be kept in %s: %s.", path, strerror(code));
}

/* A file that was cut off in the middle of its first writing counts as none: nothing is known under that name yet. */
static enum status find_kept(const char *path, char out[NODE_NAME_BYTES], bool *found, struct failure *failure)
{
    struct buffer text = {0};
    enum status status = read_file(path, NODE_NAME_BYTES - 1, &text, failure);
    *found = status == STATUS_OK && text.len == UUID_TEXT_BYTES - 1;
    if (*found) {
        snprintf(out, NODE_NAME_BYTES, "%.*s", SLICE_ARG(buffer_slice(&text)));
    }
    buffer_release(&text);
    return status;
}

enum status node_name_find(const char *given, const char *data, struct id_source *ids, int64_t now_ms,
                           char out[NODE_NAME_BYTES], struct failure *failure)
{
    char path[PATH_BYTES];
    bool found = false;
    if (given) {
        snprintf(out, NODE_NAME_BYTES, "%s", given);
        return STATUS_OK;
    }
    snprintf(path, sizeof path, "%s/node", data);
    if (access(path, F_OK) == 0) {
        enum status status = find_kept(path, out, &found, failure);
        if (status != STATUS_OK || found) {
            return status;
        }
    }
    id_uuid7(ids, now_ms, out);
    return keep(path, out, failure);
}
