#include "base/json.h"

#include "base/budget.h"

/* Beyond it, adding the number of digits could overflow; such numbers equal only what is written the same. */
static const int64_t exponent_max = INT64_MAX / 2;

/* A number as 0.DIGITS × 10^exponent, without zeroes at either end; the digits may have a point between them. */
struct decimal {
    bool negative;
    bool exact; /* the exponent fits */
    struct slice digits;
    int64_t exponent;
};

static bool read_exponent(struct slice text, int64_t *out)
{
    *out = 0;
    if (text.len > 0 && text.ptr[0] == '+') {
        text = slice_after(text, 1);
    }
    int64_t exponent = 0;
    if (slice_present(text) &&
        (!slice_to_i64(text, &exponent) || exponent < -exponent_max || exponent > exponent_max)) {
        return false;
    }
    *out = exponent;
    return true;
}

static struct decimal read_decimal(struct slice raw)
{
    struct decimal number = {.negative = raw.ptr[0] == '-'};
    struct slice mantissa, exponent, whole, fraction;
    raw = slice_after(raw, number.negative ? 1 : 0);
    if (!slice_cut(raw, 'e', &mantissa, &exponent)) {
        slice_cut(raw, 'E', &mantissa, &exponent);
    }
    number.exact = read_exponent(exponent, &number.exponent);
    slice_cut(mantissa, '.', &whole, &fraction);
    number.exponent += (int64_t)whole.len;
    while (mantissa.len > 0 && (mantissa.ptr[0] == '0' || mantissa.ptr[0] == '.')) {
        number.exponent -= mantissa.ptr[0] == '0';
        mantissa = slice_after(mantissa, 1);
    }
    while (mantissa.len > 0 && (mantissa.ptr[mantissa.len - 1] == '0' || mantissa.ptr[mantissa.len - 1] == '.')) {
        mantissa.len--;
    }
    number.digits = mantissa;
    return number;
}

static bool same_digits(struct slice a, struct slice b)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        i += i < a.len && a.ptr[i] == '.';
        k += k < b.len && b.ptr[k] == '.';
        if (i == a.len || k == b.len) {
            return i == a.len && k == b.len;
        }
        if (a.ptr[i] != b.ptr[k]) {
            return false;
        }
    }
}

static bool equal_numbers(struct slice a, struct slice b)
{
    struct decimal x = read_decimal(a), y = read_decimal(b);
    if (slice_eq(a, b) || (x.digits.len == 0 && y.digits.len == 0)) {
        return true;
    }
    return x.exact && y.exact && x.negative == y.negative && x.exponent == y.exponent &&
           same_digits(x.digits, y.digits);
}

static bool equal_objects(const struct json *a, const struct json *b)
{
    const struct json *member = a->child;
    while (member) {
        const struct json *other = json_member(b, member->key);
        if (!other || !json_equal(member, other)) {
            return false;
        }
        member = member->next;
    }
    return true;
}

static bool equal_arrays(const struct json *a, const struct json *b)
{
    const struct json *x = a->child, *y = b->child;
    while (x && y && json_equal(x, y)) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}

bool json_equal(const struct json *a, const struct json *b)
{
    budget_spend(1);
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    switch (a->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        return true;
    case JSON_NUMBER:
        return equal_numbers(a->raw, b->raw);
    case JSON_STRING:
        budget_spend_bytes(a->text.len == b->text.len ? a->text.len : 0);
        return slice_eq(a->text, b->text);
    case JSON_ARRAY:
        return equal_arrays(a, b);
    case JSON_OBJECT:
        return equal_objects(a, b);
    }
    return false;
}
