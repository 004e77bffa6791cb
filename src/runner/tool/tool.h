/* The tools of the built-in agents: what each is stands in domain/tool_spec.h, how it is run here. The turn decides
 * whether a call may run (permissions) and keeps its result. */
#ifndef RUNNER_TOOL_H
#define RUNNER_TOOL_H

#include "domain/call_subject.h"
#include "domain/file_change.h"
#include "domain/tool_spec.h"
#include "runner/driver.h"
#include "runner/sandbox/sandbox.h"
#include "runner/tool/tool_settings.h"

struct http_client;

/* Where a call runs. Lives as long as the call. */
struct tool_place {
    struct loop *loop;
    const struct tool_settings *settings; /* NULL = tool_settings_usual */
    struct http_client *http;             /* of the loop; NULL = http_request is unavailable */
    struct slice workspace;               /* of the session, absolute, for the project tier; absent = none */
    const struct agent *agent;
    struct sandbox *sandbox; /* NULL = none: process tools are unavailable, file tools see the workspace only */
    struct slice files_dir;  /* where spilled results are kept; absolute, outside the sandbox */
    struct turn *turn;       /* for turn_call_service */
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
    const struct tool_spec *spec;
    /* Runs the call; `done` follows exactly once, on the loop, perhaps before it returns. Returns what tool_cancel
     * needs, or NULL when nothing can be cancelled. NULL for tools that ask a person: then the turn does. */
    void *(*run)(const struct tool_place *place, const struct tool_call *call, struct tool_done then);
    void (*cancel)(void *running); /* done is not called any more */
};

extern const struct tool tools[]; /* ends with a NULL spec */
const struct tool *tool_find(struct slice name);
/* ask_user, request_approval: the turn asks a person instead of running anything. */
static inline bool tool_asks(const struct tool *tool)
{
    return tool->spec->runs == TOOL_RUNS_PERSON;
}
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
