#include <stdio.h>
#include <stdlib.h>

#include "runner/process/git_call.h"
#include "runner/process/subprocess.h"
#include "runner/sandbox/sandbox_local.h"

struct fetch {
    struct source_callback told;
    const char *what; /* for the sentence */
};

static void on_fetched(void *owner, const struct subprocess_end *end)
{
    struct fetch *fetch = owner;
    struct failure failure;
    if (end->done) {
        fetch->told.tell(fetch->told.owner, NULL);
    } else {
        (void)failure_set(&failure, STATUS_UNAVAILABLE, "sandbox_source_failed", "%s: %.*s", fetch->what,
                          SLICE_ARG(end->timed_out ? SLICE("it took too long") : end->said));
        fetch->told.tell(fetch->told.owner, &failure);
    }
    free(fetch);
}

/* --- what may be fetched --- */

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);
    return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0' || strcmp(dir, "/") == 0);
}

/* The directory as it really is, when the operator opened it; the caller frees. */
static char *open_project(const struct local_provider *local, struct slice path, struct failure *failure)
{
    char text[LOCAL_PATH_BYTES];
    snprintf(text, sizeof text, "%.*s", SLICE_ARG(path));
    char *real = path.len < sizeof text && path.len > 0 && path.ptr[0] == '/' ? realpath(text, NULL) : NULL;
    for (const char *const *project = local->options.projects; real && project && *project; project++) {
        char *allowed = realpath(*project, NULL);
        bool is_allowed = allowed && is_below(real, allowed);
        free(allowed);
        if (is_allowed) {
            return real;
        }
    }
    free(real);
    (void)failure_set(failure, STATUS_FORBIDDEN, "project_not_open",
                      "The directory %.*s is not there or not below one named by the option sandbox-projects.",
                      SLICE_ARG(path));
    return NULL;
}

static bool is_remote(struct slice repository)
{
    struct slice user, host;
    if (slice_starts(repository, SLICE("https://")) || slice_starts(repository, SLICE("ssh://"))) {
        return true;
    }
    /* user@host:path */
    return slice_cut(repository, '@', &user, &host) && user.len > 0 && user.ptr[0] != '-' &&
           !memchr(repository.ptr, '/', (size_t)(host.ptr - repository.ptr)) && memchr(host.ptr, ':', host.len) &&
           host.ptr[0] != '-';
}

/* --- git --- */

static enum status git_start(const struct local_provider *local, struct loop *loop, const struct source_request *order,
                             const char *from, enum git_reach reach, struct fetch *fetch, struct failure *failure)
{
    struct launch launch;
    struct git_call *call;
    launch_init(&launch);
    call = arena_alloc(&launch.arena, sizeof *call);
    git_call_init(call, &launch.arena, "clone");
    git_call_add(call, "--quiet");
    git_call_add(call, "--no-hardlinks"); /* files of the project are not shared with a sandbox */
    if (order->branch.len > 0) {
        git_call_add(call, arena_format(&launch.arena, "--branch=%.*s", SLICE_ARG(order->branch)).ptr);
    }
    git_call_add(call, "--");
    git_call_add_text(call, slice_of(from));
    git_call_add_text(call, slice_of(order->workspace));
    const char *home = getenv("HOME"); /* keys for ssh */
    const char *const further[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
                                   arena_format(&launch.arena, "HOME=%s", home ? home : "/nonexistent").ptr, NULL};
    const char *const *environment = git_environment(&launch.arena, reach, (struct slice){0}, further);
    launch_plain(&launch, &(struct process_spec){.argv = call->words, .environment = environment});
    return subprocess_start(loop, &launch, local->options.limits.prepare_ms_max,
                            (struct subprocess_callback){fetch, on_fetched}, failure);
}

static enum status fetch_repository(const struct local_provider *local, struct loop *loop,
                                    const struct source_request *order, struct fetch *fetch, struct failure *failure)
{
    char url[LOCAL_PATH_BYTES];
    fetch->what = "The repository could not be cloned";
    if (order->repository.len >= sizeof url) {
        return failure_set(failure, STATUS_INVALID, "bad_repository", "The address of the repository is too long.");
    }
    if (is_remote(order->repository)) {
        snprintf(url, sizeof url, "%.*s", SLICE_ARG(order->repository));
        return git_start(local, loop, order, url, GIT_FETCHES, fetch, failure);
    }
    if (order->repository.ptr[0] != '/') {
        return failure_set(failure, STATUS_INVALID, "bad_repository",
                           "A repository is given as https://…, ssh://…, user@host:path or an absolute path.");
    }
    char *path = open_project(local, order->repository, failure);
    if (!path) {
        return STATUS_FORBIDDEN;
    }
    enum status status = git_start(local, loop, order, path, GIT_FETCHES_FILES, fetch, failure);
    free(path);
    return status;
}

/* --- a directory --- */

/* A copy, shared block by block where the file system can: tools and processes then see one and the same tree, and
 * what is below cannot change. Owners are not kept: all of it is the agent's. */
static enum status fetch_project(const struct local_provider *local, struct loop *loop,
                                 const struct source_request *order, struct fetch *fetch, struct failure *failure)
{
    char *path = open_project(local, order->project, failure);
    if (!path) {
        return STATUS_FORBIDDEN;
    }
    fetch->what = "The project could not be copied";
    const char *argv[] = {"/bin/cp",
                          "--recursive",
                          "--no-dereference",
                          "--preserve=mode,timestamps,links",
                          "--reflink=auto",
                          "--no-target-directory",
                          "--",
                          path,
                          order->workspace,
                          NULL};
    enum status status = subprocess_start_plain(loop, argv, local->options.limits.prepare_ms_max,
                                                (struct subprocess_callback){fetch, on_fetched}, failure);
    free(path);
    return status;
}

enum status source_fetch(const struct local_provider *local, struct loop *loop, const struct source_request *order,
                         struct source_callback told, struct failure *failure)
{
    struct fetch *fetch = memory_zeroed(sizeof *fetch);
    fetch->told = told;
    enum status status = order->repository.len > 0 ? fetch_repository(local, loop, order, fetch, failure)
                                                   : fetch_project(local, loop, order, fetch, failure);
    if (status != STATUS_OK) {
        free(fetch);
    }
    return status;
}
