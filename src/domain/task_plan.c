#include "domain/task.h"

enum run_end task_plan(const struct task_step *steps, const enum session_status *states, size_t count,
                       enum step_action *out)
{
    uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    uint64_t completed = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = STEP_STAYS;
        completed |= (uint64_t)(session_status_is_done(states[i])) << i;
        failed |= (uint64_t)session_status_is_failing(states[i]) << i;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            if (session_status_is_unbegun(states[i]) && out[i] != STEP_FAILS && (steps[i].after & failed)) {
                out[i] = STEP_FAILS;
                failed |= UINT64_C(1) << i;
                moved = true;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        bool waits = session_status_is_unbegun(states[i]) && out[i] == STEP_STAYS && steps[i].after != 0;
        if (waits && (steps[i].after & ~completed) == 0) {
            out[i] = STEP_STARTS;
        }
    }
    return failed ? RUN_HAS_FAILED : completed == all ? RUN_IS_DONE : RUN_GOES_ON;
}
