/* How much work one command or query may be: a number of steps and a deadline.
 *
 * The thread that runs one begins its budget; whatever loops over what a client sent spends from it, wherever that is.
 * Work that grows no faster than its input only counts; work that can grow faster stops when budget_spend is false.
 * Gates (a query's next row, an event before it is appended, a request before it is answered) refuse what is over: what
 * was decided with a spent budget is never committed. One step is a JSON value, a comparison, or 64 bytes looked at. */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include "base/status.h"

struct budget_limits {
    int64_t steps_max;
    int64_t timeout_ms;
    const char *steps_option, *timeout_option; /* for the answer */
};

/* The calling thread's. Only for the functions below. */
struct budget {
    int64_t steps_left;
    int64_t look_below; /* steps left at which the clock is looked at */
    int64_t deadline_ms;
    enum { BUDGET_NONE, BUDGET_OPEN, BUDGET_STEPS_SPENT, BUDGET_TIME_OVER } state;
    const struct budget_limits *limits;
};
extern _Thread_local struct budget budget_of_thread;

enum { BUDGET_BYTES_PER_STEP = 64 };

/* From here on the thread works for one command or query; `limits` must live until the end. All zero = no limit. */
void budget_begin(const struct budget_limits *limits);
/* From here on for the server itself, without limit. */
void budget_end(void);
bool budget_look(void); /* see budget_spend */
/* False when the budget is spent, from then on always; true without one. */
static inline bool budget_spend(size_t steps)
{
    budget_of_thread.steps_left -= (int64_t)steps;
    return budget_of_thread.steps_left > budget_of_thread.look_below || budget_look();
}
static inline bool budget_spend_bytes(size_t bytes)
{
    return budget_spend(bytes / BUDGET_BYTES_PER_STEP + 1);
}
/* OK, or TOO_COSTLY `too_many_steps`, or UNAVAILABLE `deadline_passed`; names the option. */
MUST_CHECK enum status budget_check(struct failure *failure);

struct budget_stats {
    int64_t steps, steps_refusals, deadline_refusals;
};
/* Of all threads since the start. */
void budget_stats_read(struct budget_stats *out);

#endif
