/* What the files of steps share. Private to step.c, step_output.c and step_advance.c. */
#ifndef SERVICE_STEP_INTERNAL_H
#define SERVICE_STEP_INTERNAL_H

#include "domain/task.h"
#include "service/work/step.h"

struct loaded_step {
    bool found; /* else the session is no step */
    struct step_row row;
    struct task_step step;
};
MUST_CHECK enum status step_load(struct call *call, const struct session *session, struct loaded_step *out);
/* Contract, criteria and entity; what breaks one of them makes the settlement a failure. */
MUST_CHECK enum status step_judge(struct call *call, const struct session *session, const struct task_step *step,
                                  struct settlement *settlement);
/* Ends a session as the settlement says, with all that belongs to an end. */
MUST_CHECK enum status step_end(struct call *call, struct loaded_session *loaded, const struct settlement *settlement);
/* Goes on with the run in which a step has ended. */
MUST_CHECK enum status step_advance(struct call *call, struct loaded_session *ended, const struct loaded_step *step);
/* CONFLICT `step_waits` while a step before it is not completed. */
MUST_CHECK enum status step_check_turn(struct call *call, int64_t tenant_key, const struct loaded_step *step);

#endif
