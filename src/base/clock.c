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
    int64_t days = wall_ms / DAY_MS;
    int64_t rest = wall_ms % DAY_MS;
    if (rest < 0) {
        rest += DAY_MS;
        days--;
    }
    int year;
    unsigned month, day;
    civil_from_days(days, &year, &month, &day);
    memcpy(out, "0000-00-00T00:00:00.000Z", TIME_TEXT_BYTES);
    put_digits(out, (unsigned)year, 4);
    put_digits(out + 5, month, 2);
    put_digits(out + 8, day, 2);
    put_digits(out + 11, (unsigned)(rest / HOUR_MS), 2);
    put_digits(out + 14, (unsigned)(rest / MINUTE_MS % 60), 2);
    put_digits(out + 17, (unsigned)(rest / 1000 % 60), 2);
    put_digits(out + 20, (unsigned)(rest % 1000), 3);
}

static int64_t days_from_civil(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    unsigned yoe = (unsigned)(year - era * 400);
    unsigned doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + (int64_t)doe - 719468;
}

static unsigned days_in_month(unsigned year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Takes exactly `count` digits and then the mark, unless that is zero. */
static bool take_number(struct slice *text, size_t count, char mark, unsigned *out)
{
    *out = 0;
    if (text->len < count + (mark ? 1 : 0)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (text->ptr[i] < '0' || text->ptr[i] > '9') {
            return false;
        }
        *out = *out * 10 + (unsigned)(text->ptr[i] - '0');
    }
    bool marked = !mark || text->ptr[count] == mark || (mark == 'T' && text->ptr[count] == 't');
    *text = slice_after(*text, count + (mark ? 1 : 0));
    return marked;
}

static bool take_fraction_ms(struct slice *text, unsigned *out_ms)
{
    *out_ms = 0;
    if (text->len == 0 || text->ptr[0] != '.') {
        return true;
    }
    size_t at = 1;
    for (unsigned weight = 100; at < text->len && text->ptr[at] >= '0' && text->ptr[at] <= '9'; at++, weight /= 10) {
        *out_ms += (unsigned)(text->ptr[at] - '0') * weight;
    }
    *text = slice_after(*text, at);
    return at > 1;
}

static bool take_offset_ms(struct slice text, int64_t *out_ms)
{
    unsigned hours, minutes;
    *out_ms = 0;
    if (text.len == 1) {
        return text.ptr[0] == 'Z' || text.ptr[0] == 'z';
    }
    if (text.len != 6 || (text.ptr[0] != '+' && text.ptr[0] != '-')) {
        return false;
    }
    bool west = text.ptr[0] == '-';
    text = slice_after(text, 1);
    if (!take_number(&text, 2, ':', &hours) || !take_number(&text, 2, '\0', &minutes) || hours > 23 || minutes > 59) {
        return false;
    }
    *out_ms = (int64_t)(hours * 60 + minutes) * MINUTE_MS * (west ? -1 : 1);
    return true;
}

bool time_parse(struct slice text, int64_t *out_wall_ms)
{
    unsigned year, month, day, hour, minute, second, ms;
    int64_t offset_ms;
    if (!take_number(&text, 4, '-', &year) || !take_number(&text, 2, '-', &month) ||
        !take_number(&text, 2, 'T', &day) || !take_number(&text, 2, ':', &hour) ||
        !take_number(&text, 2, ':', &minute) || !take_number(&text, 2, '\0', &second) ||
        !take_fraction_ms(&text, &ms) || !take_offset_ms(text, &offset_ms)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 || minute > 59 ||
        second > 60) {
        return false;
    }
    int64_t seconds = (int64_t)(hour * 60 + minute) * 60 + second;
    *out_wall_ms = days_from_civil(year, month, day) * DAY_MS + seconds * 1000 + ms - offset_ms;
    return true;
}
