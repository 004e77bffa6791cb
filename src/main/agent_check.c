#include "main/agent_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "main/agents.h"
#include "runner/model/provider.h"
#include "service/identity/secret.h"

/* --- model: a key for one of its models --- */

/* The variable of the key that a call of the vendor would miss, or NULL. */
static const char *missing_key(const struct options *options, struct slice vendor)
{
    struct provider_options providers = {0};
    provider_options_read_environment(&providers);
    const char *name = provider_key_name(&providers, vendor);
    return name && !secrets_have(options->secrets, name) ? name : NULL;
}

static bool ends_in(struct slice name, struct slice end)
{
    return name.len > end.len && slice_eq(slice_from(name.ptr + name.len - end.len, end.len), end);
}

static bool is_key(struct slice name)
{
    return ends_in(name, SLICE("_KEY")) || ends_in(name, SLICE("_TOKEN"));
}

/* The first of the keys that the agent's program would get, when there is none of them; else absent. */
static struct slice missing_variable(const struct options *options, const struct agent *agent)
{
    struct slice missing = {0};
    for (size_t i = 0; i < agent->pass_environment_count; i++) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", SLICE_ARG(agent->pass_environment[i]));
        if (!is_key(agent->pass_environment[i])) {
            continue;
        }
        if (getenv(name) || secrets_have(options->secrets, name)) {
            return (struct slice){0};
        }
        missing = missing.len > 0 ? missing : agent->pass_environment[i];
    }
    return missing;
}

static bool lacks_passed_key(const struct options *options, const struct agent *agent, char out[AGENT_CHECK_BYTES])
{
    struct slice name = missing_variable(options, agent);
    if (agent->driver != DRIVER_ACP || name.len == 0) {
        return false;
    }
    snprintf(out, AGENT_CHECK_BYTES,
             "%.*s is not set, nor another key of its `pass_environment`. Set it in the server's environment, or store "
             "it: sojourn secrets set %.*s --data %s",
             SLICE_ARG(name), SLICE_ARG(name), options->data);
    return true;
}

static bool lacks_key(const struct options *options, const struct agent *agent, char out[AGENT_CHECK_BYTES])
{
    const char *missing = agent->driver == DRIVER_MODEL ? missing_key(options, agent->model.provider) : NULL;
    for (size_t i = 0; i < agent->fallback_count && missing; i++) {
        if (!missing_key(options, agent->fallbacks[i].provider)) {
            return false;
        }
    }
    if (missing) {
        snprintf(out, AGENT_CHECK_BYTES,
                 "%s is not set. Set it in the server's environment, or store it: sojourn secrets set %s --data %s",
                 missing, missing, options->data);
    }
    return missing != NULL;
}

/* --- acp: its program, where the agent's processes can see it --- */

static bool find_on_path(struct slice program, char out[PATH_MAX])
{
    char candidate[PATH_MAX];
    const char *path = getenv("PATH");
    struct slice rest = slice_of(path ? path : "/usr/local/bin:/usr/bin:/bin"), directory;
    if (memchr(program.ptr, '/', program.len)) {
        snprintf(candidate, sizeof candidate, "%.*s", SLICE_ARG(program));
        return access(candidate, X_OK) == 0 && realpath(candidate, out);
    }
    bool more = true;
    while (more) {
        more = slice_cut(rest, ':', &directory, &rest);
        if (!more) {
            directory = rest;
        }
        snprintf(candidate, sizeof candidate, "%.*s/%.*s", SLICE_ARG(directory), SLICE_ARG(program));
        if (access(candidate, X_OK) == 0 && realpath(candidate, out)) {
            return true;
        }
    }
    return false;
}

static bool is_below(const char *path, const char *directory)
{
    char real[PATH_MAX];
    if (!realpath(directory, real)) {
        return false;
    }
    size_t length = strlen(real);
    return strncmp(path, real, length) == 0 && (path[length] == '/' || path[length] == '\0' || length == 1);
}

static bool is_below_any(const char *path, const struct text_list *directories)
{
    bool found = false;
    for (size_t i = 0; i < directories->count; i++) {
        found = found || is_below(path, directories->items[i]);
    }
    return found;
}

/* Is the file where processes of the agent can see it? */
static bool is_hidden(const struct options *options, const struct agent *agent, struct slice word, char path[PATH_MAX],
                      char out[AGENT_CHECK_BYTES])
{
    if (agent->sandbox.kind != SANDBOX_LOCAL || is_below(path, "/usr") || is_below_any(path, &options->sandbox_show)) {
        return false;
    }
    *strrchr(path, '/') = '\0';
    snprintf(out, AGENT_CHECK_BYTES,
             "The program %.*s is outside of /usr, where sandboxes do not see it. Start the server with "
             "--sandbox-show %.200s (or the directory above it that holds all its files).",
             SLICE_ARG(word), path);
    return true;
}

static bool lacks_program(const struct options *options, const struct agent *agent, char out[AGENT_CHECK_BYTES])
{
    char path[PATH_MAX];
    if (agent->driver != DRIVER_ACP) {
        return false;
    }
    if (!find_on_path(agent->command[0], path)) {
        snprintf(out, AGENT_CHECK_BYTES,
                 "The program %.*s was not found on the server's PATH. Install it, or give its absolute path in "
                 "`command`.",
                 SLICE_ARG(agent->command[0]));
        return true;
    }
    return is_hidden(options, agent, agent->command[0], path, out);
}

/* `node /opt/agents/…/index.js`: the script must be there as well. */
static bool lacks_script(const struct options *options, const struct agent *agent, char out[AGENT_CHECK_BYTES])
{
    char word[PATH_MAX], path[PATH_MAX];
    if (agent->driver != DRIVER_ACP || agent->command_length < 2 || !slice_starts(agent->command[1], SLICE("/"))) {
        return false;
    }
    snprintf(word, sizeof word, "%.*s", SLICE_ARG(agent->command[1]));
    if (!realpath(word, path)) {
        snprintf(out, AGENT_CHECK_BYTES, "%.200s, the first argument of its command, does not exist.", word);
        return true;
    }
    return is_hidden(options, agent, agent->command[1], path, out);
}

/* --- sandbox: the repository it starts with --- */

static bool lacks_repository(const struct options *options, const struct agent *agent, char out[AGENT_CHECK_BYTES])
{
    char path[PATH_MAX], real[PATH_MAX];
    struct slice repository = agent->sandbox.repository;
    if (!agent_has_sandbox(agent) || agent->sandbox.kind != SANDBOX_LOCAL || !slice_starts(repository, SLICE("/"))) {
        return false;
    }
    snprintf(path, sizeof path, "%.*s", SLICE_ARG(repository));
    if (!realpath(path, real)) {
        snprintf(out, AGENT_CHECK_BYTES, "The repository %.200s does not exist.", path);
        return true;
    }
    if (is_below_any(real, &options->sandbox_projects)) {
        return false;
    }
    snprintf(out, AGENT_CHECK_BYTES,
             "The repository %.200s is not below a directory that agents may copy. Start the server with "
             "--sandbox-projects DIR, where DIR is that directory or one above it.",
             path);
    return true;
}

/* --- all of it --- */

bool agent_check_fails(const struct options *options, const struct agent *agent, size_t check,
                       char out[AGENT_CHECK_BYTES])
{
    static bool (*const checks[AGENT_CHECK_COUNT])(const struct options *, const struct agent *, char *) = {
        lacks_key, lacks_passed_key, lacks_program, lacks_script, lacks_repository};
    return checks[check](options, agent, out);
}

static void warn(const struct options *options, const struct agent *agent)
{
    char reason[AGENT_CHECK_BYTES];
    for (size_t i = 0; i < AGENT_CHECK_COUNT; i++) {
        if (agent_check_fails(options, agent, i, reason)) {
            log_warn("agent_cannot_run", LOG_TEXT("agent", agent->id), LOG_TEXT("detail", slice_of(reason)));
        }
    }
}

void agents_warn(const struct options *options)
{
    struct arena arena = {0};
    struct shared_agent *agents;
    struct failure failure;
    size_t count = 0;
    if (agents_load(options, &arena, &agents, &count, &failure) != STATUS_OK) {
        count = 0; /* the caller has reported it */
    }
    for (size_t i = 0; i < count; i++) {
        warn(options, &agents[i].agent);
    }
    arena_release(&arena);
}
