#include "cli/command.h"

/* Text for roff: a dash stays a dash, and no line begins a request by accident. */
static void add_text(struct buffer *out, struct slice text)
{
    bool at_line_start = out->len > 0 && out->ptr[out->len - 1] == '\n';
    if (at_line_start && text.len && (text.ptr[0] == '.' || text.ptr[0] == '\'')) {
        buffer_add(out, SLICE("\\&"));
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '-') {
            buffer_add(out, SLICE("\\-"));
        } else if (text.ptr[i] == '\\') {
            buffer_add(out, SLICE("\\e"));
        } else {
            buffer_add_byte(out, text.ptr[i]);
        }
    }
}

static void add_words(struct buffer *out, const char *text)
{
    add_text(out, slice_of(text));
}

static void add_command(struct buffer *out, const struct cli_command *command)
{
    buffer_add(out, SLICE(".TP\n.B sojourn "));
    add_words(out, command->name);
    if (command->positionals) {
        buffer_add(out, SLICE(" \\fI"));
        add_words(out, command->positionals);
        buffer_add(out, SLICE("\\fR"));
    }
    buffer_add_byte(out, '\n');
    add_words(out, command->help);
    buffer_add_byte(out, '\n');
}

static void add_option_head(struct buffer *out, const struct option *option)
{
    buffer_add(out, SLICE(".TP\n\\fB"));
    if (option->secret) {
        char name[96];
        option_environment_name(option, name, sizeof name);
        add_words(out, name);
        buffer_add(out, SLICE("\\fR (environment or file only)\n"));
        return;
    }
    buffer_add(out, SLICE("\\-\\-"));
    add_words(out, option->name);
    buffer_add(out, SLICE("\\fR"));
    if (option->type != OPTION_SWITCH) {
        buffer_add(out, SLICE(" \\fI"));
        add_words(out, option->value ? option->value : option->type == OPTION_CHOICE ? "WORD" : "N");
        buffer_add(out, SLICE("\\fR"));
    } else if (option->fallback) {
        buffer_add(out, SLICE(", \\fB\\-\\-no\\-"));
        add_words(out, option->name);
        buffer_add(out, SLICE("\\fR"));
    }
    buffer_add_byte(out, '\n');
}

static void add_option(struct buffer *out, const struct option *option)
{
    add_option_head(out, option);
    add_words(out, option->help);
    if (option->type == OPTION_LIST) {
        buffer_add(out, SLICE(" May be given several times."));
    }
    if (option->type == OPTION_NUMBER || option->type == OPTION_CHOICE) {
        struct buffer accepted = {0};
        option_show_accepted(option, &accepted);
        buffer_add(out, SLICE(" Accepted: "));
        add_text(out, buffer_slice(&accepted));
        buffer_add_byte(out, '.');
        buffer_release(&accepted);
    }
    if (option->fallback) {
        buffer_add(out, SLICE(" Default: "));
        add_words(out, option->fallback);
        buffer_add_byte(out, '.');
    }
    buffer_add_byte(out, '\n');
}

static bool takes_table(const struct cli_command *command, const struct option *table)
{
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        if (*tables == table) {
            return true;
        }
    }
    return false;
}

static bool is_first_with_table(const struct cli_command *commands, const struct cli_command *command,
                                const struct option *table)
{
    for (const struct cli_command *before = commands; before != command; before++) {
        if (takes_table(before, table)) {
            return false;
        }
    }
    return true;
}

enum { HEADING_COMMANDS_MAX = 3 };

static size_t count_with_table(const struct cli_command *commands, const struct option *table)
{
    size_t count = 0;
    for (const struct cli_command *command = commands; command->name; command++) {
        count += takes_table(command, table) && !command->hidden;
    }
    return count;
}

static void add_names_with_table(struct buffer *out, const struct cli_command *commands, const struct option *table)
{
    const char *between = "";
    for (const struct cli_command *command = commands; command->name; command++) {
        if (takes_table(command, table) && !command->hidden) {
            buffer_add(out, slice_of(between));
            add_words(out, command->name);
            between = ", ";
        }
    }
}

static bool have_same_commands(const struct cli_command *commands, const struct option *a, const struct option *b)
{
    for (const struct cli_command *command = commands; command->name; command++) {
        if (takes_table(command, a) != takes_table(command, b)) {
            return false;
        }
    }
    return true;
}

/* Commands that share a table share its section. */
static void add_heading(struct buffer *out, const struct cli_command *commands, const struct option *table)
{
    if (count_with_table(commands, table) > HEADING_COMMANDS_MAX) {
        buffer_add(out, SLICE(".SH COMMON OPTIONS\nOf "));
        add_names_with_table(out, commands, table);
        buffer_add(out, SLICE(".\n"));
    } else {
        buffer_add(out, SLICE(".SH OPTIONS OF "));
        add_names_with_table(out, commands, table);
        buffer_add_byte(out, '\n');
    }
}

static void add_table(struct buffer *out, const struct option *table)
{
    for (const struct option *option = table; option->name; option++) {
        if (option->type == OPTION_SECTION) {
            buffer_add(out, SLICE(".SS "));
            add_words(out, option->name);
            buffer_add_byte(out, '\n');
        } else {
            add_option(out, option);
        }
    }
}

void manual_write(const struct cli_command *commands, struct buffer *out)
{
    buffer_add(out, SLICE(".TH SOJOURN 1\n.SH NAME\nsojourn \\- the session server for AI agents\n"
                          ".SH SYNOPSIS\n.B sojourn\n.I COMMAND\n[options]\n"
                          ".SH DESCRIPTION\nKeeps every session that people and agents share in one durable log, "
                          "streams what happens to any number of viewers, and hands work to agents under leases. "
                          "Data lives in a directory (SQLite) or in PostgreSQL.\n.SH COMMANDS\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        if (!command->hidden) {
            add_command(out, command);
        }
    }
    const struct option *before = NULL;
    for (const struct cli_command *command = commands; command->name; command++) {
        for (const struct option *const *tables = command_tables(command); *tables; tables++) {
            if (command->hidden || !is_first_with_table(commands, command, *tables)) {
                continue;
            }
            if (!before || !have_same_commands(commands, before, *tables)) {
                add_heading(out, commands, *tables);
            }
            add_table(out, *tables);
            before = *tables;
        }
    }
    buffer_add(out, SLICE(".SH ENVIRONMENT\nEvery option of serve can be set by a variable: \\-\\-log\\-level by "
                          "SOJOURN_LOG_LEVEL. A list is separated by commas. The command line wins over the "
                          "environment, the environment over the file named by \\-\\-config. The commands that talk to "
                          "a server read SOJOURN_URL, SOJOURN_TOKEN, SOJOURN_TOKEN_FILE, SOJOURN_CA_FILE and "
                          "SOJOURN_TIMEOUT_MS. serve warns of variables of this name that nothing reads, "
                          "check\\-config refuses them. NO_COLOR "
                          "turns colours off.\n.SH EXIT STATUS\n"));
    for (int code = 0; code < EXIT_CODE_COUNT; code++) {
        buffer_format(out, ".TP\n%d\n%s\n", code, exit_code_meanings[code]);
    }
}
