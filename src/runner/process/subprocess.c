#include "runner/process/subprocess.h"

#include <stdlib.h>

enum { SAID_BYTES = 400 };

struct subprocess {
    struct subprocess_callback told;
    char said[SAID_BYTES];
    size_t len;
    bool line_is_over;
};

/* Keeps the beginning of the newest line that is not empty; a progress line ends with a carriage return. */
static void on_stderr(void *owner, struct slice bytes)
{
    struct subprocess *job = owner;
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] == '\n' || bytes.ptr[i] == '\r') {
            job->line_is_over = true;
            continue;
        }
        if (job->line_is_over) {
            job->line_is_over = false;
            job->len = 0;
        }
        if (job->len < sizeof job->said) {
            job->said[job->len++] = bytes.ptr[i];
        }
    }
}

static void on_end(void *owner, const struct process_end *end)
{
    struct subprocess *job = owner;
    struct slice said = slice_trim(slice_from(job->said, job->len));
    struct subprocess_end told = {
        .done = end->exit_code == 0 && !end->timed_out,
        .timed_out = end->timed_out,
        .exit_code = end->exit_code,
        .said = slice_is_utf8(said) ? said : SLICE(""),
    };
    job->told.tell(job->told.owner, &told);
    free(job);
}

enum status subprocess_start(struct loop *loop, struct launch *launch, int64_t time_ms_max,
                             struct subprocess_callback told, struct failure *failure)
{
    struct subprocess *job = memory_zeroed(sizeof *job);
    struct process *process;
    job->told = told;
    struct process_spec spec = {.time_ms_max = time_ms_max};
    struct process_handler handler = {.owner = job, .on_stderr = on_stderr, .on_end = on_end};
    enum status status = process_spawn(loop, NULL, launch, &spec, &handler, &process, failure);
    if (status != STATUS_OK) {
        free(job);
    }
    launch_release(launch);
    return status;
}

enum status subprocess_start_plain(struct loop *loop, const char *const *argv, int64_t time_ms_max,
                                   struct subprocess_callback told, struct failure *failure)
{
    static const char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", NULL};
    struct launch launch;
    launch_init(&launch);
    launch_plain(&launch, &(struct process_spec){.argv = argv, .environment = environment});
    return subprocess_start(loop, &launch, time_ms_max, told, failure);
}
