#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "runner/acp/acp_agent.h"

enum { BASE_VARIABLES = 3, GIT_VARIABLES = 6, ACCESS_VARIABLES = 2 };

/* --- where --- */

static enum status own_directory(const char *parent, const struct turn_input *brief, struct buffer *out,
                                 struct failure *failure)
{
    buffer_format(out, "%s/%" PRId64 "-%" PRId64, parent, brief->tenant_key, brief->session_key);
    buffer_add_byte(out, '\0');
    out->len--;
    if ((mkdir(parent, 0700) != 0 && errno != EEXIST) || (mkdir(out->ptr, 0700) != 0 && errno != EEXIST)) {
        return failure_set(failure, STATUS_INTERNAL, "sandbox_error", "The directory %s can't be made: %s.", out->ptr,
                           strerror(errno));
    }
    return STATUS_OK;
}

enum status acp_launch_directory(const struct acp_options *options, const struct turn_input *brief, struct buffer *out,
                                 struct failure *failure)
{
    struct slice root = brief->sandbox ? sandbox_mount(brief->sandbox) : (struct slice){0};
    if (root.len > 0) {
        buffer_add(out, root);
        buffer_add_byte(out, '\0');
        out->len--;
        return STATUS_OK;
    }
    if (brief->sandbox || brief->agent->sandbox.kind != SANDBOX_NONE || !options->directory) {
        return failure_set(failure, STATUS_INVALID, "sandbox_error",
                           "An agent of this kind needs a sandbox on this machine: `sandbox: {kind: local}`.");
    }
    return own_directory(options->directory, brief, out, failure);
}

/* --- what with --- */

/* "NAME=VALUE" in the arena, in place of one of the same name. */
static void set_variable(struct arena *arena, const char **list, struct slice name, struct slice value)
{
    size_t at = 0;
    while (list[at] && !(strncmp(list[at], name.ptr, name.len) == 0 && list[at][name.len] == '=')) {
        at++;
    }
    list[at] = arena_format(arena, "%.*s=%.*s", SLICE_ARG(name), SLICE_ARG(value)).ptr;
}

/* What was granted by name: a variable of the server's own, or a secret it keeps. */
static void pass_variable(const struct acp_options *options, struct arena *arena, const char **list, struct slice name)
{
    const char *text = arena_copy(arena, name).ptr;
    const char *own = getenv(text);
    struct slice value = own ? slice_of(own) : (struct slice){0};
    if (!own && options->secret) {
        value = options->secret(options->secret_owner, text);
    }
    if (slice_present(value)) {
        set_variable(arena, list, name, value);
    }
}

static bool has_variable(const char *const *list, const char *name)
{
    size_t len = strlen(name);
    while (*list && !(strncmp(*list, name, len) == 0 && (*list)[len] == '=')) {
        list++;
    }
    return *list != NULL;
}

/* Tokens that git needs reach it by a helper that reads them from the environment: they are in no file. */
static const struct {
    const char *variable, *host;
} git_tokens[] = {{"GITHUB_TOKEN", "github.com"}, {"GITLAB_TOKEN", "gitlab.com"}};

static void set_git_helpers(struct arena *arena, const char **list)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof git_tokens / sizeof *git_tokens; i++) {
        if (!has_variable(list, git_tokens[i].variable)) {
            continue;
        }
        set_variable(arena, list, arena_format(arena, "GIT_CONFIG_KEY_%zu", count),
                     arena_format(arena, "credential.https://%s.helper", git_tokens[i].host));
        set_variable(arena, list, arena_format(arena, "GIT_CONFIG_VALUE_%zu", count),
                     arena_format(arena,
                                  "!f() { test \"$1\" = get && echo username=x-access-token && "
                                  "echo \"password=$%s\"; }; f",
                                  git_tokens[i].variable));
        count++;
    }
    if (count > 0) {
        set_variable(arena, list, SLICE("GIT_CONFIG_COUNT"), arena_format(arena, "%zu", count));
        set_variable(arena, list, SLICE("GIT_TERMINAL_PROMPT"), SLICE("0"));
    }
}

/* Nothing of the server's own environment goes to the agent but what its definition names. */
static const char **environment_of(const struct acp_options *options, struct arena *arena, const struct agent *agent,
                                   const struct acp_access *access, const char *home)
{
    size_t most =
        BASE_VARIABLES + GIT_VARIABLES + ACCESS_VARIABLES + agent->environment_count + agent->pass_environment_count;
    const char **list = arena_array(arena, most + 1, sizeof *list);
    const char *path = getenv("PATH");
    set_variable(arena, list, SLICE("PATH"), slice_of(path ? path : "/usr/local/bin:/usr/bin:/bin"));
    if (home) {
        set_variable(arena, list, SLICE("HOME"), slice_of(home));
    }
    set_variable(arena, list, SLICE("LANG"), SLICE("C.UTF-8"));
    for (size_t i = 0; i < agent->pass_environment_count; i++) {
        pass_variable(options, arena, list, agent->pass_environment[i]);
    }
    for (size_t i = 0; i < agent->environment_count; i++) {
        set_variable(arena, list, agent->environment[i].name, agent->environment[i].value);
    }
    if (slice_present(access->token)) {
        set_variable(arena, list, SLICE("SOJOURN_GATEWAY_URL"), access->url);
        set_variable(arena, list, SLICE("SOJOURN_GATEWAY_TOKEN"), access->token);
    }
    if (!has_variable(list, "GIT_CONFIG_COUNT")) {
        set_git_helpers(arena, list);
    }
    return list;
}

enum status acp_launch(const struct acp_options *options, const struct turn_input *brief,
                       const struct acp_access *access, const char *directory, const struct process_handler *handler,
                       struct process **out, struct failure *failure)
{
    const struct agent *agent = brief->agent;
    struct arena arena = {0};
    if (agent->command_length == 0) {
        return failure_set(failure, STATUS_INVALID, "validation", "The agent has no `command` to start.");
    }
    const char **argv = arena_array(&arena, agent->command_length + 1, sizeof *argv);
    for (size_t i = 0; i < agent->command_length; i++) {
        argv[i] = arena_copy(&arena, agent->command[i]).ptr;
    }
    struct process_spec spec = {
        .argv = argv,
        .environment = environment_of(options, &arena, agent, access,
                                      brief->sandbox ? NULL : directory), /* a sandbox has its own */
        .directory = brief->sandbox ? NULL : directory,
        .wants_stdin = true,
    };
    enum status status = process_start(brief->loop, brief->sandbox, &spec, handler, out, failure);
    arena_release(&arena);
    return status;
}
