/* The tools of the built-in agents: one table. A tool says what it is called, what it takes, how risky it is and how it
 * is run; the turn decides whether it may (permissions) and keeps its result. */
#ifndef RUNNER_TOOL_H
#define RUNNER_TOOL_H

#include "domain/call_subject.h"
#include "domain/file_change.h"
#include "runner/driver.h"
#include "runner/sandbox.h"

struct http_client;

/* What a tool touches; what may be done without asking depends on it. */
enum tool_risk { RISK_READ, RISK_FS_WRITE, RISK_PROCESS, RISK_EGRESS, RISK_OS };

/* What the operator set, the same for every call. Lives as long as the server. */
struct tool_settings {
    size_t result_bytes_max, result_lines_max; /* that the model reads; the rest goes into a file */
    size_t read_bytes_max, write_bytes_max;    /* of one file */
    size_t list_entries_max;
    size_t search_files_max, search_matches_max;
    int64_t search_ms_max;
    size_t command_bytes_max; /* of output that is kept */
    int64_t command_ms_max;   /* when the agent's sandbox names none */
    size_t http_bytes_max;
    int64_t http_ms_max;
    bool allows_full_scope; /* otherwise `full` counts as `project` */
    const char *data_dir;   /* the server's own files: never shown, whatever the scope; NULL = none */
    /* "HOST:PORT" on this machine that may be called, over http too */
    const char *const *open_hosts;
    size_t open_host_count;
    /* A result without the server's secrets, in the arena when it held one; NULL = there are none. */
    struct slice (*mask)(void *owner, struct arena *arena, struct slice text);
    void *mask_owner;
};
extern const struct tool_settings tool_settings_usual;

/* Where a call runs. Lives as long as the call. */
struct tool_place {
    struct loop *loop;
    const struct tool_settings *settings; /* NULL = tool_settings_usual */
    struct http_client *http;             /* of the loop; NULL = http_request is unavailable */
    struct slice workspace;               /* of the session, absolute, for the project tier; absent = none */
    const struct agent *agent;
    struct sandbox *sandbox; /* NULL = none: process tools are unavailable, file tools see the workspace only */
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
    struct slice spill;         /* file name of the whole result in files_dir, or absent */
    int64_t bytes;              /* of the whole result */
    struct file_change changed; /* the file it wrote, as the agent knows it; without a path: none */
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

/* What the agent's rules say of this call: the path it names is made absolute first, and what no rule speaks of is
 * asked when it writes outside of the sandbox. DENY for a tool the agent does not have. */
enum permission tool_permission(const struct tool_place *place, const struct tool *tool, const struct json *arguments);
/* The same call as rules and people are asked about it. Slices borrow from the place and the arguments, or live in the
 * arena. */
void tool_facts(struct arena *arena, const struct tool_place *place, const struct tool *tool,
                const struct json *arguments, struct call_facts *out);
/* For tools that ask: what a person is asked (the id and the deadline are the turn's to set), and what the model is
 * told of the decision. Slices borrow from the call and the ask, or live in the arena. */
void tool_ask(const struct tool *tool, const struct tool_call *call, struct ask *out);
void tool_answered(struct arena *arena, const struct ask *ask, struct tool_result *out);
/* Untrusted text as the model may see it: between two marks that cannot stand in the text, named as data. */
struct slice tool_fence(struct arena *arena, struct slice name, struct slice text);

#endif
