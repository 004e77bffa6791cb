#include "domain/call_subject.h"

#include <stdlib.h>

#include "base/json.h"

/* --- JSON --- */

static int by_key(const void *a, const void *b)
{
    const struct json *const *first = a, *const *second = b;
    return slice_cmp((*first)->key, (*second)->key);
}

static void write_json(struct arena *arena, struct json_out *out, const struct json *value, bool is_sorted)
{
    bool is_object = json_is(value, JSON_OBJECT);
    if (json_is(value, JSON_STRING)) {
        json_text(out, value->text);
        return;
    }
    if (!is_object && !json_is(value, JSON_ARRAY)) {
        json_raw(out, value->raw);
        return;
    }
    const struct json **children = arena_array(arena, value->count + 1, sizeof(struct json *));
    size_t count = 0;
    for (const struct json *child = value->child; child; child = child->next) {
        children[count++] = child;
    }
    if (is_object && is_sorted) {
        qsort(children, count, sizeof *children, by_key);
    }
    is_object ? json_begin_object(out) : json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        if (is_object) {
            json_key_slice(out, children[i]->key);
        }
        write_json(arena, out, children[i], is_sorted);
    }
    is_object ? json_end_object(out) : json_end_array(out);
}

static struct slice json_written(struct arena *arena, const struct json *value, bool is_sorted)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    write_json(arena, &out, value, is_sorted);
    struct slice copy = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

struct slice call_json_sorted(struct arena *arena, const struct json *value)
{
    return json_written(arena, value, true);
}

/* --- collecting --- */

enum { GROWTH = 16, BASES_MAX = 8 };

struct collector {
    struct arena *arena;
    const struct call_place *place;
    struct call_subject *out;
    struct slice bases[BASES_MAX]; /* directories in which the call may begin */
    size_t base_count;
    struct slice
        guesses[CALL_PATHS_MAX]; /* texts that were added as possible paths: the forms of a line repeat words */
    size_t guess_count;
    bool in_headers;
    bool may_command; /* a member that no reader knows may be a command */
};

static void *grown(struct arena *arena, const void *items, size_t count, size_t size)
{
    void *larger = arena_array(arena, count + GROWTH, size);
    if (count > 0) {
        memcpy(larger, items, count * size);
    }
    return larger;
}

static void add_path(struct collector *collector, struct slice text, bool is_named)
{
    struct call_subject *out = collector->out;
    struct call_path path;
    if (out->path_count == CALL_PATHS_MAX) {
        out->is_overfull = true;
        return;
    }
    if (!call_path_read(collector->arena, collector->place, text, &path)) {
        out->is_overfull = out->is_overfull || (is_named && text.len > 0); /* its reader may shorten it */
        return;
    }
    path.is_named = is_named;
    if (out->path_count % GROWTH == 0) {
        out->paths = grown(collector->arena, out->paths, out->path_count, sizeof path);
    }
    out->paths[out->path_count++] = path;
}

static void add_host(struct collector *collector, struct slice text, bool is_named)
{
    struct call_subject *out = collector->out;
    struct call_host host;
    if (out->host_count == CALL_HOSTS_MAX) {
        out->is_overfull = true;
        return;
    }
    if (!call_host_read(collector->arena, text, &host)) {
        out->is_overfull = out->is_overfull || (is_named && text.len > 0);
        return;
    }
    host.is_named = host.is_named || is_named;
    for (size_t i = 0; i < out->host_count && !host.is_named; i++) {
        if (slice_eq(out->hosts[i].name, host.name)) {
            return;
        }
    }
    if (out->host_count % GROWTH == 0) {
        out->hosts = grown(collector->arena, out->hosts, out->host_count, sizeof host);
    }
    out->hosts[out->host_count++] = host;
}

static bool is_one_of(struct slice key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_eq_nocase(key, slice_of(names[i]))) {
            return true;
        }
    }
    return false;
}

/* Members that are paths or hosts, whatever they look like; of all agents and tools. */
static bool is_path_key(struct slice key)
{
    static const char *const names[] = {
        "path",    "paths",       "file_path", "filePath",  "file",    "files",         "filename",      "file_name",
        "dir",     "directory",   "dir_path",  "cwd",       "workdir", "folder",        "notebook_path", "old_path",
        "oldPath", "target_file", "new_path",  "workspace", "newPath", "relative_path", "absolute_path", "absolutePath",
        "from",    "to",          "source",    "src",       "dest",    "destination",   "target",        "output",
        "out",     "outfile",     "infile",    "old_name",  "newName", "new_name",      "oldName",       "root",
    };
    return is_one_of(key, names, sizeof names / sizeof *names);
}

/* Members that say where the other paths of the call begin. */
static bool is_directory_key(struct slice key)
{
    static const char *const names[] = {"cwd",  "workdir",     "dir",      "directory",         "dir_path",
                                        "root", "working_dir", "base_dir", "working_directory", "workspace"};
    return is_one_of(key, names, sizeof names / sizeof *names);
}

static bool is_host_key(struct slice key)
{
    static const char *const names[] = {"host",     "hostname", "url",    "urls", "endpoint",
                                        "base_url", "proxy",    "server", "uri",  "domain"};
    return is_one_of(key, names, sizeof names / sizeof *names);
}

/* What is written, searched for or said: never a place, whatever it looks like. */
static bool is_prose_key(struct slice key)
{
    static const char *const names[] = {
        "content", "contents", "text",    "old",         "new",        "old_text",   "new_text",
        "oldText", "newText",  "old_str", "new_str",     "old_string", "new_string", "message",
        "prompt",  "question", "body",    "description", "query",      "regex",      "reason",
    };
    return is_one_of(key, names, sizeof names / sizeof *names);
}

static bool is_command_key(struct slice key)
{
    static const char *const names[] = {"command", "cmd", "script"};
    return is_one_of(key, names, sizeof names / sizeof *names);
}

/* By these names commands go where they are not read: in another case, in another member, deeper inside. */
static bool is_hidden_command(struct slice key, const struct json *value)
{
    static const char *const names[] = {"command",      "cmd",         "script",       "commands",
                                        "command_line", "commandLine", "cmdline",      "shell_command",
                                        "argv",         "bash",        "shell_script", "commandString"};
    bool is_text = json_is(value, JSON_STRING) ? value->text.len > 0 : json_is(value, JSON_ARRAY) && value->child;
    return is_text && is_one_of(key, names, sizeof names / sizeof *names);
}

static bool is_pattern_key(struct slice key)
{
    static const char *const names[] = {"pattern", "glob", "include", "exclude"};
    return is_one_of(key, names, sizeof names / sizeof *names);
}

static bool looks_like_path(struct slice text)
{
    static const char *const begins[] = {"/", "./", "../", "~/"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (slice_starts(text, slice_of(begins[i]))) {
            return true;
        }
    }
    return false;
}

/* The files that a patch says it changes, of a line of it. */
static struct slice patched_file(struct slice line)
{
    static const char *const begins[] = {
        "*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:", "rename from ",
        "rename to ",       "copy from ",    "copy to ",         "--- ",         "+++ "};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (slice_starts(line, slice_of(begins[i]))) {
            struct slice name, rest;
            slice_cut(slice_trim(slice_after(line, strlen(begins[i]))), '\t', &name, &rest);
            bool has_side = slice_starts(name, SLICE("a/")) || slice_starts(name, SLICE("b/"));
            return has_side && begins[i][1] == begins[i][0] && begins[i][0] != '*' ? slice_after(name, 2) : name;
        }
    }
    return (struct slice){0};
}

static void collect_patch(struct collector *collector, struct slice text)
{
    struct slice line, left = text;
    while (left.len > 0) {
        slice_cut(left, '\n', &line, &left);
        struct slice name = patched_file(line);
        if (name.len > 0 && !slice_is(name, "/dev/null")) {
            add_path(collector, name, true);
        }
    }
}

static void add_guess(struct collector *collector, struct slice text)
{
    for (size_t i = 0; i < collector->guess_count; i++) {
        if (slice_eq(collector->guesses[i], text)) {
            return;
        }
    }
    if (collector->guess_count < CALL_PATHS_MAX) {
        collector->guesses[collector->guess_count++] = text;
    }
    add_path(collector, text, false);
}

/* As it is written, and below each directory that the call says it begins in. */
static void add_possible_path(struct collector *collector, struct slice text)
{
    add_guess(collector, text);
    for (size_t i = 0; i < collector->base_count && text.len > 0 && text.ptr[0] != '/'; i++) {
        struct slice base = collector->bases[i];
        add_guess(collector, arena_format(collector->arena, "%.*s/%.*s", SLICE_ARG(base), SLICE_ARG(text)));
    }
}

static void add_base(struct collector *collector, struct slice directory)
{
    if (directory.len == 0 || directory.len > CALL_PATH_BYTES_MAX) {
        return;
    }
    if (collector->base_count == BASES_MAX) {
        collector->out->is_overfull = true;
        return;
    }
    bool is_below = directory.ptr[0] != '/' && collector->base_count > 0;
    struct slice last = is_below ? collector->bases[collector->base_count - 1] : (struct slice){0};
    collector->bases[collector->base_count++] =
        is_below ? arena_format(collector->arena, "%.*s/%.*s", SLICE_ARG(last), SLICE_ARG(directory)) : directory;
}

static void collect_text(struct collector *collector, struct slice key, struct slice text)
{
    bool is_file = call_path_is_url(text), has_slash = memchr(text.ptr, '/', text.len);
    if (is_prose_key(key)) {
        return;
    }
    if (memchr(text.ptr, '\n', text.len)) {
        collect_patch(collector, text);
    }
    text = slice_trim(text).len > 0 ? slice_trim(text) : text;
    bool is_word = !memchr(text.ptr, ' ', text.len) && !is_pattern_key(key);
    if (!is_command_key(key) && (has_slash || is_word)) {
        add_possible_path(collector, text);
    }
    if (is_command_key(key)) {
        add_path(collector, text, false);
    } else if (call_host_is_url(text) && !is_file) {
        add_host(collector, text, true);
    } else if (is_host_key(key)) {
        add_host(collector, text, true);
    } else if (is_file || is_path_key(key) || looks_like_path(text)) {
        add_path(collector, text, true);
    } else if (has_slash && is_word && !collector->in_headers) {
        add_path(collector, text, true); /* a member nobody knows: what it names is more than nothing */
    }
}

/* Of a list, each element under the list's own key. */
static void collect(struct collector *collector, struct slice key, const struct json *value)
{
    if (json_is(value, JSON_STRING)) {
        collect_text(collector, key, value->text);
        return;
    }
    bool is_object = json_is(value, JSON_OBJECT), was_in_headers = collector->in_headers;
    collector->in_headers = was_in_headers || slice_is(key, "headers");
    for (const struct json *child = value->child; child; child = child->next) {
        if (is_object && memchr(child->key.ptr, '/', child->key.len)) {
            add_path(collector, child->key, true); /* {"files": {"a/b": "text"}} */
        }
        collector->may_command = collector->may_command || (is_object && is_hidden_command(child->key, child));
        collect(collector, is_object ? child->key : key, child);
    }
    collector->in_headers = was_in_headers;
}

static void collect_bases(struct collector *collector, const struct json *arguments)
{
    for (const struct json *child = arguments->child; child; child = child->next) {
        if (json_is(arguments, JSON_OBJECT) && is_directory_key(child->key) && json_is(child, JSON_STRING)) {
            add_base(collector, child->text);
        }
    }
}

/* --- commands --- */

static void add_place(struct collector *collector, struct slice text)
{
    if (text.len > 0) {
        add_possible_path(collector, text);
        add_host(collector, text, false);
    }
}

/* A word, and what stands behind a mark in it: --file=a, -Ca, f=@a, host:a. */
static void collect_word(struct collector *collector, struct slice word)
{
    bool is_option = word.len > 1 && word.ptr[0] == '-';
    if (!is_option) {
        add_place(collector, word);
    } else if (word.ptr[1] != '-') {
        add_place(collector, slice_after(word, 2));
    }
    for (size_t i = 0; i < word.len && !collector->out->is_overfull; i++) {
        if (strchr("=:@", word.ptr[i])) {
            add_place(collector, slice_after(word, i + 1));
        }
    }
}

static bool moves(struct slice word)
{
    static const char *const names[] = {"cd", "pushd", "chdir", "-C", "--directory", "--chdir", "-D", "--cwd"};
    return is_one_of(word, names, sizeof names / sizeof *names);
}

/* The words of a line, whatever the shell makes of them, as paths and hosts it may reach. */
static void collect_line(struct collector *collector, struct slice line)
{
    static const char marks[] = " \t\n<>|&;()'\"`{},";
    bool is_move = false;
    for (size_t begin = 0, at = 0; at <= line.len; at++) {
        if (at < line.len && (line.ptr[at] == 0 || !strchr(marks, line.ptr[at]))) {
            continue;
        }
        struct slice word = slice_from(line.ptr + begin, at - begin);
        begin = at + 1;
        if (word.len > 0 && word.ptr[0] != 0) {
            collect_word(collector, word);
            if (is_move && word.ptr[0] != '-') {
                add_base(collector, word);
            }
            is_move = moves(word) || (is_move && word.ptr[0] == '-');
        }
    }
}

static struct slice line_of(struct arena *arena, const struct json *value)
{
    struct buffer text = {0};
    for (const struct json *word = value->child; word; word = word->next) {
        buffer_add(&text, text.len > 0 ? SLICE(" ") : SLICE(""));
        buffer_add(&text, json_is(word, JSON_STRING) ? word->text : SLICE(""));
    }
    struct slice line = json_is(value, JSON_STRING) ? value->text : arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return line;
}

static void read_command(struct collector *collector)
{
    static const char *const names[] = {"command", "cmd", "script"};
    struct call_subject *out = collector->out;
    size_t count = 0;
    out->has_command = out->arguments && command_read_call(collector->arena, out->arguments, &out->command);
    for (size_t i = 0; out->has_command && i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get_value(out->arguments, names[i]);
        if (json_is(value, JSON_STRING) || json_is(value, JSON_ARRAY)) {
            struct slice line = line_of(collector->arena, value);
            collect_line(collector, line);
            out->line = json_is(value, JSON_STRING) ? line : out->line;
            count++;
        }
    }
    out->line = count == 1 ? out->line : (struct slice){0};
    for (size_t i = 0, bases = collector->base_count; out->has_command && i < out->command.count; i++) {
        collect_line(collector, out->command.forms[i].text);
        collector->base_count = bases;
    }
}

/* --- all of it --- */

static void read_arguments(struct arena *arena, const struct call_facts *facts, struct call_subject *out)
{
    bool is_json =
        slice_present(facts->arguments) && json_parse(arena, facts->arguments, &out->arguments, NULL) == STATUS_OK;
    out->is_seen = is_json && !facts->is_cut;
    out->arguments = is_json ? out->arguments : NULL;
    out->compact = is_json ? json_written(arena, out->arguments, false) : facts->arguments;
    out->sorted = is_json ? json_written(arena, out->arguments, true) : facts->arguments;
}

static void read_names(const struct call_facts *facts, struct call_subject *out)
{
    out->tool = facts->tool.len > 0 ? facts->tool : (struct slice){0};
    out->needs_name = facts->needs_name;
    out->shows_more = facts->shows_more;
    if (slice_present(out->tool)) {
        out->names[out->name_count++] = out->tool;
    }
    for (size_t i = 0; i < facts->word_count; i++) {
        if (facts->words[i].len > 0) {
            out->names[out->name_count++] = facts->words[i];
        }
    }
}

void call_subject_read(struct arena *arena, const struct call_facts *facts, struct call_subject *out)
{
    *out = (struct call_subject){.is_overfull = facts->is_uncertain};
    struct collector *collector = arena_alloc(arena, sizeof *collector);
    *collector = (struct collector){.arena = arena, .place = &facts->place, .out = out};
    read_names(facts, out);
    read_arguments(arena, facts, out);
    for (size_t i = 0; i < facts->path_count; i++) {
        add_path(collector, facts->paths[i], true);
    }
    if (out->arguments) {
        collect_bases(collector, out->arguments);
        collect(collector, (struct slice){0}, out->arguments);
    }
    read_command(collector);
    out->is_command_seen = out->has_command || (out->is_seen && !facts->runs_command && !collector->may_command);
}
