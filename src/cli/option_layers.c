#include "cli/option_layers.h"

#include <stdio.h>

static const char *const origin_names[] = {"default", "file", "environment", "command line"};
const struct enum_names option_origin_enum = {origin_names, ORIGIN_COUNT};

size_t option_table_count(const struct option *table)
{
    size_t count = 0;
    while (table[count].name) {
        count++;
    }
    return count;
}

/* The first value of a layer throws away what the layers below said. */
static void enter_layer(const struct option_target *target, const struct option *option, enum option_origin origin)
{
    if (option->type == OPTION_LIST) {
        *(struct text_list *)((char *)target->values + option->offset) = (struct text_list){0};
    }
    if (target->origins) {
        target->origins[option - target->table] = origin;
    }
}

static enum status set(const struct option_target *target, const struct option *option, struct slice text,
                       const char *origin, struct failure *failure)
{
    return option_set(option, target->values, text, origin, target->arena, failure);
}

/* --- the configuration file --- */

static bool scalar_text(const struct json *value, struct slice *out)
{
    switch (value->kind) {
    case JSON_STRING:
        *out = value->text;
        return true;
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
        *out = value->raw;
        return true;
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        return false;
    }
    return false;
}

static enum status set_from_json(const struct option_target *target, const struct option *option,
                                 const struct json *value, const char *origin, struct failure *failure)
{
    struct slice text;
    if (!scalar_text(value, &text)) {
        return failure_set(failure, STATUS_INVALID, "bad_option", "%s: give a plain value, not %s", origin,
                           json_kind_name(value->kind));
    }
    return set(target, option, text, origin, failure);
}

static enum status read_member(const struct option_target *target, const struct option *option,
                               const struct json *member, const char *origin, struct failure *failure)
{
    if (member->kind == JSON_NULL) {
        return STATUS_OK;
    }
    enter_layer(target, option, ORIGIN_FILE);
    if (option->type != OPTION_LIST || member->kind != JSON_ARRAY) {
        return set_from_json(target, option, member, origin, failure);
    }
    for (const struct json *item = member->child; item; item = item->next) {
        enum status status = set_from_json(target, option, item, origin, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static const struct option *find_by_key(const struct option *table, struct slice key)
{
    for (const struct option *option = table; option->name; option++) {
        if (option_has_key(option, key)) {
            return option;
        }
    }
    return NULL;
}

static enum status refuse_key(const struct option *table, struct slice key, const char *place, struct failure *failure)
{
    const struct option *closest = option_closest(table, key);
    if (!closest) {
        return failure_set(failure, STATUS_INVALID, "unknown_option", "%sunknown option %.*s", place, SLICE_ARG(key));
    }
    char name[96];
    option_file_key(closest, name, sizeof name);
    return failure_set(failure, STATUS_INVALID, "unknown_option", "%sunknown option %.*s; did you mean %s?", place,
                       SLICE_ARG(key), name);
}

enum status options_read_document(const struct option_target *target, const struct option_document *document,
                                  struct failure *failure)
{
    if (!document->root || document->root->kind == JSON_NULL) {
        return STATUS_OK;
    }
    char place[300];
    if (document->root->kind != JSON_OBJECT) {
        document->place(document->owner, document->root, place, sizeof place);
        return failure_set(failure, STATUS_INVALID, "bad_option", "%swrite one \"name: value\" per line", place);
    }
    for (const struct json *member = document->root->child; member; member = member->next) {
        document->place(document->owner, member, place, sizeof place);
        const struct option *option = find_by_key(target->table, member->key);
        if (!option) {
            return refuse_key(target->table, member->key, place, failure);
        }
        char origin[400];
        snprintf(origin, sizeof origin, "%s%.*s", place, SLICE_ARG(member->key));
        enum status status = read_member(target, option, member, origin, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* --- the environment --- */

static struct slice environment_get(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++) {
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=') {
            return slice_of(*environment + len + 1);
        }
    }
    return (struct slice){0};
}

static enum status set_list(const struct option_target *target, const struct option *option, struct slice text,
                            const char *origin, struct failure *failure)
{
    for (bool more = true; more;) {
        struct slice item, rest = {0};
        more = slice_cut(text, ',', &item, &rest);
        enum status status = set(target, option, slice_trim(item), origin, failure);
        if (status != STATUS_OK) {
            return status;
        }
        text = rest;
    }
    return STATUS_OK;
}

enum status options_read_environment(const struct option_target *target, char *const *environment,
                                     struct failure *failure)
{
    for (const struct option *option = target->table; option->name; option++) {
        char name[96];
        option_environment_name(option, name, sizeof name);
        struct slice text = option->type == OPTION_SECTION ? (struct slice){0} : environment_get(environment, name);
        if (text.len == 0 && option->alias) {
            option_environment_alias(option, name, sizeof name);
            text = environment_get(environment, name);
        }
        if (text.len == 0) {
            continue;
        }
        enter_layer(target, option, ORIGIN_ENVIRONMENT);
        enum status status = option->type == OPTION_LIST ? set_list(target, option, text, name, failure)
                                                         : set(target, option, text, name, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* --- the command line --- */

static bool was_given_before(const struct arguments *arguments, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (arguments->given[i].option == arguments->given[index].option) {
            return true;
        }
    }
    return false;
}

static bool is_in_table(const struct option *table, const struct option *option)
{
    return option >= table && option < table + option_table_count(table);
}

enum status options_read_arguments(const struct option_target *target, const struct arguments *arguments,
                                   struct failure *failure)
{
    for (size_t i = 0; i < arguments->given_count; i++) {
        const struct option *option = arguments->given[i].option;
        if (!is_in_table(target->table, option)) {
            continue;
        }
        if (!was_given_before(arguments, i)) {
            enter_layer(target, option, ORIGIN_ARGUMENTS);
        }
        char origin[96];
        snprintf(origin, sizeof origin, "--%s", option->name);
        enum status status = set(target, option, arguments->given[i].text, origin, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}
