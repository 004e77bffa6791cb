#include "runner/process/git_call.h"

enum { FILTERS_MAX = 64, VARIABLES_MAX = 640 };

/* Settings of a repository that start programs, each with a value that starts none; and what would make git start
 * itself again, where other settings hold. They win over every file. Filters have names of their own: see below. */
static const struct {
    const char *name, *value;
} settings[] = {
    {"safe.directory", "*"},
    {"safe.bareRepository", "explicit"},
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.pager", "cat"},
    {"core.editor", "false"},
    {"core.askPass", "false"},
    {"core.sshCommand", "false"},
    {"core.gitProxy", "false"},
    {"core.alternateRefsCommand", "false"},
    {"core.attributesFile", "/dev/null"},
    {"core.untrackedCache", "false"},
    {"core.preloadIndex", "false"},
    {"index.threads", "1"},
    {"pack.threads", "1"},
    {"sequence.editor", "false"},
    {"interactive.diffFilter", ""},
    {"diff.external", ""},
    {"diff.ignoreSubmodules", "all"},
    {"status.submoduleSummary", "false"},
    {"submodule.recurse", "false"},
    {"fetch.recurseSubmodules", "false"},
    {"gpg.program", "false"},
    {"gpg.openpgp.program", "false"},
    {"gpg.x509.program", "false"},
    {"gpg.ssh.program", "false"},
    {"gpg.ssh.defaultKeyCommand", "false"},
    {"commit.gpgSign", "false"},
    {"tag.gpgSign", "false"},
    {"log.showSignature", "false"},
    {"credential.helper", ""},
    {"uploadpack.packObjectsHook", ""},
    {"gc.auto", "0"},
    {"gc.autoDetach", "false"},
    {"maintenance.auto", "false"},
    {"color.ui", "false"},
    {"protocol.allow", "never"},
};

static const char *const usual[] = {
    "LANG=C.UTF-8",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_ASKPASS=/bin/false",
    "SSH_ASKPASS=/bin/false",
    "GIT_EDITOR=/bin/false",
    "GIT_PAGER=cat",
    "GIT_ATTR_NOSYSTEM=1",
    "GIT_CONFIG_NOSYSTEM=1",
    "GIT_CONFIG_GLOBAL=/dev/null",
    NULL,
};

/* Git starts itself in a submodule without the settings above, so it is not to be found there. */
static const char *const staying[] = {
    "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",        "GIT_SSH_COMMAND=/bin/false",
    "PATH=/nonexistent",       "GIT_EXEC_PATH=/nonexistent", NULL,
};
static const char *const fetching[] = {"GIT_ALLOW_PROTOCOL=https:ssh", NULL};
static const char *const fetching_files[] = {"GIT_ALLOW_PROTOCOL=https:ssh:file", NULL};
static const char *const *const reaches[] = {
    [GIT_STAYS] = staying, [GIT_FETCHES] = fetching, [GIT_FETCHES_FILES] = fetching_files};

/* --- words --- */

void git_call_add(struct git_call *call, const char *word)
{
    if (call->count < GIT_WORDS_MAX) {
        call->words[call->count++] = word;
    }
}

void git_call_add_text(struct git_call *call, struct slice word)
{
    git_call_add(call, arena_copy(call->arena, word).ptr);
}

void git_call_init(struct git_call *call, struct arena *arena, const char *verb)
{
    *call = (struct git_call){.arena = arena};
    git_call_add(call, "/usr/bin/git");
    git_call_add(call, "--no-pager");
    git_call_add(call, "--literal-pathspecs");
    git_call_add(call, verb);
}

void git_call_init_names(struct git_call *call, struct arena *arena)
{
    git_call_init(call, arena, "config");
    git_call_add(call, "--list");
    git_call_add(call, "--null");
    git_call_add(call, "--name-only");
}

/* --- variables --- */

struct variables {
    struct arena *arena;
    const char **at;
    size_t count, settings;
};

static void add_all(struct variables *variables, const char *const *given)
{
    for (; given && *given; given++) {
        variables->at[variables->count++] = *given;
    }
}

static void add_setting(struct variables *variables, const char *name, const char *value)
{
    variables->at[variables->count++] =
        arena_format(variables->arena, "GIT_CONFIG_KEY_%zu=%s", variables->settings, name).ptr;
    variables->at[variables->count++] =
        arena_format(variables->arena, "GIT_CONFIG_VALUE_%zu=%s", variables->settings, value).ptr;
    variables->settings++;
}

/* Attributes, which anybody can write, say which filters run; a filter without commands is none. */
static void add_filter(struct variables *variables, struct slice name)
{
    static const char *const parts[][2] = {{"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        add_setting(variables, arena_format(variables->arena, "%.*s.%s", SLICE_ARG(name), parts[i][0]).ptr,
                    parts[i][1]);
    }
}

/* filter.NAME of filter.NAME.clean: NAME may have dots, too. */
static bool is_filter(struct slice setting, struct slice *out_name)
{
    struct slice prefix = slice_from(setting.ptr, setting.len < 7 ? setting.len : 7);
    size_t len = setting.len;
    while (len > 0 && setting.ptr[len - 1] != '.') {
        len--;
    }
    *out_name = slice_from(setting.ptr, len > 0 ? len - 1 : 0);
    return slice_eq_nocase(prefix, SLICE("filter.")) && out_name->len > prefix.len;
}

static bool add_filters(struct variables *variables, struct slice names)
{
    struct slice name, filter, before = {0};
    size_t count = 0;
    while (names.len > 0 && slice_cut(names, '\0', &name, &names)) {
        if (is_filter(name, &filter) && !slice_eq(filter, before)) {
            if (++count > FILTERS_MAX) {
                return false;
            }
            add_filter(variables, filter);
            before = filter;
        }
    }
    return true;
}

const char *const *git_environment(struct arena *arena, enum git_reach reach, struct slice names,
                                   const char *const *further)
{
    struct variables variables = {.arena = arena, .at = arena_array(arena, VARIABLES_MAX + 1, sizeof(char *))};
    add_all(&variables, usual);
    add_all(&variables, reaches[reach]);
    add_all(&variables, further);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        add_setting(&variables, settings[i].name, settings[i].value);
    }
    if (!add_filters(&variables, names)) {
        return NULL;
    }
    variables.at[variables.count++] = arena_format(arena, "GIT_CONFIG_COUNT=%zu", variables.settings).ptr;
    return variables.at;
}
