#include "store/blob/blob_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0700, FILE_MODE = 0600 };

/* --- names --- */

static bool path_set(char out[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool path_set(char out[PATH_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(out, PATH_MAX, format, args);
    va_end(args);
    return len > 0 && len < PATH_MAX;
}

struct spot {
    char parent[PATH_MAX], halves[PATH_MAX], tenant[PATH_MAX], directory[PATH_MAX], file[PATH_MAX];
    const char *root;
};

static bool spot_find(struct spot *spot, const char *root, int64_t tenant_key, const struct hash *address)
{
    char name[HASH_TEXT_BYTES];
    hash_text(address, name);
    spot->root = root;
    return path_set(spot->parent, "%s/..", root) && path_set(spot->halves, "%s/new", root) &&
           path_set(spot->tenant, "%s/%lld", root, (long long)tenant_key) &&
           path_set(spot->directory, "%s/%.2s", spot->tenant, name) &&
           path_set(spot->file, "%s/%s", spot->directory, name);
}

/* --- writing --- */

static bool sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return done;
}

/* A directory that was made is an entry of its parent, which must last as well. */
static bool make_directory(const char *path, const char *parent)
{
    if (mkdir(path, DIRECTORY_MODE) == 0) {
        return sync_directory(parent);
    }
    return errno == EEXIST;
}

static bool make_directories(const struct spot *spot)
{
    return make_directory(spot->root, spot->parent) && make_directory(spot->halves, spot->root) &&
           make_directory(spot->tenant, spot->root) && make_directory(spot->directory, spot->tenant);
}

static bool write_all(int fd, struct slice content)
{
    while (content.len > 0) {
        ssize_t wrote = write(fd, content.ptr, content.len);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        content = slice_after(content, wrote > 0 ? (size_t)wrote : 0);
    }
    return true;
}

static bool write_file(const struct spot *spot, struct slice content)
{
    static _Atomic unsigned long counter;
    char half[PATH_MAX];
    int fd = -1;
    if (path_set(half, "%s/%ld-%lu", spot->halves, (long)getpid(), ++counter)) {
        fd = open(half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    }
    if (fd < 0) {
        return false;
    }
    bool written = write_all(fd, content) && fsync(fd) == 0;
    written = close(fd) == 0 && written;
    if (written && rename(half, spot->file) == 0) {
        return true;
    }
    unlink(half);
    return false;
}

enum status blob_file_write(const char *directory, int64_t tenant_key, const struct hash *address, struct slice content,
                            struct failure *failure)
{
    struct spot spot;
    bool done = spot_find(&spot, directory, tenant_key, address);
    if (done && utimensat(AT_FDCWD, spot.file, NULL, AT_SYMLINK_NOFOLLOW) != 0) {
        done = make_directories(&spot) && write_file(&spot, content);
    }
    /* Whoever wrote the file may not have come so far. */
    if (done && sync_directory(spot.directory)) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_UNAVAILABLE, "file_not_written", "The file could not be written: %s.",
                       strerror(errno));
}

bool blob_file_touch(const char *directory, int64_t tenant_key, const struct hash *address)
{
    struct spot spot;
    return spot_find(&spot, directory, tenant_key, address) &&
           utimensat(AT_FDCWD, spot.file, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- reading --- */

static bool read_all(int fd, char *to, size_t size)
{
    while (size > 0) {
        ssize_t got = read(fd, to, size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        to += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

enum status blob_file_read(const char *directory, int64_t tenant_key, const struct hash *address, struct arena *arena,
                           struct slice *out, struct failure *failure)
{
    struct spot spot;
    struct stat info;
    char *bytes = NULL;
    int fd = spot_find(&spot, directory, tenant_key, address) ? open(spot.file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool done = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (done) {
        bytes = arena_bytes(arena, (size_t)info.st_size + 1);
        done = read_all(fd, bytes, (size_t)info.st_size);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (!done) {
        return failure_set(failure, STATUS_UNAVAILABLE, "damaged_file", "The file is missing or cannot be read.");
    }
    *out = slice_from(bytes, (size_t)info.st_size);
    return STATUS_OK;
}

/* --- collecting --- */

static bool is_older(const struct stat *info, int64_t before_ms)
{
    return info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000 < before_ms;
}

void blob_file_delete(const char *directory, int64_t tenant_key, const struct hash *address, int64_t before_ms)
{
    struct spot spot;
    struct stat info;
    if (spot_find(&spot, directory, tenant_key, address) && lstat(spot.file, &info) == 0 &&
        is_older(&info, before_ms)) {
        unlink(spot.file);
    }
}

struct walk {
    int64_t before_ms, tenant_key;
    bool (*each)(void *owner, int64_t tenant_key, const struct hash *address);
    void *owner;
};

/* Calls `step` with the path of every entry until it returns false; false when it did. */
static bool walk_entries(struct walk *walk, const char *path,
                         bool (*step)(struct walk *walk, const char *path, struct slice name))
{
    char inner[PATH_MAX];
    DIR *directory = opendir(path);
    bool more = true;
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry && more; entry = readdir(directory)) {
        if (entry->d_name[0] != '.' && path_set(inner, "%s/%s", path, entry->d_name)) {
            more = step(walk, inner, slice_of(entry->d_name));
        }
    }
    if (directory) {
        closedir(directory);
    }
    return more;
}

static bool walk_file(struct walk *walk, const char *path, struct slice name)
{
    struct hash address;
    struct stat info;
    bool old = hash_parse(name, &address) && lstat(path, &info) == 0 && is_older(&info, walk->before_ms);
    return !old || walk->each(walk->owner, walk->tenant_key, &address);
}

static bool walk_prefix(struct walk *walk, const char *path, struct slice name)
{
    return name.len != 2 || walk_entries(walk, path, walk_file);
}

static bool walk_tenant(struct walk *walk, const char *path, struct slice name)
{
    return !slice_to_i64(name, &walk->tenant_key) || walk_entries(walk, path, walk_prefix);
}

void blob_file_each(const char *directory, int64_t before_ms,
                    bool (*each)(void *owner, int64_t tenant_key, const struct hash *address), void *owner)
{
    struct walk walk = {before_ms, 0, each, owner};
    walk_entries(&walk, directory, walk_tenant);
}

static bool forget_half(struct walk *walk, const char *path, struct slice name)
{
    (void)walk, (void)name;
    unlink(path);
    return true;
}

void blob_file_forget_halves(const char *directory)
{
    char halves[PATH_MAX];
    if (path_set(halves, "%s/new", directory)) {
        walk_entries(NULL, halves, forget_half);
    }
}
