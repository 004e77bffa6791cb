/* Time is a parameter. Wall time stamps events; steady time never jumps and drives leases and timers: it starts at the
 * wall time of the process start and then follows the monotonic clock. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/slice.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)
#define DAY_MS INT64_C(86400000)

struct clock {
    int64_t (*wall_ms)(struct clock *clock);
    int64_t (*steady_ms)(struct clock *clock);
    int64_t base_ms; /* of the implementation: steady = base_ms + monotonic */
};

void clock_init_system(struct clock *clock);

static inline int64_t clock_wall_ms(struct clock *clock)
{
    return clock->wall_ms(clock);
}

static inline int64_t clock_steady_ms(struct clock *clock)
{
    return clock->steady_ms(clock);
}

enum { TIME_TEXT_BYTES = 25 };
/* "2026-11-15T07:49:07.123Z" */
void time_format(int64_t wall_ms, char out[TIME_TEXT_BYTES]);
/* RFC 3339 with an optional fraction (cut to milliseconds) and "Z" or an offset; false, with *out untouched, for
 * anything else: a date without time, a month of 13, a 30 February. A leap second counts as the second after it. */
bool time_parse(struct slice text, int64_t *out_wall_ms);

#endif
