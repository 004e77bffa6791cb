#include "cli/command.h"

#include <stdio.h>

#include "cli/terminal.h"

enum { HELP_COLUMNS = 100, HELP_COLUMNS_MAX = 120 };

const char *const exit_code_meanings[EXIT_CODE_COUNT] = {
    [EXIT_DONE] = "done",
    [EXIT_REFUSED] = "refused or failed",
    [EXIT_USAGE] = "wrong command line or configuration",
    [EXIT_UNREACHABLE] = "no server to talk to",
    [EXIT_MISSING] = "not found or no access",
    [EXIT_DENIED] = "the token is missing, not valid or not sufficient",
};

static const struct option *const no_tables[] = {NULL};

const struct option *const *command_tables(const struct cli_command *command)
{
    return command->tables ? command->tables : no_tables;
}

const struct cli_command *command_find(const struct cli_command *commands, struct slice name)
{
    for (const struct cli_command *command = commands; command->name; command++) {
        if (slice_is(name, command->name)) {
            return command;
        }
    }
    return NULL;
}

int command_refuse(const struct cli_command *command, const struct failure *failure)
{
    fprintf(stderr, "sojourn: %s\n", failure->detail);
    if (command) {
        fprintf(stderr, "\"sojourn %s --help\" says more\n", command->name);
    }
    return EXIT_USAGE;
}

static size_t help_columns(void)
{
    size_t columns = terminal_columns(stdout);
    return columns == 0 ? HELP_COLUMNS : columns > HELP_COLUMNS_MAX ? HELP_COLUMNS_MAX : columns;
}

static int print(const struct buffer *text)
{
    bool written = fwrite(text->ptr, 1, text->len, stdout) == text->len && fflush(stdout) == 0;
    return written ? EXIT_DONE : EXIT_REFUSED;
}

static int print_and_release(struct buffer *text)
{
    int code = print(text);
    buffer_release(text);
    return code;
}

static int print_program_help(const struct cli_command *commands)
{
    struct buffer text = {0};
    help_write_program(commands, help_columns(), &text);
    return print_and_release(&text);
}

static int print_group_help(const struct cli_command *commands, const char *group)
{
    struct buffer text = {0};
    help_write_group(commands, slice_of(group), help_columns(), &text);
    return print_and_release(&text);
}

static int print_command_help(const struct cli_command *command)
{
    struct buffer text = {0};
    help_write_command(command, help_columns(), &text);
    return print_and_release(&text);
}

static bool is_word(const char *text)
{
    return text && text[0] != '-';
}

/* The command named by the first word or the first two; *out_words says how many it took. */
static const struct cli_command *find_by_words(const struct cli_command *commands, int argc, char *const *argv,
                                               int *out_words)
{
    char name[160];
    if (argc >= 2 && is_word(argv[0]) && is_word(argv[1])) {
        snprintf(name, sizeof name, "%s %s", argv[0], argv[1]);
        const struct cli_command *command = command_find(commands, slice_of(name));
        if (command) {
            *out_words = 2;
            return command;
        }
    }
    *out_words = 1;
    return command_find(commands, slice_of(argv[0]));
}

static bool is_group(const struct cli_command *commands, const char *word)
{
    char prefix[160];
    snprintf(prefix, sizeof prefix, "%s ", word);
    for (const struct cli_command *command = commands; command->name; command++) {
        if (slice_starts(slice_of(command->name), slice_of(prefix))) {
            return true;
        }
    }
    return false;
}

static int refuse_unknown(const struct cli_command *commands, int argc, char *const *argv)
{
    const char *names[128];
    size_t count = 0;
    for (const struct cli_command *command = commands; command->name && count < 128; command++) {
        if (!command->hidden) {
            names[count++] = command->name;
        }
    }
    bool grouped = is_group(commands, argv[0]);
    char given[160];
    snprintf(given, sizeof given, "%s%s%s", argv[0], grouped && argc > 1 ? " " : "",
             grouped && argc > 1 ? argv[1] : "");
    const char *closest = closest_name(slice_of(given), names, count);
    fprintf(stderr, "sojourn: no command is called %s", given);
    fprintf(stderr, closest ? "; the closest is %s\n" : "\n", closest);
    fprintf(stderr, "\"sojourn --help\" lists them all\n");
    return EXIT_USAGE;
}

static enum status check_positionals(const struct cli_command *command, const struct arguments *arguments,
                                     struct failure *failure)
{
    if (arguments->positional_count < command->positional_min) {
        return failure_set(failure, STATUS_INVALID, "missing_argument", "%s needs %s", command->name,
                           command->positionals);
    }
    if (arguments->positional_count > command->positional_max) {
        return failure_set(failure, STATUS_INVALID, "extra_argument", "%s: unexpected argument \"%s\"", command->name,
                           arguments->positionals[command->positional_max]);
    }
    return STATUS_OK;
}

static int run_found(const struct cli_command *commands, const struct cli_command *command, int argc, char *const *argv,
                     char *const *environment)
{
    struct arena arena;
    arena_init(&arena);
    struct arguments arguments;
    struct failure failure;
    int code;
    if (arguments_parse(command_tables(command), argc, argv, &arena, &arguments, &failure) != STATUS_OK) {
        code = command_refuse(command, &failure);
    } else if (arguments.wants_help) {
        code = print_command_help(command);
    } else if (check_positionals(command, &arguments, &failure) != STATUS_OK) {
        code = command_refuse(command, &failure);
    } else {
        code = command->run(&(struct invocation){commands, command, &arguments, &arena, environment});
    }
    arena_release(&arena);
    return code;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* "help", "help sessions", "help sessions list" */
static int run_help(const struct cli_command *commands, int argc, char *const *argv)
{
    int words;
    if (argc == 0) {
        return print_program_help(commands);
    }
    const struct cli_command *command = find_by_words(commands, argc, argv, &words);
    if (command) {
        return print_command_help(command);
    }
    bool names_group = argc == 1 && is_group(commands, argv[0]);
    return names_group ? print_group_help(commands, argv[0]) : refuse_unknown(commands, argc, argv);
}

int cli_run(const struct cli_command *commands, int argc, char *const *argv, char *const *environment)
{
    argc -= 1;
    argv += 1;
    if (argc == 0) {
        print_program_help(commands);
        return EXIT_USAGE;
    }
    if (is_help(argv[0])) {
        return print_program_help(commands);
    }
    if (strcmp(argv[0], "help") == 0) {
        return run_help(commands, argc - 1, argv + 1);
    }
    if (strcmp(argv[0], "--version") == 0) {
        return run_found(commands, command_find(commands, SLICE("version")), 0, argv, environment);
    }
    int words;
    const struct cli_command *command = find_by_words(commands, argc, argv, &words);
    if (command) {
        return run_found(commands, command, argc - words, argv + words, environment);
    }
    if (is_group(commands, argv[0]) && (argc == 1 || is_help(argv[1]))) {
        print_group_help(commands, argv[0]);
        return argc == 1 ? EXIT_USAGE : EXIT_DONE;
    }
    return refuse_unknown(commands, argc, argv);
}
