#include "service/core/blobs.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "loop/timer.h"

enum { ORPHANS_PER_SWEEP = 1000 };

/* One sweep goes from the loop to a reader, which looks through the files, to the writer, which deletes, and back. */
struct blobs {
    struct command command; /* first */
    struct read_job read;
    struct blobs_options options;
    struct loop_message start_message, swept_message, stop_message;
    struct loop_timer *timer; /* the loop's */
    bool sweeps, stops;       /* the loop's */
    bool started;
    /* of the sweep under way */
    struct arena arena;
    int64_t before_ms;
    struct blob_orphan *orphans;
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over; /* under the lock */
};

static void warn(const struct failure *failure)
{
    log_warn("blob_sweep_failed", LOG_TEXT("code", slice_of(failure->code)),
             LOG_TEXT("detail", slice_of(failure->detail)));
}

static void end_sweep(struct blobs *blobs)
{
    arena_release(&blobs->arena);
    loop_post(blobs->options.loop, &blobs->swept_message);
}

/* --- on the writer --- */

static enum status collect_run(struct call *call, struct command *command)
{
    struct blobs *blobs = (struct blobs *)command;
    return store_blob_collect(call->db, &blobs->options.service->blobs, blobs->before_ms, blobs->orphans, blobs->count,
                              &call->failure);
}

static void collect_finish(struct command *command, enum status status, const struct failure *failure)
{
    if (status != STATUS_OK) {
        warn(failure);
    }
    end_sweep((struct blobs *)command);
}

static const struct command_type collect = {"blobs.collect", COMMAND_UNBOUNDED, collect_run, collect_finish};

/* --- on a reader --- */

static void look_run(struct read_job *read, struct db *db)
{
    struct blobs *blobs = (struct blobs *)((char *)read - offsetof(struct blobs, read));
    const struct service *service = blobs->options.service;
    struct failure failure;
    blobs->before_ms = clock_wall_ms(service->clock) - blobs->options.limits.grace_ms;
    enum status status = blob_find_orphans(db, &service->blobs, blobs->before_ms, ORPHANS_PER_SWEEP, &blobs->arena,
                                           &blobs->orphans, &blobs->count, &failure);
    if (status != STATUS_OK) {
        warn(&failure);
    }
    if (status != STATUS_OK || !writer_submit(blobs->options.writer, &blobs->command)) {
        end_sweep(blobs);
    }
}

/* --- on the loop --- */

static void tell_over(struct blobs *blobs)
{
    loop_timer_free(blobs->timer);
    pthread_mutex_lock(&blobs->lock);
    blobs->over = true;
    pthread_cond_signal(&blobs->changed);
    pthread_mutex_unlock(&blobs->lock);
}

static void on_timer(void *owner)
{
    struct blobs *blobs = owner;
    blobs->sweeps = blobs->options.submit_read(blobs->options.read_owner, &blobs->read);
    if (!blobs->sweeps) {
        loop_timer_set(blobs->timer, blobs->options.limits.sweep_ms);
    }
}

static void on_swept(struct loop_message *message)
{
    struct blobs *blobs = (struct blobs *)((char *)message - offsetof(struct blobs, swept_message));
    blobs->sweeps = false;
    if (blobs->stops) {
        tell_over(blobs);
    } else {
        loop_timer_set(blobs->timer, blobs->options.limits.sweep_ms);
    }
}

static void on_start(struct loop_message *message)
{
    struct blobs *blobs = (struct blobs *)((char *)message - offsetof(struct blobs, start_message));
    blobs->timer = loop_timer_new(blobs->options.loop, on_timer, blobs);
    loop_timer_set(blobs->timer, 0);
}

static void on_stop(struct loop_message *message)
{
    struct blobs *blobs = (struct blobs *)((char *)message - offsetof(struct blobs, stop_message));
    blobs->stops = true;
    if (!blobs->sweeps) {
        tell_over(blobs);
    }
}

/* --- start and stop --- */

struct blobs *blobs_new(const struct blobs_options *options)
{
    struct blobs *blobs = memory_zeroed(sizeof *blobs);
    blobs->options = *options;
    blobs->command.type = &collect;
    blobs->read.run = look_run;
    blobs->read.unbounded = true;
    blobs->start_message.run = on_start;
    blobs->swept_message.run = on_swept;
    blobs->stop_message.run = on_stop;
    pthread_mutex_init(&blobs->lock, NULL);
    pthread_cond_init(&blobs->changed, NULL);
    return blobs;
}

void blobs_start(struct blobs *blobs)
{
    blobs->started = true;
    loop_post(blobs->options.loop, &blobs->start_message);
}

void blobs_stop(struct blobs *blobs)
{
    if (!blobs || !blobs->started) {
        return;
    }
    loop_post(blobs->options.loop, &blobs->stop_message);
    pthread_mutex_lock(&blobs->lock);
    while (!blobs->over) {
        pthread_cond_wait(&blobs->changed, &blobs->lock);
    }
    pthread_mutex_unlock(&blobs->lock);
    blobs->started = false;
}

void blobs_free(struct blobs *blobs)
{
    if (blobs) {
        pthread_mutex_destroy(&blobs->lock);
        pthread_cond_destroy(&blobs->changed);
        free(blobs);
    }
}
