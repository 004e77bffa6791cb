/* The commands of the program as a table: dispatch, help, the manual page and shell completion are made from it. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/arguments.h"

/* Exit codes of every command; exit_code_meanings says what each means. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,
    EXIT_USAGE = 2,
    EXIT_UNREACHABLE = 3,
    EXIT_MISSING = 4,
    EXIT_DENIED = 5,
    EXIT_CODE_COUNT
};
extern const char *const exit_code_meanings[EXIT_CODE_COUNT];

struct cli_command;

/* What a command gets. Everything lives until the process ends. */
struct invocation {
    const struct cli_command *commands; /* the whole table */
    const struct cli_command *command;
    const struct arguments *arguments;
    struct arena *arena;
    char *const *environment;
};

struct cli_command {
    const char *name;        /* "serve", "sessions list"; NULL ends the table */
    const char *positionals; /* "FILE", "[ID]"; NULL = none */
    size_t positional_min, positional_max;
    const struct option *const *tables; /* of options, ended by NULL; NULL = no options */
    const char *help;                   /* one sentence */
    int (*run)(const struct invocation *invocation);
    bool hidden; /* works, but only programs need it */
    bool reads;  /* changes nothing: its ids may be shortened in scripts too */
};

/* Finds the command, checks the words around it, and runs it. Returns the exit code. */
int cli_run(const struct cli_command *commands, int argc, char *const *argv, char *const *environment);
const struct cli_command *command_find(const struct cli_command *commands, struct slice name);
/* The tables of a command; never NULL. */
const struct option *const *command_tables(const struct cli_command *command);
/* Says on standard error what is wrong, and where help is. Returns EXIT_USAGE. */
int command_refuse(const struct cli_command *command, const struct failure *failure);

/* Text made from the tables; help is wrapped for a terminal of `columns`. */
void help_write_program(const struct cli_command *commands, size_t columns, struct buffer *out);
/* The commands whose first word is `group`. */
void help_write_group(const struct cli_command *commands, struct slice group, size_t columns, struct buffer *out);
void help_write_command(const struct cli_command *command, size_t columns, struct buffer *out);
/* The manual page in roff. */
void manual_write(const struct cli_command *commands, struct buffer *out);
/* Shell completion: "bash", "zsh" or "fish". False for another shell. */
bool completion_write(const struct cli_command *commands, struct slice shell, struct buffer *out);
extern const struct enum_names completion_shells;

#endif
