#include "runner/sandbox/bubble.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "runner/sandbox/seccomp.h"

const char bubble_home[] = "/home/agent";
const char bubble_workspace[] = "/workspace";

enum { ARGV_PREFIX_MAX = 24, SHM_BYTES_MAX = 64 * 1024 * 1024, PROBE_MS = 10000 };

static const char bwrap_path[] = "/usr/bin/bwrap";
static const char usual_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* Our own /etc: enough for programs that ask who they are. */
static const struct {
    const char *name, *text;
} etc_files[] = {
    {"passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n"
               "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"},
    {"hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"},
    {"nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
    {"hostname", "sandbox\n"},
};

/* Of the machine's /etc: what programs need and nobody keeps a secret in. */
static const char *const etc_shown[] = {
    "/etc/alternatives", "/etc/ca-certificates", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime",    "/etc/mime.types",      "/etc/ssl/certs",   "/etc/protocols",  "/etc/services",
    "/etc/gitconfig",    "/etc/ssl/openssl.cnf", "/etc/profile",
};
static const char *const etc_shown_with_network[] = {"/etc/resolv.conf", "/etc/gai.conf"};

static bool write_file(const char *dir, const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        return false;
    }
    bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return close(fd) == 0 && done;
}

enum status bubble_write_etc(const char *etc, struct failure *failure)
{
    for (size_t i = 0; i < sizeof etc_files / sizeof etc_files[0]; i++) {
        if (!write_file(etc, etc_files[i].name, etc_files[i].text)) {
            return failure_set(failure, STATUS_UNAVAILABLE, "sandbox_unavailable", "%s/%s cannot be written: %s.", etc,
                               etc_files[i].name, strerror(errno));
        }
    }
    return STATUS_OK;
}

/* --- what may be shown --- */

/* What a sandbox has of its own. A directory of the machine below one of them would need a mount point in what the
 * agent writes to, which the agent could turn into a link that leads out. */
static const char *const own_places[] = {"/tmp", bubble_workspace, bubble_home, "/proc", "/dev"};

static bool is_plain_path(const char *path)
{
    bool climbs = strstr(path, "/../") || strstr(path, "/./") || strstr(path, "//");
    const char *last = strrchr(path, '/');
    return path[0] == '/' && !climbs && strcmp(last, "/..") != 0 && strcmp(last, "/.") != 0;
}

static bool is_at_or_below(struct slice path, struct slice place)
{
    return slice_starts(path, place) && (path.len == place.len || path.ptr[place.len] == '/');
}

enum status bubble_check_shown(const char *dir, struct failure *failure)
{
    struct slice path = slice_of(dir);
    path.len -= path.len > 0 && path.ptr[path.len - 1] == '/';
    if (!is_plain_path(dir)) {
        return failure_set(failure, STATUS_INVALID, "bad_option",
                           "\"%s\" is not an absolute path without \".\", \"..\" and empty parts.", dir);
    }
    for (size_t i = 0; i < sizeof own_places / sizeof own_places[0]; i++) {
        struct slice own = slice_of(own_places[i]);
        if (is_at_or_below(path, own) || is_at_or_below(own, path)) {
            return failure_set(failure, STATUS_INVALID, "bad_option",
                               "%s cannot be shown: a sandbox has its own %s. Name it by a link that lies "
                               "elsewhere, such as /opt/agents.",
                               dir, own_places[i]);
        }
    }
    return STATUS_OK;
}

/* --- the options, each ended by a zero byte: read from a descriptor, they show up in no list of processes --- */

static void say(struct buffer *out, const char *word)
{
    buffer_add(out, slice_from(word, strlen(word) + 1));
}

static void say_bind(struct buffer *out, const char *how, const char *host, const char *inside)
{
    say(out, how);
    say(out, host);
    say(out, inside);
}

static void say_namespaces(struct buffer *out, const struct bubble *bubble)
{
    static const char *const words[] = {
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--new-session",
        "--die-with-parent",
        "--hostname",
        "sandbox",
        "--cap-drop",
        "ALL",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        say(out, words[i]);
    }
    if (bubble->is_keeper) {
        static const char *const keeper[] = {
            "--uid",     "0",          "--gid",     "0",         "--cap-add", "CAP_DAC_OVERRIDE",
            "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_FSETID"};
        for (size_t i = 0; i < sizeof keeper / sizeof keeper[0]; i++) {
            say(out, keeper[i]);
        }
    } else {
        say(out, "--uid");
        say(out, "1000");
        say(out, "--gid");
        say(out, "1000");
    }
    if (!bubble->network) {
        say(out, "--unshare-net");
    }
}

/* /bin, /lib and so on: links into /usr where Debian merged them. */
static void say_system(struct buffer *out)
{
    static const char *const names[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    say_bind(out, "--ro-bind", "/usr", "/usr");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char target[256];
        ssize_t len = readlink(names[i], target, sizeof target - 1);
        if (len > 0) {
            target[len] = '\0';
            say_bind(out, "--symlink", target, names[i]);
        } else {
            say_bind(out, "--ro-bind-try", names[i], names[i]);
        }
    }
}

static void say_etc(struct buffer *out, const struct bubble *bubble)
{
    char host[1024], inside[64];
    for (size_t i = 0; i < sizeof etc_files / sizeof etc_files[0]; i++) {
        snprintf(host, sizeof host, "%s/%s", bubble->etc, etc_files[i].name);
        snprintf(inside, sizeof inside, "/etc/%s", etc_files[i].name);
        say_bind(out, "--ro-bind", host, inside);
    }
    for (size_t i = 0; i < sizeof etc_shown / sizeof etc_shown[0]; i++) {
        say_bind(out, "--ro-bind-try", etc_shown[i], etc_shown[i]);
    }
    for (size_t i = 0; bubble->network && i < sizeof etc_shown_with_network / sizeof etc_shown_with_network[0]; i++) {
        say_bind(out, "--ro-bind-try", etc_shown_with_network[i], etc_shown_with_network[i]);
    }
}

/* Whatever is a file system in memory is closed or has a size; a server that is root would else lend its ownership of
 * /proc/sys to those inside. */
static void say_kernel(struct buffer *out, const struct bubble *bubble)
{
    char size[32];
    int64_t memory = bubble->limits.memory_bytes_max;
    snprintf(size, sizeof size, "%" PRId64, memory > 0 && memory / 4 < SHM_BYTES_MAX ? memory / 4 : SHM_BYTES_MAX);
    say(out, "--proc");
    say(out, "/proc");
    say(out, "--remount-ro");
    say(out, "/proc");
    say(out, "--dev");
    say(out, "/dev");
    say(out, "--size");
    say(out, size);
    say(out, "--tmpfs");
    say(out, "/dev/shm");
    say(out, "--remount-ro");
    say(out, "/dev");
}

static void say_binds(struct buffer *out, const struct bubble *bubble)
{
    for (const char *const *shown = bubble->shown; shown && *shown; shown++) {
        say_bind(out, "--ro-bind-try", *shown, *shown);
    }
    for (const struct bubble_bind *bind = bubble->binds; bind && bind->host; bind++) {
        say_bind(out, bind->is_writable ? "--bind" : "--ro-bind", bind->host, bind->inside);
    }
    say(out, "--remount-ro");
    say(out, "/");
}

static void say_environment(struct buffer *out, const struct process_spec *spec)
{
    static const char *const usual[] = {
        usual_path, "HOME=/home/agent", "LANG=C.UTF-8", "TERM=dumb", "USER=agent", "LOGNAME=agent", NULL};
    const char *const *lists[] = {usual, spec->environment};
    say(out, "--clearenv");
    for (size_t i = 0; i < 2; i++) {
        for (const char *const *entry = lists[i]; entry && *entry; entry++) {
            struct slice name, value;
            char text[256];
            if (slice_cut(slice_of(*entry), '=', &name, &value) && name.len > 0 && name.len < sizeof text) {
                snprintf(text, sizeof text, "%.*s", SLICE_ARG(name));
                say_bind(out, "--setenv", text, value.ptr);
            }
        }
    }
}

static int options_fd(const struct bubble *bubble, const struct process_spec *spec)
{
    struct buffer out = {0};
    say_namespaces(&out, bubble);
    say_system(&out);
    say_etc(&out, bubble);
    say_kernel(&out, bubble);
    say_binds(&out, bubble);
    say_environment(&out, spec);
    say(&out, "--chdir");
    say(&out, spec->directory ? spec->directory : bubble->directory);
    int fd = memfd_create("options", MFD_CLOEXEC);
    bool done = fd >= 0 && write(fd, out.ptr, out.len) == (ssize_t)out.len && lseek(fd, 0, SEEK_SET) == 0;
    buffer_release(&out);
    if (!done && fd >= 0) {
        close(fd);
    }
    return done ? fd : -1;
}

/* --- the command line --- */

struct line {
    struct arena *arena;
    const char **argv;
    size_t count;
};

static void put(struct line *line, const char *word)
{
    line->argv[line->count++] = word;
}

static void put_limit(struct line *line, const char *name, int64_t value)
{
    if (value > 0) {
        put(line, arena_format(line->arena, "--%s=%" PRId64 ":%" PRId64, name, value, value).ptr);
    }
}

/* Counted and charged from inside, so that a limit is the sandbox's and not the server's user's. */
static void put_limits(struct line *line, const struct bubble_limits *limits)
{
    put(line, "/usr/bin/prlimit");
    put(line, "--core=0:0");
    put_limit(line, "nproc", limits->processes_max);
    put_limit(line, "data", limits->memory_bytes_max);
    put_limit(line, "fsize", limits->file_bytes_max);
    put(line, "--");
}

static void put_group(struct line *line, const struct cgroup *group)
{
    if (group && group->path[0] != '\0') {
        put(line, "/bin/sh");
        put(line, "-c");
        put(line, "echo 0 >\"$0/cgroup.procs\" && exec \"$@\"");
        put(line, arena_copy(line->arena, slice_of(group->path)).ptr);
    }
}

static void line_init(struct line *line, struct launch *launch, const struct process_spec *spec)
{
    size_t count = 0;
    while (spec->argv[count]) {
        count++;
    }
    *line = (struct line){.arena = &launch->arena};
    line->argv = arena_array(line->arena, count + ARGV_PREFIX_MAX, sizeof *line->argv);
}

static void line_end(struct line *line, struct launch *launch, const struct process_spec *spec)
{
    for (size_t i = 0; spec->argv[i]; i++) {
        put(line, spec->argv[i]);
    }
    launch->argv = line->argv;
}

enum status bubble_launch(const struct bubble *bubble, const struct process_spec *spec, struct launch *launch,
                          struct failure *failure)
{
    static const char *const own_environment[] = {usual_path, NULL};
    struct line line;
    launch->arguments_fd = options_fd(bubble, spec);
    bool kernel_counts = bubble->group && bubble->group->path[0] != '\0' && bubble->group->holds_memory;
    launch->filter_fd =
        bubble->is_keeper ? -1 : seccomp_filter_open(kernel_counts ? SECCOMP_KERNEL_COUNTS : SECCOMP_SERVER_COUNTS);
    if (launch->arguments_fd < 0) {
        return failure_set(failure, STATUS_UNAVAILABLE, "process_not_started", "No memory for the options of %s: %s.",
                           bwrap_path, strerror(errno));
    }
    line_init(&line, launch, spec);
    put_group(&line, bubble->group);
    put(&line, bwrap_path);
    put(&line, "--args");
    put(&line, "3");
    if (launch->filter_fd >= 0) {
        put(&line, "--seccomp");
        put(&line, "4");
    }
    put(&line, "--");
    put_limits(&line, &bubble->limits);
    line_end(&line, launch, spec);
    launch->environment = own_environment;
    launch->is_walled = true;
    return STATUS_OK;
}

static const char *const *bare_environment(struct arena *arena, const struct process_spec *spec, const char *home)
{
    size_t count = 0;
    while (spec->environment && spec->environment[count]) {
        count++;
    }
    const char **all = arena_array(arena, count + 5, sizeof *all);
    size_t at = 0;
    for (; at < count; at++) {
        all[at] = spec->environment[at]; /* the first of a name counts */
    }
    all[at++] = arena_format(arena, "HOME=%s", home).ptr;
    all[at++] = usual_path;
    all[at++] = "LANG=C.UTF-8";
    all[at++] = "TERM=dumb";
    return all;
}

void bubble_launch_bare(const struct bubble *bubble, const struct process_spec *spec, const char *home,
                        const char *root, struct launch *launch)
{
    struct line line;
    line_init(&line, launch, spec);
    put_group(&line, bubble->group);
    put_limits(&line, &(struct bubble_limits){.memory_bytes_max = bubble->limits.memory_bytes_max,
                                              .file_bytes_max = bubble->limits.file_bytes_max});
    line_end(&line, launch, spec);
    launch->environment = bare_environment(&launch->arena, spec, home);
    struct slice inside = slice_of(spec->directory);
    struct slice workspace = slice_of(bubble_workspace);
    if (slice_starts(inside, workspace)) {
        launch->directory =
            arena_format(&launch->arena, "%s%.*s", root, SLICE_ARG(slice_after(inside, workspace.len))).ptr;
    } else {
        launch->directory = root;
    }
}

/* --- does it work here? --- */

static void wait_for_probe(pid_t pid, int *out_status)
{
    for (int waited_ms = 0; waited_ms < PROBE_MS; waited_ms += 5) {
        if (waitpid(pid, out_status, WNOHANG) != 0) {
            return;
        }
        poll(NULL, 0, 5);
    }
    kill(pid, SIGKILL);
    waitpid(pid, out_status, 0);
}

static pid_t spawn_probe(const struct launch *launch, int said_fd)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, said_fd, 2);
    posix_spawn_file_actions_adddup2(&actions, launch->arguments_fd, LAUNCH_ARGUMENTS_FD);
    if (launch->filter_fd >= 0) {
        posix_spawn_file_actions_adddup2(&actions, launch->filter_fd, LAUNCH_FILTER_FD);
    }
    int result = posix_spawn(&pid, launch->argv[0], &actions, NULL, (char *const *)(uintptr_t)launch->argv,
                             (char *const *)(uintptr_t)launch->environment);
    posix_spawn_file_actions_destroy(&actions);
    errno = result;
    return result == 0 ? pid : -1;
}

static enum status judge_probe(int exit_status, int said_fd, struct failure *failure)
{
    char said[300] = "";
    if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0) {
        return STATUS_OK;
    }
    ssize_t len = pread(said_fd, said, sizeof said - 1, 0);
    said[len > 0 ? len : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    const char *unsaid = WIFEXITED(exit_status) ? "it failed without a word" : "it did not end in time";
    return failure_set(failure, STATUS_UNAVAILABLE, "sandbox_unavailable",
                       "bubblewrap cannot make a sandbox on this machine (%s); user namespaces must be allowed, or the "
                       "option sandbox-unprotected set.",
                       said[0] ? said : unsaid);
}

enum status bubble_probe(const char *etc, struct failure *failure)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct process_spec spec = {.argv = argv, .directory = "/"};
    struct bubble bubble = {.etc = etc, .limits = {.memory_bytes_max = 1 << 30}};
    struct launch launch;
    int exit_status = -1;
    if (access(bwrap_path, X_OK) != 0) {
        return failure_set(failure, STATUS_UNAVAILABLE, "sandbox_unavailable",
                           "%s is not there: install bubblewrap, or set the option sandbox-unprotected.", bwrap_path);
    }
    launch_init(&launch);
    enum status status = bubble_launch(&bubble, &spec, &launch, failure);
    int said_fd = memfd_create("probe", MFD_CLOEXEC);
    pid_t pid = status == STATUS_OK && said_fd >= 0 ? spawn_probe(&launch, said_fd) : -1;
    if (pid > 0) {
        wait_for_probe(pid, &exit_status);
        status = judge_probe(exit_status, said_fd, failure);
    } else if (status == STATUS_OK) {
        status = failure_set(failure, STATUS_UNAVAILABLE, "sandbox_unavailable", "%s cannot be started: %s.",
                             bwrap_path, strerror(errno));
    }
    if (said_fd >= 0) {
        close(said_fd);
    }
    launch_release(&launch);
    return status;
}
