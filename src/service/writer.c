#include <stdlib.h>

#include "base/log.h"
#include "service/writer_parts.h"

enum {
    GATHER_US = 60,
    GATHER_TURNS_MAX = 16,
    GATHER_JOBS_MAX = 24, /* so many are worth their commit; more arrive while it runs */
    WAIT_MS_MAX = 1000,
    LOOK_FOR_TIMERS_MS = 5000
};

struct writer *writer_new(const struct writer_options *options)
{
    struct writer *writer = memory_zeroed(sizeof *writer);
    writer->options = *options;
    writer->queue = work_queue_new(options->queue_max);
    unit_init(&writer->unit, options->service, options->db);
    return writer;
}

int64_t writer_steady_ms(struct writer *writer)
{
    return clock_steady_ms(writer->options.service->clock);
}

/* --- groups --- */

static struct write_job *next_job(struct write_job *job)
{
    return (struct write_job *)job->work.next;
}

static void park(struct writer *writer, struct write_job *job)
{
    job->parked = true;
    job->work.next = writer->parked ? &writer->parked->work : NULL;
    writer->parked = job;
    writer->parked_count += !job->standing;
}

static void after_commit(struct writer *writer, struct publication *publication)
{
    struct unit *unit = &writer->unit;
    writer->groups++;
    writer->work_queued |= unit->work_queued;
    /* A timer that was deleted may wake the writer once for nothing; looking anew after every group costs more. */
    if (unit->earliest_timer_ms != 0 &&
        (writer->next_timer_ms == 0 || unit->earliest_timer_ms < writer->next_timer_ms)) {
        writer->next_timer_ms = unit->earliest_timer_ms;
    }
    if (publication && writer->options.on_commit) {
        writer->options.on_commit(writer->options.on_commit_owner, publication);
    }
    if (publication) {
        fanout_publish(writer->options.fanout, publication);
    }
}

enum status writer_end_group(struct writer *writer, struct failure *failure)
{
    struct publication *publication = NULL;
    if (writer->unit.writes == 0) {
        enum status status = db_end_read(writer->unit.db, failure);
        unit_rollback(&writer->unit);
        return status;
    }
    enum status status = unit_commit(&writer->unit, &publication, failure);
    if (status == STATUS_OK) {
        after_commit(writer, publication);
    } else {
        writer->commit_failures++;
    }
    return status;
}

void writer_log_failed(const struct failure *failure)
{
    log_error("write_failed", LOG_TEXT("code", slice_of(failure->code)), LOG_TEXT("detail", slice_of(failure->detail)));
}

/* A transaction that gave way to another is rolled back, whatever the job made of it. */
static enum job_outcome run_job(struct writer *writer, struct write_job *job)
{
    unit_start_command(&writer->unit);
    if (!job->unbounded) {
        budget_begin(&writer->options.budget);
    }
    enum job_outcome outcome = job->run(job, &writer->unit);
    budget_end();
    return outcome != JOB_ANSWERED && db_must_run_again(writer->unit.db) ? JOB_SPOILED : outcome;
}

static void run_alone(struct writer *writer, struct write_job *job)
{
    struct failure failure = {0};
    enum status status = STATUS_STALE;
    enum job_outcome outcome = JOB_DONE;
    writer->retries_alone++;
    /* Another node may change the session between load and commit: look again, a few times. */
    for (int tries = 0; tries < TRIES_WHEN_STALE && status == STATUS_STALE; tries++) {
        status = unit_begin(&writer->unit, &failure);
        if (status != STATUS_OK) {
            break;
        }
        outcome = run_job(writer, job);
        bool again = db_must_run_again(writer->unit.db);
        if (outcome == JOB_DONE) {
            status = writer_end_group(writer, &failure);
            continue;
        }
        unit_rollback(&writer->unit);
        if (!again) {
            break;
        }
        status = STATUS_STALE;
    }
    if (outcome == JOB_PARKED && status == STATUS_OK) {
        park(writer, job);
        return;
    }
    if (status == STATUS_STALE) {
        status = failure_set(&failure, STATUS_UNAVAILABLE, "busy", "Another node changes this session; try again.");
        failure.retry_after_s = 1;
    } else if (status != STATUS_OK) {
        writer_log_failed(&failure);
    }
    job->finish(job, status, &failure);
}

static void run_each_alone(struct writer *writer, struct write_job *jobs)
{
    while (jobs) {
        struct write_job *job = jobs;
        jobs = next_job(job);
        run_alone(writer, job);
    }
}

static void finish_all(struct writer *writer, struct write_job *jobs, enum status status, const struct failure *failure)
{
    while (jobs) {
        struct write_job *job = jobs;
        jobs = next_job(job);
        if (job->parked) {
            park(writer, job);
        } else {
            job->finish(job, status, failure);
        }
    }
}

struct group {
    struct queue_item *first, **end;
    size_t count;
    bool spoiled;
};

/* Adds jobs and runs them until one is spoiled; who is answered leaves the group. */
static void run_jobs(struct writer *writer, struct group *group, struct queue_item *jobs)
{
    struct queue_item **link = group->end;
    *link = jobs;
    while (*link && !group->spoiled) {
        struct write_job *job = (struct write_job *)*link;
        enum job_outcome outcome = run_job(writer, job);
        job->parked = outcome == JOB_PARKED;
        group->spoiled = outcome == JOB_SPOILED;
        writer->jobs++;
        if (outcome == JOB_ANSWERED) {
            *link = job->work.next;
            job->finish(job, STATUS_OK, NULL);
        } else {
            link = &job->work.next;
            group->count++;
        }
    }
    group->end = link;
}

/* A commit costs as much as many jobs: when more callers were about a moment ago, they get a moment to join. Not on
 * PostgreSQL: its readers go no further than the positions of a transaction that is open, and another node may change a
 * session meanwhile. */
static void gather(struct writer *writer, struct group *group)
{
    if (db_engine(writer->unit.db) != DB_SQLITE) {
        return;
    }
    for (int turns = 0; turns < GATHER_TURNS_MAX; turns++) {
        bool few = group->count < writer->crowd && group->count < GATHER_JOBS_MAX;
        bool worth = few && !group->spoiled && writer->unit.writes > 0;
        struct queue_item *more =
            worth ? work_queue_take_within(writer->queue, writer->options.group_max, GATHER_US) : NULL;
        if (!more) {
            return;
        }
        run_jobs(writer, group, more);
    }
}

static void run_group(struct writer *writer, struct write_job *first)
{
    struct failure failure = {0};
    struct group group = {.end = &group.first};
    group.spoiled = unit_begin(&writer->unit, &failure) != STATUS_OK;
    run_jobs(writer, &group, &first->work);
    gather(writer, &group);
    struct write_job *jobs = (struct write_job *)group.first;
    bool spoiled = group.spoiled;
    enum status status = STATUS_OK;
    if (spoiled) {
        unit_rollback(&writer->unit);
    } else {
        status = writer_end_group(writer, &failure);
        writer->crowd = group.count + work_queue_length(writer->queue);
    }
    if (status == STATUS_UNCERTAIN) {
        writer_log_failed(&failure);
    }
    if (spoiled || (status != STATUS_OK && status != STATUS_UNCERTAIN)) {
        run_each_alone(writer, jobs);
    } else {
        finish_all(writer, jobs, status, &failure);
    }
}

/* --- parked jobs --- */

static void run_parked(struct writer *writer, bool all)
{
    int64_t now = writer_steady_ms(writer);
    struct write_job *parked = writer->parked, *due = NULL;
    writer->parked = NULL;
    writer->parked_count = 0;
    /* The list holds the youngest first: building `due` from its front turns it into oldest first. */
    while (parked) {
        struct write_job *job = parked;
        parked = next_job(job);
        if (all || job->parked_until_ms <= now) {
            job->work.next = due ? &due->work : NULL;
            due = job;
        } else {
            park(writer, job);
        }
    }
    writer->work_queued = false;
    if (due) {
        run_group(writer, due);
    }
}

static int64_t parked_deadline(const struct writer *writer)
{
    int64_t earliest = 0;
    for (struct write_job *job = writer->parked; job; job = next_job(job)) {
        earliest = earliest == 0 || job->parked_until_ms < earliest ? job->parked_until_ms : earliest;
    }
    return earliest;
}

/* --- the thread --- */

static int64_t wait_ms(struct writer *writer)
{
    int64_t now = writer_steady_ms(writer);
    int64_t wait = WAIT_MS_MAX;
    int64_t marks[] = {writer->timers_known ? writer->next_timer_ms : now, parked_deadline(writer),
                       writer->unit.renewals.due_ms};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (marks[i] != 0 && marks[i] - now < wait) {
            wait = marks[i] - now < 0 ? 0 : marks[i] - now;
        }
    }
    return wait;
}

static void tick(struct writer *writer)
{
    int64_t now = writer_steady_ms(writer);
    bool due = writer->next_timer_ms != 0 && writer->next_timer_ms <= now;
    if (!writer->timers_known || due || writer->next_look_ms <= now) {
        writer->next_look_ms = now + LOOK_FOR_TIMERS_MS;
        writer_run_timers(writer);
    }
    if (writer->unit.renewals.due_ms != 0 && writer->unit.renewals.due_ms <= now) {
        writer_save_renewals(writer);
    }
    bool poked = atomic_exchange(&writer->poked, false);
    if (writer->parked && (writer->work_queued || poked)) {
        run_parked(writer, true);
    } else if (writer->parked && parked_deadline(writer) <= now) {
        run_parked(writer, false);
    }
    writer->work_queued = false;
    writer->parked_now = writer->parked_count;
    if (now >= writer->next_prune_ms) {
        writer_prune(writer);
    }
}

/* Whoever still waits for work is answered with what there is: nothing. */
static void unpark_all(struct writer *writer)
{
    for (struct write_job *job = writer->parked; job; job = next_job(job)) {
        job->parked_until_ms = 1; /* long ago */
    }
    run_parked(writer, true);
}

static void work_once(struct writer *writer, int64_t patience_ms)
{
    struct queue_item *work = work_queue_take(writer->queue, writer->options.group_max, patience_ms);
    if (work) {
        run_group(writer, (struct write_job *)work);
    }
    tick(writer);
}

void writer_step(struct writer *writer)
{
    work_once(writer, 0);
}

static void *writer_main(void *argument)
{
    struct writer *writer = argument;
    pthread_setname_np(pthread_self(), "writer");
    while (!work_queue_closed(writer->queue) || work_queue_length(writer->queue) > 0) {
        work_once(writer, wait_ms(writer));
    }
    unpark_all(writer);
    if (writer->options.on_thread_end) {
        writer->options.on_thread_end();
    }
    return NULL;
}

void writer_start(struct writer *writer)
{
    writer->started = pthread_create(&writer->thread, NULL, writer_main, writer) == 0;
    if (!writer->started) {
        abort();
    }
}

bool writer_submit(struct writer *writer, struct write_job *job)
{
    job->parked = false;
    return work_queue_push(writer->queue, &job->work);
}

void writer_poke(struct writer *writer)
{
    writer->poked = true;
    work_queue_wake(writer->queue);
}

void writer_stop(struct writer *writer)
{
    work_queue_close(writer->queue);
    if (writer->started) {
        pthread_join(writer->thread, NULL);
        writer->started = false;
    }
}

void writer_free(struct writer *writer)
{
    if (!writer) {
        return;
    }
    unit_release(&writer->unit);
    db_close(writer->options.db);
    work_queue_free(writer->queue);
    free(writer);
}

void writer_figures_read(struct writer *writer, struct writer_figures *out)
{
    *out = (struct writer_figures){
        .jobs = writer->jobs,
        .groups = writer->groups,
        .retries_alone = writer->retries_alone,
        .commit_failures = writer->commit_failures,
        .queue_length = (int64_t)work_queue_length(writer->queue),
        .parked = writer->parked_now,
        .timers_fired = writer->timers_fired,
    };
}
