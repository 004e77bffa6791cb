/* A command line without a shell: words and quotes, nothing is expanded. */
#ifndef RUNNER_COMMAND_LINE_H
#define RUNNER_COMMAND_LINE_H

#include "base/arena.h"
#include "base/status.h"

/* Splits at white space; ' ' and " " and \ quote as in a shell. INVALID for what only a shell understands outside of
 * quotes (pipes, redirections, variables, wildcards), for open quotes and for nothing at all. NULL-ended, in the arena.
 */
MUST_CHECK enum status command_line_split(struct arena *arena, struct slice line, const char *const **out,
                                          struct failure *failure);
/* Is it one of the lines an operator wrote: the same text, or matched by one with `*`? */
bool command_line_is_allowed(struct slice line, const struct slice *allowed, size_t count);

#endif
