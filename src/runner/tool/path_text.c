#include "runner/tool/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024, NAME_TRIES = 8 };

static enum status too_large(struct failure *failure, const struct resolved_path *spot, size_t bytes_max)
{
    return failure_set(failure, STATUS_TOO_LARGE, "file_too_large",
                       "\"%.*s\" is larger than the limit of %zu bytes; search_files finds lines in it.",
                       SLICE_ARG(spot->shown), bytes_max);
}

static enum status read_all(int fd, const struct resolved_path *spot, size_t bytes_max, struct buffer *out,
                            struct failure *failure)
{
    for (;;) {
        buffer_reserve(out, READ_BYTES);
        ssize_t got = read(fd, out->ptr + out->len, READ_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return failure_set(failure, STATUS_UNAVAILABLE, "read_failed", "\"%.*s\" cannot be read: %s.",
                               SLICE_ARG(spot->shown), strerror(errno));
        }
        out->len += (size_t)got;
        if (out->len > bytes_max) {
            return too_large(failure, spot, bytes_max);
        }
        if (got == 0) {
            return STATUS_OK;
        }
    }
}

enum status path_read_text(const struct resolved_path *spot, size_t bytes_max, struct buffer *out,
                           struct stat *out_stat, struct failure *failure)
{
    int fd;
    enum status status = path_open_file(spot, &fd, out_stat, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = out_stat->st_size > (off_t)bytes_max ? too_large(failure, spot, bytes_max)
                                                  : read_all(fd, spot, bytes_max, out, failure);
    close(fd);
    if (status == STATUS_OK && (memchr(buffer_slice(out).ptr, 0, out->len) || !slice_is_utf8(buffer_slice(out)))) {
        return failure_set(failure, STATUS_UNSUPPORTED, "file_is_binary",
                           "\"%.*s\" is not UTF-8 text (%lld bytes); this tool takes text files only.",
                           SLICE_ARG(spot->shown), (long long)out_stat->st_size);
    }
    return status;
}

/* --- writing --- */

static bool write_all(int fd, struct slice content)
{
    while (content.len > 0) {
        ssize_t done = write(fd, content.ptr, content.len);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        content = slice_after(content, done > 0 ? (size_t)done : 0);
    }
    return true;
}

static int create_beside(int dir, char name[64])
{
    for (int i = 0; i < NAME_TRIES; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random) {
            return -1;
        }
        snprintf(name, 64, ".write-%016llx.tmp", (unsigned long long)random);
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Looks at what stands there: only a regular file, or nothing, may be replaced. */
static enum status check_target(const struct resolved_path *spot, const struct stat *before, mode_t *out_mode,
                                struct failure *failure)
{
    struct stat now;
    bool is_there = fstatat(spot->dir, spot->name.ptr, &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (before && !(is_there && is_same(before, &now))) {
        return failure_set(failure, STATUS_STALE, "file_changed",
                           "\"%.*s\" was changed by somebody else meanwhile; read it again.", SLICE_ARG(spot->shown));
    }
    if (is_there && !S_ISREG(now.st_mode)) {
        return failure_set(failure, STATUS_FORBIDDEN, "path_refused",
                           "\"%.*s\" is a directory, a link or a device; only files are written.",
                           SLICE_ARG(spot->shown));
    }
    *out_mode = is_there ? now.st_mode & 0777 : 0644;
    return STATUS_OK;
}

enum status path_write(const struct resolved_path *spot, struct slice content, const struct stat *before,
                       struct failure *failure)
{
    char beside[64];
    mode_t mode;
    enum status status = check_target(spot, NULL, &mode, failure);
    if (status != STATUS_OK) {
        return status;
    }
    int fd = create_beside(spot->dir, beside);
    bool written = fd >= 0 && write_all(fd, content) && fchmod(fd, mode) == 0;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    status = written ? check_target(spot, before, &mode, failure) : STATUS_OK;
    if (written && status == STATUS_OK) {
        written = renameat(spot->dir, beside, spot->dir, spot->name.ptr) == 0;
        error = errno;
    }
    if (fd >= 0 && (!written || status != STATUS_OK)) {
        unlinkat(spot->dir, beside, 0);
    }
    return written || status != STATUS_OK
               ? status
               : failure_set(failure, STATUS_UNAVAILABLE, "write_failed", "\"%.*s\" cannot be written: %s.",
                             SLICE_ARG(spot->shown), strerror(error));
}
