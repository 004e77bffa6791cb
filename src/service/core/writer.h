/* The writer thread: takes everything that waits, runs it in one transaction, commits once, then finishes every
 * command.
 *
 *     take → begin → run … run → commit → publish → finish … finish
 *
 * When a command fails after it wrote, or the commit fails, the group is rolled back and its commands run again, each
 * alone, so that a poisoned one never takes its neighbours down.
 * A commit of which nobody knows whether it was done (STATUS_UNCERTAIN) is never run again: that could do it twice.
 */
#ifndef SERVICE_WRITER_H
#define SERVICE_WRITER_H

#include "base/budget.h"
#include "fanout/fanout.h"
#include "service/core/command.h"

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

struct writer_stats {
    int64_t jobs, groups, retries_alone, commit_failures, queue_length, parked, timers_fired;
};

struct writer;

struct writer *writer_new(const struct writer_options *options);
void writer_start(struct writer *writer);
/* In place of the thread, for who lets everything happen in his own: does once what waits and what is due. */
void writer_step(struct writer *writer);
/* Any thread. False when the queue is full or the writer stops: the caller keeps the command. */
MUST_CHECK bool writer_submit(struct writer *writer, struct command *command);
/* Another node queued work: parked claims look again. Any thread. */
void writer_retry_parked(struct writer *writer);
/* Finishes what was accepted (parked jobs at once), commits, ends the thread. */
void writer_stop(struct writer *writer);
void writer_free(struct writer *writer);
void writer_figures_read(struct writer *writer, struct writer_stats *out);
/* Saves the partial output of a running turn; matches fanout_options.save_partial with the writer as owner. */
void writer_save_partial(void *writer, int64_t tenant_key, int64_t session_key, const struct partial *partial);

#endif
