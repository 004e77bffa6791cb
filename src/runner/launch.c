#include "runner/launch.h"

#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    int result = open_pair(pipes->out, true);
    result = result == 0 ? open_pair(pipes->err, true) : result;
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

int launch_spawn(const struct launch *launch, struct loop *loop, const struct pipes *pipes, uv_process_t *child,
                 uv_exit_cb on_exit)
{
    static const char *const no_environment[] = {NULL};
    uv_stdio_container_t stdio[LAUNCH_FILTER_FD + 1];
    give(&stdio[STDIN_FILENO], pipes->in[1]);
    give(&stdio[STDOUT_FILENO], pipes->out[1]);
    give(&stdio[STDERR_FILENO], pipes->err[1]);
    give(&stdio[LAUNCH_ARGUMENTS_FD], launch->arguments_fd);
    give(&stdio[LAUNCH_FILTER_FD], launch->filter_fd);
    const char *const *environment = launch->environment ? launch->environment : no_environment;
    uv_process_options_t options = {
        .exit_cb = on_exit,
        .file = launch->argv[0],
        .args = (char **)(uintptr_t)launch->argv,
        .env = (char **)(uintptr_t)environment,
        .cwd = launch->directory ? launch->directory : "/",
        .flags = UV_PROCESS_DETACHED, /* a session and a group of its own */
        .stdio_count = launch->filter_fd >= 0      ? LAUNCH_FILTER_FD + 1
                       : launch->arguments_fd >= 0 ? LAUNCH_ARGUMENTS_FD + 1
                                                   : STDERR_FILENO + 1,
        .stdio = stdio,
    };
    keep_descriptors_home();
    return uv_spawn(loop_uv(loop), child, &options);
}
