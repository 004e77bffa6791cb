#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "service/core/writer_internal.h"

enum {
    GATHER_US = 60,
    GATHER_ROUNDS_MAX = 16,
    GATHER_COMMANDS_MAX = 24, /* so many are worth their commit; more arrive while it runs */
    WAIT_MS_MAX = 1000,
    LOOK_FOR_TIMERS_MS = 5000
};

struct writer *writer_new(const struct writer_options *options)
{
    struct writer *writer = memory_zeroed(sizeof *writer);
    writer->options = *options;
    writer->queue = work_queue_new(options->queue_max);
    transaction_init(&writer->transaction, options->service, options->db);
    return writer;
}

int64_t writer_steady_ms(struct writer *writer)
{
    return clock_steady_ms(writer->options.service->clock);
}

/* --- groups --- */

static struct command *next_command(struct command *command)
{
    return (struct command *)command->work.next;
}

static void park(struct writer *writer, struct command *command)
{
    command->is_parked = true;
    command->work.next = writer->parked ? &writer->parked->work : NULL;
    writer->parked = command;
    writer->parked_count += !(command->type->flags & COMMAND_STANDING);
}

static void after_commit(struct writer *writer, struct publication *publication)
{
    struct transaction *transaction = &writer->transaction;
    writer->groups++;
    writer->work_queued |= transaction->work_queued;
    /* A timer that was deleted may wake the writer once for nothing; looking anew after every group costs more. */
    if (transaction->earliest_timer_ms != 0 &&
        (writer->next_timer_ms == 0 || transaction->earliest_timer_ms < writer->next_timer_ms)) {
        writer->next_timer_ms = transaction->earliest_timer_ms;
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
    if (transaction_writes(&writer->transaction) == 0) {
        assert(!writer->transaction.touched && !writer->transaction.identity_changed);
        enum status status = db_end_read(writer->transaction.db, failure);
        transaction_rollback(&writer->transaction);
        return status;
    }
    enum status status = transaction_commit(&writer->transaction, &publication, failure);
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

/* A transaction that gave way to another is rolled back, whatever the command made of it. */
static enum command_outcome run_command(struct writer *writer, struct command *command)
{
    if (!(command->type->flags & COMMAND_UNBOUNDED)) {
        budget_begin(&writer->options.budget);
    }
    int64_t writes_before = transaction_writes(&writer->transaction);
    enum command_outcome outcome = command_run(command, &writer->transaction);
    budget_end();
    assert(outcome != COMMAND_ANSWERED || transaction_writes(&writer->transaction) == writes_before);
    return outcome != COMMAND_ANSWERED && db_must_run_again(writer->transaction.db) ? COMMAND_ROLL_BACK : outcome;
}

static void run_alone(struct writer *writer, struct command *command)
{
    struct failure failure = {0};
    enum status status = STATUS_STALE;
    enum command_outcome outcome = COMMAND_DONE;
    writer->retries_alone++;
    /* Another node may change the session between load and commit: look again, a few times. */
    for (int tries = 0; tries < TRIES_WHEN_STALE && status == STATUS_STALE; tries++) {
        status = transaction_begin(&writer->transaction, &failure);
        if (status != STATUS_OK) {
            break;
        }
        outcome = run_command(writer, command);
        bool again = db_must_run_again(writer->transaction.db);
        if (outcome == COMMAND_DONE) {
            status = writer_end_group(writer, &failure);
            continue;
        }
        transaction_rollback(&writer->transaction);
        if (!again) {
            break;
        }
        status = STATUS_STALE;
    }
    if (outcome == COMMAND_WAITS && status == STATUS_OK) {
        park(writer, command);
        return;
    }
    if (status == STATUS_STALE) {
        status = failure_set(&failure, STATUS_UNAVAILABLE, "busy", "Another node changes this session; try again.");
        failure.retry_after_s = 1;
    } else if (status != STATUS_OK) {
        writer_log_failed(&failure);
    }
    command_finish(command, status, &failure);
}

static void run_each_alone(struct writer *writer, struct command *commands)
{
    while (commands) {
        struct command *command = commands;
        commands = next_command(command);
        run_alone(writer, command);
    }
}

static void finish_all(struct writer *writer, struct command *commands, enum status status,
                       const struct failure *failure)
{
    while (commands) {
        struct command *command = commands;
        commands = next_command(command);
        if (command->is_parked) {
            park(writer, command);
        } else {
            command_finish(command, status, failure);
        }
    }
}

struct group {
    struct queue_item *first, **end;
    size_t count;
    bool spoiled;
};

/* Adds commands and runs them until one is spoiled; who is answered leaves the group. */
static void run_commands(struct writer *writer, struct group *group, struct queue_item *commands)
{
    struct queue_item **link = group->end;
    *link = commands;
    while (*link && !group->spoiled) {
        struct command *command = (struct command *)*link;
        enum command_outcome outcome = run_command(writer, command);
        command->is_parked = outcome == COMMAND_WAITS;
        group->spoiled = outcome == COMMAND_ROLL_BACK;
        writer->jobs++;
        if (outcome == COMMAND_ANSWERED) {
            *link = command->work.next;
            command_finish(command, STATUS_OK, NULL);
        } else {
            link = &command->work.next;
            group->count++;
        }
    }
    group->end = link;
}

/* A commit costs as much as many commands: when more callers were about a moment ago, they get a moment to join. */
static void gather(struct writer *writer, struct group *group)
{
    if (!db_commits_gather(writer->transaction.db)) {
        return;
    }
    for (int turns = 0; turns < GATHER_ROUNDS_MAX; turns++) {
        bool few = group->count < writer->recent_callers && group->count < GATHER_COMMANDS_MAX;
        bool worth = few && !group->spoiled && transaction_writes(&writer->transaction) > 0;
        struct queue_item *more =
            worth ? work_queue_take_within(writer->queue, writer->options.group_max, GATHER_US) : NULL;
        if (!more) {
            return;
        }
        run_commands(writer, group, more);
    }
}

static void run_group(struct writer *writer, struct command *first)
{
    struct failure failure = {0};
    struct group group = {.end = &group.first};
    group.spoiled = transaction_begin(&writer->transaction, &failure) != STATUS_OK;
    run_commands(writer, &group, &first->work);
    gather(writer, &group);
    struct command *commands = (struct command *)group.first;
    bool spoiled = group.spoiled;
    enum status status = STATUS_OK;
    if (spoiled) {
        transaction_rollback(&writer->transaction);
    } else {
        status = writer_end_group(writer, &failure);
        writer->recent_callers = group.count + work_queue_length(writer->queue);
    }
    if (status == STATUS_UNCERTAIN) {
        writer_log_failed(&failure);
    }
    if (spoiled || (status != STATUS_OK && status != STATUS_UNCERTAIN)) {
        run_each_alone(writer, commands);
    } else {
        finish_all(writer, commands, status, &failure);
    }
}

/* --- parked commands --- */

static void run_parked(struct writer *writer, bool all)
{
    int64_t now = writer_steady_ms(writer);
    struct command *parked = writer->parked, *due = NULL;
    writer->parked = NULL;
    writer->parked_count = 0;
    /* The list holds the youngest first: building `due` from its front turns it into oldest first. */
    while (parked) {
        struct command *command = parked;
        parked = next_command(command);
        if (all || command->waits_until_ms <= now) {
            command->work.next = due ? &due->work : NULL;
            due = command;
        } else {
            park(writer, command);
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
    for (struct command *command = writer->parked; command; command = next_command(command)) {
        earliest = earliest == 0 || command->waits_until_ms < earliest ? command->waits_until_ms : earliest;
    }
    return earliest;
}

/* --- the thread --- */

static int64_t wait_ms(struct writer *writer)
{
    int64_t now = writer_steady_ms(writer);
    int64_t wait = WAIT_MS_MAX;
    int64_t marks[] = {writer->timers_known ? writer->next_timer_ms : now, parked_deadline(writer),
                       writer->transaction.renewals.due_ms};
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
    if (writer->transaction.renewals.due_ms != 0 && writer->transaction.renewals.due_ms <= now) {
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
    for (struct command *command = writer->parked; command; command = next_command(command)) {
        command->waits_until_ms = 1; /* long ago */
    }
    run_parked(writer, true);
}

static void work_once(struct writer *writer, int64_t patience_ms)
{
    struct queue_item *work = work_queue_take(writer->queue, writer->options.group_max, patience_ms);
    if (work) {
        run_group(writer, (struct command *)work);
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

bool writer_submit(struct writer *writer, struct command *command)
{
    command->is_parked = false;
    return work_queue_push(writer->queue, &command->work);
}

void writer_retry_parked(struct writer *writer)
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
    transaction_release(&writer->transaction);
    db_close(writer->options.db);
    work_queue_free(writer->queue);
    free(writer);
}

void writer_figures_read(struct writer *writer, struct writer_stats *out)
{
    *out = (struct writer_stats){
        .jobs = writer->jobs,
        .groups = writer->groups,
        .retries_alone = writer->retries_alone,
        .commit_failures = writer->commit_failures,
        .queue_length = (int64_t)work_queue_length(writer->queue),
        .parked = writer->parked_now,
        .timers_fired = writer->timers_fired,
    };
}
