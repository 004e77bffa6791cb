#include "runner/tool/path.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

struct trail {
    struct slice tree, mount;
    char at[PATH_MAX];    /* where it leads so far, without links; "" = the top */
    char ahead[PATH_MAX]; /* what is still to be walked */
    int links;
};

/* Where this machine keeps it; false when it cannot be looked at. */
static bool on_machine(const struct trail *trail, const char *path, char out[PATH_MAX])
{
    size_t len = trail->mount.len;
    if (!slice_present(trail->tree)) {
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    }
    bool is_below = strncmp(path, trail->mount.ptr, len) == 0 && (path[len] == '/' || path[len] == 0);
    return is_below && snprintf(out, PATH_MAX, "%.*s%s", SLICE_ARG(trail->tree), path + len) < PATH_MAX;
}

static void step_up(struct trail *trail)
{
    char *slash = strrchr(trail->at, '/');
    trail->at[slash ? slash - trail->at : 0] = 0;
}

/* The link takes the place of the part that it was. */
static bool take_link(struct trail *trail, const char *target)
{
    char whole[PATH_MAX];
    if (++trail->links > LINKS_MAX ||
        snprintf(whole, sizeof whole, "%s/%s", target, trail->ahead) >= (int)sizeof whole) {
        return false;
    }
    if (target[0] == '/') {
        trail->at[0] = 0;
    }
    snprintf(trail->ahead, sizeof trail->ahead, "%s", whole);
    return true;
}

static bool step_into(struct trail *trail, const char *part)
{
    char next[PATH_MAX], host[PATH_MAX], target[PATH_MAX];
    if (snprintf(next, sizeof next, "%s/%s", trail->at, part) >= (int)sizeof next) {
        return false;
    }
    ssize_t len = on_machine(trail, next, host) ? readlink(host, target, sizeof target - 1) : -1;
    if (len >= 0) {
        target[len] = 0;
        return take_link(trail, target);
    }
    snprintf(trail->at, sizeof trail->at, "%s", next);
    return true;
}

/* Takes the next part off what is ahead. */
static bool next_part(struct trail *trail, char part[PATH_MAX])
{
    size_t skip = strspn(trail->ahead, "/"), len = strcspn(trail->ahead + skip, "/");
    if (len == 0) {
        return false;
    }
    memcpy(part, trail->ahead + skip, len);
    part[len] = 0;
    memmove(trail->ahead, trail->ahead + skip + len, strlen(trail->ahead + skip + len) + 1);
    return true;
}

bool path_follow(struct arena *arena, struct slice tree, struct slice mount, struct slice path, struct slice *out)
{
    struct trail *trail = arena_alloc(arena, sizeof *trail);
    char part[PATH_MAX];
    trail->tree = tree;
    trail->mount = mount;
    if (path.len >= PATH_MAX || memchr(path.ptr, 0, path.len)) {
        return false;
    }
    snprintf(trail->ahead, sizeof trail->ahead, "%.*s", SLICE_ARG(path));
    while (next_part(trail, part)) {
        bool is_up = strcmp(part, "..") == 0;
        if (is_up) {
            step_up(trail);
        } else if (strcmp(part, ".") != 0 && !step_into(trail, part)) {
            return false;
        }
    }
    *out = arena_copy(arena, trail->at[0] ? slice_of(trail->at) : SLICE("/"));
    return true;
}
