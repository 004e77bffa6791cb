/* A command: the only way to change anything. An entry (a request over HTTP, a message of a WebSocket, a frame of a
 * runner, the output of a hosted turn, the server's own chores) sets the caller and the request, and submits it. What
 * every command needs is done here, once: the call, the budget, a second run when a refusal rests on cached state, and
 * the rollback of a command that failed after it wrote.
 *
 *     writer_submit → run (perhaps again) → commit → finish
 *
 * `run` is straight-line C in the words of service; it starts from the command as it was submitted, because it may run
 * twice. `finish` follows once, after the commit or with what stopped it. */
#ifndef SERVICE_COMMAND_H
#define SERVICE_COMMAND_H

#include "loop/work_queue.h"
#include "service/core/transaction.h"

struct command;

enum command_flags {
    COMMAND_STANDING = 1,  /* the server's own, waiting for as long as it runs: not counted among those who wait */
    COMMAND_UNBOUNDED = 2, /* the server's own housekeeping: no budget */
    COMMAND_RERUNS = 4,    /* somebody is told the result: no answer rests on what another node may have changed */
};

/* What is known of all commands of a kind; constant. */
struct command_type {
    const char *name;
    unsigned flags;
    enum status (*run)(struct call *call, struct command *command);
    /* Writer thread; releases the command. `status` and `failure` (NULL with STATUS_OK) are what came of it: its own
     * refusal, or what stopped the commit. */
    void (*finish)(struct command *command, enum status status, const struct failure *failure);
};

/* Stands first in what its owner submits. */
struct command {
    struct queue_item work;
    const struct command_type *type;
    const struct principal *who;    /* NULL = the server itself */
    struct slice about;             /* the id of the session it names, for the log; absent = none */
    struct slice lease_token;       /* absent = none */
    const struct media_list *media; /* NULL = none */
    struct arena *arena;            /* of the call; NULL = one that ends with the run */
    int64_t waits_until_ms;         /* steady: when a waiting command runs again, work or no work */
    bool is_parked;                 /* it waited; the writer's */
    /* Set by run, before each of which they are false: */
    bool waits;           /* nothing to do yet: run again when work is queued, or at waits_until_ms */
    bool owes_commit;     /* true before run: the answer waits for the group's commit though it wrote nothing */
    bool follows_session; /* its answer will show what other nodes change anyway */
    /* What came of the last run. */
    enum status status;
    struct failure failure;
    /* command.c's */
    int64_t writes_before;
    bool needs_rerun; /* it wrote nothing and trusted what this node remembers */
};

enum command_outcome {
    COMMAND_DONE,      /* its answer is ready, good or bad; nothing half written */
    COMMAND_ANSWERED,  /* the same, and the answer owes nothing to the running group: it leaves at once */
    COMMAND_ROLL_BACK, /* it failed after it wrote */
    COMMAND_WAITS,
};

/* Writer thread. */
enum command_outcome command_run(struct command *command, struct transaction *transaction);
/* After the commit of its group, or with what stopped it. */
void command_finish(struct command *command, enum status commit, const struct failure *failure);

/* An answer that is kept: the same key brings the same answer, and changes nothing twice. */
struct command_once {
    struct slice key;
    struct slice fingerprint; /* of what was asked; a key used for something else is CONFLICT */
    enum status (*run)(struct call *call, struct command *command);
    /* The answer, to be kept; the session it tells of is found by it. */
    enum status (*answer)(struct call *call, struct command *command, struct idempotent_reply *out);
    /* The kept answer is given again. */
    void (*replay)(struct command *command, const struct idempotent_reply *kept);
};
/* Runs `once->run` unless a command of this caller with this key was answered before. A kept answer is only for
 * credentials with the same bounds, and for callers who still have access to what it tells of. */
MUST_CHECK enum status command_run_once(struct call *call, struct command *command, const struct command_once *once);

/* Kept answers that tell of this subject are kept no longer: it is deleted. */
MUST_CHECK enum status command_forget_answers(struct call *call, struct slice subject);

#endif
