#include "runner/sandbox/sandbox_port.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTENERS_MAX = 64, LINE_BYTES = 4096, STATE_LISTEN = 0x0A };

/* The sockets that a connection to 127.0.0.1 and the port could end at. */
struct listeners {
    unsigned long inodes[LISTENERS_MAX];
    bool held[LISTENERS_MAX]; /* by the sandbox */
    size_t count;
    bool overflow;
};

/* 127.0.0.1, or every address of IPv4; of IPv6 the mapped one, or every address, which may mean IPv4 too. */
static bool takes_loopback(const char *address)
{
    char loopback[16], mapped[40];
    snprintf(loopback, sizeof loopback, "%08X", (unsigned)htonl(INADDR_LOOPBACK));
    snprintf(mapped, sizeof mapped, "%016d%08X%s", 0, (unsigned)htonl(0xFFFF), loopback);
    return address[strspn(address, "0")] == '\0' || strcmp(address, loopback) == 0 || strcmp(address, mapped) == 0;
}

static void listeners_add(struct listeners *listeners, unsigned long inode)
{
    if (listeners->count == LISTENERS_MAX) {
        listeners->overflow = true;
    } else {
        listeners->inodes[listeners->count++] = inode;
    }
}

/* "  0: 0100007F:1F90 00000000:0000 0A … uid timeout inode …" */
static void read_table(const char *path, int64_t port, struct listeners *out)
{
    char line[LINE_BYTES], address[33];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        unsigned local_port, state;
        unsigned long inode;
        int fields = sscanf(line, "%*d: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu", address,
                            &local_port, &state, &inode);
        if (fields == 4 && state == STATE_LISTEN && local_port == port && takes_loopback(address)) {
            listeners_add(out, inode);
        }
    }
    if (file) {
        fclose(file);
    }
}

static void mark(struct listeners *listeners, const char *link)
{
    unsigned long inode;
    if (sscanf(link, "socket:[%lu]", &inode) != 1) {
        return;
    }
    for (size_t i = 0; i < listeners->count; i++) {
        listeners->held[i] = listeners->held[i] || listeners->inodes[i] == inode;
    }
}

static void mark_held(const char *pid, struct listeners *listeners)
{
    char path[320], link[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (len > 0) {
            link[len] = '\0';
            mark(listeners, link);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static bool all_are_held(const struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++) {
        if (!listeners->held[i]) {
            return false;
        }
    }
    return listeners->count > 0 && !listeners->overflow;
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
    read_table("/proc/net/tcp", port, &listeners);
    read_table("/proc/net/tcp6", port, &listeners);
    DIR *dir = listeners.count > 0 && stat(place->tree, &tree) == 0 ? opendir("/proc") : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir)) && !all_are_held(&listeners);) {
        if (isdigit((unsigned char)entry->d_name[0]) && is_inside(entry->d_name, place, &tree)) {
            mark_held(entry->d_name, &listeners);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return all_are_held(&listeners);
}
