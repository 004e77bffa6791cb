/* Reader threads: each has its own read-only connection and runs queries straight through. */
#ifndef SERVICE_READER_H
#define SERVICE_READER_H

#include "base/budget.h"
#include "fanout/fanout.h"

struct readers;

struct readers_options {
    struct db_options db;
    size_t count;
    size_t queue_max;
    struct budget_limits budget; /* of one query; all zero = none */
    void (*on_thread_end)(void);
};

MUST_CHECK enum status readers_new(const struct readers_options *options, struct readers **out,
                                   struct failure *failure);
void readers_start(struct readers *readers);
/* Any thread. False when the queue is full or closed: the caller keeps the job. */
MUST_CHECK bool readers_submit(struct readers *readers, struct read_job *job);
void readers_stop(struct readers *readers);
void readers_free(struct readers *readers);
int64_t readers_queue_length(struct readers *readers);

/* On a reader's thread, around what a job reads: it sees one state of the database from begin to end. */
MUST_CHECK enum status reader_begin(struct db *db, struct failure *failure);
MUST_CHECK enum status reader_end(struct db *db, struct failure *failure);
/* Does the database answer a question? */
bool reader_answers(struct db *db);

#endif
