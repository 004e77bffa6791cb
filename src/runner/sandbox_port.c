#include "runner/sandbox_port.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INODES_MAX = 64, LINE_BYTES = 4096, STATE_LISTEN = 0x0A };

struct listeners {
    unsigned long inodes[INODES_MAX];
    size_t count;
};

/* "  0: 0100007F:1F90 00000000:0000 0A … uid timeout inode …" */
static void read_table(const char *path, int64_t port, struct listeners *out)
{
    char line[LINE_BYTES];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        unsigned local_port, state;
        unsigned long inode;
        int fields = sscanf(line, "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu", &local_port,
                            &state, &inode);
        if (fields == 3 && state == STATE_LISTEN && local_port == port && out->count < INODES_MAX) {
            out->inodes[out->count++] = inode;
        }
    }
    if (file) {
        fclose(file);
    }
}

static bool is_wanted(const struct listeners *listeners, const char *link)
{
    unsigned long inode;
    if (sscanf(link, "socket:[%lu]", &inode) != 1) {
        return false;
    }
    for (size_t i = 0; i < listeners->count; i++) {
        if (listeners->inodes[i] == inode) {
            return true;
        }
    }
    return false;
}

static bool holds(const char *pid, const struct listeners *listeners)
{
    char path[320], link[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (len > 0) {
            link[len] = '\0';
            found = is_wanted(listeners, link);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}

/* What it sees where a sandbox has its tree is this tree; on the machine itself nobody counts. */
static bool is_inside(const char *pid, const struct sandbox_place *place, const struct stat *tree)
{
    char path[512], own[64], other[64];
    struct stat seen;
    snprintf(path, sizeof path, "/proc/%.20s/ns/mnt", pid);
    ssize_t own_len = readlink("/proc/self/ns/mnt", own, sizeof own);
    ssize_t other_len = readlink(path, other, sizeof other);
    if (own_len <= 0 || other_len <= 0 || (own_len == other_len && memcmp(own, other, (size_t)own_len) == 0)) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%.20s/root%.400s", pid, place->inside);
    return stat(path, &seen) == 0 && seen.st_dev == tree->st_dev && seen.st_ino == tree->st_ino;
}

bool sandbox_listens(const struct sandbox_place *place, int64_t port)
{
    struct listeners listeners = {0};
    struct stat tree;
    bool found = false;
    read_table("/proc/net/tcp", port, &listeners);
    read_table("/proc/net/tcp6", port, &listeners);
    DIR *dir = listeners.count > 0 && stat(place->tree, &tree) == 0 ? opendir("/proc") : NULL;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        found = isdigit((unsigned char)entry->d_name[0]) && is_inside(entry->d_name, place, &tree) &&
                holds(entry->d_name, &listeners);
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}
