#include "cli/command.h"

static const char *const shell_names[] = {"bash", "zsh", "fish"};
const struct enum_names completion_shells = {shell_names, 3};

/* What completes the value of an option. */
enum value_kind { VALUE_FREE, VALUE_FILE, VALUE_DIRECTORY, VALUE_CHOICE, VALUE_NONE };

static enum value_kind value_kind(const struct option *option)
{
    switch (option->type) {
    case OPTION_SECTION:
    case OPTION_SWITCH:
        return VALUE_NONE;
    case OPTION_CHOICE:
        return VALUE_CHOICE;
    case OPTION_NUMBER:
        return VALUE_FREE;
    case OPTION_TEXT:
    case OPTION_LIST:
        break;
    }
    if (option->value && strcmp(option->value, "FILE") == 0) {
        return VALUE_FILE;
    }
    return option->value && strcmp(option->value, "DIR") == 0 ? VALUE_DIRECTORY : VALUE_FREE;
}

/* What completes the words that are no options: "[FILE]", "bash|zsh|fish", "SESSION". */
static enum value_kind positional_kind(const struct cli_command *command)
{
    if (!command->positionals) {
        return VALUE_NONE;
    }
    return strstr(command->positionals, "FILE") ? VALUE_FILE
           : strchr(command->positionals, '|')  ? VALUE_CHOICE
                                                : VALUE_FREE;
}

/* "bash|zsh|fish" with spaces between. */
static void add_positional_choices(struct buffer *out, const struct cli_command *command)
{
    for (const char *c = command->positionals; *c; c++) {
        buffer_add_byte(out, *c == '|' ? ' ' : *c);
    }
}

static bool is_offered(const struct option *option)
{
    return option->type != OPTION_SECTION && !option->secret;
}

static struct slice first_word(const char *name)
{
    struct slice head, tail;
    slice_cut(slice_of(name), ' ', &head, &tail);
    return head;
}

static struct slice second_word(const char *name)
{
    struct slice head, tail = {0};
    slice_cut(slice_of(name), ' ', &head, &tail);
    return tail;
}

/* "sessions list" and "sessions show" share the first word, which is offered once. */
static bool first_word_is_new(const struct cli_command *commands, const struct cli_command *command)
{
    for (const struct cli_command *before = commands; before != command; before++) {
        if (!before->hidden && slice_eq(first_word(before->name), first_word(command->name))) {
            return false;
        }
    }
    return true;
}

static void add_choices(struct buffer *out, struct enum_names choices)
{
    for (int i = 0; i < choices.count; i++) {
        buffer_format(out, "%s%s", i ? " " : "", choices.names[i]);
    }
}

static void add_first_words(struct buffer *out, const struct cli_command *commands)
{
    for (const struct cli_command *command = commands; command->name; command++) {
        if (!command->hidden && first_word_is_new(commands, command)) {
            buffer_format(out, "%.*s ", SLICE_ARG(first_word(command->name)));
        }
    }
    buffer_add(out, SLICE("help"));
}

static void add_second_words(struct buffer *out, const struct cli_command *commands, struct slice group)
{
    const char *between = "";
    for (const struct cli_command *command = commands; command->name; command++) {
        struct slice word = second_word(command->name);
        if (!command->hidden && word.len && slice_eq(first_word(command->name), group)) {
            buffer_format(out, "%s%.*s", between, SLICE_ARG(word));
            between = " ";
        }
    }
}

/* --- bash --- */

static const char bash_head[] = "# bash completion for sojourn; made by: sojourn completion bash\n"
                                "_sojourn() {\n"
                                "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                                "    local first=${COMP_WORDS[1]} second=${COMP_WORDS[2]} words=\n"
                                "    [ \"$COMP_CWORD\" -gt 1 ] || first=\n"
                                "    [ \"$COMP_CWORD\" -gt 2 ] || second=\n"
                                "    COMPREPLY=()\n";

static void bash_add_value(struct buffer *out, const struct option *option)
{
    switch (value_kind(option)) {
    case VALUE_NONE:
        return;
    case VALUE_FILE:
        buffer_format(out, "        --%s) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\"));",
                      option->name);
        break;
    case VALUE_DIRECTORY:
        buffer_format(out, "        --%s) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\"));",
                      option->name);
        break;
    case VALUE_CHOICE:
        buffer_format(out, "        --%s) COMPREPLY=($(compgen -W \"", option->name);
        add_choices(out, *option->choices);
        buffer_add(out, SLICE("\" -- \"$current\"));"));
        break;
    case VALUE_FREE:
        buffer_format(out, "        --%s)", option->name);
        break;
    }
    buffer_add(out, SLICE(" return ;;\n"));
}

static void bash_add_positional(struct buffer *out, const struct cli_command *command)
{
    enum value_kind kind = positional_kind(command);
    if (kind == VALUE_FILE) {
        buffer_add(out, SLICE("\n        [[ $current == -* ]] || {\n            compopt -o filenames 2>/dev/null\n"
                              "            COMPREPLY=($(compgen -f -- \"$current\"))\n            return\n"
                              "        }"));
    } else if (kind == VALUE_CHOICE) {
        buffer_add(out, SLICE("\n        [[ $current == -* ]] || words=\""));
        add_positional_choices(out, command);
        buffer_add_byte(out, '"');
    }
}

static void bash_add_command(struct buffer *out, const struct cli_command *command)
{
    buffer_format(out, "    \"%s\")\n        case \"$previous\" in\n", command->name);
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        for (const struct option *option = *tables; option->name; option++) {
            if (is_offered(option)) {
                bash_add_value(out, option);
            }
        }
    }
    buffer_add(out, SLICE("        esac\n        words=\"--help"));
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        for (const struct option *option = *tables; option->name; option++) {
            if (is_offered(option)) {
                buffer_format(out, " --%s", option->name);
            }
        }
    }
    buffer_add_byte(out, '"');
    bash_add_positional(out, command);
    buffer_add(out, SLICE(" ;;\n"));
}

static void bash_add_groups(struct buffer *out, const struct cli_command *commands)
{
    buffer_add(out, SLICE("    \"\") words=\""));
    add_first_words(out, commands);
    buffer_add(out, SLICE("\" ;;\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        struct slice group = first_word(command->name);
        if (!command->hidden && second_word(command->name).len && first_word_is_new(commands, command)) {
            buffer_format(out, "    \"%.*s\") words=\"", SLICE_ARG(group));
            add_second_words(out, commands, group);
            buffer_add(out, SLICE("\" ;;\n"));
        }
    }
}

static void bash_write(const struct cli_command *commands, struct buffer *out)
{
    buffer_add(out, slice_of(bash_head));
    buffer_add(out, SLICE("    case \"$first\" in\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        struct slice group = first_word(command->name);
        if (!command->hidden && second_word(command->name).len && first_word_is_new(commands, command)) {
            buffer_format(out, "    %.*s) [ -z \"$second\" ] || first=\"$first $second\" ;;\n", SLICE_ARG(group));
        }
    }
    buffer_add(out, SLICE("    esac\n    case \"$first\" in\n"));
    bash_add_groups(out, commands);
    for (const struct cli_command *command = commands; command->name; command++) {
        if (!command->hidden) {
            bash_add_command(out, command);
        }
    }
    buffer_add(out, SLICE("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
                          "complete -F _sojourn sojourn\n"));
}

/* --- zsh --- */

/* Text inside single quotes and brackets. */
static void zsh_add_text(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            buffer_add(out, SLICE("'\\''"));
        } else if (*text == '[' || *text == ']' || *text == ':') {
            buffer_format(out, "\\%c", *text);
        } else {
            buffer_add_byte(out, *text);
        }
    }
}

static void zsh_add_option(struct buffer *out, const struct option *option)
{
    buffer_format(out, "            '%s--%s%s[", option->type == OPTION_LIST ? "*" : "", option->name,
                  option->type == OPTION_SWITCH ? "" : "=");
    zsh_add_text(out, option->help);
    buffer_add_byte(out, ']');
    switch (value_kind(option)) {
    case VALUE_NONE:
        break;
    case VALUE_FILE:
        buffer_add(out, SLICE(":file:_files"));
        break;
    case VALUE_DIRECTORY:
        buffer_add(out, SLICE(":directory:_files -/"));
        break;
    case VALUE_CHOICE:
        buffer_add(out, SLICE(":word:("));
        add_choices(out, *option->choices);
        buffer_add_byte(out, ')');
        break;
    case VALUE_FREE:
        buffer_format(out, ":%s: ", option->value ? option->value : "number");
        break;
    }
    buffer_add(out, SLICE("' \\\n"));
}

static void zsh_add_positional(struct buffer *out, const struct cli_command *command)
{
    enum value_kind kind = positional_kind(command);
    if (kind == VALUE_FILE) {
        buffer_add(out, SLICE(" '*:file:_files'"));
    } else if (kind == VALUE_CHOICE) {
        buffer_add(out, SLICE(" '*:word:("));
        add_positional_choices(out, command);
        buffer_add(out, SLICE(")'"));
    } else if (kind == VALUE_FREE) {
        buffer_add(out, SLICE(" '*:"));
        zsh_add_text(out, command->positionals);
        buffer_add(out, SLICE(": '"));
    }
}

static void zsh_add_command(struct buffer *out, const struct cli_command *command)
{
    buffer_format(out, "    (\"%s\")\n        _arguments \\\n", command->name);
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        for (const struct option *option = *tables; option->name; option++) {
            if (is_offered(option)) {
                zsh_add_option(out, option);
            }
        }
    }
    buffer_add(out, SLICE("            '--help[say more]'"));
    zsh_add_positional(out, command);
    buffer_add(out, SLICE(" ;;\n"));
}

static void zsh_write(const struct cli_command *commands, struct buffer *out)
{
    buffer_add(out, SLICE("#compdef sojourn\n# made by: sojourn completion zsh\n_sojourn() {\n    local name=\n"
                          "    if (( CURRENT == 2 )); then\n        compadd -- "));
    add_first_words(out, commands);
    buffer_add(out, SLICE("\n        return\n    fi\n    name=${words[2]}\n    case $name in\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        struct slice group = first_word(command->name);
        if (!command->hidden && second_word(command->name).len && first_word_is_new(commands, command)) {
            buffer_format(out, "    (%.*s)\n        if (( CURRENT == 3 )); then compadd -- ", SLICE_ARG(group));
            add_second_words(out, commands, group);
            buffer_add(out,
                       SLICE("; return; fi\n        name=\"$name ${words[3]}\"; shift words; (( CURRENT-- )) ;;\n"));
        }
    }
    buffer_add(out, SLICE("    esac\n    shift words\n    (( CURRENT-- ))\n    case $name in\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        if (!command->hidden) {
            zsh_add_command(out, command);
        }
    }
    buffer_add(out, SLICE("    esac\n}\n_sojourn \"$@\"\n"));
}

/* --- fish --- */

static void fish_add_text(struct buffer *out, const char *text)
{
    buffer_add_byte(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') {
            buffer_add_byte(out, '\\');
        }
        buffer_add_byte(out, *text);
    }
    buffer_add_byte(out, '\'');
}

static void fish_add_option(struct buffer *out, const struct cli_command *command, const struct option *option)
{
    buffer_format(out, "complete -c sojourn -n '__sojourn_is %s' -l %s", command->name, option->name);
    switch (value_kind(option)) {
    case VALUE_NONE:
        break;
    case VALUE_FILE:
        buffer_add(out, SLICE(" -r -F"));
        break;
    case VALUE_DIRECTORY:
        buffer_add(out, SLICE(" -x -a '(__fish_complete_directories)'"));
        break;
    case VALUE_CHOICE:
        buffer_add(out, SLICE(" -x -a '"));
        add_choices(out, *option->choices);
        buffer_add_byte(out, '\'');
        break;
    case VALUE_FREE:
        buffer_add(out, SLICE(" -x"));
        break;
    }
    buffer_add(out, SLICE(" -d "));
    fish_add_text(out, option->help);
    buffer_add_byte(out, '\n');
}

static void fish_add_positional(struct buffer *out, const struct cli_command *command)
{
    enum value_kind kind = positional_kind(command);
    if (kind == VALUE_FILE) {
        buffer_format(out, "complete -c sojourn -n '__sojourn_is %s' -F\n", command->name);
    } else if (kind == VALUE_CHOICE) {
        buffer_format(out, "complete -c sojourn -n '__sojourn_is %s' -a '", command->name);
        add_positional_choices(out, command);
        buffer_add(out, SLICE("'\n"));
    }
}

static void fish_add_command(struct buffer *out, const struct cli_command *commands, const struct cli_command *command)
{
    struct slice group = first_word(command->name), word = second_word(command->name);
    if (word.len == 0) {
        buffer_format(out, "complete -c sojourn -n __sojourn_is -a %s -d ", command->name);
        fish_add_text(out, command->help);
        buffer_add_byte(out, '\n');
    } else {
        if (first_word_is_new(commands, command)) {
            buffer_format(out, "complete -c sojourn -n __sojourn_is -a %.*s\n", SLICE_ARG(group));
        }
        buffer_format(out, "complete -c sojourn -n '__sojourn_is %.*s' -a %.*s -d ", SLICE_ARG(group), SLICE_ARG(word));
        fish_add_text(out, command->help);
        buffer_add_byte(out, '\n');
    }
    for (const struct option *const *tables = command_tables(command); *tables; tables++) {
        for (const struct option *option = *tables; option->name; option++) {
            if (is_offered(option)) {
                fish_add_option(out, command, option);
            }
        }
    }
    fish_add_positional(out, command);
}

static void fish_write(const struct cli_command *commands, struct buffer *out)
{
    buffer_add(out, SLICE("# fish completion for sojourn; made by: sojourn completion fish\n"
                          "function __sojourn_is\n"
                          "    set -l words (string match -v -- '-*' (commandline -opc))[2..-1]\n"
                          "    test (count $words) -ge (count $argv); or return 1\n"
                          "    if test (count $argv) -eq 0\n"
                          "        test (count $words) -eq 0\n"
                          "        return\n"
                          "    end\n"
                          "    test \"$words[1..\"(count $argv)\"]\" = \"$argv\"\n"
                          "end\n"
                          "complete -c sojourn -f\n"));
    for (const struct cli_command *command = commands; command->name; command++) {
        if (!command->hidden) {
            fish_add_command(out, commands, command);
        }
    }
}

bool completion_write(const struct cli_command *commands, struct slice shell, struct buffer *out)
{
    static void (*const writers[])(const struct cli_command *, struct buffer *) = {bash_write, zsh_write, fish_write};
    int index = enum_names_find(completion_shells, shell);
    if (index >= 0) {
        writers[index](commands, out);
    }
    return index >= 0;
}
