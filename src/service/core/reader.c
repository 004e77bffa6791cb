#include "service/core/reader.h"

#include <pthread.h>
#include <stdlib.h>

struct reader {
    struct readers *readers;
    struct db *db;
    pthread_t thread;
    bool started;
};

struct readers {
    struct readers_options options;
    struct work_queue *queue;
    struct reader *each;
};

enum status readers_new(const struct readers_options *options, struct readers **out, struct failure *failure)
{
    struct readers *readers = memory_zeroed(sizeof *readers);
    readers->options = *options;
    readers->queue = work_queue_new(options->queue_max);
    readers->each = memory_zeroed(options->count * sizeof *readers->each);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < options->count && status == STATUS_OK; i++) {
        readers->each[i].readers = readers;
        status = db_open(&options->db, &readers->each[i].db, failure);
    }
    if (status != STATUS_OK) {
        readers_free(readers);
        return status;
    }
    *out = readers;
    return STATUS_OK;
}

static void run_job(struct reader *reader, struct read_job *job)
{
    if (!job->unbounded) {
        budget_begin(&reader->readers->options.budget);
    }
    job->run(job, reader->db); /* may free the job */
    budget_end();
}

static void *reader_main(void *argument)
{
    struct reader *reader = argument;
    struct work_queue *queue = reader->readers->queue;
    pthread_setname_np(pthread_self(), "reader");
    while (!work_queue_closed(queue) || work_queue_length(queue) > 0) {
        struct queue_item *work = work_queue_take(queue, 1, -1);
        if (work) {
            struct read_job *job = (struct read_job *)work;
            run_job(reader, job);
        }
    }
    if (reader->readers->options.on_thread_end) {
        reader->readers->options.on_thread_end();
    }
    return NULL;
}

void readers_start(struct readers *readers)
{
    for (size_t i = 0; i < readers->options.count; i++) {
        struct reader *reader = &readers->each[i];
        reader->started = pthread_create(&reader->thread, NULL, reader_main, reader) == 0;
        if (!reader->started) {
            abort();
        }
    }
}

bool readers_submit(struct readers *readers, struct read_job *job)
{
    return work_queue_push(readers->queue, &job->work);
}

void readers_stop(struct readers *readers)
{
    work_queue_close(readers->queue);
    for (size_t i = 0; i < readers->options.count; i++) {
        if (readers->each[i].started) {
            pthread_join(readers->each[i].thread, NULL);
            readers->each[i].started = false;
        }
    }
}

void readers_free(struct readers *readers)
{
    if (!readers) {
        return;
    }
    for (size_t i = 0; i < readers->options.count; i++) {
        if (readers->each[i].db) {
            db_close(readers->each[i].db);
        }
    }
    free(readers->each);
    work_queue_free(readers->queue);
    free(readers);
}

int64_t readers_queue_length(struct readers *readers)
{
    return (int64_t)work_queue_length(readers->queue);
}

enum status reader_begin(struct db *db, struct failure *failure)
{
    return db_begin_read(db, failure);
}

enum status reader_end(struct db *db, struct failure *failure)
{
    return db_end_read(db, failure);
}

bool reader_answers(struct db *db)
{
    struct failure failure;
    int64_t users;
    bool answers = false;
    if (db_begin_read(db, &failure) == STATUS_OK) {
        answers = store_user_count(db, &users, &failure) == STATUS_OK;
        answers &= db_end_read(db, &failure) == STATUS_OK;
    }
    return answers;
}
