#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/sandbox/sandbox_local.h"
#include "runner/sandbox/snapshot.h"

/* A tree is made beside its place and moved there when it is whole:
 *
 *     staging ─→ empty | clone | copy | unpack ─→ `made` written ─→ moved ─→ told
 *
 * `made` holds the id of the snapshot the tree came from, or nothing. A tree that is there already and came from the
 * same is the session's own, left by a server that did not end it: it is newer than the snapshot, and is used. */
struct making {
    struct local_provider *local;
    struct loop *loop;
    struct sandbox_callback told;
    struct local_sandbox *sandbox;
    struct arena arena;
    struct slice snapshot;
    char staging[LOCAL_PATH_BYTES];
    struct sandbox_result news;
    struct loop_message message;
};

enum { MADE_BYTES = 128 };

/* --- the mark --- */

static bool read_made(const char *dir, char out[MADE_BYTES])
{
    char path[LOCAL_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/made", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    ssize_t len = read(fd, out, MADE_BYTES - 1);
    out[len > 0 ? len : 0] = '\0';
    close(fd);
    return len >= 0;
}

static bool write_made(const char *dir, struct slice snapshot)
{
    char path[LOCAL_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/made", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    bool done = write(fd, snapshot.len ? snapshot.ptr : "", snapshot.len) == (ssize_t)snapshot.len;
    return close(fd) == 0 && done;
}

/* --- the end --- */

static void tell(struct loop_message *message)
{
    struct making *making = (struct making *)((char *)message - offsetof(struct making, message));
    if (making->news.outcome != SANDBOX_OK) {
        local_sandbox_free(making->sandbox);
        (void)local_discard(making->local, making->staging);
        local_sweep(making->local, making->loop);
    }
    making->told.tell(making->told.owner, &making->news);
    arena_release(&making->arena);
    free(making);
}

static void succeed(struct making *making, bool is_empty)
{
    making->sandbox->disk_bytes = is_empty ? 0 : -1;
    making->news.outcome = SANDBOX_OK;
    making->news.sandbox = &making->sandbox->base;
    making->news.sandbox_id = making->sandbox->base.id;
    loop_post(making->loop, &making->message);
}

static void fail(struct making *making, const struct failure *failure)
{
    making->news.outcome = SANDBOX_FAILED;
    making->news.failure = *failure;
    loop_post(making->loop, &making->message);
}

static void fail_for(struct making *making, const char *what)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "sandbox_failed", "The sandbox cannot be made: %s: %s.", what,
                      strerror(errno));
    fail(making, &failure);
}

/* --- the steps --- */

static void move_in(struct making *making)
{
    const char *dir = making->sandbox->dir;
    if (!write_made(making->staging, making->snapshot)) {
        fail_for(making, "its mark");
    } else if (!local_discard(making->local, dir)) {
        fail_for(making, "the old tree");
    } else if (rename(making->staging, dir) != 0) {
        fail_for(making, "its place");
    } else {
        local_sweep(making->local, making->loop);
        succeed(making, making->snapshot.len == 0);
    }
}

static void on_restored(void *owner, const struct snapshot_result *news)
{
    struct making *making = owner;
    if (news->status != STATUS_OK) {
        fail(making, &news->failure);
    } else {
        move_in(making);
    }
}

static void restore(struct making *making)
{
    struct local_sandbox *sandbox = making->sandbox;
    struct snapshot_request order = {
        .dir = making->local->snapshots,
        .tenant_key = sandbox->tenant_key,
        .session_key = sandbox->session_key,
        .tree = making->staging,
        .etc = making->local->etc,
        .bytes_max = sandbox->disk_bytes_max,
        .time_ms_max = making->local->options.limits.prepare_ms_max,
    };
    snapshot_restore(making->loop, &order, making->snapshot, (struct snapshot_callback){making, on_restored});
}

static void on_fetched(void *owner, const struct failure *failure)
{
    struct making *making = owner;
    if (failure) {
        fail(making, failure);
    } else {
        move_in(making);
    }
}

static bool make_below(const char *dir, const char *name)
{
    char path[LOCAL_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* ext4 then spreads the trees below over the disk. Side by side they slow each other down: a new inode is looked for
 * among those of trees that were removed, and without a journal it may not take them for minutes. Elsewhere this does
 * nothing. */
static void spread_trees(const char *dir, const char *tenant)
{
    char path[LOCAL_PATH_BYTES + 32];
    int flags = 0;
    snprintf(path, sizeof path, "%s/%s", dir, tenant);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
        flags |= FS_TOPDIR_FL;
        (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    close(fd);
}

static bool make_staging(struct making *making, const struct sandbox_spec *spec)
{
    static atomic_uint count;
    char tenant[32];
    snprintf(tenant, sizeof tenant, "%" PRId64, spec->tenant_key);
    snprintf(making->staging, sizeof making->staging, "%s/%s/%" PRId64 ".new-%d-%u", making->local->dir, tenant,
             spec->session_key, (int)getpid(), atomic_fetch_add(&count, 1));
    if (!make_below(making->local->dir, tenant)) {
        return false;
    }
    spread_trees(making->local->dir, tenant);
    return mkdir(making->staging, 0700) == 0 && make_below(making->staging, "tmp");
}

static void fill(struct making *making, const struct sandbox_spec *spec)
{
    struct failure failure;
    char workspace[LOCAL_PATH_BYTES + 16];
    if (making->snapshot.len > 0) {
        restore(making);
        return;
    }
    if (!make_below(making->staging, "home")) {
        fail_for(making, "its home");
        return;
    }
    struct slice repository = spec->settings->repository;
    if (repository.len == 0 && spec->workspace.len == 0) {
        if (make_below(making->staging, "workspace")) {
            move_in(making);
        } else {
            fail_for(making, "its workspace");
        }
        return;
    }
    snprintf(workspace, sizeof workspace, "%s/workspace", making->staging);
    struct source_request order = {repository, spec->settings->branch, spec->workspace, workspace};
    if (source_fetch(making->local, making->loop, &order, (struct source_callback){making, on_fetched}, &failure) !=
        STATUS_OK) {
        fail(making, &failure);
    }
}

void local_create(void *owner, struct loop *loop, const struct sandbox_spec *spec, struct sandbox_callback told)
{
    struct making *making = memory_zeroed(sizeof *making);
    char made[MADE_BYTES];
    making->local = owner;
    making->loop = loop;
    making->told = told;
    making->message.run = tell;
    making->sandbox = local_sandbox_new(owner, loop, spec);
    making->snapshot = arena_copy(&making->arena, spec->snapshot);
    if (making->local->refusal.status != STATUS_OK) {
        fail(making, &making->local->refusal);
    } else if (read_made(making->sandbox->dir, made) && slice_is(making->snapshot, made)) {
        succeed(making, false);
    } else if (!make_staging(making, spec)) {
        fail_for(making, "its directory");
    } else {
        fill(making, spec);
    }
}
