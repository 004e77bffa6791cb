#include "runner/sandbox/sandbox_local.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "runner/process/subprocess.h"

static const char trash_name[] = "trash";

/* --- the provider --- */

static char *join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = memory_alloc(size);
    snprintf(path, size, "%s/%s", dir, name);
    return path;
}

/* Nobody else on the machine may look inside: files there belong to the server's user. */
static bool make_private(const char *path)
{
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && chmod(path, 0700) == 0;
}

/* Where they are not to be had, prepare_dirs says so. */
static char *snapshots_of(const struct sandboxes_options *options, const char *base)
{
    if (!options->snapshots) {
        return join(base, "snapshots");
    }
    (void)make_private(options->snapshots);
    char *whole = realpath(options->snapshots, NULL);
    return whole ? whole : join(options->snapshots, "");
}

static enum status prepare_dirs(struct local_provider *local, struct failure *failure)
{
    const char *const paths[] = {local->dir, local->snapshots, local->etc};
    for (size_t i = 0; i < 3; i++) {
        if (!make_private(paths[i])) {
            return failure_set(failure, STATUS_UNAVAILABLE, "sandbox_unavailable", "%s cannot be made: %s.", paths[i],
                               strerror(errno));
        }
    }
    return bubble_write_etc(local->etc, failure);
}

static void go_unprotected(struct local_provider *local)
{
    log_warn("sandboxes_unprotected", LOG_TEXT("reason", slice_of(local->refusal.detail)));
    free(local->etc);
    local->etc = NULL;
    local->refusal = (struct failure){.status = STATUS_OK};
}

static enum status local_check(void *owner, struct failure *failure)
{
    struct local_provider *local = owner;
    if (local->refusal.status != STATUS_OK && failure) {
        *failure = local->refusal;
    }
    return local->refusal.status;
}

/* Trees that a server which was killed did not finish. */
static void discard_unfinished(struct local_provider *local)
{
    char pattern[LOCAL_PATH_BYTES];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/*/*.new-*", local->dir);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            (void)local_discard(local, found.gl_pathv[i]);
        }
    }
    globfree(&found);
}

/* Whatever control groups do not hold, each process of a sandbox holds for itself (setrlimit), not all together. */
static void find_group(struct local_provider *local)
{
    struct failure why;
    if (cgroup_find(&local->group, &why) != STATUS_OK) {
        log_warn("sandboxes_without_cgroups", LOG_TEXT("limits", SLICE("of each process only (setrlimit)")),
                 LOG_TEXT("reason", slice_of(why.detail)));
    } else if (!local->group.holds_memory) {
        log_warn("sandboxes_without_memory_group", LOG_TEXT("limits", SLICE("memory of each process only (setrlimit)")),
                 LOG_TEXT("reason", SLICE("the machine has control groups of version 1")));
    }
}

struct local_provider *local_provider_new(const struct sandboxes_options *options)
{
    struct local_provider *local = memory_zeroed(sizeof *local);
    char *data = realpath(options->data, NULL);
    const char *base = data ? data : options->data;
    local->options = *options;
    local->dir = join(base, "sandboxes");
    local->snapshots = snapshots_of(options, base);
    local->files = join(base, "files");
    local->etc = join(local->dir, "etc");
    local->provider = (struct sandbox_provider){local, local_check, local_create, local_hibernate, local_terminate};
    free(data);
    discard_unfinished(local);
    if (prepare_dirs(local, &local->refusal) == STATUS_OK && bubble_probe(local->etc, &local->refusal) != STATUS_OK) {
        if (options->unprotected) {
            go_unprotected(local);
        } else {
            log_warn("sandboxes_unavailable", LOG_TEXT("reason", slice_of(local->refusal.detail)));
        }
    }
    if (local->refusal.status == STATUS_OK) {
        find_group(local);
    }
    return local;
}

void local_provider_free(struct local_provider *local)
{
    if (local) {
        cgroup_leave(&local->group);
        free(local->dir);
        free(local->snapshots);
        free(local->files);
        free(local->etc);
        free(local);
    }
}

/* --- directories --- */

void local_session_dir(const struct local_provider *local, int64_t tenant_key, int64_t session_key, char *out)
{
    snprintf(out, LOCAL_PATH_BYTES, "%s/%" PRId64 "/%" PRId64, local->dir, tenant_key, session_key);
}

bool local_discard(const struct local_provider *local, const char *path)
{
    static atomic_uint count;
    char trash[LOCAL_PATH_BYTES], target[LOCAL_PATH_BYTES + 64];
    snprintf(trash, sizeof trash, "%s/%s", local->dir, trash_name);
    mkdir(trash, 0700);
    snprintf(target, sizeof target, "%s/%d-%u", trash, (int)getpid(), atomic_fetch_add(&count, 1));
    return rename(path, target) == 0 || errno == ENOENT;
}

static void on_swept(void *owner, const struct subprocess_end *end)
{
    (void)owner;
    if (!end->done) {
        log_warn("sandbox_remains", LOG_TEXT("said", end->said));
    }
}

void local_sweep(const struct local_provider *local, struct loop *loop)
{
    /* An agent may have taken its own rights on its directories away. */
    static const char script[] = "cd \"$0\" || exit 0; chmod -R u+rwX . 2>/dev/null; rm -rf -- ./*";
    char trash[LOCAL_PATH_BYTES];
    struct failure failure;
    snprintf(trash, sizeof trash, "%s/%s", local->dir, trash_name);
    if (access(trash, F_OK) != 0) {
        return;
    }
    const char *argv[] = {"/bin/sh", "-c", script, trash, NULL};
    if (subprocess_start_plain(loop, argv, 0, (struct subprocess_callback){NULL, on_swept}, &failure) != STATUS_OK) {
        log_warn("sandbox_remains", LOG_TEXT("said", slice_of(failure.detail)));
    }
}

/* --- one sandbox --- */

static enum status local_prepare(struct sandbox *base, const struct process_spec *spec, struct launch *launch,
                                 struct failure *failure)
{
    struct local_sandbox *sandbox = (struct local_sandbox *)base;
    struct local_provider *local = sandbox->provider;
    if (sandbox->is_ending) {
        return failure_set(failure, STATUS_CONFLICT, "sandbox_busy", "The sandbox is about to end.");
    }
    if (sandbox->disk_bytes_max > 0 && sandbox->disk_bytes / 2 > sandbox->disk_bytes_max) {
        return failure_set(failure, STATUS_TOO_LARGE, "sandbox_full",
                           "The files of the sandbox take %" PRId64 " bytes; its limit is %" PRId64 ".",
                           sandbox->disk_bytes, sandbox->disk_bytes_max);
    }
    const char *home = arena_format(&launch->arena, "%s/home", sandbox->dir).ptr;
    const char *tmp = arena_format(&launch->arena, "%s/tmp", sandbox->dir).ptr;
    struct bubble_bind binds[] = {
        {base->root.ptr, bubble_workspace, true}, {home, bubble_home, true}, {tmp, "/tmp", true}, {NULL, NULL, false}};
    struct bubble bubble = {
        .binds = binds,
        .shown = local->options.shown,
        .etc = local->etc,
        .directory = bubble_workspace,
        .network = sandbox->network,
        .limits = sandbox->limits,
        .group = &sandbox->group,
    };
    if (!local->etc) {
        bubble_launch_bare(&bubble, spec, home, base->root.ptr, launch);
        return STATUS_OK;
    }
    return bubble_launch(&bubble, spec, launch, failure);
}

static void on_busy(struct sandbox *base)
{
    local_watch_start((struct local_sandbox *)base);
}

static void on_empty(struct sandbox *base)
{
    struct local_sandbox *sandbox = (struct local_sandbox *)base;
    local_watch_stop(sandbox);
    if (sandbox->when_empty) {
        void (*when_empty)(void *owner) = sandbox->when_empty;
        sandbox->when_empty = NULL;
        when_empty(sandbox->empty_owner);
    }
}

static int64_t at_most(int64_t asked, int64_t allowed)
{
    return asked > 0 && (allowed == 0 || asked < allowed) ? asked : allowed;
}

struct local_sandbox *local_sandbox_new(struct local_provider *local, struct loop *loop,
                                        const struct sandbox_spec *spec)
{
    struct local_sandbox *sandbox = memory_zeroed(sizeof *sandbox);
    const struct sandboxes_options *options = &local->options;
    char dir[LOCAL_PATH_BYTES], name[64];
    local_session_dir(local, spec->tenant_key, spec->session_key, dir);
    sandbox->provider = local;
    sandbox->dir = arena_copy(&sandbox->arena, slice_of(dir)).ptr;
    sandbox->tenant_key = spec->tenant_key;
    sandbox->session_key = spec->session_key;
    sandbox->network = spec->settings->network;
    sandbox->disk_bytes_max = at_most(spec->settings->disk_bytes_max, options->limits.disk_bytes_max);
    sandbox->limits = (struct bubble_limits){
        .memory_bytes_max = at_most(spec->settings->memory_bytes_max, options->limits.memory_bytes_max),
        .processes_max = at_most(spec->settings->processes_max, options->limits.processes_max),
        .file_bytes_max = sandbox->disk_bytes_max,
    };
    snprintf(name, sizeof name, "%" PRId64 "-%" PRId64, spec->tenant_key, spec->session_key);
    cgroup_make(&local->group, name, sandbox->limits.memory_bytes_max, sandbox->limits.processes_max, &sandbox->group);
    sandbox->base = (struct sandbox){
        .kind = SANDBOX_LOCAL,
        .loop = loop,
        .id = arena_format(&sandbox->arena, "local-%s", name),
        .root = arena_format(&sandbox->arena, "%s/workspace", dir),
        .mount = local->etc ? slice_of(bubble_workspace) : (struct slice){NULL, 0},
        .limits = {.stdin_bytes_max = (size_t)options->limits.stdin_bytes_max, .grace_ms = options->limits.grace_ms},
        .prepare = local_prepare,
        .on_busy = on_busy,
        .on_empty = on_empty,
    };
    return sandbox;
}

void local_sandbox_free(struct local_sandbox *sandbox)
{
    cgroup_remove(&sandbox->group);
    arena_release(&sandbox->arena);
    free(sandbox);
}
