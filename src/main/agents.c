#include "main/agents.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "main/read_file.h"
#include "runner/tool/agent_names.h"
#include "wire/yaml.h"
#include "service/identity/secret.h"

enum { AGENT_FILES_MAX = 1000, BUILT_IN_MAX = 2 };

#define AGENT_SUFFIX ".agent.yaml"

/* --- one file --- */

static unsigned line_in_file(const void *owner, const struct json *value)
{
    return yaml_line(owner, value);
}

static enum status read_agent_file(const char *path, struct arena *arena, struct shared_agent *out,
                                   struct failure *failure)
{
    struct buffer bytes = {0};
    struct failure reason;
    struct yaml yaml;
    enum status status = read_file(path, YAML_BYTES_MAX, &bytes, failure);
    struct slice text = arena_copy(arena, buffer_slice(&bytes));
    buffer_release(&bytes);
    if (status == STATUS_OK && yaml_parse(arena, text, &yaml, &reason) != STATUS_OK) {
        status = failure_set(failure, STATUS_INVALID, "invalid_agent", "%s: %s", path, reason.detail);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct agent_source source = {.object = yaml.root, .file = path, .line_of = line_in_file, .owner = &yaml};
    out->source = AGENT_OF_FILE;
    status = agent_read(arena, &source, &out->agent, failure);
    if (status == STATUS_OK && agent_check_names(&out->agent, &reason) != STATUS_OK) {
        status = failure_set(failure, reason.status, reason.code, "%s: %s", path, reason.detail);
    }
    return status;
}

/* --- the folder --- */

static int is_agent_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), tail = sizeof AGENT_SUFFIX - 1;
    return length > tail && entry->d_name[0] != '.' && strcmp(entry->d_name + length - tail, AGENT_SUFFIX) == 0;
}

/* The folder that is meant, or NULL for none: one that was not named may be missing. */
static const char *folder_of(const struct options *options, struct arena *arena)
{
    struct stat is;
    if (options->agents) {
        return options->agents;
    }
    const char *usual = arena_format(arena, "%s/agents", options->data).ptr;
    return stat(usual, &is) == 0 && S_ISDIR(is.st_mode) ? usual : NULL;
}

static enum status check_new(const struct shared_agent *agents, size_t count, const char *path, struct failure *failure)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_eq(agents[i].agent.id, agents[count].agent.id)) {
            return failure_set(failure, STATUS_INVALID, "invalid_agent",
                               "%s: another file defines an agent with the id %.*s; every id stands in one file.", path,
                               SLICE_ARG(agents[i].agent.id));
        }
    }
    return STATUS_OK;
}

static enum status read_folder(const char *folder, struct arena *arena, struct shared_agent *agents, size_t *count,
                               struct failure *failure)
{
    struct dirent **entries = NULL;
    enum status status = STATUS_OK;
    int found = scandir(folder, &entries, is_agent_file, alphasort);
    if (found < 0) {
        return failure_set(failure, STATUS_INVALID, "bad_agents_folder", "The folder of agents %s can't be read: %s.",
                           folder, strerror(errno));
    }
    if (found > AGENT_FILES_MAX) {
        status = failure_set(failure, STATUS_INVALID, "too_many_agents", "%s has %d agents of at most %d.", folder,
                             found, AGENT_FILES_MAX);
    }
    for (int i = 0; i < found; i++) {
        const char *path = arena_format(arena, "%s/%s", folder, entries[i]->d_name).ptr;
        if (status == STATUS_OK) {
            status = read_agent_file(path, arena, &agents[*count], failure);
        }
        if (status == STATUS_OK) {
            status = check_new(agents, *count, path, failure);
            *count += status == STATUS_OK;
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* --- what is built in --- */

static void write_demo(struct buffer *text)
{
    buffer_add(text, SLICE("{\"id\":\"demo\",\"name\":\"Demo\",\"driver\":\"demo\",\"sandbox\":{\"kind\":\"none\"},"
                           "\"resume\":\"retry\","
                           "\"description\":\"A script without any model; it shows what an agent can do.\"}"));
}

static const char *const assistant_tools[] = {
    "read_file", "list_directory", "search_files", "git_status", "git_diff",    "session_status",
    "set_title", "ask_user",       "write_file",   "edit_file",  "run_command",
};
static const char *const assistant_asks[] = {"write_file", "edit_file", "run_command"};

#define ASSISTANT_PROMPT                                                                                               \
    "You are a careful assistant that works in a sandbox. Look before you change anything, say briefly what you did, " \
    "and ask when something is unclear."

static void write_choice(struct json_out *out, const char *provider, const char *model)
{
    json_put_text(out, "provider", slice_of(provider));
    json_put_text(out, "model", slice_of(model));
}

static void write_rights(struct json_out *out)
{
    json_key(out, "tools");
    json_begin_array(out);
    for (size_t i = 0; i < sizeof assistant_tools / sizeof assistant_tools[0]; i++) {
        json_text(out, slice_of(assistant_tools[i]));
    }
    json_end_array(out);
    json_key(out, "permissions");
    json_begin_array(out);
    for (size_t i = 0; i < sizeof assistant_asks / sizeof assistant_asks[0]; i++) {
        json_begin_object(out);
        json_put_text(out, "tool", slice_of(assistant_asks[i]));
        json_put_text(out, "then", SLICE("ask"));
        json_end_object(out);
    }
    json_end_array(out);
    json_put_raw(out, "commands", SLICE("[\"*\"]"));
}

/* The provider whose key is there runs it; with both keys the second one helps out. */
static void write_assistant(const struct options *options, bool anthropic, bool openai, struct buffer *text)
{
    struct json_out out = json_out_to(text);
    json_begin_object(&out);
    json_put_text(&out, "id", SLICE("assistant"));
    json_put_text(&out, "name", SLICE("Assistant"));
    json_put_text(&out, "driver", SLICE("model"));
    write_choice(&out, anthropic ? "anthropic" : "openai",
                 anthropic ? options->default_anthropic_model : options->default_openai_model);
    if (anthropic && openai) {
        json_key(&out, "fallback_chain");
        json_begin_array(&out);
        json_begin_object(&out);
        write_choice(&out, "openai", options->default_openai_model);
        json_end_object(&out);
        json_end_array(&out);
    }
    json_put_text(&out, "system_prompt", SLICE(ASSISTANT_PROMPT));
    write_rights(&out);
    json_end_object(&out);
}

static bool is_defined(const struct shared_agent *agents, size_t count, struct slice id)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_eq(agents[i].agent.id, id)) {
            return true;
        }
    }
    return false;
}

static enum status add_built_in(struct buffer *text, struct arena *arena, struct shared_agent *agents, size_t *count,
                                struct failure *failure)
{
    struct agent_source source = {.file = "a built-in agent"};
    struct shared_agent shared = {.source = AGENT_BUILT_IN};
    enum status status = json_parse(arena, arena_copy(arena, buffer_slice(text)), &source.object, failure);
    if (status == STATUS_OK) {
        status = agent_read(arena, &source, &shared.agent, failure);
    }
    if (status == STATUS_OK && !is_defined(agents, *count, shared.agent.id)) {
        agents[(*count)++] = shared;
    }
    buffer_release(text);
    return status;
}

static enum status add_built_ins(const struct options *options, struct arena *arena, struct shared_agent *agents,
                                 size_t *count, struct failure *failure)
{
    struct buffer text = {0};
    bool anthropic = secrets_have(options->secrets, "ANTHROPIC_API_KEY");
    bool openai = secrets_have(options->secrets, "OPENAI_API_KEY");
    enum status status = STATUS_OK;
    if (options->demo_agent) {
        write_demo(&text);
        status = add_built_in(&text, arena, agents, count, failure);
    }
    if (status == STATUS_OK && (anthropic || openai)) {
        write_assistant(options, anthropic, openai, &text);
        status = add_built_in(&text, arena, agents, count, failure);
    }
    return status;
}

enum status agents_load(const struct options *options, struct arena *arena, struct shared_agent **out,
                        size_t *out_count, struct failure *failure)
{
    struct shared_agent *agents = arena_array(arena, AGENT_FILES_MAX + BUILT_IN_MAX, sizeof *agents);
    const char *folder = folder_of(options, arena);
    size_t count = 0;
    enum status status = folder ? read_folder(folder, arena, agents, &count, failure) : STATUS_OK;
    if (status == STATUS_OK) {
        status = add_built_ins(options, arena, agents, &count, failure);
    }
    if (status == STATUS_OK) {
        *out = agents;
        *out_count = count;
    }
    return status;
}

enum status agents_share(const struct options *options, struct call *call)
{
    struct shared_agent *agents;
    size_t count = 0;
    enum status status = agents_load(options, call->arena, &agents, &count, &call->failure);
    return status == STATUS_OK ? agent_share(call, agents, count) : status;
}
