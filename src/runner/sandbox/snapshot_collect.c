#include "runner/sandbox/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

struct found {
    char name[256];
    struct timespec when;
};

static int newest_first(const void *left, const void *right)
{
    const struct timespec *a = &((const struct found *)left)->when, *b = &((const struct found *)right)->when;
    if (a->tv_sec != b->tv_sec) {
        return a->tv_sec < b->tv_sec ? 1 : -1;
    }
    return a->tv_nsec == b->tv_nsec ? 0 : a->tv_nsec < b->tv_nsec ? 1 : -1;
}

/* Finished archives; unfinished ones are removed on the way. */
static size_t find_archives(DIR *dir, struct found **out)
{
    size_t count = 0, room = 0;
    struct stat about;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, ".writing-", 9) == 0) {
            unlinkat(dirfd(dir), entry->d_name, 0);
        }
        if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (count == room) {
            room = room ? room * 2 : 8;
            *out = memory_resize(*out, room * sizeof **out);
        }
        snprintf((*out)[count].name, sizeof(*out)[count].name, "%s", entry->d_name);
        (*out)[count++].when = about.st_mtim;
    }
    return count;
}

void snapshot_collect(const char *dir, int64_t tenant_key, int64_t session_key, size_t keep)
{
    char path[1024];
    struct found *found = NULL;
    snprintf(path, sizeof path, "%s/%" PRId64 "/%" PRId64, dir, tenant_key, session_key);
    DIR *session = opendir(path);
    if (!session) {
        return;
    }
    size_t count = find_archives(session, &found);
    if (count > keep) {
        qsort(found, count, sizeof *found, newest_first);
    }
    for (size_t i = keep; i < count; i++) {
        unlinkat(dirfd(session), found[i].name, 0);
    }
    closedir(session);
    free(found);
    if (keep == 0) {
        rmdir(path);
    }
}
