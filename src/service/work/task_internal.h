/* What defining a task and running it share. Private to these files. */
#ifndef SERVICE_TASK_INTERNAL_H
#define SERVICE_TASK_INTERNAL_H

#include "service/work/task.h"

/* INVALID `unknown_agent` when one of its agents is defined by nobody. */
MUST_CHECK enum status task_check_agents(struct call *call, const struct task *task);
/* The task as one object, as it was sent, with `patch` over it (NULL = none). */
MUST_CHECK enum status task_of_row(struct call *call, const struct task_row *row, const struct json *patch,
                                   const struct json **out);

#endif
