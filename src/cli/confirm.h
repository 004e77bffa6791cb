/* Asking before something is done that can't be undone. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "cli/remote.h"

/* --yes */
extern const struct option confirm_table[];

/* Asks "VERB a, b and 3 more REST"; the names are the command's words, as whole ids. EXIT_DONE: go on. Without a
 * terminal to ask on, --yes is needed; --yes takes no shortened ids. */
MUST_CHECK int confirm(const struct invocation *invocation, const struct remote_deed *deed, bool was_shortened);

#endif
