#include "cli/forwarded_options.h"

#include <stdio.h>

#include "wire/url.h"

/* Where a checked value is put before it is passed on. */
union scratch {
    const char *text;
    int64_t number;
    bool is_on;
    int choice;
    struct text_list list;
};

struct passing {
    const struct arguments *arguments;
    struct arena *arena;
    struct failure *failure;
    struct buffer *query; /* one of the two */
    struct json_out *body;
};

/* Lists are gathered from all places where they were given. */
static enum status read_value(const struct passing *passing, const struct option *option, union scratch *out)
{
    memset(out, 0, sizeof *out); /* all of it: an initialiser would clear the first member only */
    char origin[96];
    snprintf(origin, sizeof origin, "--%s", option->name);
    for (size_t i = 0; i < passing->arguments->given_count; i++) {
        const struct argument *given = &passing->arguments->given[i];
        if (given->option != option) {
            continue;
        }
        enum status status = option_set(option, out, given->text, origin, passing->arena, passing->failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static struct slice value_text(const struct option *option, const union scratch *value, struct arena *arena)
{
    if (option->type == OPTION_TEXT) {
        return slice_of(value->text);
    }
    if (option->type == OPTION_NUMBER) {
        return arena_format(arena, "%lld", (long long)value->number);
    }
    return slice_of(option->type == OPTION_CHOICE ? option->choices->names[value->choice]
                    : value->is_on                ? "true"
                                                  : "false");
}

/* --- pairs --- */

static enum status cut_pair(const struct passing *passing, const char *pair, struct slice *key, struct slice *value)
{
    if (slice_cut(slice_of(pair), '=', key, value) && key->len) {
        return STATUS_OK;
    }
    return failure_set(passing->failure, STATUS_INVALID, "bad_option",
                       "--" PASSED_PAIRS ": \"%.80s\" is not accepted; give KEY=VALUE", pair);
}

static enum status pass_pairs(const struct passing *passing, const struct text_list *list)
{
    if (passing->body) {
        json_key(passing->body, PASSED_PAIRS);
        json_begin_object(passing->body);
    }
    for (size_t i = 0; i < list->count; i++) {
        struct slice key, value;
        enum status status = cut_pair(passing, list->items[i], &key, &value);
        if (status != STATUS_OK) {
            return status;
        }
        if (passing->body) {
            json_key_slice(passing->body, key);
            json_text(passing->body, value);
        } else {
            form_add(passing->query, arena_format(passing->arena, PASSED_PAIRS ".%.*s", SLICE_ARG(key)), value);
        }
    }
    if (passing->body) {
        json_end_object(passing->body);
    }
    return STATUS_OK;
}

/* --- words --- */

static void pass_words(const struct passing *passing, const char *key, const struct text_list *list)
{
    json_key(passing->body, key);
    json_begin_array(passing->body);
    for (size_t i = 0; i < list->count; i++) {
        struct slice word, rest = slice_of(list->items[i]);
        for (bool more = true; more;) {
            struct slice tail = {0};
            more = slice_cut(rest, ',', &word, &tail);
            json_text(passing->body, slice_trim(word));
            rest = tail;
        }
    }
    json_end_array(passing->body);
}

/* --- all --- */

static void pass_member(const struct passing *passing, const struct option *option, const union scratch *value)
{
    char key[96];
    option_file_key(option, key, sizeof key);
    if (!passing->body) {
        form_add(passing->query, slice_of(key), value_text(option, value, passing->arena));
    } else if (option->type == OPTION_LIST) {
        pass_words(passing, key, &value->list);
    } else if (option->type == OPTION_NUMBER || option->type == OPTION_SWITCH) {
        json_put_raw(passing->body, key, value_text(option, value, passing->arena));
    } else {
        json_put_text(passing->body, key, value_text(option, value, passing->arena));
    }
}

static bool was_given(const struct arguments *arguments, const struct option *option)
{
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (arguments->given[i].option == option) {
            return true;
        }
    }
    return false;
}

static enum status pass(const struct passing *passing, const struct option *table)
{
    for (const struct option *option = table; option->name; option++) {
        union scratch value;
        if (!was_given(passing->arguments, option)) {
            continue;
        }
        enum status status = read_value(passing, option, &value);
        if (status == STATUS_OK && option->type == OPTION_LIST && strcmp(option->name, PASSED_PAIRS) == 0) {
            status = pass_pairs(passing, &value.list);
        } else if (status == STATUS_OK) {
            pass_member(passing, option, &value);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

enum status forwarded_options_to_query(const struct arguments *arguments, const struct option *table,
                                       struct arena *arena, struct buffer *query, struct failure *failure)
{
    return pass(&(struct passing){arguments, arena, failure, query, NULL}, table);
}

enum status forwarded_options_to_body(const struct arguments *arguments, const struct option *table,
                                      struct arena *arena, struct json_out *out, struct failure *failure)
{
    return pass(&(struct passing){arguments, arena, failure, NULL, out}, table);
}
