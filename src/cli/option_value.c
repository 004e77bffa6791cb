#include "cli/option.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const true_words[] = {"true", "yes", "on", "1"};
static const char *const false_words[] = {"false", "no", "off", "0"};

static void *field_of(const struct option *option, void *values)
{
    return (char *)values + option->offset;
}

static bool switch_parse(struct slice text, bool *out)
{
    bool is_true = enum_names_find((struct enum_names){true_words, 4}, text) >= 0;
    if (!is_true && enum_names_find((struct enum_names){false_words, 4}, text) < 0) {
        return false;
    }
    *out = is_true;
    return true;
}

static void list_add(struct text_list *list, struct slice text, struct arena *arena)
{
    const char **items = arena_array(arena, list->count + 1, sizeof *items);
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
    }
    items[list->count] = arena_copy(arena, text).ptr;
    list->items = items;
    list->count++;
}

static bool value_parse(const struct option *option, void *field, struct slice text, struct arena *arena)
{
    int64_t number;
    int choice;
    switch (option->type) {
    case OPTION_SECTION:
        return false;
    case OPTION_TEXT:
        *(const char **)field = arena_copy(arena, text).ptr;
        return true;
    case OPTION_LIST:
        list_add(field, text, arena);
        return true;
    case OPTION_SWITCH:
        return switch_parse(text, field);
    case OPTION_CHOICE:
        choice = enum_names_find(*option->choices, text);
        if (choice >= 0) {
            *(int *)field = choice + (int)option->min;
        }
        return choice >= 0;
    case OPTION_NUMBER:
        if (!quantity_parse(text, option->unit, &number) || number < option->min || number > option->max) {
            return false;
        }
        *(int64_t *)field = number;
        return true;
    }
    return false;
}

enum status option_set(const struct option *option, void *values, struct slice text, const char *origin,
                       struct arena *arena, struct failure *failure)
{
    if (memchr(text.ptr, '\0', text.len)) {
        return failure_set(failure, STATUS_INVALID, "bad_option", "%s: a value can't contain a zero byte", origin);
    }
    bool empty_text = text.len == 0 && (option->type == OPTION_TEXT || option->type == OPTION_LIST);
    if (!empty_text && value_parse(option, field_of(option, values), text, arena)) {
        return STATUS_OK;
    }
    struct buffer accepted = {0};
    option_show_accepted(option, &accepted);
    enum status status =
        failure_set(failure, STATUS_INVALID, "bad_option", "%s: \"%.*s\" is not accepted; give %.*s", origin,
                    (int)(text.len > 80 ? 80 : text.len), text.ptr, SLICE_ARG(buffer_slice(&accepted)));
    buffer_release(&accepted);
    return status;
}

void options_set_fallbacks(const struct option *table, void *values, struct arena *arena)
{
    for (const struct option *option = table; option->name; option++) {
        struct slice rest = slice_of(option->fallback);
        if (option->type == OPTION_SECTION || !option->fallback) {
            continue;
        }
        struct failure failure;
        if (option_set(option, values, rest, option->name, arena, &failure) != STATUS_OK) {
            fprintf(stderr, "the table of options is wrong: %s\n", failure.detail);
            abort();
        }
    }
}

/* postgres://user:password@host becomes postgres://user:***@host */
static void text_show(const char *text, struct buffer *out)
{
    const char *scheme = strstr(text, "://");
    const char *at = scheme ? strchr(scheme, '@') : NULL;
    const char *colon = scheme ? strchr(scheme + 3, ':') : NULL;
    if (at && colon && colon < at) {
        buffer_format(out, "%.*s:***%s", (int)(colon - text), text, at);
    } else {
        buffer_add(out, slice_of(text));
    }
}

static void list_show(const struct text_list *list, struct buffer *out)
{
    for (size_t i = 0; i < list->count; i++) {
        buffer_format(out, "%s%s", i ? "," : "", list->items[i]);
    }
}

void option_show(const struct option *option, const void *values, struct buffer *out)
{
    const void *field = (const char *)values + option->offset;
    const char *text;
    switch (option->type) {
    case OPTION_SECTION:
        break;
    case OPTION_TEXT:
        text = *(const char *const *)field;
        if (text && option->secret) {
            buffer_add(out, SLICE("***"));
        } else if (text) {
            text_show(text, out);
        }
        break;
    case OPTION_LIST:
        list_show(field, out);
        break;
    case OPTION_SWITCH:
        buffer_add(out, slice_of(*(const bool *)field ? "true" : "false"));
        break;
    case OPTION_CHOICE:
        buffer_add(out, slice_of(option->choices->names[*(const int *)field - (int)option->min]));
        break;
    case OPTION_NUMBER:
        quantity_show(*(const int64_t *)field, option->unit, out);
        break;
    }
}

static void choices_show(struct enum_names choices, struct buffer *out)
{
    for (int i = 0; i < choices.count; i++) {
        const char *between = i == 0 ? "" : i == choices.count - 1 ? " or " : ", ";
        buffer_format(out, "%s%s", between, choices.names[i]);
    }
}

void option_show_accepted(const struct option *option, struct buffer *out)
{
    static const char *const unit_notes[] = {[UNIT_NONE] = "",
                                             [UNIT_MS] = " (milliseconds, or a number with ms, s, m, h or d)",
                                             [UNIT_BYTES] = " (bytes, or a number with KiB, MiB or GiB)"};
    switch (option->type) {
    case OPTION_SECTION:
        break;
    case OPTION_TEXT:
    case OPTION_LIST:
        buffer_format(out, "%s that is not empty", option->value ? option->value : "a text");
        break;
    case OPTION_SWITCH:
        buffer_add(out, SLICE("true or false"));
        break;
    case OPTION_CHOICE:
        choices_show(*option->choices, out);
        break;
    case OPTION_NUMBER:
        quantity_show(option->min, option->unit, out);
        buffer_add(out, SLICE(" to "));
        quantity_show(option->max, option->unit, out);
        buffer_add(out, slice_of(unit_notes[option->unit]));
        break;
    }
}
