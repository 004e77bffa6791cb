#include "runner/process/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { TREE_MAX = 4096, CHILDREN_BYTES = 32768, NAMELESS_MAX = 65536, BLOCK_BYTES = 512 };

struct pids {
    pid_t list[TREE_MAX];
    size_t count, max;
};

/* False when it has ended and waits to be seen, too: then it has neither memory nor files. */
static bool is_alive(pid_t thread)
{
    char path[48], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    text[len] = '\0';
    const char *state = strrchr(text, ')');
    return state && strlen(state) > 2 && state[2] != 'Z' && state[2] != 'X';
}

/* The next thread of a process that lives; 0 at the end. */
static pid_t next_thread(DIR *threads)
{
    for (struct dirent *entry = threads ? readdir(threads) : NULL; entry; entry = readdir(threads)) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && is_alive(thread)) {
            return thread;
        }
    }
    return 0;
}

static DIR *open_threads(pid_t pid)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return opendir(path);
}

/* What belongs to all threads of a process is shown by each that lives, and its first one may be over. */
static pid_t live_thread(pid_t pid)
{
    DIR *threads = is_alive(pid) ? NULL : open_threads(pid);
    pid_t thread = threads ? next_thread(threads) : pid;
    if (threads) {
        closedir(threads);
    }
    return thread;
}

/* The kernel lists children by the thread that made them. */
static void add_children_of_thread(struct pids *pids, pid_t pid, const char *thread)
{
    char path[96], text[CHILDREN_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (!file) {
        return;
    }
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    char *at = text, *end;
    for (long child = strtol(at, &end, 10); end != at && pids->count < pids->max; child = strtol(at, &end, 10)) {
        pids->list[pids->count++] = (pid_t)child;
        at = end;
    }
}

static void add_children(struct pids *pids, pid_t pid)
{
    DIR *threads = open_threads(pid);
    if (!threads) {
        return;
    }
    for (struct dirent *entry = readdir(threads); entry; entry = readdir(threads)) {
        if (entry->d_name[0] != '.') {
            add_children_of_thread(pids, pid, entry->d_name);
        }
    }
    closedir(threads);
}

static struct pids *collect(pid_t root, size_t max)
{
    struct pids *pids = memory_alloc(sizeof *pids);
    pids->max = max < TREE_MAX ? max : TREE_MAX;
    pids->list[0] = root;
    pids->count = 1;
    for (size_t i = 0; i < pids->count; i++) {
        add_children(pids, pids->list[i]);
    }
    return pids;
}

void process_tree_signal(pid_t root, int signal, size_t spared)
{
    struct pids *pids = collect(root, TREE_MAX);
    for (size_t i = spared; i < pids->count; i++) {
        kill(pids->list[i], signal);
    }
    free(pids);
}

/* The sum of these lines of a file of /proc, in bytes; -1 when it can't be read. */
static int64_t sum_lines(pid_t pid, const char *name, const char *const *wanted)
{
    char path[48], line[256];
    int64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (!file) {
        return -1;
    }
    while (fgets(line, sizeof line, file)) {
        for (size_t i = 0; wanted[i]; i++) {
            size_t len = strlen(wanted[i]);
            sum += strncmp(line, wanted[i], len) == 0 ? strtoll(line + len, NULL, 10) * 1024 : 0;
        }
    }
    fclose(file);
    return sum;
}

static int64_t own_memory(pid_t pid)
{
    static const char *const lines[] = {"RssAnon:", "VmSwap:", "VmPTE:", "HugetlbPages:", NULL};
    int64_t bytes = sum_lines(pid, "status", lines);
    return bytes > 0 ? bytes : 0; /* it has ended */
}

static int64_t shared_memory(pid_t pid)
{
    static const char *const lines[] = {"RssShmem:", NULL};
    int64_t bytes = sum_lines(pid, "status", lines);
    return bytes > 0 ? bytes : 0;
}

/* What is shared with others of the tree would else count for each. Slower, and not for every process to be read: then
 * all of it is its own. */
static int64_t part_of_shared(pid_t pid)
{
    static const char *const lines[] = {"Pss_Shmem:", NULL};
    int64_t bytes = sum_lines(pid, "smaps_rollup", lines);
    return bytes >= 0 ? bytes : shared_memory(pid);
}

void process_tree_measure(pid_t root, int64_t processes_max, int64_t memory_bytes_max, struct tree_use *use)
{
    struct pids *pids = collect(root, (size_t)processes_max);
    int64_t own = 0, shared = 0;
    for (size_t i = 0; i < pids->count; i++) {
        pids->list[i] = live_thread(pids->list[i]);
        own += own_memory(pids->list[i]);
        shared += shared_memory(pids->list[i]);
    }
    if (memory_bytes_max > 0 && use->memory_bytes + own + shared > memory_bytes_max) {
        shared = 0;
        for (size_t i = 0; i < pids->count; i++) {
            shared += part_of_shared(pids->list[i]);
        }
    }
    use->memory_bytes += own + shared;
    use->processes += (int64_t)pids->count;
    free(pids);
}

int64_t process_tree_shm(pid_t root)
{
    char path[64];
    struct statvfs about;
    struct stat inside, outside;
    struct pids *pids = collect(root, TREE_MAX);
    snprintf(path, sizeof path, "/proc/%d/root/dev/shm", (int)pids->list[pids->count - 1]);
    free(pids);
    bool is_own = stat(path, &inside) == 0 && (stat("/dev/shm", &outside) != 0 || inside.st_dev != outside.st_dev);
    return is_own && statvfs(path, &about) == 0
               ? (int64_t)((uint64_t)(about.f_blocks - about.f_bfree) * (uint64_t)about.f_frsize)
               : 0;
}

/* --- files without a name --- */

static void add_nameless(struct nameless_files *files, uint64_t inode, int64_t bytes)
{
    if (files->count == NAMELESS_MAX) {
        files->is_hidden = true;
        return;
    }
    if (files->count == files->room) {
        files->room = files->room ? 2 * files->room : 64;
        files->list = memory_resize(files->list, files->room * sizeof *files->list);
    }
    files->list[files->count++] = (struct nameless_file){inode, bytes};
}

/* One that is about to end shows nothing any more, and holds nothing. */
static bool has_memory(pid_t pid)
{
    static const char *const lines[] = {"VmSize:", NULL};
    return sum_lines(pid, "status", lines) > 0;
}

/* Threads may have tables of open files of their own. */
static void add_open(pid_t pid, bool is_spared, dev_t device, struct nameless_files *out)
{
    char path[48];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *open_files = opendir(path);
    if (!open_files) {
        out->is_hidden = out->is_hidden || (errno == EACCES && !is_spared && has_memory(pid));
        return;
    }
    for (struct dirent *entry = readdir(open_files); entry; entry = readdir(open_files)) {
        bool is_one = entry->d_name[0] != '.' && fstatat(dirfd(open_files), entry->d_name, &about, 0) == 0;
        if (is_one && S_ISREG(about.st_mode) && about.st_nlink == 0 && about.st_dev == device) {
            add_nameless(out, about.st_ino, about.st_blocks * BLOCK_BYTES);
        }
    }
    closedir(open_files);
}

/* Of a file that is mapped and not open, what is known is how far it is mapped. */
static void add_mapped(pid_t pid, dev_t device, struct nameless_files *out)
{
    static const char mark[] = " (deleted)\n";
    char path[48], line[8192];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        uint64_t begin, end, offset, inode;
        unsigned major_number, minor_number;
        size_t len = strlen(line);
        bool is_nameless = len >= sizeof mark && strcmp(line + len - (sizeof mark - 1), mark) == 0;
        if (is_nameless &&
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %x:%x %" SCNu64, &begin, &end, &offset,
                   &major_number, &minor_number, &inode) == 6 &&
            makedev(major_number, minor_number) == device) {
            add_nameless(out, inode, (int64_t)(offset + (end - begin)));
        }
    }
    if (maps) {
        fclose(maps);
    }
}

void process_tree_nameless(pid_t root, size_t spared, dev_t device, struct nameless_files *out)
{
    struct pids *pids = collect(root, TREE_MAX);
    for (size_t i = 0; i < pids->count; i++) {
        DIR *threads = open_threads(pids->list[i]);
        for (pid_t thread = next_thread(threads), first = thread; thread > 0; thread = next_thread(threads)) {
            add_open(thread, i < spared, device, out);
            if (thread == first) {
                add_mapped(thread, device, out);
            }
        }
        if (threads) {
            closedir(threads);
        }
    }
    free(pids);
}

static int by_inode(const void *a, const void *b)
{
    const struct nameless_file *first = a, *second = b;
    int order = (first->inode > second->inode) - (first->inode < second->inode);
    return order ? order : (first->bytes < second->bytes) - (first->bytes > second->bytes);
}

int64_t nameless_bytes(struct nameless_files *files)
{
    int64_t sum = 0;
    if (files->count > 0) {
        qsort(files->list, files->count, sizeof *files->list, by_inode);
    }
    for (size_t i = 0; i < files->count; i++) {
        bool is_again = i > 0 && files->list[i].inode == files->list[i - 1].inode;
        sum += is_again ? 0 : files->list[i].bytes; /* the largest comes first */
    }
    return sum;
}
