/* A task: work that is configured once and run many times. Its steps wait for each other, form no circle, and each is
 * done by an agent or a person. A run makes a session of each step; task_plan says what follows when one has ended. */
#ifndef DOMAIN_TASK_H
#define DOMAIN_TASK_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "domain/session_status.h"

enum { TASK_STEPS_MAX = 64, TASK_ID_BYTES_MAX = 64, TASK_NAME_CHARS_MAX = 200, TASK_TEXT_CHARS_MAX = 100000 };

struct task_step {
    struct slice id, name; /* the name is the id when none was given */
    struct slice agent;    /* slug; absent = a person does it */
    struct slice prompt;
    const struct json *depends_on; /* list of ids of other steps, or NULL */
    const struct json *output;     /* see contract.h; NULL = anything */
    const struct json *criteria;   /* NULL = none */
    bool requires_approval;
    uint64_t after; /* bits: the steps that must be completed before it */
};

struct task {
    struct slice id, name, description;
    struct task_step *steps;
    size_t step_count;
};

/* From {id, name, description, steps} or the short form of one step {id, name, agent | human, prompt, output,
 * requires_approval, criteria}. INVALID for what is unknown, of the wrong kind, named twice, waits for a step that is
 * not there, or for itself in a circle. Strings are those of the JSON. */
MUST_CHECK enum status task_read(struct arena *arena, const struct json *object, size_t steps_max, struct task *out,
                                 struct failure *failure);
/* One step as task_write_step wrote it; `after` is not set. */
MUST_CHECK enum status task_read_step(const struct json *object, struct task_step *out, struct failure *failure);
/* Sets `after` of all; INVALID for unknown steps and circles. */
MUST_CHECK enum status task_link(struct task_step *steps, size_t count, struct failure *failure);

/* {"description", "steps": […]}: what is kept of a task besides its id and name. */
void task_write_definition(struct json_out *out, const struct task *task);
void task_write_step(struct json_out *out, const struct task_step *step);

/* What an agent or a person is told at the start: the prompt, what was put in (JSON, or absent), and the output that is
 * expected. */
struct slice task_brief(struct arena *arena, const struct task *task, const struct task_step *step, struct slice input);

/* What follows for each step from the states of all: a draft whose steps before it are completed starts, one that waits
 * for a step that ended otherwise fails, and so do those that wait for it. */
enum step_action { STEP_STAYS, STEP_STARTS, STEP_FAILS };
enum run_end { RUN_GOES_ON, RUN_IS_DONE, RUN_HAS_FAILED };
enum run_end task_plan(const struct task_step *steps, const enum session_status *states, size_t count,
                       enum step_action *out);

#endif
