#include "main/commands.h"

#include <stdio.h>

#include "main/options.h"
#include "main/serve.h"

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
    return serve(&options);
}

/* One line per option: name, value, where it came from. */
static int command_check_config(const struct invocation *invocation)
{
    struct options options;
    struct failure failure;
    size_t rows = option_table_count(server_options);
    enum option_origin *origins = arena_array(invocation->arena, rows, sizeof *origins);
    if (options_load(invocation, &options, origins, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    struct buffer text = {0};
    for (size_t i = 0; i < rows; i++) {
        const struct option *option = &server_options[i];
        if (option->type == OPTION_SECTION) {
            buffer_format(&text, "# %s\n", option->name);
            continue;
        }
        struct buffer value = {0};
        option_show(option, &options, &value);
        buffer_format(&text, "%-24s %-28.*s %s\n", option->name, SLICE_ARG(buffer_slice(&value)),
                      option_origin_words.names[origins[i]]);
        buffer_release(&value);
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
        words_list(completion_shells, shells, sizeof shells);
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

/* clang-format off */
const struct command commands[] = {
    {.name = "serve", .tables = server_option_tables, .run = command_serve,
     .help = "Runs the server until SIGTERM or SIGINT."},
    {.name = "check-config", .tables = server_option_tables, .run = command_check_config,
     .help = "Checks the options, the environment and the configuration file, and shows every value and where it came from."},
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
