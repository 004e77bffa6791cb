#include "base/clock.h"

#include <string.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_wall_ms(struct clock *clock)
{
    (void)clock;
    return read_ms(CLOCK_REALTIME);
}

static int64_t system_steady_ms(struct clock *clock)
{
    return clock->base_ms + read_ms(CLOCK_BOOTTIME);
}

void clock_init_system(struct clock *clock)
{
    *clock = (struct clock){
        .wall_ms = system_wall_ms,
        .steady_ms = system_steady_ms,
        .base_ms = read_ms(CLOCK_REALTIME) - read_ms(CLOCK_BOOTTIME),
    };
}

/* Howard Hinnant's civil-from-days; gmtime_r takes a lock and four times as long. */
static void civil_from_days(int64_t days, int *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned doe = (unsigned)(days - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;
    *day = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = (int)((int64_t)yoe + era * 400) + (*month <= 2);
}

static void put_digits(char *at, unsigned value, int count)
{
    while (count-- > 0) {
        at[count] = (char)('0' + value % 10);
        value /= 10;
    }
}

void time_format(int64_t wall_ms, char out[TIME_TEXT_BYTES])
{
    int64_t days = wall_ms / 86400000;
    int64_t rest = wall_ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    int year;
    unsigned month, day;
    civil_from_days(days, &year, &month, &day);
    memcpy(out, "0000-00-00T00:00:00.000Z", TIME_TEXT_BYTES);
    put_digits(out, (unsigned)year, 4);
    put_digits(out + 5, month, 2);
    put_digits(out + 8, day, 2);
    put_digits(out + 11, (unsigned)(rest / 3600000), 2);
    put_digits(out + 14, (unsigned)(rest / 60000 % 60), 2);
    put_digits(out + 17, (unsigned)(rest / 1000 % 60), 2);
    put_digits(out + 20, (unsigned)(rest % 1000), 3);
}
