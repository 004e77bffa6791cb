/* The words of a command line, sorted into options and the rest. Nothing is applied yet: what was given on the command
 * line must win over what the environment and the configuration file say, and one option names that file. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "cli/option.h"

struct argument {
    const struct option *option;
    struct slice text;
};

/* Lives in the arena; the texts are those of argv. */
struct arguments {
    struct argument *given;
    size_t given_count;
    const char **positionals;
    size_t positional_count;
    bool wants_help; /* --help or -h stood somewhere */
};

/* --name VALUE, --name=VALUE, --switch, --no-switch; "--" ends the options. `tables` ends with NULL. */
MUST_CHECK enum status arguments_parse(const struct option *const *tables, int argc, char *const *argv,
                                       struct arena *arena, struct arguments *out, struct failure *failure);
/* The last text given for the option called `name`; absent when it was not given. */
struct slice arguments_text(const struct arguments *arguments, const char *name);

#endif
