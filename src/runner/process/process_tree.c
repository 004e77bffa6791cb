#include "runner/process/process.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREE_MAX = 4096, CHILDREN_BYTES = 32768 };

struct pids {
    pid_t list[TREE_MAX];
    size_t count, max;
};

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
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
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
    static const char *const lines[] = {"RssAnon:", "VmSwap:", "VmPTE:", NULL};
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
