#include "runner/tool/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { EAGAIN_TRIES = 16 };

/* Names that are guarded wherever they stand in a path. */
static const struct guarded {
    const char *name;
    bool may_be_read;
} guarded_names[] = {
    {".git", true},           {".ssh", false},        {".sojourn", false},     {".bashrc", false},
    {".bash_profile", false}, {".bash_login", false}, {".bash_logout", false}, {".profile", false},
    {".zshrc", false},        {".zshenv", false},     {".zprofile", false},    {".zlogin", false},
    {".zlogout", false},      {".kshrc", false},      {".cshrc", false},       {".tcshrc", false},
    {".login", false},        {".inputrc", false},    {"config.fish", false},
};

/* A tree and the way in it, as the agent means it. */
struct aim {
    struct slice root; /* absolute, on this machine */
    struct slice rest; /* clean, relative; "" = the root itself */
    bool is_machine;
};

bool path_is_protected(struct slice name, enum path_use use)
{
    for (size_t i = 0; i < sizeof guarded_names / sizeof guarded_names[0]; i++) {
        if (slice_eq_nocase(name, slice_of(guarded_names[i].name))) {
            return use == PATH_WRITE || !guarded_names[i].may_be_read;
        }
    }
    return false;
}

static enum status refuse(struct failure *failure, struct slice path, const char *why)
{
    return failure_set(failure, STATUS_FORBIDDEN, "path_refused", "The path \"%.*s\" is refused: %s.",
                       (int)(path.len > 300 ? 300 : path.len), path.ptr ? path.ptr : "", why);
}

/* --- what is meant --- */

bool path_clean(struct arena *arena, struct slice path, struct slice *out)
{
    char *to = arena_bytes(arena, path.len + 1);
    size_t len = 0;
    struct slice left = path, part;
    if (path.len >= PATH_MAX || (path.len && memchr(path.ptr, 0, path.len))) {
        return false;
    }
    while (left.len > 0) {
        slice_cut(left, '/', &part, &left);
        if (slice_is(part, "..")) {
            if (len == 0) {
                return false;
            }
            while (len > 0 && to[--len] != '/') {
            }
        } else if (part.len > 0 && !slice_is(part, ".")) {
            len += (size_t)snprintf(to + len, path.len + 1 - len, "%s%.*s", len ? "/" : "", SLICE_ARG(part));
        }
    }
    to[len] = 0;
    *out = slice_from(to, len);
    return true;
}

/* Is `path` the directory `top` or below it? Then `out_rest` is what follows. */
static bool is_below(struct slice path, struct slice top, struct slice *out_rest)
{
    while (top.len > 1 && top.ptr[top.len - 1] == '/') {
        top.len--;
    }
    if (top.len == 0 || !slice_starts(path, top)) {
        return false;
    }
    struct slice rest = slice_after(path, top.len);
    if (top.len > 1 && rest.len > 0 && rest.ptr[0] != '/') {
        return false;
    }
    while (rest.len > 0 && rest.ptr[0] == '/') {
        rest = slice_after(rest, 1);
    }
    *out_rest = rest;
    return true;
}

static struct slice join(struct arena *arena, struct slice top, struct slice rest)
{
    const char *between = rest.len == 0 || (top.len && top.ptr[top.len - 1] == '/') ? "" : "/";
    return arena_format(arena, "%.*s%s%.*s", SLICE_ARG(top), between, SLICE_ARG(rest));
}

static struct slice workspace_of(const struct path_scope *scope)
{
    return scope->fs_scope >= FS_SCOPE_PROJECT ? scope->workspace : (struct slice){0};
}

static bool aim_absolute(const struct path_scope *scope, struct slice whole, struct aim *out)
{
    const struct {
        struct slice shown, root;
    } places[] = {{scope->tree, scope->tree}, {scope->mount, scope->tree}, {workspace_of(scope), workspace_of(scope)}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (slice_present(places[i].root) && is_below(whole, places[i].shown, &out->rest)) {
            out->root = places[i].root;
            return true;
        }
    }
    out->root = SLICE("/");
    out->rest = slice_after(whole, 1);
    out->is_machine = true;
    return scope->fs_scope == FS_SCOPE_FULL;
}

static const char *aim_at(struct arena *arena, const struct path_scope *scope, struct slice path, struct aim *out)
{
    *out = (struct aim){0};
    if (path.len > 0 && path.ptr[0] == '/') {
        struct slice inner;
        if (!path_clean(arena, path, &inner)) {
            return "it leads above the top";
        }
        return aim_absolute(scope, arena_format(arena, "/%.*s", SLICE_ARG(inner)), out)
                   ? NULL
                   : "it is outside of what this agent may touch; use a path relative to its tree";
    }
    out->root = slice_present(scope->tree) ? scope->tree : workspace_of(scope);
    if (!slice_present(out->root)) {
        return "there is no sandbox and no workspace a relative path could start from";
    }
    return path_clean(arena, path, &out->rest) ? NULL : "it leads above the top of the tree";
}

struct slice path_absolute(struct arena *arena, const struct path_scope *scope, struct slice path)
{
    struct aim aim;
    if (aim_at(arena, scope, path, &aim) && !slice_present(aim.rest)) {
        return path;
    }
    return join(arena, aim.root, aim.rest);
}

static struct slice real_path(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    struct slice copy = real ? arena_copy(arena, slice_of(real)) : (struct slice){0};
    free(real);
    return copy;
}

struct slice path_project(struct arena *arena, const char *const *roots, size_t count, struct slice directory)
{
    struct slice rest, none = {0};
    if (count == 0 || !slice_starts(directory, SLICE("/")) || memchr(directory.ptr, 0, directory.len)) {
        return none;
    }
    struct slice real = real_path(arena, arena_copy(arena, directory).ptr);
    for (size_t i = 0; slice_present(real) && i < count; i++) {
        struct slice root = real_path(arena, roots[i]);
        if (slice_present(root) && is_below(real, root, &rest)) {
            return real;
        }
    }
    return none;
}

/* --- where it leads --- */

static int open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    for (int i = 0; i < EAGAIN_TRIES; i++) {
        fd = syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN) {
            break;
        }
    }
    return (int)fd;
}

/* The path of an open file as the kernel knows it now; absent when it cannot tell. */
static struct slice path_of(struct arena *arena, int fd)
{
    char link[64], text[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, text, sizeof text);
    return len > 0 && len < (ssize_t)sizeof text && text[0] == '/' ? arena_copy(arena, slice_from(text, (size_t)len))
                                                                   : (struct slice){0};
}

static enum status refuse_errno(struct failure *failure, struct slice path, int error)
{
    switch (error) {
    case ENOENT:
        return failure_set(failure, STATUS_NOT_FOUND, "path_not_found", "There is no \"%.*s\".", SLICE_ARG(path));
    case ENOTDIR:
        return failure_set(failure, STATUS_NOT_FOUND, "path_not_found", "A part of \"%.*s\" is not a directory.",
                           SLICE_ARG(path));
    case EXDEV:
        return refuse(failure, path, "a link on the way leads out of the tree");
    case ELOOP:
        return refuse(failure, path, "a link on the way may not be followed");
    case EAGAIN:
        return failure_set(failure, STATUS_UNAVAILABLE, "path_changing", "\"%.*s\" is being moved about; try again.",
                           SLICE_ARG(path));
    case ENOSYS:
    case EPERM:
        return refuse(failure, path, "this machine has no openat2 (Linux 5.6), without which links cannot be held");
    default:
        return refuse(failure, path, strerror(error));
    }
}

struct search {
    struct arena *arena;
    const struct path_scope *scope;
    struct slice path; /* as given */
    enum path_use use;
    struct failure *failure;
    struct aim aim;
    int root;
    uint64_t resolve;
    struct slice root_real;
    struct slice rest_real; /* relative to the root, without links as far as it exists */
    size_t exists_len;      /* of rest_real */
};

/* Finds the longest part of the way that exists; the rest, if any, follows it. */
static enum status resolve_links(struct search *s)
{
    struct slice way = s->aim.rest;
    int fd;
    while ((fd = open_beneath(s->root, arena_copy(s->arena, way).ptr, O_PATH, s->resolve)) < 0) {
        if (errno != ENOENT || s->use == PATH_READ || way.len == 0) {
            return refuse_errno(s->failure, s->path, errno);
        }
        while (way.len > 0 && way.ptr[--way.len] != '/') {
        }
    }
    struct slice real = path_of(s->arena, fd), inner;
    close(fd);
    if (!slice_present(real) || !is_below(real, s->root_real, &inner)) {
        return refuse(s->failure, s->path, "it is not in the tree any more");
    }
    struct slice missing = slice_after(s->aim.rest, way.len);
    missing = missing.len && missing.ptr[0] == '/' ? slice_after(missing, 1) : missing;
    s->exists_len = inner.len;
    s->rest_real = missing.len == 0 ? inner : inner.len == 0 ? missing : join(s->arena, inner, missing);
    return STATUS_OK;
}

static bool has_guarded_part(struct slice path, enum path_use use)
{
    struct slice part;
    while (path.len > 0) {
        slice_cut(path, '/', &part, &path);
        if (path_is_protected(part, use)) {
            return true;
        }
    }
    return false;
}

/* The option may be relative, or a link. */
bool path_is_hidden(struct arena *arena, const struct path_scope *scope, struct slice real)
{
    struct slice below;
    int fd = slice_present(scope->hidden) ? open(arena_copy(arena, scope->hidden).ptr, O_PATH | O_CLOEXEC) : -1;
    bool is = fd >= 0 && is_below(real, path_of(arena, fd), &below);
    if (fd >= 0) {
        close(fd);
    }
    return is;
}

/* The tree itself may be known by another name than its real one: both are asked about. */
static bool rules_allow(const struct search *s, struct slice real)
{
    struct slice meant = join(s->arena, s->aim.root, s->aim.rest), in_tree = join(s->arena, s->aim.root, s->rest_real);
    return s->scope->allow(s->scope->owner, meant, in_tree) && s->scope->allow(s->scope->owner, meant, real);
}

static enum status check_real(struct search *s)
{
    struct slice real = join(s->arena, s->root_real, s->rest_real);
    if (has_guarded_part(s->aim.rest, s->use) || has_guarded_part(s->rest_real, s->use)) {
        return refuse(s->failure, s->path, "it is protected (.git is read only; .ssh, .sojourn and shell start files)");
    }
    if (s->aim.is_machine && path_is_hidden(s->arena, s->scope, real)) {
        return refuse(s->failure, s->path, "these are the server's own files");
    }
    if (s->scope->allow && !slice_eq(s->rest_real, s->aim.rest) && !rules_allow(s, real)) {
        return refuse(s->failure, s->path, "a link on the way leads to a place that a permission rule guards");
    }
    return STATUS_OK;
}

/* Makes what is missing of `path`, one directory after the other, each held open before the next is made in it. */
static int make_directories(struct search *s, struct slice path)
{
    int dir = open_beneath(s->root, ".", O_PATH | O_DIRECTORY, s->resolve | RESOLVE_NO_SYMLINKS);
    struct slice part;
    while (dir >= 0 && path.len > 0) {
        slice_cut(path, '/', &part, &path);
        const char *name = arena_copy(s->arena, part).ptr;
        if (mkdirat(dir, name, 0755) != 0 && errno != EEXIST) {
            int error = errno;
            close(dir);
            errno = error;
            return -1;
        }
        int next = open_beneath(dir, name, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        int error = errno;
        close(dir);
        errno = error;
        dir = next;
    }
    return dir;
}

static enum status open_spot(struct search *s, struct resolved_path *out)
{
    struct slice parent = s->rest_real, name;
    while (parent.len > 0 && parent.ptr[parent.len - 1] != '/') {
        parent.len--;
    }
    name = slice_after(s->rest_real, parent.len);
    parent.len -= parent.len > 0;
    bool makes = s->use == PATH_WRITE && s->exists_len < parent.len;
    int dir = makes ? make_directories(s, parent)
                    : open_beneath(s->root, arena_copy(s->arena, parent).ptr, O_PATH | O_DIRECTORY,
                                   s->resolve | RESOLVE_NO_SYMLINKS);
    if (dir < 0) {
        return refuse_errno(s->failure, s->path, errno);
    }
    *out = (struct resolved_path){
        .dir = dir,
        .name = arena_copy(s->arena, name.len ? name : SLICE(".")),
        .real = join(s->arena, s->root_real, s->rest_real),
        .shown = s->aim.is_machine || slice_eq(s->aim.root, workspace_of(s->scope))
                     ? join(s->arena, s->aim.root, s->aim.rest)
                 : s->aim.rest.len ? s->aim.rest
                                   : SLICE("."),
        .exists = s->exists_len == s->rest_real.len,
        .is_machine = s->aim.is_machine,
    };
    return STATUS_OK;
}

enum status path_find(struct arena *arena, const struct path_scope *scope, struct slice path, enum path_use use,
                      struct resolved_path *out, struct failure *failure)
{
    struct search s = {.arena = arena, .scope = scope, .path = path, .use = use, .failure = failure};
    const char *why = aim_at(arena, scope, path, &s.aim);
    if (why) {
        return refuse(failure, path, why);
    }
    s.resolve = s.aim.is_machine ? RESOLVE_IN_ROOT : RESOLVE_BENEATH;
    s.root = open(arena_copy(arena, s.aim.root).ptr, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s.root < 0) {
        return failure_set(failure, STATUS_UNAVAILABLE, "tree_unavailable", "The tree of files is not there: %s.",
                           strerror(errno));
    }
    s.root_real = path_of(arena, s.root);
    enum status status =
        slice_present(s.root_real) ? resolve_links(&s) : refuse(failure, path, "the tree cannot be located (no /proc)");
    if (status == STATUS_OK) {
        status = check_real(&s);
    }
    if (status == STATUS_OK) {
        status = open_spot(&s, out);
    }
    close(s.root);
    return status;
}

void resolved_path_close(struct resolved_path *spot)
{
    if (spot->dir >= 0) {
        close(spot->dir);
        spot->dir = -1;
    }
}

/* --- what is there --- */

/* Opens again what is already held by O_PATH: the same file, whatever stands at its name now. */
static int open_held(int held, int flags)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", held);
    return open(link, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static bool is_of_the_kernel(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
           fs.f_type == DEBUGFS_MAGIC || fs.f_type == TRACEFS_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC;
}

int path_open_entry(int dir, const char *name, struct stat *out_stat)
{
    int held = open_beneath(dir, name, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS), fd = -1;
    if (held < 0) {
        return -1;
    }
    if (fstat(held, out_stat) == 0 && S_ISREG(out_stat->st_mode) && !is_of_the_kernel(held)) {
        fd = open_held(held, O_RDONLY);
    } else {
        errno = EINVAL;
    }
    int error = errno;
    close(held);
    errno = error;
    return fd;
}

enum status path_open_file(const struct resolved_path *spot, int *out_fd, struct stat *out_stat,
                           struct failure *failure)
{
    *out_fd = path_open_entry(spot->dir, spot->name.ptr, out_stat);
    if (*out_fd >= 0) {
        return STATUS_OK;
    }
    if (errno == EINVAL) {
        return refuse(failure, spot->shown,
                      S_ISDIR(out_stat->st_mode) ? "it is a directory" : "it is not a regular file of a disk");
    }
    return refuse_errno(failure, spot->shown, errno);
}

enum status path_open_directory(const struct resolved_path *spot, int *out_fd, struct failure *failure)
{
    int held = open_beneath(spot->dir, spot->name.ptr, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (held < 0) {
        return refuse_errno(failure, spot->shown, errno);
    }
    *out_fd = is_of_the_kernel(held) ? -1 : open_held(held, O_RDONLY | O_DIRECTORY);
    int error = errno;
    close(held);
    return *out_fd >= 0 ? STATUS_OK : refuse_errno(failure, spot->shown, error);
}
