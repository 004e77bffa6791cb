/* Tasks: work that admins configure and members run. A run makes a session of every step, in one transaction. */
#ifndef SERVICE_TASK_H
#define SERVICE_TASK_H

#include "domain/task.h"
#include "service/session/session.h"

/* Writer, for admins. CONFLICT `task_exists`; INVALID `invalid_task`, `unknown_agent`. */
MUST_CHECK enum status task_define(struct call *call, const struct json *object, struct task_row *out);
/* `patch` has name, description, steps; `version` as for entities. Runs that began keep the steps they began with. */
MUST_CHECK enum status task_change(struct call *call, struct slice id, const struct json *patch, int64_t version,
                                   struct task_row *out);
MUST_CHECK enum status task_remove(struct call *call, struct slice id);
/* Reader or writer; NOT_FOUND `task_not_found`. */
MUST_CHECK enum status task_find(struct call *call, struct slice id, struct task_row *out);

struct task_order {
    struct slice entity_id;   /* what it is about; absent = nothing in particular */
    const struct json *input; /* told to every step; NULL = none */
    const struct json *source;
};
struct started_task {
    struct task task;
    struct loaded_session *run; /* over all steps, or the only one */
    struct loaded_session *steps[TASK_STEPS_MAX];
};
/* Writer, for members. One step is one session; several hang on one of type mixed. Steps of agents that wait for
 * nothing are pending, the others draft; those of people are sessions of type response. */
MUST_CHECK enum status task_start(struct call *call, struct slice id, const struct task_order *order,
                                  struct started_task *out);

/* Reader. By id, those behind `after` (absent = from the first). FORBIDDEN as entity_check_reach. */
MUST_CHECK enum status task_list(struct call *call, struct slice after, int64_t limit, struct task_row **out,
                                 size_t *out_count);

#endif
