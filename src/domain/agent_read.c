#include "domain/agent_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/redact.h"

enum { PATH_BYTES = 160 };

enum status agent_refuse(const struct agent_reader *reader, const struct json *value, const char *format, ...)
{
    const struct agent_source *source = reader->source;
    char sentence[900], place[300] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (source->file && value && source->line_of) {
        snprintf(place, sizeof place, "%s:%u: ", source->file, source->line_of(source->owner, value));
    } else if (source->file) {
        snprintf(place, sizeof place, "%s: ", source->file);
    }
    return failure_set(reader->failure, STATUS_INVALID, reader->code, "%s%s", place, sentence);
}

/* --- single values --- */

static enum status refuse_kind(const struct agent_reader *reader, const struct json *value,
                               const struct agent_field *field, const char *path, const char *wanted)
{
    return agent_refuse(reader, value, "`%s%s` must be %s, not %s.", path, field->name, wanted,
                        json_kind_name(value->kind));
}

static enum status read_text(const struct agent_reader *reader, const struct json *value,
                             const struct agent_field *field, const char *path, struct slice *out)
{
    if (!json_is(value, JSON_STRING)) {
        return refuse_kind(reader, value, field, path, "a text");
    }
    struct slice text = value->text;
    if ((int64_t)text.len < field->min || (int64_t)text.len > field->max) {
        return agent_refuse(reader, value, "`%s%s` must have %lld to %lld bytes; it has %zu.", path, field->name,
                            (long long)field->min, (long long)field->max, text.len);
    }
    if (memchr(text.ptr, '\0', text.len)) {
        return agent_refuse(reader, value, "`%s%s` must not hold a zero byte.", path, field->name);
    }
    const char *problem = field->problem ? field->problem(text) : NULL;
    if (problem) {
        return agent_refuse(reader, value, "`%s%s` must be %s.", path, field->name, problem);
    }
    *out = arena_copy(reader->arena, text);
    return STATUS_OK;
}

static enum status read_number(const struct agent_reader *reader, const struct json *value,
                               const struct agent_field *field, const char *path, int64_t *out)
{
    int64_t number;
    bool ok = json_as_i64(value, &number) || (json_is(value, JSON_STRING) && field->unit != UNIT_NONE &&
                                              quantity_parse(value->text, field->unit, &number));
    if (ok && number >= field->min && number <= field->max) {
        *out = number;
        return STATUS_OK;
    }
    static const char *const notes[] = {
        [UNIT_NONE] = "",
        [UNIT_MS] = " (milliseconds, or a number with ms, s, m, h or d)",
        [UNIT_BYTES] = " (bytes, or a number with KiB, MiB or GiB)",
    };
    struct buffer range = {0};
    quantity_show(field->min, field->unit, &range);
    buffer_add(&range, SLICE(" to "));
    quantity_show(field->max, field->unit, &range);
    enum status status = agent_refuse(reader, value, "`%s%s` must be a whole number of %.*s%s.", path, field->name,
                                      SLICE_ARG(buffer_slice(&range)), notes[field->unit]);
    buffer_release(&range);
    return status;
}

static enum status read_fraction(const struct agent_reader *reader, const struct json *value,
                                 const struct agent_field *field, const char *path, double *out)
{
    char digits[64] = "";
    if (json_is(value, JSON_NUMBER) && value->raw.len < sizeof digits) {
        memcpy(digits, value->raw.ptr, value->raw.len);
        double number = strtod(digits, NULL);
        if (number > 0 && number <= 1) {
            *out = number;
            return STATUS_OK;
        }
    }
    return agent_refuse(reader, value, "`%s%s` must be a number above 0 and at most 1.", path, field->name);
}

static enum status read_word(const struct agent_reader *reader, const struct json *value,
                             const struct agent_field *field, const char *path, int *out)
{
    int index = json_is(value, JSON_STRING) ? enum_names_find(*field->words, value->text) : -1;
    if (index < 0) {
        char list[160];
        enum_names_list(*field->words, list, sizeof list);
        return agent_refuse(reader, value, "`%s%s` must be one of: %s.", path, field->name, list);
    }
    *out = index;
    return STATUS_OK;
}

/* --- lists --- */

static enum status check_list(const struct agent_reader *reader, const struct json *value,
                              const struct agent_field *field, const char *path, enum json_kind kind)
{
    if (!json_is(value, kind)) {
        return refuse_kind(reader, value, field, path, kind == JSON_ARRAY ? "a list" : "an object");
    }
    if (value->count > AGENT_LIST_MAX) {
        return agent_refuse(reader, value, "`%s%s` has %u entries of at most %d.", path, field->name, value->count,
                            AGENT_LIST_MAX);
    }
    return STATUS_OK;
}

static enum status read_texts(const struct agent_reader *reader, const struct json *value,
                              const struct agent_field *field, const char *path, void *base)
{
    enum status status = check_list(reader, value, field, path, JSON_ARRAY);
    if (status != STATUS_OK) {
        return status;
    }
    struct slice *texts = arena_array(reader->arena, value->count + 1, sizeof *texts);
    size_t count = 0;
    for (const struct json *one = value->child; one && status == STATUS_OK; one = one->next) {
        status = read_text(reader, one, field, path, &texts[count++]);
    }
    *(const struct slice **)((char *)base + field->offset) = texts;
    *(size_t *)((char *)base + field->count_offset) = count;
    return status;
}

static enum status read_items(const struct agent_reader *reader, const struct json *value,
                              const struct agent_field *field, const char *path, void *base)
{
    enum status status = check_list(reader, value, field, path, JSON_ARRAY);
    if (status != STATUS_OK) {
        return status;
    }
    char *items = arena_array(reader->arena, value->count + 1, field->item_size);
    size_t count = 0;
    for (const struct json *one = value->child; one && status == STATUS_OK; one = one->next) {
        char inner[PATH_BYTES];
        snprintf(inner, sizeof inner, "%s%s[%zu].", path, field->name, count);
        status = agent_read_members(reader, one, field->members, inner, items + count++ * field->item_size);
    }
    *(void **)((char *)base + field->offset) = items;
    *(size_t *)((char *)base + field->count_offset) = count;
    return status;
}

static enum status read_pair(const struct agent_reader *reader, const struct json *member,
                             const struct agent_field *field, const char *path, struct name_value *out)
{
    const char *problem = member->key.len ? field->problem(member->key) : "the name of a variable";
    if (problem) {
        return agent_refuse(reader, member, "A key of `%s%s` must be %s.", path, field->name, problem);
    }
    struct agent_field value_field = *field;
    value_field.problem = NULL;
    enum status status = read_text(reader, member, &value_field, path, &out->value);
    if (status == STATUS_OK && redact_finds(member->key, out->value)) {
        return agent_refuse(reader, member,
                            "`%s%s.%.*s` looks like a secret; name it in `pass_environment` instead, and set it in "
                            "the environment of the server.",
                            path, field->name, SLICE_ARG(slice_utf8_prefix(member->key, 60)));
    }
    out->name = arena_copy(reader->arena, member->key);
    return status;
}

static enum status read_pairs(const struct agent_reader *reader, const struct json *value,
                              const struct agent_field *field, const char *path, void *base)
{
    enum status status = check_list(reader, value, field, path, JSON_OBJECT);
    if (status != STATUS_OK) {
        return status;
    }
    struct name_value *pairs = arena_array(reader->arena, value->count + 1, sizeof *pairs);
    size_t count = 0;
    for (const struct json *member = value->child; member && status == STATUS_OK; member = member->next) {
        status = read_pair(reader, member, field, path, &pairs[count++]);
    }
    *(const struct name_value **)((char *)base + field->offset) = pairs;
    *(size_t *)((char *)base + field->count_offset) = count;
    return status;
}

/* --- by the table --- */

enum status agent_read_value(const struct agent_reader *reader, const struct json *value,
                             const struct agent_field *field, const char *path, void *base)
{
    void *at = (char *)base + field->offset;
    char inner[PATH_BYTES];
    int64_t ignored;
    switch (field->kind) {
    case AGENT_TEXT:
        return read_text(reader, value, field, path, at);
    case AGENT_NUMBER:
        return read_number(reader, value, field, path, at);
    case AGENT_FRACTION:
        return read_fraction(reader, value, field, path, at);
    case AGENT_SWITCH:
        return json_as_bool(value, at) ? STATUS_OK : refuse_kind(reader, value, field, path, "true or false");
    case AGENT_WORD:
        return read_word(reader, value, field, path, at);
    case AGENT_TEXTS:
        return read_texts(reader, value, field, path, base);
    case AGENT_ITEMS:
        return read_items(reader, value, field, path, base);
    case AGENT_PAIRS:
        return read_pairs(reader, value, field, path, base);
    case AGENT_GROUP:
        snprintf(inner, sizeof inner, "%s%s.", path, field->name);
        return agent_read_members(reader, value, field->members, inner, base);
    case AGENT_GIVEN:
        return json_as_i64(value, &ignored) ? STATUS_OK : refuse_kind(reader, value, field, path, "a whole number");
    }
    abort();
}

static enum status refuse_unknown(const struct agent_reader *reader, const struct json *member,
                                  const struct agent_field *fields, const char *path)
{
    const char *names[64];
    char list[700];
    int count = 0;
    for (const struct agent_field *field = fields; field->name; field++) {
        names[count++] = field->name;
    }
    enum_names_list((struct enum_names){names, count}, list, sizeof list);
    return agent_refuse(reader, member, "`%s%.*s` is not known; accepted: %s.", path,
                        SLICE_ARG(slice_utf8_prefix(member->key, 60)), list);
}

static enum status check_required(const struct agent_reader *reader, const struct json *object,
                                  const struct agent_field *fields, const char *path)
{
    for (const struct agent_field *field = fields; field->name; field++) {
        if (field->required && !json_get_value(object, field->name)) {
            return agent_refuse(reader, object, "`%s%s` is missing.", path, field->name);
        }
    }
    return STATUS_OK;
}

enum status agent_read_members(const struct agent_reader *reader, const struct json *object,
                               const struct agent_field *fields, const char *path, void *base)
{
    if (!json_is(object, JSON_OBJECT)) {
        struct slice name = *path ? slice_from(path, strlen(path) - 1) : SLICE("an agent's definition");
        return agent_refuse(reader, object, "`%.*s` must be an object, not %s.", SLICE_ARG(name),
                            object ? json_kind_name(object->kind) : "nothing");
    }
    for (const struct json *member = object->child; member; member = member->next) {
        const struct agent_field *field = agent_field_find(fields, member->key);
        if (!field) {
            return refuse_unknown(reader, member, fields, path);
        }
        enum status status =
            json_is(member, JSON_NULL) ? STATUS_OK : agent_read_value(reader, member, field, path, base);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return check_required(reader, object, fields, path);
}

/* --- what belongs together --- */

static enum status check_driver(const struct agent_reader *reader, const struct agent *agent)
{
    const struct {
        enum agent_driver driver;
        bool given;
        const char *name;
    } needed[] = {
        {DRIVER_MODEL, slice_present(agent->model.provider), "provider"},
        {DRIVER_MODEL, slice_present(agent->model.model), "model"},
        {DRIVER_MODEL, slice_present(agent->system_prompt), "system_prompt"},
        {DRIVER_ACP, agent->command_length > 0 && agent->command[0].len > 0, "command"},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (needed[i].driver == agent->driver && !needed[i].given) {
            return agent_refuse(reader, reader->source->object, "`%s` is missing; an agent with driver %s needs it.",
                                needed[i].name, agent_driver_enum.names[agent->driver]);
        }
    }
    if (agent->sandbox.kind == SANDBOX_HTTP && !slice_present(agent->sandbox.url)) {
        return agent_refuse(reader, reader->source->object,
                            "`sandbox.url` is missing; a sandbox of kind http needs it.");
    }
    return STATUS_OK;
}

enum status agent_read(struct arena *arena, const struct agent_source *source, struct agent *out,
                       struct failure *failure)
{
    struct agent_reader reader = {arena, source, "invalid_agent", failure};
    struct agent agent;
    agent_set_defaults(&agent);
    enum status status = agent_read_members(&reader, source->object, agent_fields, "", &agent);
    if (status == STATUS_OK) {
        status = check_driver(&reader, &agent);
    }
    if (status != STATUS_OK) {
        return status;
    }
    agent.turns_max = agent.turns_max ? agent.turns_max : AGENT_TURNS_MAX;
    agent.tool_rounds_max = agent.tool_rounds_max ? agent.tool_rounds_max : AGENT_TOOL_ROUNDS_MAX;
    *out = agent;
    return STATUS_OK;
}
