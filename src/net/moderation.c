#include "net/moderation.h"

enum { WAITS_IN_SPAN = 40 };

void moderation_init(struct moderation *moderation, int64_t gather_us)
{
    *moderation = (struct moderation){.gather_us = gather_us};
}

/* It begins when the loop looked at least once within the time to wait, on average: then a second piece is likely to
 * come during the wait. A loop that is behind looks seldom and meets many at once without waiting. It ends when not
 * even every second wait brought a piece. */
static bool is_worth_it(const struct moderation *moderation, int64_t elapsed_us)
{
    if (moderation->is_on) {
        return 2 * moderation->pieces * moderation->gather_us >= elapsed_us;
    }
    return moderation->looks * moderation->gather_us >= elapsed_us;
}

bool moderation_note(struct moderation *moderation, int64_t now_us, size_t pieces)
{
    int64_t elapsed_us = now_us - moderation->since_us;
    moderation->looks += pieces > 0;
    moderation->pieces += (int64_t)pieces;
    if (elapsed_us >= WAITS_IN_SPAN * moderation->gather_us) {
        moderation->is_on = is_worth_it(moderation, elapsed_us);
        moderation->since_us = now_us;
        moderation->looks = moderation->pieces = 0;
    }
    return moderation->is_on;
}
