#include "domain/merge.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"

/* Texts that come from the store or from a checked request: what does not parse counts as missing. */
static const struct json *parse_trusted(struct arena *arena, struct slice text)
{
    const struct json *value = NULL;
    if (!slice_present(text) || json_parse(arena, text, &value, NULL) != STATUS_OK) {
        return NULL;
    }
    return value;
}

static struct slice keep_text(struct arena *arena, struct buffer *buffer)
{
    struct slice text = arena_copy(arena, buffer_slice(buffer));
    buffer_release(buffer);
    return text;
}

static void put_unless_null(struct json_out *out, struct slice key, const struct json *value)
{
    if (!json_is(value, JSON_NULL)) {
        json_key_slice(out, key);
        json_raw(out, value->raw);
    }
}

struct slice merge_objects(struct arena *arena, struct slice old, const struct json *patch)
{
    struct arena scratch = {0};
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    const struct json *base = parse_trusted(&scratch, old);
    budget_spend((base ? base->count : 0) + (patch ? patch->count : 0));
    json_begin_object(&out);
    for (const struct json *one = json_is(base, JSON_OBJECT) ? base->child : NULL; one; one = one->next) {
        const struct json *newer = json_member(patch, one->key);
        put_unless_null(&out, one->key, newer ? newer : one);
    }
    for (const struct json *one = json_is(patch, JSON_OBJECT) ? patch->child : NULL; one; one = one->next) {
        if (!json_member(base, one->key)) {
            put_unless_null(&out, one->key, one);
        }
    }
    json_end_object(&out);
    struct slice merged = keep_text(arena, &buffer);
    arena_release(&scratch);
    return merged;
}

static double as_double(const struct json *number)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", SLICE_ARG(number->raw));
    return strtod(text, NULL);
}

static void put_sum(struct json_out *out, const struct json *a, const struct json *b)
{
    int64_t whole_a, whole_b, sum;
    if (json_as_i64(a, &whole_a) && json_as_i64(b, &whole_b) && !__builtin_add_overflow(whole_a, whole_b, &sum)) {
        json_i64(out, sum);
        return;
    }
    char text[32];
    snprintf(text, sizeof text, "%.15g", as_double(a) + as_double(b));
    /* The largest doubles overflow to a word that is no JSON. */
    json_raw(out, strpbrk(text, "in") ? b->raw : slice_of(text));
}

static void put_totals(struct json_out *out, const struct json *total, const struct json *more)
{
    budget_spend(total->count + more->count);
    json_begin_object(out);
    for (const struct json *one = total->child; one; one = one->next) {
        const struct json *other = json_member(more, one->key);
        json_key_slice(out, one->key);
        if (json_is(one, JSON_NUMBER) && json_is(other, JSON_NUMBER)) {
            put_sum(out, one, other);
        } else if (json_is(one, JSON_OBJECT) && json_is(other, JSON_OBJECT)) {
            put_totals(out, one, other);
        } else {
            bool keeps = !other || json_is(one, JSON_NUMBER); /* a word never undoes a sum */
            json_raw(out, keeps ? one->raw : other->raw);
        }
    }
    for (const struct json *one = more->child; one; one = one->next) {
        if (!json_member(total, one->key)) {
            json_key_slice(out, one->key);
            json_raw(out, one->raw);
        }
    }
    json_end_object(out);
}

struct slice merge_totals(struct arena *arena, struct slice total, struct slice more)
{
    struct arena scratch = {0};
    const struct json *a = parse_trusted(&scratch, total);
    const struct json *b = parse_trusted(&scratch, more);
    struct slice merged;
    if (json_is(a, JSON_OBJECT) && json_is(b, JSON_OBJECT)) {
        struct buffer buffer = {0};
        struct json_out out = json_out_to(&buffer);
        put_totals(&out, a, b);
        merged = keep_text(arena, &buffer);
    } else {
        merged = arena_copy(arena, json_is(b, JSON_OBJECT) ? more : total);
    }
    arena_release(&scratch);
    return merged;
}
