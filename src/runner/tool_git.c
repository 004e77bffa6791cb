#include "runner/tool_call.h"

#include <ctype.h>

enum { WORDS_MAX = 256, PATHS_MAX = 200 };

/* What a repository says must not start programs: neither hooks nor drivers of diffs, nor the settings of the machine.
 */
static const char *const quiet[] = {
    "git",
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "safe.directory=*",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "color.ui=false",
};

static const char *const reading_environment[] = {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
                                                  "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", NULL};

struct words_of_git {
    const char *words[WORDS_MAX + 1];
    size_t count;
};

static void add(struct words_of_git *line, const char *word)
{
    if (line->count < WORDS_MAX) {
        line->words[line->count++] = word;
    }
}

static void begin(struct words_of_git *line, const char *verb)
{
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++) {
        add(line, quiet[i]);
    }
    add(line, verb);
}

static bool has_zero(struct slice text)
{
    return text.len > 0 && memchr(text.ptr, 0, text.len);
}

static void add_path(struct words_of_git *line, struct arena *arena, struct slice path)
{
    if (path.len > 0 && !has_zero(path)) {
        add(line, "--");
        add(line, arena_copy(arena, path).ptr);
    }
}

static void *run_one(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                     const struct words_of_git *line, const char *when_empty)
{
    const struct tool_steps steps = {
        .argv = {line->words}, .count = 1, .environment = reading_environment, .when_empty = when_empty};
    return tool_process_start(place, call, then, &steps);
}

TOOL_RUN(git_status_run)
{
    struct words_of_git line = {.count = 0};
    begin(&line, "status");
    add(&line, "--short");
    add(&line, "--branch");
    return run_one(place, call, then, &line, "(nothing changed)");
}

/* A name of commits, never an option. */
static bool is_revision(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!isalnum((unsigned char)text.ptr[i]) && !strchr("._/~^@-", text.ptr[i])) {
            return false;
        }
    }
    return text.len > 0 && text.ptr[0] != '-' && !has_zero(text);
}

TOOL_RUN(git_diff_run)
{
    struct words_of_git line = {.count = 0};
    struct arena arena = {0};
    struct slice revision = json_text_of(call->arguments, "revision");
    bool staged = false;
    if (slice_present(revision) && !is_revision(revision)) {
        tool_refuse(then, TURN_VALIDATION,
                    SLICE("The revision must be a name of commits: letters, digits and . _ / ~ ^ @ -, not first a -."));
        return NULL;
    }
    json_as_bool(json_get_value(call->arguments, "staged"), &staged);
    begin(&line, "diff");
    add(&line, "--no-ext-diff");
    add(&line, "--no-textconv");
    if (staged) {
        add(&line, "--cached");
    }
    if (slice_present(revision)) {
        add(&line, arena_copy(&arena, revision).ptr);
    }
    add_path(&line, &arena, json_text_of(call->arguments, "path"));
    void *running = run_one(place, call, then, &line, "(no differences)");
    arena_release(&arena);
    return running;
}

static void add_paths(struct words_of_git *line, struct arena *arena, const struct json *paths)
{
    add(line, "--all");
    add(line, "--");
    if (!paths || paths->count == 0) {
        add(line, ".");
    }
    for (const struct json *path = paths ? paths->child : NULL; path; path = path->next) {
        if (path->text.len > 0 && !has_zero(path->text)) {
            add(line, arena_copy(arena, path->text).ptr);
        }
    }
}

TOOL_RUN(git_commit_run)
{
    struct arena arena = {0};
    struct words_of_git stage = {.count = 0}, commit = {.count = 0};
    const struct json *paths = json_get_value(call->arguments, "paths");
    struct slice message = json_text_of(call->arguments, "message"), author = place->agent->id;
    const char *const environment[] = {
        "GIT_TERMINAL_PROMPT=0",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_CONFIG_GLOBAL=/dev/null",
        arena_format(&arena, "GIT_AUTHOR_NAME=%.*s", SLICE_ARG(author)).ptr,
        arena_format(&arena, "GIT_AUTHOR_EMAIL=%.*s@agents.invalid", SLICE_ARG(author)).ptr,
        arena_format(&arena, "GIT_COMMITTER_NAME=%.*s", SLICE_ARG(author)).ptr,
        arena_format(&arena, "GIT_COMMITTER_EMAIL=%.*s@agents.invalid", SLICE_ARG(author)).ptr,
        NULL};
    const struct tool_steps steps = {
        .argv = {stage.words, commit.words}, .count = 2, .environment = environment, .when_empty = "(committed)"};
    if (message.len == 0 || has_zero(message) || (paths && paths->count > PATHS_MAX)) {
        tool_refuse(then, TURN_VALIDATION, SLICE("A commit needs a message, and takes at most 200 paths."));
        arena_release(&arena);
        return NULL;
    }
    begin(&stage, "add");
    add_paths(&stage, &arena, paths);
    begin(&commit, "commit");
    add(&commit, "--message");
    add(&commit, arena_copy(&arena, message).ptr);
    void *running = tool_process_start(place, call, then, &steps);
    arena_release(&arena);
    return running;
}
