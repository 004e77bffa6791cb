#include "runner/process.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

static int64_t own_memory(pid_t pid, int64_t page_bytes)
{
    char path[48];
    long long whole = 0, resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return 0;
    }
    int got = fscanf(file, "%lld %lld %lld", &whole, &resident, &shared);
    fclose(file);
    return got == 3 && resident > shared ? (resident - shared) * page_bytes : 0;
}

void process_tree_measure(pid_t root, int64_t processes_max, struct tree_use *use)
{
    int64_t page_bytes = sysconf(_SC_PAGESIZE);
    struct pids *pids = collect(root, (size_t)processes_max);
    for (size_t i = 0; i < pids->count; i++) {
        use->memory_bytes += own_memory(pids->list[i], page_bytes);
    }
    use->processes += (int64_t)pids->count;
    free(pids);
}
