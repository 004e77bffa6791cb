#include "cli/listed.h"

#include <stdio.h>

#include "cli/relative_time.h"

static bool is_time(const char *key)
{
    size_t len = strlen(key);
    return len > 3 && strcmp(key + len - 3, "_at") == 0;
}

/* Words are said, things are counted. */
static void add_list(struct table *table, const struct json *list)
{
    char count[16];
    struct buffer words = {0};
    if (list->child && list->child->kind == JSON_OBJECT) {
        snprintf(count, sizeof count, "%u", (unsigned)list->count);
        table_add(table, slice_of(count));
        return;
    }
    for (const struct json *word = list->child; word; word = word->next) {
        buffer_format(&words, "%s%.*s", word == list->child ? "" : ",", SLICE_ARG(word->text));
    }
    table_add(table, buffer_slice(&words));
    buffer_release(&words);
}

static void add_cell(struct table *table, const char *key, const struct json *value, int64_t now_ms)
{
    char moment[RELATIVE_TIME_BYTES];
    if (!value) {
        table_add(table, SLICE(""));
    } else if (value->kind == JSON_ARRAY) {
        add_list(table, value);
    } else if (value->kind == JSON_STRING && is_time(key)) {
        table_add(table, relative_time_of_text(value->text, now_ms, moment));
    } else {
        table_add(table, value->kind == JSON_STRING ? value->text : value->raw);
    }
}

static int print_list(struct remote *remote, const struct json *answer, const struct listed *listed)
{
    struct table table;
    const struct json *list = json_get(answer, listed->member);
    table_init(&table, listed->columns, remote->arena);
    for (const struct json *row = list ? list->child : NULL; row; row = row->next) {
        for (size_t i = 0; i < table.column_count; i++) {
            add_cell(&table, listed->keys[i], json_get_value(row, listed->keys[i]), remote->now_ms);
        }
    }
    int code = remote_print_table(&table, listed->nothing);
    struct slice cursor = json_text_of(answer, "next_cursor");
    if (slice_present(cursor)) {
        fprintf(stderr, "there are more: --limit or --after %.*s show them\n", SLICE_ARG(cursor));
    }
    return code;
}

static int print_lists(struct remote *remote, const struct json *answer, const void *lists)
{
    int code = EXIT_DONE;
    for (const struct listed *listed = lists; listed->member && code == EXIT_DONE; listed++) {
        code = print_list(remote, answer, listed);
    }
    return code;
}

/* The target, or (NULL) what stands at the tail of the command's first word. */
struct listing {
    const char *target, *collection, *tail;
    const struct option *table;
    const struct listed *lists;
};

static int show(const struct invocation *invocation, const struct listing *listing)
{
    struct remote remote;
    struct buffer query = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE && listing->table) {
        code = remote_query(&remote, listing->table, &query);
    }
    if (code == EXIT_DONE) {
        struct slice path = listing->target
                                ? slice_of(listing->target)
                                : remote_path(&remote, listing->collection,
                                              slice_of(invocation->arguments->positionals[0]), listing->tail);
        struct client_request request = {.method = "GET", .target = remote_target(&remote, path, &query)};
        code = remote_show(&remote, &request, print_lists, listing->lists);
    }
    buffer_release(&query);
    remote_close(&remote);
    return code;
}

int listed_show_with(const struct invocation *invocation, const char *target, const struct option *table,
                     const struct listed *lists)
{
    return show(invocation, &(struct listing){.target = target, .table = table, .lists = lists});
}

int listed_show_of(const struct invocation *invocation, const char *collection, const char *tail,
                   const struct option *table, const struct listed *lists)
{
    return show(invocation, &(struct listing){NULL, collection, tail, table, lists});
}

int listed_show(const struct invocation *invocation, const char *target, const struct listed *lists)
{
    return listed_show_with(invocation, target, NULL, lists);
}
