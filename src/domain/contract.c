#include "domain/contract.h"

static const char *const field_type_names[FIELD_TYPES] = {
    [FIELD_IS_ANY] = "any",         [FIELD_IS_STRING] = "string",   [FIELD_IS_NUMBER] = "number",
    [FIELD_IS_INTEGER] = "integer", [FIELD_IS_BOOLEAN] = "boolean", [FIELD_IS_OBJECT] = "object",
    [FIELD_IS_LIST] = "array",
};
const struct enum_names field_type_enum = {field_type_names, FIELD_TYPES};

/* --- is it one? --- */

static enum status check_field(const struct json *field, struct failure *failure)
{
    char list[120];
    struct slice type = {0};
    enum_names_list(field_type_enum, list, sizeof list);
    if (field->key.len == 0 || field->key.len > CONTRACT_NAME_BYTES_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_contract", "The name of a field has 1 to %d bytes.",
                           CONTRACT_NAME_BYTES_MAX);
    }
    if (!json_as_text(field, &type) || enum_names_find(field_type_enum, type) < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_contract", "The type of the field %.*s must be one of %s.",
                           SLICE_ARG(field->key), list);
    }
    return STATUS_OK;
}

static enum status check_required(const struct json *required, const struct json *fields, struct failure *failure)
{
    if (!required) {
        return STATUS_OK;
    }
    for (const struct json *one = json_is(required, JSON_ARRAY) ? required->child : NULL; one; one = one->next) {
        if (!json_is(one, JSON_STRING) || !json_member(fields, one->text)) {
            return failure_set(failure, STATUS_INVALID, "invalid_contract",
                               "`required` names fields of the contract; %.*s is none.",
                               SLICE_ARG(slice_utf8_prefix(one->raw, 80)));
        }
    }
    return json_is(required, JSON_ARRAY) && required->count <= fields->count
               ? STATUS_OK
               : failure_set(failure, STATUS_INVALID, "invalid_contract",
                             "`required` is a list of names of fields, each once.");
}

enum status contract_check(const struct json *contract, struct failure *failure)
{
    const struct json *fields = json_get_value(contract, "fields");
    if (!contract || json_is(contract, JSON_NULL)) {
        return STATUS_OK;
    }
    for (const struct json *one = json_is(contract, JSON_OBJECT) ? contract->child : NULL; one; one = one->next) {
        if (!slice_is(one->key, "fields") && !slice_is(one->key, "required")) {
            return failure_set(failure, STATUS_INVALID, "invalid_contract",
                               "`output` has the members fields and required; %.*s is not known.",
                               SLICE_ARG(slice_utf8_prefix(one->key, 60)));
        }
    }
    if (!json_is(fields, JSON_OBJECT) || fields->count < 1 || fields->count > CONTRACT_FIELDS_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_contract",
                           "`output.fields` is an object of 1 to %d names and their types.", CONTRACT_FIELDS_MAX);
    }
    enum status status = STATUS_OK;
    for (const struct json *field = fields->child; field && status == STATUS_OK; field = field->next) {
        status = check_field(field, failure);
    }
    return status == STATUS_OK ? check_required(json_get_value(contract, "required"), fields, failure) : status;
}

/* --- is it kept? --- */

static bool is_of_type(const struct json *value, enum field_type type)
{
    int64_t whole;
    switch (type) {
    case FIELD_IS_STRING:
        return json_is(value, JSON_STRING);
    case FIELD_IS_NUMBER:
        return json_is(value, JSON_NUMBER);
    case FIELD_IS_INTEGER:
        return json_as_i64(value, &whole);
    case FIELD_IS_BOOLEAN:
        return json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE);
    case FIELD_IS_OBJECT:
        return json_is(value, JSON_OBJECT);
    case FIELD_IS_LIST:
        return json_is(value, JSON_ARRAY);
    case FIELD_IS_ANY:
    case FIELD_TYPES:
        break;
    }
    return true;
}

static bool is_required(const struct json *contract, struct slice name)
{
    const struct json *required = json_get_value(contract, "required");
    const struct json *one = required ? required->child : NULL;
    while (one && !slice_eq(one->text, name)) {
        one = one->next;
    }
    return !required || one;
}

static enum status enforce_field(const struct json *contract, const struct json *field, const struct json *output,
                                 struct failure *failure)
{
    const struct json *value = json_member(output, field->key);
    enum field_type type = (enum field_type)enum_names_find(field_type_enum, field->text);
    if (!value || json_is(value, JSON_NULL)) {
        return is_required(contract, field->key)
                   ? failure_set(failure, STATUS_INVALID, "output_contract", "The output has no %.*s; it must be %s.",
                                 SLICE_ARG(field->key), field_type_names[type])
                   : STATUS_OK;
    }
    return is_of_type(value, type)
               ? STATUS_OK
               : failure_set(failure, STATUS_INVALID, "output_contract", "%.*s of the output must be %s, not %s.",
                             SLICE_ARG(field->key), field_type_names[type], json_kind_name(value->kind));
}

enum status contract_enforce(const struct json *contract, const struct json *output, struct failure *failure)
{
    const struct json *fields = json_get_value(contract, "fields");
    enum status status = STATUS_OK;
    if (fields && !json_is(output, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "output_contract",
                           "The output must be an object with the fields of its contract, not %s.",
                           output ? json_kind_name(output->kind) : "missing");
    }
    for (const struct json *field = fields ? fields->child : NULL; field && status == STATUS_OK; field = field->next) {
        status = enforce_field(contract, field, output, failure);
    }
    return status;
}

struct contract_yield contract_yield(struct arena *arena, const struct json *contract, const struct json *output)
{
    struct buffer fields = {0}, names = {0};
    struct json_out out = json_out_to(&fields), list = json_out_to(&names);
    const struct json *named = json_get_value(contract, "fields");
    bool any = false;
    json_begin_object(&out);
    json_begin_array(&list);
    for (const struct json *field = named ? named->child : NULL; field; field = field->next) {
        const struct json *value = json_member(output, field->key);
        if (value && !json_is(value, JSON_NULL)) {
            json_key_slice(&out, field->key);
            json_raw(&out, value->raw);
            json_text(&list, field->key);
            any = true;
        }
    }
    json_end_object(&out);
    json_end_array(&list);
    struct contract_yield yield = {0};
    if (any) {
        yield =
            (struct contract_yield){arena_copy(arena, buffer_slice(&fields)), arena_copy(arena, buffer_slice(&names))};
    }
    buffer_release(&fields);
    buffer_release(&names);
    return yield;
}

/* --- criteria --- */

static enum status refuse_criteria(struct slice name, struct failure *failure)
{
    return failure_set(failure, STATUS_INVALID, "invalid_criteria",
                       "`criteria.%.*s` is not right: a dimension is an object with `options` and nothing else, which "
                       "map words to objects with score (a whole number), flag and hard_block (booleans).",
                       SLICE_ARG(slice_utf8_prefix(name, 60)));
}

static bool is_option(const struct json *option)
{
    for (const struct json *one = json_is(option, JSON_OBJECT) ? option->child : NULL; one; one = one->next) {
        int64_t score;
        bool flag;
        bool fits = slice_is(one->key, "score")
                        ? json_as_i64(one, &score)
                        : (slice_is(one->key, "flag") || slice_is(one->key, "hard_block")) && json_as_bool(one, &flag);
        if (!fits) {
            return false;
        }
    }
    return json_is(option, JSON_OBJECT);
}

/* A dimension without options has nothing to choose, and is only named. */
static bool is_dimension(const struct json *dimension)
{
    const struct json *options = json_get(dimension, "options");
    if (!json_is(dimension, JSON_OBJECT) || dimension->count != (options ? 1 : 0) ||
        (options && (!json_is(options, JSON_OBJECT) || options->count == 0))) {
        return false;
    }
    for (const struct json *option = options ? options->child : NULL; option; option = option->next) {
        if (!is_option(option)) {
            return false;
        }
    }
    return true;
}

enum status criteria_check(const struct json *criteria, struct failure *failure)
{
    bool decides = false;
    if (!criteria || json_is(criteria, JSON_NULL)) {
        return STATUS_OK;
    }
    for (const struct json *one = json_is(criteria, JSON_OBJECT) ? criteria->child : NULL; one; one = one->next) {
        if (!is_dimension(one)) {
            return refuse_criteria(one->key, failure);
        }
        decides = decides || one->count > 0;
    }
    return decides ? STATUS_OK
                   : failure_set(failure, STATUS_INVALID, "invalid_criteria",
                                 "`criteria` is an object of dimensions, of which at least one has `options`.");
}

enum status criteria_check_fields(const struct json *criteria, const struct json *contract, struct failure *failure)
{
    const struct json *fields = json_get_value(contract, "fields");
    for (const struct json *one = json_is(criteria, JSON_OBJECT) ? criteria->child : NULL; one; one = one->next) {
        if (fields && !json_member(fields, one->key)) {
            return failure_set(failure, STATUS_INVALID, "invalid_criteria",
                               "`criteria.%.*s` is about a field that `output.fields` does not have; add it there.",
                               SLICE_ARG(slice_utf8_prefix(one->key, 60)));
        }
    }
    return STATUS_OK;
}

static const struct json *chosen_option(const struct json *dimension, const struct json *output)
{
    const struct json *value = json_member(output, dimension->key);
    return json_is(value, JSON_STRING) ? json_member(json_get_value(dimension, "options"), value->text) : NULL;
}

static bool says(const struct json *option, const char *key)
{
    bool flag = false;
    json_as_bool(json_get(option, key), &flag);
    return flag;
}

struct safety criteria_evaluate(struct arena *arena, const struct json *criteria, const struct json *output)
{
    struct safety safety = {.ok = true};
    struct buffer flags = {0};
    struct json_out list = json_out_to(&flags);
    json_begin_array(&list);
    for (const struct json *one = json_is(criteria, JSON_OBJECT) ? criteria->child : NULL; one; one = one->next) {
        const struct json *option = chosen_option(one, output);
        if (safety.ok && says(option, "hard_block")) {
            safety.ok = false;
            safety.dimension = one->key;
            safety.option = option->key;
        }
        safety.score += json_i64_of(option, "score");
        if (says(option, "flag")) {
            json_text(&list, one->key);
        }
    }
    json_end_array(&list);
    safety.flags = arena_copy(arena, buffer_slice(&flags));
    buffer_release(&flags);
    return safety;
}
