#include "cli/command.h"

enum { HELP_INDENT = 30 };

static void add_spaces(struct buffer *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(out, ' ');
    }
}

/* Fills lines up to `columns`; every line but the first begins with `indent` spaces. `used` columns are taken. */
static void add_wrapped(struct buffer *out, struct slice text, size_t used, size_t indent, size_t columns)
{
    struct slice word, rest = text;
    bool is_first = true;
    for (bool more = true; more; is_first = false) {
        struct slice tail = {0};
        more = slice_cut(rest, ' ', &word, &tail);
        rest = tail;
        if (!is_first && used + 1 + word.len > columns) {
            buffer_add_byte(out, '\n');
            add_spaces(out, indent);
            used = indent;
        } else if (!is_first) {
            buffer_add_byte(out, ' ');
            used++;
        }
        buffer_add(out, word);
        used += word.len;
    }
    buffer_add_byte(out, '\n');
}

/* `head` on the left, `text` in a column on the right; a long head gets a line of its own. */
static void add_entry(struct buffer *out, struct slice head, struct slice text, size_t columns)
{
    buffer_add(out, head);
    if (head.len + 2 > HELP_INDENT) {
        buffer_add_byte(out, '\n');
        add_spaces(out, HELP_INDENT);
    } else {
        add_spaces(out, HELP_INDENT - head.len);
    }
    add_wrapped(out, text, HELP_INDENT, HELP_INDENT, columns);
}

static void add_option_head(struct buffer *out, const struct option *option)
{
    bool can_be_off = option->type == OPTION_SWITCH && option->fallback;
    buffer_format(out, "  --%s%s", can_be_off ? "[no-]" : "", option->name);
    if (option->type == OPTION_CHOICE) {
        buffer_add_byte(out, ' ');
        for (int i = 0; i < option->choices->count; i++) {
            buffer_format(out, "%s%s", i ? "|" : "", option->choices->names[i]);
        }
    } else if (option->type != OPTION_SWITCH) {
        buffer_format(out, " %s", option->value ? option->value : "N");
    }
}

static void add_option(struct buffer *out, const struct option *option, size_t columns)
{
    struct buffer head = {0}, text = {0};
    if (option->secret) {
        char name[96];
        option_environment_name(option, name, sizeof name);
        buffer_format(&head, "  %s", name);
    } else {
        add_option_head(&head, option);
    }
    buffer_add(&text, slice_of(option->help));
    if (option->type == OPTION_LIST) {
        buffer_add(&text, SLICE(" May be given several times."));
    }
    if (option->fallback) {
        buffer_format(&text, " [%s]", option->fallback);
    }
    add_entry(out, buffer_slice(&head), buffer_slice(&text), columns);
    buffer_release(&head);
    buffer_release(&text);
}

/* A table without a heading of its own goes on under the one before. */
static void add_table(struct buffer *out, const struct option *table, bool is_first, size_t columns)
{
    if (is_first && table->name && table->type != OPTION_SECTION) {
        buffer_add(out, SLICE("\nOptions\n"));
    }
    for (const struct option *option = table; option->name; option++) {
        if (option->type == OPTION_SECTION) {
            buffer_format(out, "\n%s\n", option->name);
        } else {
            add_option(out, option, columns);
        }
    }
}

static bool has_sources(const struct cli_command *command)
{
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        if (option_find(*tables, SLICE("config"))) {
            return true;
        }
    }
    return false;
}

void help_write_command(const struct cli_command *command, size_t columns, struct buffer *out)
{
    bool has_options = command_tables(command)[0] != NULL;
    buffer_format(out, "usage: sojourn %s%s%s%s\n\n", command->name, has_options ? " [options]" : "",
                  command->positionals ? " " : "", command->positionals ? command->positionals : "");
    add_wrapped(out, slice_of(command->help), 0, 0, columns);
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        add_table(out, *tables, tables == command_tables(command), columns);
    }
    if (has_sources(command)) {
        buffer_add_byte(out, '\n');
        add_wrapped(out,
                    SLICE("Each option can also be set in the environment (--log-level: SOJOURN_LOG_LEVEL) or in the "
                          "file named by --config (log_level: debug). The command line wins over the environment, the "
                          "environment over the file."),
                    0, 0, columns);
    }
}

static void add_command(struct buffer *out, const struct cli_command *command, size_t columns)
{
    struct buffer head = {0};
    buffer_format(&head, "  %s%s%s", command->name, command->positionals ? " " : "",
                  command->positionals ? command->positionals : "");
    add_entry(out, buffer_slice(&head), slice_of(command->help), columns);
    buffer_release(&head);
}

void help_write_group(const struct cli_command *commands, struct slice group, size_t columns, struct buffer *out)
{
    buffer_format(out, "usage: sojourn %.*s COMMAND [options]\n\nCommands\n", SLICE_ARG(group));
    for (const struct cli_command *command = commands; command->name; command++) {
        struct slice first, rest;
        if (!command->hidden && slice_cut(slice_of(command->name), ' ', &first, &rest) && slice_eq(first, group)) {
            add_command(out, command, columns);
        }
    }
    buffer_add_byte(out, '\n');
    buffer_format(out, "\"sojourn %.*s COMMAND --help\" says more about each.\n", SLICE_ARG(group));
}

static void add_exit_codes(struct buffer *out, size_t columns)
{
    struct buffer text = {0};
    buffer_add(&text, SLICE("\"sojourn COMMAND --help\" says more about each. Exit codes:"));
    for (int code = 0; code < EXIT_CODE_COUNT; code++) {
        buffer_format(&text, "%s %d %s", code ? ";" : "", code, exit_code_meanings[code]);
    }
    buffer_add_byte(&text, '.');
    buffer_add_byte(out, '\n');
    add_wrapped(out, buffer_slice(&text), 0, 0, columns);
    buffer_release(&text);
}

void help_write_program(const struct cli_command *commands, size_t columns, struct buffer *out)
{
    buffer_add(out, SLICE("usage: sojourn COMMAND [options]\n\nThe session server for AI agents.\n\nCommands\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        if (!command->hidden) {
            add_command(out, command, columns);
        }
    }
    add_exit_codes(out, columns);
}
