#include "base/json.h"

#include "base/budget.h"
#include "base/json_index.h"

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {"null",     "a boolean", "a boolean", "a number",
                                        "a string", "an array",  "an object"};
    return names[kind];
}

const struct json *json_get(const struct json *object, const char *key)
{
    return json_member(object, slice_of(key));
}

const struct json *json_member(const struct json *object, struct slice key)
{
    if (!json_is(object, JSON_OBJECT)) {
        return NULL;
    }
    if (object->index) {
        return json_index_find(object->index, key);
    }
    budget_spend(object->count / JSON_UNINDEXED_MAX); /* few, or a copy that is being changed */
    const struct json *member = object->child;
    while (member && !slice_eq(member->key, key)) {
        member = member->next;
    }
    return member;
}

const struct json *json_get_value(const struct json *object, const char *key)
{
    const struct json *member = json_get(object, key);
    return json_is(member, JSON_NULL) ? NULL : member;
}

bool json_as_text(const struct json *value, struct slice *out)
{
    if (!json_is(value, JSON_STRING)) {
        return false;
    }
    *out = value->text;
    return true;
}

bool json_as_i64(const struct json *value, int64_t *out)
{
    return json_is(value, JSON_NUMBER) && slice_to_i64(value->raw, out);
}

bool json_as_bool(const struct json *value, bool *out)
{
    if (!json_is(value, JSON_TRUE) && !json_is(value, JSON_FALSE)) {
        return false;
    }
    *out = value->kind == JSON_TRUE;
    return true;
}

struct slice json_text_of(const struct json *object, const char *key)
{
    struct slice text = {NULL, 0};
    json_as_text(json_get(object, key), &text);
    return text;
}

int64_t json_i64_of(const struct json *object, const char *key)
{
    int64_t value = 0;
    json_as_i64(json_get(object, key), &value);
    return value;
}

struct slice json_raw_of(const struct json *object, const char *key)
{
    const struct json *value = json_get_value(object, key);
    return value ? value->raw : (struct slice){NULL, 0};
}
