#include "cli/resolve.h"

#include "cli/session_view.h"
#include "wire/url.h"

enum { CANDIDATES_MAX = 10, ROWS_MAX = 1000, WHOLE_ID_CHARS = 36 };

/* What a word of the usage names, and how its candidates are listed; the prefix is appended where the server can use
 * it. */
static const struct id_kind {
    const char *word, *collection;
    const char *list, *member;
    bool filters; /* the server filters by prefix */
} kinds[] = {
    {"SESSION", "sessions", "/api/sessions?archived=all&limit=11&id_prefix=", "sessions", true},
    {"AGENT", "agents", "/api/agents?limit=1000", "agents", false},
    {"TASK", "tasks", "/api/tasks?limit=1000", "tasks", false},
    {"ENTITY", "entities", "/api/entities?limit=1000", "entities", false},
    {"TOKEN-ID", "tokens", "/api/tokens", "tokens", false},
    {"USER-ID", "users", "/api/users", "users", false},
};

static const struct id_kind *find_kind(size_t offset, struct slice name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (slice_is(name, *(const char *const *)((const char *)&kinds[i] + offset))) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* --- candidates --- */

struct candidates {
    const struct json *rows[CANDIDATES_MAX];
    size_t count; /* all there are; perhaps more than `rows` holds */
    bool is_exact;
};

struct list {
    struct slice path;
    const char *member, *key; /* where the rows are, and the id of each */
};

static struct list list_of(struct remote *remote, const struct id_kind *kind, struct slice given)
{
    struct buffer target = {0};
    buffer_add(&target, slice_of(kind->list));
    if (kind->filters) {
        url_encode(&target, given);
    }
    struct list list = {arena_copy(remote->arena, buffer_slice(&target)), kind->member, "id"};
    buffer_release(&target);
    return list;
}

static int find_candidates(struct remote *remote, const struct list *where, struct slice given, struct candidates *out)
{
    const struct json *page;
    int status = 0;
    *out = (struct candidates){0};
    int code = remote_ask(remote, where->path.ptr, &status, &page);
    const struct json *list = code == EXIT_DONE && status == 200 ? json_get(page, where->member) : NULL;
    for (const struct json *row = list ? list->child : NULL; row; row = row->next) {
        struct slice id = json_text_of(row, where->key);
        if (!slice_starts(id, given)) {
            continue;
        }
        out->is_exact = out->is_exact || slice_eq(id, given);
        if (out->count < CANDIDATES_MAX) {
            out->rows[out->count] = row;
        }
        out->count++;
    }
    return code;
}

static struct slice heading_of(const struct json *row)
{
    struct slice heading = session_heading(row), name = json_text_of(row, "name");
    return heading.len ? heading : name.len ? name : json_text_of(row, "email");
}

static int refuse_ambiguous(const struct remote *remote, const struct list *where, struct slice given,
                            const struct candidates *found)
{
    struct buffer text = {0};
    buffer_add(&text, SLICE("sojourn: several "));
    buffer_format(&text, "%s begin with ", where->member);
    text_add_exact_line(&text, given);
    buffer_add(&text, SLICE("; give more of the id:\n"));
    for (size_t i = 0; i < found->count && i < CANDIDATES_MAX; i++) {
        buffer_add(&text, SLICE("  "));
        text_add_plain(&text, json_text_of(found->rows[i], where->key));
        buffer_add(&text, SLICE("  "));
        text_add_plain(&text, slice_utf8_prefix(heading_of(found->rows[i]), 60));
        buffer_add_byte(&text, '\n');
    }
    if (found->count > CANDIDATES_MAX) {
        buffer_add(&text, SLICE("  and more\n"));
    }
    fprintf(remote->errors, "%.*s", SLICE_ARG(buffer_slice(&text)));
    buffer_release(&text);
    return EXIT_USAGE;
}

/* --- one id --- */

static int is_there(struct remote *remote, const struct id_kind *kind, struct slice id, bool *out)
{
    const struct json *ignored;
    int status = 0;
    int code = remote_ask(remote, remote_path(remote, kind->collection, id, "").ptr, &status, &ignored);
    *out = status != 404 && status != 405;
    return code;
}

static int choose(struct remote *remote, const struct list *where, struct slice given, struct slice *out)
{
    struct candidates found;
    int code = find_candidates(remote, where, given, &found);
    if (code != EXIT_DONE || found.count == 0 || found.is_exact) {
        return code;
    }
    if (found.count > 1) {
        return refuse_ambiguous(remote, where, given, &found);
    }
    *out = arena_copy(remote->arena, json_text_of(found.rows[0], where->key));
    remote->was_shortened = true;
    return EXIT_DONE;
}

static bool can_be_short(struct slice given)
{
    return given.len >= SHORT_ID_CHARS_MIN && given.len < WHOLE_ID_CHARS;
}

int resolve_in_list(struct remote *remote, struct slice path, const char *member, const char *key, struct slice given,
                    struct slice *out)
{
    *out = given;
    return can_be_short(given) && terminal_can_ask() ? choose(remote, &(struct list){path, member, key}, given, out)
                                                     : EXIT_DONE;
}

static int resolve(struct remote *remote, const struct id_kind *kind, struct slice given, struct slice *out)
{
    bool exists = false;
    *out = given;
    if (!can_be_short(given)) {
        return EXIT_DONE;
    }
    int code = is_there(remote, kind, given, &exists);
    if (code != EXIT_DONE || exists) {
        return code;
    }
    struct list list = list_of(remote, kind, given);
    return choose(remote, &list, given, out);
}

int resolve_id(struct remote *remote, const char *collection, struct slice given, struct slice *out)
{
    const struct id_kind *kind = find_kind(offsetof(struct id_kind, collection), slice_of(collection));
    *out = given;
    return kind ? resolve(remote, kind, given, out) : EXIT_DONE;
}

/* --- the command's words --- */

/* The word of the usage that stands for a positional; the last one with dots stands for all that follow. A word in
 * brackets names something new, or is the command's own affair. */
static struct slice usage_word(const char *usage, size_t at)
{
    struct slice word = {0}, rest = slice_of(usage);
    for (size_t i = 0; i <= at && rest.len; i++) {
        struct slice next = {0};
        (void)slice_cut(rest, ' ', &word, &next);
        if (word.len > 3 && slice_is(slice_after(word, word.len - 3), "...")) {
            return slice_from(word.ptr, word.len - 3);
        }
        rest = next;
    }
    return word;
}

int resolve_positionals(struct remote *remote)
{
    const struct invocation *invocation = remote->invocation;
    const struct arguments *arguments = invocation->arguments;
    bool may_shorten = invocation->command->reads || terminal_can_ask();
    int code = EXIT_DONE;
    for (size_t i = 0; may_shorten && i < arguments->positional_count && code == EXIT_DONE; i++) {
        struct slice id, word = usage_word(invocation->command->positionals, i);
        const struct id_kind *kind = find_kind(offsetof(struct id_kind, word), word);
        if (kind) {
            code = resolve(remote, kind, slice_of(arguments->positionals[i]), &id);
            arguments->positionals[i] = id.ptr;
        }
    }
    return code;
}
