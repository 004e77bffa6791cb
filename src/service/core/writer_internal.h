/* What the files of the writer share. Private to them; the writer's thread unless a line says otherwise. */
#ifndef SERVICE_WRITER_INTERNAL_H
#define SERVICE_WRITER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/core/writer.h"

/* Whoever meets another node at a session goes again: with both at work on it, each try may meet the next change. */
enum { TRIES_WHEN_STALE = 12 };

struct writer {
    struct writer_options options;
    struct work_queue *queue;
    struct transaction transaction;
    pthread_t thread;
    bool started;
    struct command *parked; /* through work.next */
    int64_t parked_count;
    size_t recent_callers; /* callers that were waiting when the last group was committed, its own included */
    bool work_queued;      /* by a committed group: parked jobs look again */
    atomic_bool poked;
    int64_t next_timer_ms; /* steady; 0 = none */
    bool timers_known;
    int64_t next_look_ms; /* for timers that another node put */
    int64_t next_prune_ms;
    _Atomic int64_t jobs, groups, retries_alone, commit_failures, parked_now, timers_fired;
};

/* writer.c */
int64_t writer_steady_ms(struct writer *writer);
/* Commits what the group wrote; a group that wrote nothing costs no disk. */
MUST_CHECK enum status writer_end_group(struct writer *writer, struct failure *failure);
void writer_log_failed(const struct failure *failure);

/* writer_chores.c: what the writer does unasked, each in a group of its own. */
void writer_run_timers(struct writer *writer);
void writer_save_renewals(struct writer *writer);
void writer_prune(struct writer *writer);

#endif
