#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "runner/sandbox/sandbox_local.h"

enum {
    TICK_MS = 100,
    DISK_TICKS_MIN = 5, /* between two looks at the disk */
    DISK_SHARE = 10,    /* of the time may be spent on them: one tenth */
    SECTOR_BYTES = 512,
    ENTRY_BYTES_MIN = 4096,
    PATH_BYTES_LONG = 2000,
    LEVELS_MAX = 32,      /* of PATH_BYTES_LONG each: no tree of use is deeper */
    HIDDEN_TIMES_MAX = 2, /* it may have been closed while it was opened */
    SUPERVISORS = 1,      /* above each process */
    WALLS = 2,            /* processes of bubblewrap itself, outside and inside */
    ROOTS_MAX = 64,       /* commands whose open files are looked at */
};

/* Two looks at a sandbox in which something runs. Disk: the size of its files, beside the loop, because a tree can be
 * large. Processes and memory: only where no control group does it better. Freed when no work is under way. */
struct local_watch {
    struct local_sandbox *sandbox; /* NULL = nobody is watched any more */
    uv_timer_t clock;
    uv_work_t work;
    char dir[LOCAL_PATH_BYTES];
    pid_t roots[ROOTS_MAX];
    size_t root_count, spared;
    bool is_measuring, is_closed;
    int64_t disk_bytes;
    bool is_too_deep; /* to be measured */
    bool is_hidden;   /* something of it can't be read */
    int hidden_times; /* in a row */
    uint64_t began_ms;
    int64_t ticks_to_wait;
};

static void free_if_done(struct local_watch *watch)
{
    if (watch->is_closed && !watch->is_measuring) {
        free(watch);
    }
}

static void end_all(struct local_sandbox *sandbox, const char *what, int64_t used, int64_t allowed)
{
    char why[200];
    snprintf(why, sizeof why, "sandbox: %s limit reached (%" PRId64 " of %" PRId64 "); its processes were ended\n",
             what, used, allowed);
    log_warn("sandbox_over_limit", LOG_TEXT("sandbox", sandbox->base.id), LOG_TEXT("limit", slice_of(what)),
             LOG_NUM("used", used), LOG_NUM("allowed", allowed));
    for (struct process *process = sandbox->base.processes; process; process = process_next(process)) {
        process_kill(process, why);
    }
}

/* --- disk --- */

/* An entry takes at least a block: inodes are as scarce as bytes. */
static int64_t bytes_of(const struct stat *about)
{
    int64_t bytes = about->st_blocks * SECTOR_BYTES;
    return bytes > ENTRY_BYTES_MIN ? bytes : ENTRY_BYTES_MIN;
}

static void measure_below(struct local_watch *watch, const char *path, int level);

/* Its path is as long as paths get: it is looked at from a handle. */
static void measure_deep(struct local_watch *watch, const char *path, int level)
{
    char handle[40];
    int fd = level < LEVELS_MAX ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0) {
        watch->is_too_deep = watch->is_too_deep || level >= LEVELS_MAX;
        watch->is_hidden = watch->is_hidden || (level < LEVELS_MAX && errno == EACCES);
        return;
    }
    snprintf(handle, sizeof handle, "/proc/self/fd/%d", fd);
    measure_below(watch, handle, level + 1);
    close(fd);
}

/* Opens a directory for the measure that its owner closed, perhaps to hide what is in it. No link leads to another. */
static bool unlock(int root_fd, const char *path, mode_t mode)
{
    char handle[40];
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    if (fd < 0) {
        return false;
    }
    snprintf(handle, sizeof handle, "/proc/self/fd/%d", fd);
    bool done = chmod(handle, (mode & ALLPERMS) | S_IRUSR | S_IXUSR) == 0;
    close(fd);
    return done;
}

/* Without reading it there are no names, without searching it no sizes. Root needs neither. */
static bool is_locked(const FTSENT *entry)
{
    const mode_t needed = S_IRUSR | S_IXUSR;
    return geteuid() != 0 && entry->fts_info == FTS_D && (entry->fts_statp->st_mode & needed) != needed;
}

static bool could_not_be_read(const FTSENT *entry)
{
    bool failed = entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS || entry->fts_info == FTS_ERR;
    return failed && entry->fts_errno != ENOENT && entry->fts_errno != ENOTDIR;
}

static void measure_below(struct local_watch *watch, const char *path, int level)
{
    char root[LOCAL_PATH_BYTES];
    snprintf(root, sizeof root, "%s", path);
    size_t root_len = strlen(root);
    char *paths[] = {root, NULL};
    int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, NULL);
    for (FTSENT *entry = walk ? fts_read(walk) : NULL; entry; entry = fts_read(walk)) {
        bool is_below = entry->fts_level > 0 && entry->fts_pathlen > root_len;
        if (is_below && is_locked(entry)) {
            (void)unlock(root_fd, entry->fts_path + root_len + 1, entry->fts_statp->st_mode);
        }
        if (could_not_be_read(entry)) {
            watch->is_hidden = true;
        } else if (entry->fts_info == FTS_D && entry->fts_level > 0 && entry->fts_pathlen > PATH_BYTES_LONG) {
            fts_set(walk, entry, FTS_SKIP);
            watch->disk_bytes += bytes_of(entry->fts_statp);
            measure_deep(watch, entry->fts_path, level);
        } else if (entry->fts_info != FTS_DP && entry->fts_info != FTS_NS && entry->fts_statp) {
            watch->disk_bytes += bytes_of(entry->fts_statp);
        }
    }
    if (walk) {
        fts_close(walk);
    }
    if (root_fd >= 0) {
        close(root_fd);
    }
}

/* Of files that were deleted the space comes back when the last process closes them. */
static void measure_nameless(struct local_watch *watch)
{
    struct nameless_files files = {0};
    struct stat about;
    if (stat(watch->dir, &about) == 0) {
        for (size_t i = 0; i < watch->root_count; i++) {
            process_tree_nameless(watch->roots[i], watch->spared, about.st_dev, &files);
        }
    }
    watch->disk_bytes += nameless_bytes(&files);
    watch->is_hidden = watch->is_hidden || files.is_hidden;
    free(files.list);
}

static void measure(uv_work_t *work)
{
    struct local_watch *watch = work->data;
    watch->disk_bytes = 0;
    watch->is_too_deep = watch->is_hidden = false;
    measure_below(watch, watch->dir, 0);
    measure_nameless(watch);
}

static void on_measured(uv_work_t *work, int status)
{
    struct local_watch *watch = work->data;
    (void)status;
    watch->is_measuring = false;
    struct local_sandbox *sandbox = watch->sandbox;
    if (!sandbox) {
        free_if_done(watch);
        return;
    }
    /* One that is full already may still be cleaned up; only one that grows is stopped. */
    bool grows = sandbox->disk_bytes >= 0 && watch->disk_bytes > sandbox->disk_bytes;
    uint64_t took_ms = uv_now(loop_uv(sandbox->base.loop)) - watch->began_ms;
    int64_t pause = (int64_t)(took_ms * DISK_SHARE / TICK_MS);
    watch->ticks_to_wait = pause > DISK_TICKS_MIN ? pause : DISK_TICKS_MIN;
    sandbox->disk_bytes = watch->disk_bytes;
    watch->hidden_times = watch->is_hidden ? watch->hidden_times + 1 : 0;
    if (sandbox->disk_bytes_max > 0 && watch->disk_bytes > sandbox->disk_bytes_max && grows) {
        end_all(sandbox, "disk", watch->disk_bytes, sandbox->disk_bytes_max);
        sandbox->disk_bytes = -1; /* it went on growing until it was stopped */
    } else if (sandbox->disk_bytes_max > 0 && watch->is_too_deep) {
        end_all(sandbox, "depth", LEVELS_MAX + 1, LEVELS_MAX);
    } else if (sandbox->disk_bytes_max > 0 && watch->hidden_times >= HIDDEN_TIMES_MAX) {
        end_all(sandbox, "disk", sandbox->disk_bytes_max + 1, sandbox->disk_bytes_max); /* nobody knows */
    }
}

static void look_at_disk(struct local_watch *watch)
{
    if (watch->is_measuring || watch->ticks_to_wait-- > 0) {
        return;
    }
    watch->is_measuring = true;
    watch->root_count = 0;
    watch->spared = SUPERVISORS + (watch->sandbox->provider->etc ? WALLS : 0);
    for (struct process *process = watch->sandbox->base.processes; process && watch->root_count < ROOTS_MAX;
         process = process_next(process)) {
        watch->roots[watch->root_count++] = process_pid(process);
    }
    watch->began_ms = uv_now(loop_uv(watch->sandbox->base.loop));
    uv_queue_work(loop_uv(watch->sandbox->base.loop), &watch->work, measure, on_measured);
}

/* --- processes and memory --- */

/* The kernel takes one process and says nothing to anybody: half of a command would go on without a word. */
static void look_at_kills(struct local_sandbox *sandbox)
{
    int64_t kills = cgroup_oom_kills(&sandbox->group);
    if (kills > sandbox->oom_kills) {
        sandbox->oom_kills = kills;
        end_all(sandbox, "memory", sandbox->limits.memory_bytes_max, sandbox->limits.memory_bytes_max);
    }
}

static void look_at_processes(struct local_sandbox *sandbox)
{
    struct tree_use use = {0};
    int64_t walls = 0;
    if (sandbox->group.path[0] != '\0' && sandbox->group.holds_memory) {
        look_at_kills(sandbox);
        return;
    }
    int64_t shm_bytes = 0;
    int64_t processes_max = sandbox->limits.processes_max > 0 ? sandbox->limits.processes_max : INT32_MAX;
    for (struct process *process = sandbox->base.processes; process; process = process_next(process)) {
        process_tree_measure(process_pid(process), processes_max + SUPERVISORS + WALLS + 1,
                             sandbox->limits.memory_bytes_max, &use);
        walls += SUPERVISORS + (sandbox->provider->etc ? WALLS : 0);
        shm_bytes += process_tree_shm(process_pid(process));
    }
    /* Each command has a /dev/shm of its own; what lies there unmapped is counted from the second one on. */
    use.memory_bytes = use.memory_bytes > shm_bytes ? use.memory_bytes : shm_bytes;
    use.processes -= walls;
    if (use.processes > processes_max) {
        end_all(sandbox, "process", use.processes, processes_max);
    } else if (sandbox->limits.memory_bytes_max > 0 && use.memory_bytes > sandbox->limits.memory_bytes_max) {
        end_all(sandbox, "memory", use.memory_bytes, sandbox->limits.memory_bytes_max);
    }
}

static void on_tick(uv_timer_t *clock)
{
    struct local_watch *watch = clock->data;
    look_at_disk(watch);
    look_at_processes(watch->sandbox);
}

void local_watch_start(struct local_sandbox *sandbox)
{
    struct local_watch *watch = memory_zeroed(sizeof *watch);
    watch->sandbox = sandbox;
    watch->clock.data = watch;
    watch->work.data = watch;
    snprintf(watch->dir, sizeof watch->dir, "%s", sandbox->dir);
    uv_timer_init(loop_uv(sandbox->base.loop), &watch->clock);
    uv_timer_start(&watch->clock, on_tick, TICK_MS, TICK_MS);
    sandbox->watch = watch;
}

static void on_clock_closed(uv_handle_t *handle)
{
    struct local_watch *watch = handle->data;
    watch->is_closed = true;
    free_if_done(watch);
}

void local_watch_stop(struct local_sandbox *sandbox)
{
    struct local_watch *watch = sandbox->watch;
    if (watch) {
        sandbox->watch = NULL;
        watch->sandbox = NULL;
        uv_close((uv_handle_t *)&watch->clock, on_clock_closed);
    }
}
