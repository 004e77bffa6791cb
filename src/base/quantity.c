#include "base/quantity.h"

#include "base/clock.h"

struct unit_suffix {
    const char *text;
    int64_t factor;
};

/* The longer suffix of two that fit stands first. */
static const struct unit_suffix ms_suffixes[] = {{"ms", 1},      {"s", 1000},   {"m", MINUTE_MS},
                                                 {"h", HOUR_MS}, {"d", DAY_MS}, {NULL, 0}};
static const struct unit_suffix byte_suffixes[] = {{"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {NULL, 0}};
static const struct unit_suffix no_suffixes[] = {{NULL, 0}};

static const struct unit_suffix *const unit_suffixes[] = {
    [UNIT_NONE] = no_suffixes, [UNIT_MS] = ms_suffixes, [UNIT_BYTES] = byte_suffixes};

static bool ends_with(struct slice text, struct slice tail)
{
    return text.len > tail.len && memcmp(text.ptr + text.len - tail.len, tail.ptr, tail.len) == 0;
}

bool quantity_parse(struct slice text, enum quantity_unit unit, int64_t *out)
{
    int64_t count, product, factor = 1;
    for (const struct unit_suffix *suffix = unit_suffixes[unit]; suffix->text; suffix++) {
        if (ends_with(text, slice_of(suffix->text))) {
            text.len -= strlen(suffix->text);
            factor = suffix->factor;
            break;
        }
    }
    if (!slice_to_i64(slice_trim(text), &count) || __builtin_mul_overflow(count, factor, &product)) {
        return false;
    }
    *out = product;
    return true;
}

void quantity_show(int64_t number, enum quantity_unit unit, struct buffer *out)
{
    const struct unit_suffix *best = NULL;
    for (const struct unit_suffix *suffix = unit_suffixes[unit]; suffix->text; suffix++) {
        if (number != 0 && number % suffix->factor == 0 && (!best || suffix->factor > best->factor)) {
            best = suffix;
        }
    }
    buffer_add_i64(out, best ? number / best->factor : number);
    if (best) {
        buffer_add(out, slice_of(best->text));
    }
}
