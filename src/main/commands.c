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
        (void)failure_set(&failure, STATUS_INVALID, "unknown_shell", "no completion for shell %s; supported shells: %s",
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
     .help = "Run the server until SIGTERM or SIGINT."},
    {.name = "check-config", .tables = server_option_tables, .run = command_check_config,
     .help = "Check the options, the environment and the configuration file. Shows each value and its source, and the agents from files; for an agent that cannot run, the reason."},
    {.name = "backup", .positionals = "FILE", .positional_min = 1, .positional_max = 1, .tables = maintenance_tables,
     .run = command_backup,
     .help = "Back up the SQLite database of a data directory to a new file, and the files of its sessions to the directory FILE.blobs. The server may be running. Encrypted content stays encrypted; keep the master key elsewhere. For PostgreSQL use pg_dump."},
    {.name = "compact", .tables = maintenance_tables, .run = command_compact,
     .help = "Rewrite the SQLite database of a data directory without free pages, in which earlier versions left deleted content. The server must be stopped. Needs disk space for a second copy."},
    {.name = "verify", .positionals = "[FILE]", .positional_max = 1, .tables = maintenance_tables, .run = command_verify,
     .help = "Verify the server's database, or a backup: logs have no gaps, sessions match their logs, counters match their rows, and no row is orphaned. Prints each problem; the exit code is 1 if there is one."},
    {.name = "rekey", .positionals = "NEW-KEY-FILE", .positional_min = 1, .positional_max = 1, .tables = maintenance_tables,
     .run = command_rekey,
     .help = "Change the master key. The server must be stopped. Only the session keys are encrypted again; content is not rewritten."},
    {.name = "seal", .tables = maintenance_tables, .run = command_seal,
     .help = "Encrypt content that was stored before a master key was set: sessions, their files, and content outside sessions. The server must be stopped. PostgreSQL keeps old rows until VACUUM FULL."},
    {.name = "secrets set", .positionals = "NAME", .positional_min = 1, .positional_max = 1, .tables = secrets_tables,
     .run = command_secrets_set,
     .help = "Store a secret, such as ANTHROPIC_API_KEY, encrypted in the data directory of a server. The value is read from standard input, without echo on a terminal. A running server uses it at once."},
    {.name = "secrets list", .tables = secrets_tables, .run = command_secrets_list,
     .help = "List the names of the stored secrets."},
    {.name = "secrets remove", .positionals = "NAME", .positional_min = 1, .positional_max = 1,
     .tables = secrets_tables, .run = command_secrets_remove,
     .help = "Remove a stored secret."},
    {.name = "sessions list", .tables = sessions_list_tables, .run = command_sessions_list,
     .help = "List sessions, most recently active first."},
    {.name = "sessions show", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_show_tables, .run = command_sessions_show, .reads = true,
     .help = "Show one session."},
    {.name = "sessions explain", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_explain_tables, .run = command_sessions_explain, .reads = true,
     .help = "Show what a session is waiting for, and who or what can unblock it."},
    {.name = "sessions events", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_events_tables, .run = command_sessions_events, .reads = true,
     .help = "Show the events of a session, one per line."},
    {.name = "sessions tail", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_tail_tables, .run = command_sessions_tail, .reads = true,
     .help = "Follow a session until Ctrl-C; after a lost connection reconnects and resumes after the last event. With --json prints one event per line as the server sent it, and gap, slow, closed and the other frames as {\"frame\": NAME, \"data\": {}}."},
    {.name = "sessions create", .positionals = "[SESSION]", .positional_max = 1,
     .tables = sessions_create_tables, .run = command_sessions_create,
     .help = "Create a session, or open the one with this id, and print its id."},
    {.name = "sessions update", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_update_tables, .run = command_sessions_update,
     .help = "Change a session and show it."},
    {.name = "sessions archive", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_archive,
     .help = "Hide sessions from lists."},
    {.name = "sessions unarchive", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_unarchive,
     .help = "Show archived sessions in lists again."},
    {.name = "sessions pause", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_pause,
     .help = "Pause sessions: running turns finish, messages queue."},
    {.name = "sessions unpause", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_unpause,
     .help = "Unpause sessions and dispatch queued messages."},
    {.name = "sessions interrupt", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_interrupt,
     .help = "Interrupt the running turns of sessions; the sessions continue."},
    {.name = "sessions stop", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_stop,
     .help = "Stop sessions, with their turns and children."},
    {.name = "sessions reopen", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_archive_tables, .run = command_sessions_reopen,
     .help = "Reopen ended conversations."},
    {.name = "sessions retry", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = sessions_archive_tables, .run = command_sessions_retry,
     .help = "Retry an ended session as a new one and print its id."},
    {.name = "sessions delete", .positionals = "SESSION...", .positional_min = 1, .positional_max = MANY,
     .tables = sessions_delete_tables, .run = command_sessions_delete,
     .help = "Delete sessions and their events, after confirmation."},
    {.name = "events append", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = events_append_tables, .run = command_events_append,
     .help = "Append events: the text of --text, the JSON of --event, or JSON from standard input (one event, a list, or one per line)."},
    {.name = "events tail", .tables = events_tail_tables, .run = command_events_tail,
     .help = "Follow the events of all sessions until Ctrl-C, from now on or after the cursor of --after."},
    {.name = "messages send", .positionals = "SESSION TEXT", .positional_min = 2, .positional_max = 2,
     .tables = messages_send_tables, .run = command_messages_send,
     .help = "Send a message to the agent of a session and print its id, or with --wait the agent's answer."},
    {.name = "messages queue", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_messages_queue, .reads = true,
     .help = "Show the queued messages, which wait for the running turn to end."},
    {.name = "messages withdraw", .positionals = "SESSION MESSAGE...", .positional_min = 2, .positional_max = MANY,
     .tables = plain_tables, .run = command_messages_withdraw,
     .help = "Withdraw queued messages."},
    {.name = "asks list", .tables = asks_list_tables, .run = command_asks_list,
     .help = "List pending requests: approvals, questions and forms."},
    {.name = "asks allow", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = asks_allow_tables, .run = command_asks_allow,
     .help = "Approve a pending tool call."},
    {.name = "asks deny", .positionals = "SESSION", .positional_min = 1, .positional_max = 1,
     .tables = asks_deny_tables, .run = command_asks_deny,
     .help = "Deny a pending tool call, or decline a question or form."},
    {.name = "asks answer", .positionals = "SESSION ANSWER", .positional_min = 2, .positional_max = 2,
     .tables = asks_answer_tables, .run = command_asks_answer,
     .help = "Answer a question with an option or text, or a form with a JSON object."},
    {.name = "chat", .positionals = "[AGENT]", .positional_max = 1, .tables = chat_tables, .run = command_chat,
     .help = "Chat with an agent. On a terminal: line editing, approvals and questions inline, Ctrl-C to interrupt. Otherwise one message per line of standard input; with --json, events as NDJSON."},
    {.name = "export", .positionals = "SESSION", .positional_min = 1, .positional_max = 1, .tables = export_tables,
     .run = command_export,
     .help = "Export a conversation as the scaffold of a YAML workflow with secrets masked; the session is marked as exported."},
    {.name = "agents list", .tables = agents_list_tables, .run = command_agents_list,
     .help = "List the agents, the latest version of each."},
    {.name = "agents show", .positionals = "AGENT", .positional_min = 1, .positional_max = 1,
     .tables = agents_show_tables, .run = command_agents_show, .reads = true,
     .help = "Show the definition of an agent."},
    {.name = "agents push", .positionals = "FILE", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_agents_push,
     .help = "Create or update an agent from a YAML file (- for standard input) and print its version."},
    {.name = "agents remove", .positionals = "AGENT...", .positional_min = 1, .positional_max = MANY,
     .tables = agents_remove_tables, .run = command_agents_remove,
     .help = "Remove agents from use in new sessions, after confirmation."},
    {.name = "tasks list", .tables = tasks_list_tables, .run = command_tasks_list,
     .help = "List the configured tasks."},
    {.name = "tasks show", .positionals = "TASK", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_tasks_show, .reads = true,
     .help = "Show a task as YAML, the format of tasks create and tasks update."},
    {.name = "tasks create", .positionals = "FILE", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_tasks_create,
     .help = "Create a task from a YAML file (- for standard input) and print its version."},
    {.name = "tasks update", .positionals = "FILE", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_tasks_update,
     .help = "Change the task named in a YAML file (- for standard input). If the file has a version, the task must still have it. Existing runs keep their steps."},
    {.name = "tasks run", .positionals = "TASK", .positional_min = 1, .positional_max = 1,
     .tables = tasks_run_tables, .run = command_tasks_run,
     .help = "Run a task and print the parent session of its steps."},
    {.name = "tasks remove", .positionals = "TASK...", .positional_min = 1, .positional_max = MANY,
     .tables = tasks_remove_tables, .run = command_tasks_remove,
     .help = "Remove tasks, after confirmation; their runs continue."},
    {.name = "entities list", .tables = entities_list_tables, .run = command_entities_list,
     .help = "List entities, or only those that contain a text."},
    {.name = "entities show", .positionals = "ENTITY", .positional_min = 1, .positional_max = 1,
     .tables = plain_tables, .run = command_entities_show, .reads = true,
     .help = "Show one entity with its fields."},
    {.name = "entities create", .positionals = "[ENTITY]", .positional_max = 1,
     .tables = entities_create_tables, .run = command_entities_create,
     .help = "Create an entity and print its id."},
    {.name = "entities update", .positionals = "ENTITY", .positional_min = 1, .positional_max = 1,
     .tables = entities_update_tables, .run = command_entities_update,
     .help = "Change fields of an entity and show it."},
    {.name = "entities remove", .positionals = "ENTITY...", .positional_min = 1, .positional_max = MANY,
     .tables = entities_remove_tables, .run = command_entities_remove,
     .help = "Remove entities, after confirmation; their sessions are kept."},
    {.name = "entities sessions", .positionals = "ENTITY", .positional_min = 1, .positional_max = 1,
     .tables = entities_sessions_tables, .run = command_entities_sessions, .reads = true,
     .help = "List the sessions of an entity, most recently active first."},
    {.name = "queue", .tables = plain_tables, .run = command_queue,
     .help = "Show pending work and active workers."},
    {.name = "tokens list", .tables = tokens_list_tables, .run = command_tokens_list,
     .help = "List valid API tokens: all of them for admins, otherwise your own."},
    {.name = "tokens create", .positionals = "NAME", .positional_min = 1, .positional_max = 1,
     .tables = tokens_create_tables, .run = command_tokens_create,
     .help = "Create an API token and print it; it is not shown again."},
    {.name = "tokens revoke", .positionals = "TOKEN-ID...", .positional_min = 1, .positional_max = MANY,
     .tables = plain_tables, .run = command_tokens_revoke,
     .help = "Revoke API tokens immediately."},
    {.name = "users list", .tables = plain_tables, .run = command_users_list,
     .help = "List the users of the tenant."},
    {.name = "users create", .positionals = "EMAIL", .positional_min = 1, .positional_max = 1,
     .tables = users_create_tables, .run = command_users_create,
     .help = "Add a user and print a one-time sign-in link."},
    {.name = "users update", .positionals = "USER-ID", .positional_min = 1, .positional_max = 1,
     .tables = users_update_tables, .run = command_users_update,
     .help = "Change a user."},
    {.name = "users remove", .positionals = "USER-ID...", .positional_min = 1, .positional_max = MANY,
     .tables = users_remove_tables, .run = command_users_remove,
     .help = "Remove users from the tenant, after confirmation."},
    {.name = "tenants list", .tables = plain_tables, .run = command_tenants_list,
     .help = "List your tenants."},
    {.name = "tenants create", .positionals = "TENANT", .positional_min = 1, .positional_max = 1,
     .tables = tenants_create_tables, .run = command_tenants_create,
     .help = "Create a tenant and print its first token; it is not shown again."},
    {.name = "whoami", .tables = plain_tables, .run = command_whoami,
     .help = "Show who the token authenticates."},
    {.name = "man", .run = command_man,
     .help = "Print the manual page."},
    {.name = "completion", .positionals = "bash|zsh|fish", .positional_min = 1, .positional_max = 1,
     .run = command_completion,
     .help = "Print the completion script for a shell."},
    {.name = "version", .run = command_version,
     .help = "Print the version."},
    {.name = "options-document", .run = command_options_document, .hidden = true,
     .help = "Print docs/options.md."},
    {0},
};
/* clang-format on */
