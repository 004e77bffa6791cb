/* The writer thread: takes everything that waits, runs it in one transaction, commits once, then finishes every job.
 *
 *     take → begin → run … run → commit → publish → finish … finish
 *
 * When a job fails after it wrote, or the commit fails, the group is rolled back and its jobs run again, each alone, so
 * that one poisoned command never takes its neighbours down. A job may therefore run twice: it starts from its input.
 * A commit of which nobody knows whether it was done (STATUS_UNCERTAIN) is never run again: that could do it twice.
 */
#ifndef SERVICE_WRITER_H
#define SERVICE_WRITER_H

#include "base/budget.h"
#include "fanout/fanout.h"
#include "loop/work_queue.h"
#include "service/unit.h"

enum job_outcome {
    JOB_DONE,     /* its answer is ready, good or bad; nothing half written */
    JOB_ANSWERED, /* the same, and the answer owes nothing to the running group: it leaves at once */
    JOB_SPOILED,  /* it failed after it wrote: roll back */
    JOB_PARKED,   /* nothing to do yet: run again when work is queued or at parked_until_ms */
};

struct write_job {
    struct queue_item work;
    int64_t parked_until_ms; /* steady; set by run when it returns JOB_PARKED */
    bool parked;
    bool standing;  /* the server's own, parked for as long as it runs: not counted among those who wait */
    bool unbounded; /* the server's own housekeeping: no budget */
    enum job_outcome (*run)(struct write_job *job, struct unit *unit);
    /* After the commit, or with what stopped it (failure may be NULL when nothing did); releases the job. Writer
     * thread. */
    void (*finish)(struct write_job *job, enum status status, const struct failure *failure);
};

struct writer_options {
    const struct service *service;
    struct db *db; /* owned by the writer from now on */
    struct fanout *fanout;
    size_t group_max;
    size_t queue_max;
    struct budget_limits budget; /* of one command; all zero = none */
    void (*on_thread_end)(void);
    /* After a commit, before the viewers: the writer's thread. May be NULL. */
    void (*on_commit)(void *owner, const struct publication *publication);
    void *on_commit_owner;
};

struct writer_figures {
    int64_t jobs, groups, retries_alone, commit_failures, queue_length, parked, timers_fired;
};

struct writer;

struct writer *writer_new(const struct writer_options *options);
void writer_start(struct writer *writer);
/* In place of the thread, for who lets everything happen in his own: does once what waits and what is due. */
void writer_step(struct writer *writer);
/* Any thread. False when the queue is full or the writer stops: the caller keeps the job. */
MUST_CHECK bool writer_submit(struct writer *writer, struct write_job *job);
/* Another node queued work: parked claims look again. Any thread. */
void writer_poke(struct writer *writer);
/* Finishes what was accepted (parked jobs at once), commits, ends the thread. */
void writer_stop(struct writer *writer);
void writer_free(struct writer *writer);
void writer_figures_read(struct writer *writer, struct writer_figures *out);
/* Saves the partial output of a running turn; matches fanout_options.save_partial with the writer as owner. */
void writer_save_partial(void *writer, int64_t tenant_key, int64_t session_key, const struct partial *partial);

#endif
