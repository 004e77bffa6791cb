#include "cli/relative_time.h"

#include <stdio.h>

enum { SECOND_MS = 1000 };

static const struct {
    int64_t below_ms; /* how far away the moment may be for this unit */
    int64_t unit_ms;
    const char *name;
} units[] = {
    {MINUTE_MS, SECOND_MS, "s"},
    {HOUR_MS, MINUTE_MS, "min"},
    {DAY_MS, HOUR_MS, "h"},
    {30 * DAY_MS, DAY_MS, "d"},
};

struct slice relative_time(int64_t wall_ms, int64_t now_ms, char out[RELATIVE_TIME_BYTES])
{
    int64_t away_ms = wall_ms > now_ms ? wall_ms - now_ms : now_ms - wall_ms;
    if (away_ms < SECOND_MS) {
        snprintf(out, RELATIVE_TIME_BYTES, "now");
        return slice_of(out);
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (away_ms < units[i].below_ms) {
            snprintf(out, RELATIVE_TIME_BYTES, wall_ms > now_ms ? "in %lld %s" : "%lld %s ago",
                     (long long)(away_ms / units[i].unit_ms), units[i].name);
            return slice_of(out);
        }
    }
    time_format(wall_ms, out);
    return slice_from(out, 10);
}

struct slice relative_time_of_text(struct slice time, int64_t now_ms, char out[RELATIVE_TIME_BYTES])
{
    int64_t wall_ms;
    if (!slice_present(time) || !time_parse(time, &wall_ms)) {
        return slice_present(time) ? time : SLICE("");
    }
    return relative_time(wall_ms, now_ms, out);
}
