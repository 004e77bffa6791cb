#include "runner/process/launch.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/process/supervisor.h"

void launch_init(struct launch *launch)
{
    *launch = (struct launch){.arguments_fd = -1, .filter_fd = -1};
}

static void close_given(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void launch_release(struct launch *launch)
{
    close_given(launch->arguments_fd);
    close_given(launch->filter_fd);
    arena_release(&launch->arena);
    launch_init(launch);
}

void launch_plain(struct launch *launch, const struct process_spec *spec)
{
    launch->argv = spec->argv;
    launch->environment = spec->environment;
    launch->directory = spec->directory;
}

static void close_pair(uv_file pair[2])
{
    close_given(pair[0]);
    close_given(pair[1]);
    pair[0] = pair[1] = -1;
}

void pipes_close(struct pipes *pipes)
{
    close_pair(pipes->in);
    close_pair(pipes->out);
    close_pair(pipes->err);
    close_pair(pipes->lifeline);
}

static int open_pair(uv_file pair[2], bool child_writes)
{
    uv_file made[2];
    int result = uv_pipe(made, child_writes ? UV_NONBLOCK_PIPE : 0, child_writes ? 0 : UV_NONBLOCK_PIPE);
    if (result == 0) {
        pair[0] = made[child_writes ? 0 : 1];
        pair[1] = made[child_writes ? 1 : 0];
    }
    return result;
}

/* Pipes and not the sockets that libuv would make: programs open /dev/stdout again. */
int pipes_open(struct pipes *pipes, bool wants_stdin)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int result = open_pair(pipes->out, true);
    result = result == 0 ? open_pair(pipes->err, true) : result;
    result = result == 0 ? open_pair(pipes->lifeline, false) : result;
    if (result == 0 && wants_stdin) {
        result = open_pair(pipes->in, false);
    }
    if (result != 0) {
        pipes_close(pipes);
    }
    return result;
}

/* Libraries may have opened descriptors that an exec would pass on; none of ours is for a child. */
static void keep_descriptors_home(void)
{
    syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
}

static void give(uv_stdio_container_t *to, int fd)
{
    *to = (uv_stdio_container_t){.flags = fd >= 0 ? UV_INHERIT_FD : UV_IGNORE};
    if (fd >= 0) {
        to->data.fd = fd;
    }
}

static const char *directory_of(const struct launch *launch)
{
    return launch->directory ? launch->directory : "/";
}

static const char *const *environment_of(const struct launch *launch)
{
    static const char *const none[] = {NULL};
    return launch->environment ? launch->environment : none;
}

/* --- is there a program? The supervisor finds out too late to refuse the start. --- */

static int check_file(const char *directory, struct slice folder, const char *name)
{
    char path[PATH_MAX];
    bool is_relative = folder.len == 0 ? name[0] != '/' : folder.ptr[0] != '/';
    int len = snprintf(path, sizeof path, "%s%s%.*s%s%s", is_relative ? directory : "", is_relative ? "/" : "",
                       SLICE_ARG(folder), folder.len > 0 ? "/" : "", name);
    if (len >= (int)sizeof path) {
        return UV_ENAMETOOLONG;
    }
    return access(path, X_OK) == 0 ? 0 : -errno;
}

static struct slice path_of(const char *const *environment)
{
    for (; *environment; environment++) {
        if (strncmp(*environment, "PATH=", 5) == 0) {
            return slice_of(*environment + 5);
        }
    }
    return SLICE("/bin:/usr/bin");
}

int launch_check(const struct launch *launch)
{
    const char *name = launch->argv[0], *directory = directory_of(launch);
    if (strchr(name, '/')) {
        return check_file(directory, SLICE(""), name);
    }
    struct slice rest = path_of(environment_of(launch)), folder;
    int result = UV_ENOENT;
    while (result != 0 && slice_present(rest)) {
        if (!slice_cut(rest, ':', &folder, &rest)) {
            folder = rest;
            rest = (struct slice){0};
        }
        result = check_file(directory, folder, name);
    }
    return result;
}

static const char **supervised(struct arena *arena, const char *const *argv)
{
    size_t count = 0;
    while (argv[count]) {
        count++;
    }
    const char **all = arena_array(arena, count + 2, sizeof *all);
    all[0] = supervisor_name;
    for (size_t i = 0; i < count; i++) {
        all[i + 1] = argv[i];
    }
    return all;
}

int launch_spawn(struct launch *launch, struct loop *loop, const struct pipes *pipes, uv_process_t *child,
                 uv_exit_cb on_exit)
{
    uv_stdio_container_t stdio[SUPERVISOR_LIFELINE_FD + 1];
    give(&stdio[STDIN_FILENO], pipes->in[1]);
    give(&stdio[STDOUT_FILENO], pipes->out[1]);
    give(&stdio[STDERR_FILENO], pipes->err[1]);
    give(&stdio[LAUNCH_ARGUMENTS_FD], launch->arguments_fd);
    give(&stdio[LAUNCH_FILTER_FD], launch->filter_fd);
    give(&stdio[SUPERVISOR_LIFELINE_FD], pipes->lifeline[1]);
    uv_process_options_t options = {
        .exit_cb = on_exit,
        .file = supervisor_path,
        .args = (char **)(uintptr_t)supervised(&launch->arena, launch->argv),
        .env = (char **)(uintptr_t)environment_of(launch),
        .cwd = directory_of(launch),
        .flags = UV_PROCESS_DETACHED, /* a session and a group of its own */
        .stdio_count = SUPERVISOR_LIFELINE_FD + 1,
        .stdio = stdio,
    };
    keep_descriptors_home();
    return uv_spawn(loop_uv(loop), child, &options);
}
