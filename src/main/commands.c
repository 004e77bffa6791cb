#include "main/commands.h"

#include <sodium.h>
#include <stdio.h>

#include "cli/client_commands.h"
#include "main/agent_check.h"
#include "main/agents.h"
#include "main/maintenance.h"
#include "main/environment.h"
#include "main/options.h"
#include "main/secrets.h"
#include "main/serve.h"
#include "net/tls.h"
#include "service/identity/secret.h"
#include "store/seal/secret_file.h"

static int print_and_release(struct buffer *text)
{
    bool written = fwrite(text->ptr, 1, text->len, stdout) == text->len && fflush(stdout) == 0;
    buffer_release(text);
    return written ? EXIT_DONE : EXIT_REFUSED;
}

static int command_serve(const struct invocation *invocation)
{
    struct options options;
    struct failure failure;
    if (options_load(invocation, &options, NULL, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    return serve(&options, invocation->environment);
}

/* Whether the files are there, fit together and can be used. */
static enum status check_tls(const struct options *options, struct failure *failure)
{
    struct tls_context *context;
    if (!options->tls_cert) {
        return STATUS_OK;
    }
    enum status status = tls_context_new(options->tls_cert, options->tls_key, &context, failure);
    if (status == STATUS_OK) {
        tls_context_free(context);
    }
    return status;
}

/* One line per option: name, value, where it came from. */
static void write_options(const struct options *options, const enum option_origin *origins, struct buffer *text)
{
    size_t rows = option_table_count(server_options);
    for (size_t i = 0; i < rows; i++) {
        const struct option *option = &server_options[i];
        if (option->type == OPTION_SECTION) {
            buffer_format(text, "# %s\n", option->name);
            continue;
        }
        struct buffer value = {0};
        option_show(option, options, &value);
        buffer_format(text, "%-27s %-28.*s %s\n", option->name, SLICE_ARG(buffer_slice(&value)),
                      option_origin_enum.names[origins[i]]);
        buffer_release(&value);
    }
}

static void write_agents(const struct options *options, const struct shared_agent *agents, size_t count,
                         struct buffer *text)
{
    char reason[AGENT_CHECK_BYTES];
    buffer_add(text, SLICE("# Agents of all tenants\n"));
    for (size_t i = 0; i < count; i++) {
        const struct agent *agent = &agents[i].agent;
        buffer_format(text, "%-27.*s %-28s %s\n", SLICE_ARG(agent->id), agent_driver_enum.names[agent->driver],
                      agent_origin_enum.names[agents[i].source]);
        for (size_t check = 0; check < AGENT_CHECK_COUNT; check++) {
            if (agent_check_fails(options, agent, check, reason)) {
                buffer_format(text, "  cannot run: %s\n", reason);
            }
        }
    }
}

static enum status check_all(const struct invocation *invocation, struct options *options, struct buffer *text,
                             struct failure *failure)
{
    enum option_origin *origins = arena_array(invocation->arena, option_table_count(server_options), sizeof *origins);
    struct secret_place place;
    struct shared_agent *agents;
    size_t count = 0;
    enum status status = options_load(invocation, options, origins, failure);
    if (status == STATUS_OK) {
        status = environment_check(invocation->environment, failure);
    }
    if (status == STATUS_OK) {
        status = check_tls(options, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (sodium_init() < 0) {
        return failure_set(failure, STATUS_INTERNAL, "no_random_source", "The random source cannot be opened.");
    }
    place = (struct secret_place){options->data, options->secret_key};
    status = secrets_open(&place, &options->secrets, failure);
    if (status == STATUS_OK) {
        status = agents_load(options, invocation->arena, &agents, &count, failure);
    }
    if (status == STATUS_OK) {
        write_options(options, origins, text);
        write_agents(options, agents, count, text);
    }
    secrets_close(options->secrets);
    return status;
}

static int command_check_config(const struct invocation *invocation)
{
    struct options options = {0};
    struct buffer text = {0};
    struct failure failure;
    if (check_all(invocation, &options, &text, &failure) != STATUS_OK) {
        buffer_release(&text);
        return command_refuse(invocation->command, &failure);
    }
    return print_and_release(&text);
}

static int command_version(const struct invocation *invocation)
{
    (void)invocation;
    puts("sojourn " SOJOURN_VERSION);
    return EXIT_DONE;
}

static int command_man(const struct invocation *invocation)
{
    struct buffer text = {0};
    manual_write(invocation->commands, &text);
    return print_and_release(&text);
}

static int command_completion(const struct invocation *invocation)
{
    struct buffer text = {0};
    struct failure failure;
    const char *shell = invocation->arguments->positionals[0];
    if (!completion_write(invocation->commands, slice_of(shell), &text)) {
        char shells[80];
        enum_names_list(completion_shells, shells, sizeof shells);
        (void)failure_set(&failure, STATUS_INVALID, "unknown_shell", "completion for %s is not known; give one of %s",
                          shell, shells);
        return command_refuse(invocation->command, &failure);
    }
    return print_and_release(&text);
}

static int command_options_document(const struct invocation *invocation)
{
    (void)invocation;
    struct buffer text = {0};
    options_write_markdown(&text);
    return print_and_release(&text);
}

enum { MANY = 1000 };

/* clang-format off */
const struct cli_command commands[] = {
    {.name = "serve", .tables = server_option_tables, .run = command_serve,
     .help = "Runs the server until SIGTERM or SIGINT."},
    {.name = "check-config", .tables = server_option_tables, .run = command_check_config,
     .help = "Checks the options, the environment and the configuration file, and shows every value, where it came from, and the agents of files with the reason why one cannot run."},
    {.name = "backup", .positionals = "FILE", .positional_min = 1, .positional_max = 1, .tables = maintenance_tables,
     .run = command_backup,
     .help = "Copies the SQLite database of a data directory to a new file, and the files of its sessions to the directory FILE.blobs, while the server runs or not. What is encrypted stays so; keep the master key elsewhere. A PostgreSQL database has tools of its own: pg_dump."},
    {.name = "compact", .tables = maintenance_tables, .run = command_compact,
     .help = "Writes the SQLite database of a data directory anew, while no server runs: without free pages, in which versions before this one left what was deleted. Needs room for a second copy."},
    {.name = "verify", .positionals = "[FILE]", .positional_max = 1, .tables = maintenance_tables, .run = command_verify,
     .help = "Checks that every log is without gaps, every session is what its log says, every counter is the sum of its parts and no row is left over: of the server's database, or of a backup. Prints each problem; the exit code is 1 when there is one."},
    {.name = "rekey", .positionals = "NEW-KEY-FILE", .positional_min = 1, .positional_max = 1, .tables = maintenance_tables,
     .run = command_rekey,
     .help = "Wraps the keys of all sessions with another master key, while no server runs. Content is not written anew: it stays as it is under the keys of its sessions."},
    {.name = "seal", .tables = maintenance_tables, .run = command_seal,
     .help = "Encrypts what was stored before there was a master key, while no server runs: sessions, their files, and what belongs to none. A PostgreSQL database keeps old rows until VACUUM FULL."},
    {.name = "secrets set", .positionals = "NAME", .positional_min = 1, .positional_max = 1, .tables = secrets_tables,
     .run = command_secrets_set,
     .help = "Keeps a secret, such as ANTHROPIC_API_KEY, encrypted in the data directory of a server. The value comes from standard input, or is typed without being shown; a running server takes it at once."},
    {.name = "secrets list", .tables = secrets_tables, .run = command_secrets_list,
     .help = "Lists the names of the stored secrets."},
    {.name = "secrets remove", .positionals = "NAME", .positional_min = 1, .positional_max = 1,
     .tables = secrets_tables, .run = command_secrets_remove,
     .help = "Removes a stored secret."},
    {.name = "sessions list", .tables = sessions_list_tables, .run = command_sessions_list,
     .help = "Lists sessions, the last active first."},
    {.name = "sessions show", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_show_tables, .run = command_sessions_show, .reads = true,
     .help = "Shows one session."},
    {.name = "sessions explain", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_explain_tables, .run = command_sessions_explain, .reads = true,
     .help = "Says what a session waits for, and who or what can unblock it."},
    {.name = "sessions events", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_events_tables, .run = command_sessions_events, .reads = true,
     .help = "Shows the events of a session, one per line."},
    {.name = "sessions tail", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_tail_tables, .run = command_sessions_tail, .reads = true,
     .help = "Follows a session until Ctrl-C; a lost connection is taken up again where it was. With --json one event per line as the server sent it; gap, slow, closed and the other frames as {\"frame\": NAME, \"data\": {}}."},
    {.name = "sessions create", .positionals = "[SESSION]", .positional_max = 1,
     .tables = sessions_create_tables, .run = command_sessions_create,
     .help = "Makes a session, or opens the one with this id, and prints its id."},
    {.name = "sessions update", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_update_tables, .run = command_sessions_update,
     .help = "Changes a session and shows it."},
    {.name = "sessions archive", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_archive,
     .help = "Hides sessions from lists."},
    {.name = "sessions unarchive", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_unarchive,
     .help = "Shows archived sessions in lists again."},
    {.name = "sessions pause", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_pause,
     .help = "Lets no turn begin in sessions: the running one goes on, messages wait."},
    {.name = "sessions unpause", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_unpause,
     .help = "Lets turns begin again, with what waits."},
    {.name = "sessions interrupt", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_interrupt,
     .help = "Ends the running turns of sessions; the sessions go on."},
    {.name = "sessions stop", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_stop,
     .help = "Ends sessions, their turns and their children."},
    {.name = "sessions reopen", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_reopen,
     .help = "Goes on with conversations that have ended."},
    {.name = "sessions retry", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_archive_tables, .run = command_sessions_retry,
     .help = "Does the work of an ended session again in a new one, and prints its id."},
    {.name = "sessions delete", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_delete_tables, .run = command_sessions_delete,
     .help = "Erases sessions and their events; asks first."},
    {.name = "events append", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = events_append_tables, .run = command_events_append,
     .help = "Appends what --text says, events given as --event, or JSON from standard input: one event, a list, or one per line."},
    {.name = "events tail", .tables = events_tail_tables, .run = command_events_tail,
     .help = "Follows the events of all sessions until Ctrl-C, from now on unless --after says otherwise."},
    {.name = "messages send", .positionals = "SESSION TEXT", .positional_min = 2, .positional_max = 2,
     .tables = messages_send_tables, .run = command_messages_send,
     .help = "Sends a message to the agent of a session and prints its id; with --wait what the agent answered."},
    {.name = "messages queue", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_messages_queue, .reads = true,
     .help = "Shows the messages that wait for the running turn to end."},
    {.name = "messages withdraw", .positionals = "SESSION MESSAGE...", .positional_min = 2, .positional_max = MANY,
     .tables = plain_tables, .run = command_messages_withdraw,
     .help = "Takes messages back that wait."},
    {.name = "asks list", .tables = asks_list_tables, .run = command_asks_list,
     .help = "Lists what agents ask of you: approvals, questions and forms."},
    {.name = "asks allow", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = asks_allow_tables, .run = command_asks_allow,
     .help = "Allows the tool call that a session asks about."},
    {.name = "asks deny", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = asks_deny_tables, .run = command_asks_deny,
     .help = "Declines what a session asks."},
    {.name = "asks answer", .positionals = "SESSION ANSWER", .positional_min = 2, .positional_max = 2,
     .tables = asks_answer_tables, .run = command_asks_answer,
     .help = "Answers a question with an option or a text, and a form with a JSON object."},
    {.name = "chat", .positionals = "[AGENT]", .positional_max = 1, .tables = chat_tables, .run = command_chat,
     .help = "Talks to an agent: on a terminal with line editing, approvals and questions asked inline and Ctrl-C to interrupt; else one message per line of standard input, events as NDJSON with --json."},
    {.name = "export", .positionals = "SESSION", .positional_min = 1, .positional_max = 1, .tables = export_tables,
     .run = command_export,
     .help = "Writes a conversation as the scaffold of a workflow in YAML, secrets masked; the session counts as exported."},
    {.name = "agents list", .tables = agents_list_tables, .run = command_agents_list,
     .help = "Lists the agents: the newest version of each."},
    {.name = "agents show", .positionals = "AGENT", .positional_min = 1, .positional_max = 1,
     .tables = agents_show_tables, .run = command_agents_show, .reads = true,
     .help = "Shows the definition of an agent."},
    {.name = "agents push", .positionals = "FILE", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_agents_push,
     .help = "Sends a definition from a YAML file (- is standard input) and prints its version."},
    {.name = "agents remove", .positionals = "AGENT...", .positional_min = 1, .positional_max = MANY,
     .tables = agents_remove_tables, .run = command_agents_remove,
     .help = "Removes agents, so that no new session gets them; asks first."},
    {.name = "tasks list", .tables = tasks_list_tables, .run = command_tasks_list,
     .help = "Lists the tasks that are configured."},
    {.name = "tasks show", .positionals = "TASK", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_tasks_show, .reads = true,
     .help = "Shows a task as YAML, which tasks create and tasks update take."},
    {.name = "tasks create", .positionals = "FILE", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_tasks_create,
     .help = "Configures a task from a YAML file (- is standard input) and prints its version."},
    {.name = "tasks update", .positionals = "FILE", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_tasks_update,
     .help = "Changes the task that a YAML file names (- is standard input); with version in it, only if it has that one. Runs that began keep their steps."},
    {.name = "tasks run", .positionals = "TASK", .positional_min = 1, .positional_max = 1,
     .tables = tasks_run_tables, .run = command_tasks_run,
     .help = "Runs a task and prints the session over all its steps."},
    {.name = "tasks remove", .positionals = "TASK...", .positional_min = 1, .positional_max = MANY,
     .tables = tasks_remove_tables, .run = command_tasks_remove,
     .help = "Removes tasks; their runs go on; asks first."},
    {.name = "entities list", .tables = entities_list_tables, .run = command_entities_list,
     .help = "Lists what work is about, or those with a text in them."},
    {.name = "entities show", .positionals = "ENTITY", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_entities_show, .reads = true,
     .help = "Shows one entity and what is known of it."},
    {.name = "entities create", .positionals = "[ENTITY]", .positional_max = 1,
     .tables = entities_create_tables, .run = command_entities_create,
     .help = "Makes an entity and prints its id."},
    {.name = "entities update", .positionals = "ENTITY", .positional_min = 1, .positional_max = 1,
     .tables = entities_update_tables, .run = command_entities_update,
     .help = "Changes fields of an entity and shows it."},
    {.name = "entities remove", .positionals = "ENTITY...", .positional_min = 1, .positional_max = MANY,
     .tables = entities_remove_tables, .run = command_entities_remove,
     .help = "Removes entities; sessions about them stay; asks first."},
    {.name = "entities sessions", .positionals = "ENTITY", .positional_min = 1, .positional_max = 1,
     .tables = entities_sessions_tables, .run = command_entities_sessions, .reads = true,
     .help = "Lists what ran for an entity, the last active first."},
    {.name = "queue", .tables = plain_tables, .run = command_queue,
     .help = "Shows what waits for workers, and the workers."},
    {.name = "tokens list", .tables = tokens_list_tables, .run = command_tokens_list,
     .help = "Lists API tokens that work: all for admins, else your own."},
    {.name = "tokens create", .positionals = "NAME", .positional_min = 1, .positional_max = 1,
     .tables = tokens_create_tables, .run = command_tokens_create,
     .help = "Makes an API token and prints it, once."},
    {.name = "tokens revoke", .positionals = "TOKEN-ID...", .positional_min = 1, .positional_max = MANY,
     .tables = plain_tables, .run = command_tokens_revoke,
     .help = "Ends API tokens at once."},
    {.name = "users list", .tables = plain_tables, .run = command_users_list,
     .help = "Lists the users of the tenant."},
    {.name = "users create", .positionals = "EMAIL", .positional_min = 1, .positional_max = 1,
     .tables = users_create_tables, .run = command_users_create,
     .help = "Adds a user and prints a link that signs in once."},
    {.name = "users update", .positionals = "USER-ID", .positional_min = 1, .positional_max = 1,
     .tables = users_update_tables, .run = command_users_update,
     .help = "Changes a user."},
    {.name = "users remove", .positionals = "USER-ID...", .positional_min = 1, .positional_max = MANY,
     .tables = users_remove_tables, .run = command_users_remove,
     .help = "Removes users from the tenant; asks first."},
    {.name = "tenants list", .tables = plain_tables, .run = command_tenants_list,
     .help = "Lists your tenants."},
    {.name = "tenants create", .positionals = "TENANT", .positional_min = 1, .positional_max = 1,
     .tables = tenants_create_tables, .run = command_tenants_create,
     .help = "Makes a tenant and prints its first token, once."},
    {.name = "whoami", .tables = plain_tables, .run = command_whoami,
     .help = "Says who the token is."},
    {.name = "man", .run = command_man,
     .help = "Prints the manual page."},
    {.name = "completion", .positionals = "bash|zsh|fish", .positional_min = 1, .positional_max = 1,
     .run = command_completion,
     .help = "Prints the completion script for a shell."},
    {.name = "version", .run = command_version,
     .help = "Prints the version."},
    {.name = "options-document", .run = command_options_document, .hidden = true,
     .help = "Prints docs/options.md."},
    {0},
};
/* clang-format on */
