#include "runner/process/git_call.h"
#include "runner/tool/tool_call.h"

#include <ctype.h>

enum { PATHS_MAX = 200 };

/* No lock is taken for what only reads. */
static const char *const reading[] = {"GIT_OPTIONAL_LOCKS=0", NULL};

static bool has_zero(struct slice text)
{
    return text.len > 0 && memchr(text.ptr, 0, text.len);
}

static void add_path(struct git_call *line, struct slice path)
{
    if (path.len > 0 && !has_zero(path)) {
        git_call_add(line, "--");
        git_call_add_text(line, path);
    }
}

static const char *const *learn_filters(struct arena *arena, struct slice names, const char *const *further)
{
    return git_environment(arena, GIT_STAYS, names, further);
}

/* Asks the repository for its settings first, then runs `lines`. */
static void *run_lines(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                       struct arena *arena, const struct git_call *lines, size_t count, const char *const *further,
                       const char *when_empty)
{
    struct git_call names;
    struct tool_steps steps = {
        .count = count + 1, .learn = learn_filters, .further = further, .when_empty = when_empty};
    git_call_init_names(&names, arena);
    steps.environment = git_environment(arena, GIT_STAYS, (struct slice){0}, further);
    steps.argv[0] = names.words;
    for (size_t i = 0; i < count; i++) {
        steps.argv[i + 1] = lines[i].words;
    }
    return tool_process_start(place, call, then, &steps);
}

TOOL_RUN(git_status_run)
{
    struct arena arena = {0};
    struct git_call line;
    git_call_init(&line, &arena, "status");
    git_call_add(&line, "--short");
    git_call_add(&line, "--branch");
    git_call_add(&line, "--ignore-submodules=all");
    void *running = run_lines(place, call, then, &arena, &line, 1, reading, "(nothing changed)");
    arena_release(&arena);
    return running;
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
    struct arena arena = {0};
    struct git_call line;
    struct slice revision = json_text_of(call->arguments, "revision");
    bool staged = false;
    if (slice_present(revision) && !is_revision(revision)) {
        tool_refuse(then, TURN_VALIDATION,
                    SLICE("The revision must be a name of commits: letters, digits and . _ / ~ ^ @ -, not first a -."));
        return NULL;
    }
    json_as_bool(json_get_value(call->arguments, "staged"), &staged);
    git_call_init(&line, &arena, "diff");
    git_call_add(&line, "--no-ext-diff");
    git_call_add(&line, "--no-textconv");
    git_call_add(&line, "--ignore-submodules=all");
    if (staged) {
        git_call_add(&line, "--cached");
    }
    if (slice_present(revision)) {
        git_call_add_text(&line, revision);
    }
    add_path(&line, json_text_of(call->arguments, "path"));
    void *running = run_lines(place, call, then, &arena, &line, 1, reading, "(no differences)");
    arena_release(&arena);
    return running;
}

static void add_paths(struct git_call *line, const struct json *paths)
{
    git_call_add(line, "--all");
    git_call_add(line, "--");
    if (!paths || paths->count == 0) {
        git_call_add(line, ".");
    }
    for (const struct json *path = paths ? paths->child : NULL; path; path = path->next) {
        if (path->text.len > 0 && !has_zero(path->text)) {
            git_call_add_text(line, path->text);
        }
    }
}

TOOL_RUN(git_commit_run)
{
    struct arena arena = {0};
    struct git_call lines[2];
    const struct json *paths = json_get_value(call->arguments, "paths");
    struct slice message = json_text_of(call->arguments, "message"), author = place->agent->id;
    const char *const names[] = {
        arena_format(&arena, "GIT_AUTHOR_NAME=%.*s", SLICE_ARG(author)).ptr,
        arena_format(&arena, "GIT_AUTHOR_EMAIL=%.*s@agents.invalid", SLICE_ARG(author)).ptr,
        arena_format(&arena, "GIT_COMMITTER_NAME=%.*s", SLICE_ARG(author)).ptr,
        arena_format(&arena, "GIT_COMMITTER_EMAIL=%.*s@agents.invalid", SLICE_ARG(author)).ptr,
        NULL,
    };
    if (message.len == 0 || has_zero(message) || (paths && paths->count > PATHS_MAX)) {
        tool_refuse(then, TURN_VALIDATION, SLICE("A commit needs a message, and takes at most 200 paths."));
        arena_release(&arena);
        return NULL;
    }
    git_call_init(&lines[0], &arena, "add");
    add_paths(&lines[0], paths);
    git_call_init(&lines[1], &arena, "commit");
    git_call_add(&lines[1], "--message");
    git_call_add_text(&lines[1], message);
    void *running = run_lines(place, call, then, &arena, lines, 2, names, "(committed)");
    arena_release(&arena);
    return running;
}
