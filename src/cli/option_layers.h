/* Where values come from. Each layer is read over the one before: defaults, configuration file, environment, command
 * line. A list given in a layer replaces the list of the layers below. */
#ifndef CLI_OPTION_LAYERS_H
#define CLI_OPTION_LAYERS_H

#include "base/json.h"
#include "cli/arguments.h"

enum option_origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_ARGUMENTS, ORIGIN_COUNT };
extern const struct enum_names option_origin_enum;

/* What is being filled. `origins` has an element per row of the table, or is NULL when nobody asks. */
struct option_target {
    const struct option *table;
    void *values;
    struct arena *arena;
    enum option_origin *origins;
};

/* How many rows a table has, sections included. */
size_t option_table_count(const struct option *table);

/* A mapping from keys (log_level) to scalars, or sequences of scalars for lists; null leaves the value below.
 * `place` writes where a member stands ("FILE:3: ") for failures. */
struct option_document {
    const struct json *root;
    const void *owner;
    void (*place)(const void *owner, const struct json *member, char *out, size_t room);
};
MUST_CHECK enum status options_read_document(const struct option_target *target, const struct option_document *document,
                                             struct failure *failure);
/* SOJOURN_LOG_LEVEL=debug; a list is separated by commas. Empty variables count as not set. Unknown variables are
 * nothing to this table: others may know them (main/environment.h). */
MUST_CHECK enum status options_read_environment(const struct option_target *target, char *const *environment,
                                                struct failure *failure);
MUST_CHECK enum status options_read_arguments(const struct option_target *target, const struct arguments *arguments,
                                              struct failure *failure);

#endif
