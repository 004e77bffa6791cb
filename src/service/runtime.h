/* Commands on the runtime of a session, for people. Each writes what is wanted; the host of sandboxes (runtimes.h) does
 * it after the commit. All of them are idempotent: what is so already is no change, and no error. */
#ifndef SERVICE_RUNTIME_H
#define SERVICE_RUNTIME_H

#include "service/session.h"
#include "service/writer.h"

struct runtime_outcome {
    struct loaded_session *loaded;
    bool changed;
};

/* Writer. running → hibernating; CONFLICT in any other state that is not asleep, and while a turn is under way
 * (`turn_running`). */
MUST_CHECK enum status runtime_hibernate(struct call *call, struct slice session_id, struct runtime_outcome *out);
/* Writer. hibernated → restoring, and error → restoring with a snapshot; CONFLICT in any other state that is not awake
 * or about to be. */
MUST_CHECK enum status runtime_wake(struct call *call, struct slice session_id, struct runtime_outcome *out);
/* Writer. A person's pause, and its end: no turn begins, the one that runs goes on, the sandbox is left alone. What
 * waits begins when the pause ends. `reason` is one line, or NULL. */
MUST_CHECK enum status runtime_pause(struct call *call, struct slice session_id, bool paused, const char *reason,
                                     struct runtime_outcome *out);
/* Writer. Appends changes of the runtime, and what belongs to them: a session that falls asleep forgets the decisions
 * that were made for it alone, and the token of its sandbox ends with that. */
MUST_CHECK enum status runtime_append(struct call *call, struct loaded_session *loaded, struct changes *changes);
/* Any thread. Somebody looks at a session that sleeps: it is woken soon, unless it wakes already. */
void runtime_wake_soon(const struct service *service, struct writer *writer, int64_t tenant_key, int64_t session_key);

#endif
