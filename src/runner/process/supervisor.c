#include "runner/process/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/process/launch.h"
#include "runner/process/process.h"

enum { NOT_STARTED = 127, AGAIN_MS = 2, UNKILLABLE_MS = 10000 };

const char supervisor_path[] = "/proc/self/exe";
const char supervisor_name[] = "sojourn-supervisor";

static void become_command(char **argv, pid_t supervisor)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) {
        _exit(NOT_STARTED);
    }
    setsid();
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s could not be started: %s.\n", argv[0], strerror(errno));
    _exit(NOT_STARTED);
}

/* The pipes are the command's alone, or their readers would never come to an end; so are its arguments and variables,
 * which may hold secrets. */
static void let_go(int argc, char **argv, char **environment)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        dup2(null, fd);
    }
    close(null);
    close(LAUNCH_ARGUMENTS_FD);
    close(LAUNCH_FILTER_FD);
    for (int i = 1; i < argc; i++) {
        memset(argv[i], 0, strlen(argv[i]));
    }
    for (char **entry = environment; *entry; entry++) {
        memset(*entry, 0, strlen(*entry));
    }
}

/* Whether anything is left. */
static bool reap(pid_t command, int *out_status, bool *out_ended)
{
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    for (; pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
        if (pid == command) {
            *out_status = status;
            *out_ended = true;
        }
    }
    return pid == 0;
}

static void on_child(int signal)
{
    (void)signal; /* it only ends the wait */
}

/* Until the command has ended or the lifeline is cut. */
static void watch(pid_t command, int *out_status)
{
    struct pollfd lifeline = {.fd = SUPERVISOR_LIFELINE_FD};
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    sigset_t all_but_child;
    sigaction(SIGCHLD, &action, NULL);
    sigfillset(&all_but_child);
    sigdelset(&all_but_child, SIGCHLD);
    bool ended = false;
    while (reap(command, out_status, &ended) && !ended && lifeline.revents == 0) {
        if (ppoll(&lifeline, 1, NULL, &all_but_child) < 0) {
            lifeline.revents = 0;
        }
    }
}

/* Whoever is orphaned by it becomes a child of this process, so that the next round finds them. Processes of another
 * user, which it may not kill, are left after a while. */
static void kill_descendants(pid_t command, int *out_status)
{
    bool ended;
    for (int waited_ms = 0; waited_ms < UNKILLABLE_MS; waited_ms += AGAIN_MS) {
        process_tree_signal(getpid(), SIGKILL, 1);
        if (!reap(command, out_status, &ended)) {
            return;
        }
        poll(NULL, 0, AGAIN_MS);
    }
}

static void end_like(int status)
{
    if (WIFEXITED(status)) {
        _exit(WEXITSTATUS(status));
    }
    sigset_t none;
    sigemptyset(&none);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(NOT_STARTED);
}

static void supervise(int argc, char **argv, char **environment)
{
    sigset_t all;
    int status = SIGKILL;
    pid_t self = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* one that the command has stopped sees the lifeline, too */
    fcntl(SUPERVISOR_LIFELINE_FD, F_SETFD, FD_CLOEXEC);
    pid_t command = fork();
    if (command == 0) {
        become_command(argv + 1, self);
    }
    let_go(argc, argv, environment);
    if (command < 0) {
        _exit(NOT_STARTED);
    }
    watch(command, &status);
    kill_descendants(command, &status);
    end_like(status);
}

/* Before main: every program that starts processes is its own supervisor, those of the tests too. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **environment)
{
    if (argc > 1 && strcmp(argv[0], supervisor_name) == 0) {
        supervise(argc, argv, environment);
    }
}
