/* What the tools share: how each is run, and a way to do its slow part beside the loop. Only for this room. */
#ifndef RUNNER_TOOL_CALL_H
#define RUNNER_TOOL_CALL_H

#include <stdatomic.h>
#include <uv.h>

#include "runner/tool/path.h"
#include "runner/tool/tool.h"

#define TOOL_RUN(name) void *name(const struct tool_place *place, const struct tool_call *call, struct tool_done then)
TOOL_RUN(read_file_run);
TOOL_RUN(write_file_run);
TOOL_RUN(edit_file_run);
TOOL_RUN(list_directory_run);
TOOL_RUN(search_files_run);
TOOL_RUN(run_command_run);
TOOL_RUN(git_status_run);
TOOL_RUN(git_diff_run);
TOOL_RUN(git_commit_run);
TOOL_RUN(http_request_run);
TOOL_RUN(service_run);
void tool_job_cancel(void *running);
void tool_process_cancel(void *running);
void http_request_cancel(void *running);
void service_cancel(void *running);

const struct tool_settings *tool_settings_of(const struct tool_place *place);
/* Calls `done` with a failed result. */
void tool_refuse(struct tool_done then, enum turn_error error, struct slice text);
/* The code of a result that ended with this status. */
enum turn_error tool_error_of(enum status status);

/* --- a job: the part of a call that may block, on a thread of the pool --- */

/* Owns copies of all it needs: a call that was cancelled leaves it running alone. */
struct tool_job {
    uv_work_t work;
    struct arena arena;
    struct tool_done then;
    atomic_bool is_cancelled;
    struct tool_place place; /* only settings, files_dir, workspace and agent (its rules, nothing else) */
    struct path_scope scope;
    struct slice tool, call_id;
    const struct json *arguments;
    enum status (*run)(struct tool_job *job, struct failure *failure); /* in the pool; fills `text` */
    struct buffer text;
    struct tool_result result;
};

/* Returns what tool_job_cancel takes. */
void *tool_job_start(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                     enum status (*run)(struct tool_job *job, struct failure *failure));
/* Gives a whole result back, bounded; the bytes are moved out of `whole`. At once when it is small, otherwise by a job
 * that writes the file. `error` TURN_OK = a good one. */
void *tool_give(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                struct buffer *whole, enum turn_error error);
/* Fills what of the scope belongs to the place; slices borrow from it. */
void tool_scope(const struct tool_place *place, struct path_scope *out);
/* The same for rules about paths. */
struct call_place tool_call_place(const struct path_scope *scope);

/* Where a sandbox shows its tree to what runs in it. */
#define TOOL_MOUNT "/workspace"

/* --- processes: one after the other, output gathered --- */

enum { TOOL_STEPS_MAX = 3 };

struct tool_steps {
    const char *const *argv[TOOL_STEPS_MAX]; /* each NULL-ended; the next starts when the one before it ended well */
    size_t count;
    const char *const *environment; /* NULL-ended, besides what the sandbox sets */
    const char *directory;          /* inside the sandbox; NULL = its root */
    int64_t time_ms_max;            /* 0 = the agent's, or the option's */
    /* NULL, or: the first step only finds something out, from whose output this makes the environment of the others,
     * with `further` (NULL-ended) in it. NULL = it can't. */
    const char *const *(*learn)(struct arena *arena, struct slice output, const char *const *further);
    const char *const *further;
    const char *when_empty; /* said when all ended well without a word */
    bool streams;           /* output is shown while it comes */
};
/* Copies the steps. */
void *tool_process_start(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                         const struct tool_steps *steps);

/* Appends bytes as text: what is no UTF-8 becomes U+FFFD, control characters but tab and line end are left out. */
void tool_text_add(struct buffer *to, struct slice bytes);

#endif
