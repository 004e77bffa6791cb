/* Asking before something is done that can't be undone. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "cli/command.h"

/* --yes */
extern const struct option confirm_table[];

/* Asks "VERB a, b and 3 more REST"; the names are the command's words. EXIT_DONE: go on. Without a terminal to ask on,
 * --yes is needed. */
MUST_CHECK int confirm(const struct invocation *invocation, const char *verb, const char *rest);

#endif
