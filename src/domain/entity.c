#include "domain/entity.h"

#include "base/budget.h"
#include "base/caseless.h"
#include "domain/change_payload.h"
#include "domain/input.h"
#include "domain/merge.h"

static enum status check_size(struct slice fields, size_t bytes_max, struct failure *failure)
{
    return fields.len <= bytes_max
               ? STATUS_OK
               : failure_set(failure, STATUS_TOO_LARGE, "entity_too_large",
                             "The fields have %zu bytes; at most %zu are accepted (option entity-bytes-max).",
                             fields.len, bytes_max);
}

enum status entity_check(const struct entity *entity, size_t bytes_max, struct failure *failure)
{
    enum status status = input_check_id(entity->id, "id", failure);
    if (status == STATUS_OK) {
        status = input_check_name(entity->type, "type", ENTITY_TYPE_BYTES_MAX, failure);
    }
    return status == STATUS_OK ? check_size(entity->fields, bytes_max, failure) : status;
}

enum status entity_apply(struct arena *arena, struct entity *entity, const struct json *patch, size_t bytes_max,
                         bool *out_changed, struct failure *failure)
{
    const struct json *before = NULL, *after = NULL;
    struct slice merged = merge_objects(arena, entity->fields, patch);
    *out_changed = false;
    enum status status = check_size(merged, bytes_max, failure);
    if (status == STATUS_OK) {
        status = json_parse(arena, entity->fields, &before, failure);
    }
    if (status == STATUS_OK) {
        status = json_parse(arena, merged, &after, failure);
    }
    if (status == STATUS_OK && !json_equal(before, after)) {
        *out_changed = true;
        entity->fields = merged;
        entity->version++;
    }
    return status;
}

void change_entity_updated(struct arena *arena, const struct entity *entity, struct slice names, struct changes *out)
{
    struct payload payload;
    payload_begin(&payload);
    json_put_text(&payload.out, "entity_id", entity->id);
    json_put_i64(&payload.out, "version", entity->version);
    json_put_raw(&payload.out, "fields", names);
    payload_end(&payload, arena, EVENT_ENTITY_UPDATED, out);
}

/* Depth is bounded by the reader of JSON. */
static bool value_has_text(const struct json *value, struct slice text)
{
    budget_spend(1);
    struct slice shown = value->kind == JSON_STRING ? value->text : value->raw;
    bool leaf = value->kind != JSON_OBJECT && value->kind != JSON_ARRAY;
    if (caseless_has(value->key, text) || (leaf && caseless_has(shown, text))) {
        return true;
    }
    for (const struct json *child = leaf ? NULL : value->child; child; child = child->next) {
        if (value_has_text(child, text)) {
            return true;
        }
    }
    return false;
}

bool entity_has_text(struct arena *arena, const struct entity *entity, struct slice text)
{
    const struct json *fields;
    if (caseless_has(entity->id, text) || caseless_has(entity->type, text)) {
        return true;
    }
    return json_parse(arena, entity->fields, &fields, NULL) == STATUS_OK && value_has_text(fields, text);
}

void entity_write(struct json_out *out, const struct entity *entity)
{
    json_begin_object(out);
    json_put_text(out, "id", entity->id);
    json_put_text(out, "type", entity->type);
    json_put_raw(out, "fields", entity->fields);
    json_put_i64(out, "version", entity->version);
    json_put_time(out, "created_at", entity->created_at_ms);
    json_put_time(out, "updated_at", entity->updated_at_ms);
    json_put_text(out, "updated_by", entity->updated_by);
    json_end_object(out);
}
