/* The tools of the built-in agents: one table. A tool says what it is called, what it takes, how risky it is and how it
 * is run; the turn decides whether it may (permissions) and keeps its result. */
#ifndef RUNNER_TOOL_H
#define RUNNER_TOOL_H

#include "runner/driver.h"
#include "runner/sandbox.h"

/* What a tool touches: shown with an approval, and the default permission follows from it. */
enum tool_risk { RISK_READ, RISK_FS_WRITE, RISK_PROCESS, RISK_EGRESS, RISK_OS, RISK_COUNT };
extern const struct words tool_risk_words; /* read fs_write process egress os */

/* Where a call runs. Lives as long as the call. */
struct tool_place {
    struct loop *loop;
    const struct agent *agent;
    struct sandbox *sandbox; /* NULL = none: file and process tools are unavailable */
    struct slice files_dir;  /* where spilled results are kept; absolute, outside the sandbox */
    struct turn *turn;       /* for turn_serve */
};

struct tool_call {
    struct slice id; /* of the call, unique in the session */
    struct slice name;
    const struct json *arguments; /* an object, checked against the tool's schema */
};

struct tool_result {
    bool is_error;
    enum turn_error error; /* tool_denied, tool_failed, tool_unavailable … */
    struct slice
        text; /* what the model reads: at most 50 KB or 2,000 lines, else head and tail and where the rest is */
    struct slice spill; /* file name of the whole result in files_dir, or absent */
    int64_t bytes;      /* of the whole result */
};
struct tool_done {
    void *owner;
    void (*done)(void *owner, const struct tool_result *result);
};

struct tool {
    const char *name;
    const char *description; /* for the model */
    const char *schema;      /* JSON Schema of the arguments */
    enum tool_risk risk;
    enum permission otherwise; /* when no rule of the agent matches */
    const char *path_argument; /* which argument is a path, or NULL */
    /* Runs the call; `done` follows exactly once, on the loop, perhaps before it returns. Returns what tool_cancel
     * needs, or NULL when nothing can be cancelled. */
    void *(*run)(const struct tool_place *place, const struct tool_call *call, struct tool_done then);
    void (*cancel)(void *running); /* done is not called any more */
    bool asks;                     /* ask_user, request_approval: the turn asks a person instead of running anything */
};

extern const struct tool tools[]; /* ends with a NULL name */
const struct tool *tool_find(struct slice name);
/* Checks the arguments against the schema: INVALID with a sentence the model can act on. */
MUST_CHECK enum status tool_check(const struct tool *tool, const struct json *arguments, struct failure *failure);
/* Bounds a result: at most 50 KB or 2,000 lines go to the model, the rest into a file. Slices live in the arena. */
void tool_bound(struct arena *arena, const struct tool_place *place, struct slice call_id, struct slice whole,
                struct tool_result *out);

#endif
