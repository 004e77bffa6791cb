#include "cli/chat_context.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, REF_BYTES = 256 };

extern char **environ;

/* The first line that git prints about the directory; false when there is none. */
static bool ask_git(const char *directory, const char *const *question, char out[REF_BYTES])
{
    const char *words[8] = {"git", "-C", directory};
    size_t count = 3, len = 0;
    int pipe_ends[2];
    pid_t child;
    posix_spawn_file_actions_t actions;
    while (*question) {
        words[count++] = *question++;
    }
    if (pipe(pipe_ends) != 0) {
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    bool started = posix_spawnp(&child, "git", &actions, NULL, (char *const *)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    for (ssize_t got = 1; started && got > 0 && len<REF_BYTES - 1; len += got> 0 ? (size_t)got : 0) {
        got = read(pipe_ends[0], out + len, REF_BYTES - 1 - len);
    }
    close(pipe_ends[0]);
    int status = -1;
    if (started) {
        (void)waitpid(child, &status, 0);
    }
    out[len] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return status == 0 && out[0];
}

/* The branch, or the commit when there is no branch. */
static const char *find_git_ref(const char *directory, char out[REF_BYTES])
{
    static const char *const branch[] = {"symbolic-ref", "--quiet", "--short", "HEAD", NULL};
    static const char *const commit[] = {"rev-parse", "--verify", "--quiet", "HEAD", NULL};
    return ask_git(directory, branch, out) || ask_git(directory, commit, out) ? out : NULL;
}

static void put(struct json_out *out, const char *key, const char *text)
{
    if (text && *text && slice_is_utf8(slice_of(text))) {
        json_put_text(out, key, slice_of(text));
    }
}

static enum status put_variables(struct json_out *out, const struct text_list *variables, struct failure *failure)
{
    if (variables->count == 0) {
        return STATUS_OK;
    }
    json_key(out, "variables");
    json_begin_object(out);
    for (size_t i = 0; i < variables->count; i++) {
        struct slice name, value;
        if (!slice_cut(slice_of(variables->items[i]), '=', &name, &value) || name.len == 0) {
            return failure_set(failure, STATUS_INVALID, "bad_variable", "--variable %s is not KEY=VALUE",
                               variables->items[i]);
        }
        json_key_slice(out, name);
        json_text(out, value);
    }
    json_end_object(out);
    return STATUS_OK;
}

enum status chat_context_put(struct json_out *out, const struct chat_context *context, struct failure *failure)
{
    char here[PATH_BYTES], ref[REF_BYTES];
    const char *directory = context->working_dir, *git_ref = context->git_ref, *file = context->active_file;
    if (context->detects) {
        directory = directory ? directory : getcwd(here, sizeof here);
        git_ref = git_ref || !directory ? git_ref : find_git_ref(directory, ref);
        file = file ? file : getenv("SOJOURN_ACTIVE_FILE");
    }
    json_key(out, "context");
    json_begin_object(out);
    put(out, "working_dir", directory);
    put(out, "git_ref", git_ref);
    put(out, "active_file", file);
    enum status status = put_variables(out, &context->variables, failure);
    json_end_object(out);
    return status;
}
