#include "base/budget.h"

#include <stdatomic.h>
#include <time.h>

enum { STEPS_PER_LOOK = 20000 };

_Thread_local struct budget budget_of_thread = {.steps_left = INT64_MAX, .look_below = INT64_MIN};

static _Atomic int64_t all_steps, all_steps_refusals, all_deadline_refusals;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t next_look(const struct budget *budget)
{
    return budget->steps_left > STEPS_PER_LOOK ? budget->steps_left - STEPS_PER_LOOK : 0;
}

void budget_begin(const struct budget_limits *limits)
{
    struct budget *budget = &budget_of_thread;
    if (limits->steps_max == 0) {
        return;
    }
    *budget = (struct budget){.steps_left = limits->steps_max, .state = BUDGET_OPEN, .limits = limits};
    budget->deadline_ms = now_ms() + limits->timeout_ms;
    budget->look_below = next_look(budget);
}

void budget_end(void)
{
    struct budget *budget = &budget_of_thread;
    if (budget->state == BUDGET_NONE) {
        return;
    }
    atomic_fetch_add_explicit(&all_steps, budget->limits->steps_max - budget->steps_left, memory_order_relaxed);
    if (budget->state == BUDGET_STEPS_SPENT) {
        atomic_fetch_add_explicit(&all_steps_refusals, 1, memory_order_relaxed);
    } else if (budget->state == BUDGET_TIME_OVER) {
        atomic_fetch_add_explicit(&all_deadline_refusals, 1, memory_order_relaxed);
    }
    *budget = (struct budget){.steps_left = INT64_MAX, .look_below = INT64_MIN};
}

bool budget_look(void)
{
    struct budget *budget = &budget_of_thread;
    if (budget->state == BUDGET_OPEN) {
        budget->state = budget->steps_left <= 0           ? BUDGET_STEPS_SPENT
                        : now_ms() >= budget->deadline_ms ? BUDGET_TIME_OVER
                                                          : BUDGET_OPEN;
    }
    /* Once spent, every further step comes here. */
    budget->look_below = budget->state == BUDGET_OPEN ? next_look(budget) : INT64_MAX;
    return budget->state == BUDGET_OPEN;
}

enum status budget_check(struct failure *failure)
{
    const struct budget *budget = &budget_of_thread;
    enum status status = STATUS_OK;
    if (budget->state == BUDGET_OPEN) {
        (void)budget_look();
    }
    if (budget->state == BUDGET_STEPS_SPENT) {
        return failure_set(failure, STATUS_TOO_COSTLY, "too_many_steps",
                           "This takes more than %lld steps of work, the limit (option %s). Send or ask for less.",
                           (long long)budget->limits->steps_max, budget->limits->steps_option);
    }
    if (budget->state == BUDGET_TIME_OVER) {
        status = failure_set(failure, STATUS_UNAVAILABLE, "deadline_passed",
                             "This took longer than %lld ms, the limit (option %s). Try again, or ask for less.",
                             (long long)budget->limits->timeout_ms, budget->limits->timeout_option);
        if (failure) {
            failure->retry_after_s = 1;
        }
    }
    return status;
}

void budget_stats_read(struct budget_stats *out)
{
    *out = (struct budget_stats){
        .steps = all_steps, .steps_refusals = all_steps_refusals, .deadline_refusals = all_deadline_refusals};
}
