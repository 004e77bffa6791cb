#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/store.h"

enum { WAIT_MS = 1000, AGAIN_MS = 20 };

static enum status refuse(const char *directory, int fd, struct failure *failure)
{
    char holder[32] = "";
    ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
    holder[got > 0 ? strcspn(holder, "\n") : 0] = 0;
    return failure_set(
        failure, STATUS_UNAVAILABLE, "data_directory_in_use",
        "The data directory %s is used by another server (process %s). Stop it, or give this one another "
        "--data directory.",
        directory, *holder ? holder : "unknown");
}

static void note_pid(int fd)
{
    char pid[32];
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    /* Only for the message above; the lock itself does not depend on it. */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)len, 0) != len) {
        return;
    }
}

/* A server that was killed while it started a process leaves its descriptors to that process for a moment. */
static bool take(int fd)
{
    bool is_taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
    for (int waited_ms = 0; !is_taken && waited_ms < WAIT_MS; waited_ms += AGAIN_MS) {
        poll(NULL, 0, AGAIN_MS);
        is_taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    return is_taken;
}

enum status store_lock_directory(const char *directory, int *out_fd, struct failure *failure)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return failure_set(failure, STATUS_UNAVAILABLE, "data_directory_unusable", "Cannot open %.200s: %s.", path,
                           strerror(errno));
    }
    if (!take(fd)) {
        enum status status = refuse(directory, fd, failure);
        close(fd);
        return status;
    }
    note_pid(fd);
    *out_fd = fd;
    return STATUS_OK;
}

void store_unlock_directory(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}
