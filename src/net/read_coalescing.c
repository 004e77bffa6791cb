#include "net/read_coalescing.h"

enum { WAITS_IN_SPAN = 40 };

void read_coalescing_init(struct read_coalescing *moderation, int64_t gather_us)
{
    *moderation = (struct read_coalescing){.gather_us = gather_us};
}

/* It begins when the loop looked twice within the time to wait, on average: then a wait saves a look or more. A loop
 * that is behind looks seldom and meets many at once without waiting. It ends when a wait brings less than one piece.
 */
static bool is_worth_it(const struct read_coalescing *moderation, int64_t elapsed_us)
{
    int64_t waits_in_all = elapsed_us / moderation->gather_us;
    return moderation->is_on ? moderation->pieces >= waits_in_all : moderation->looks >= 2 * waits_in_all;
}

bool read_coalescing_note(struct read_coalescing *moderation, int64_t now_us, size_t pieces)
{
    int64_t elapsed_us = now_us - moderation->since_us;
    moderation->looks += pieces > 0;
    moderation->pieces += (int64_t)pieces;
    if (moderation->gather_us > 0 && elapsed_us >= WAITS_IN_SPAN * moderation->gather_us) {
        moderation->is_on = is_worth_it(moderation, elapsed_us);
        moderation->since_us = now_us;
        moderation->looks = moderation->pieces = 0;
    }
    return moderation->is_on;
}
