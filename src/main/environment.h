/* Which variables SOJOURN_… mean something. A name that is close to one, and is none, is a setting that somebody
 * believes to be in force. */
#ifndef MAIN_ENVIRONMENT_H
#define MAIN_ENVIRONMENT_H

#include "base/status.h"

/* INVALID for the first variable that nothing reads, with the name that was probably meant. */
MUST_CHECK enum status environment_check(char *const *environment, struct failure *failure);
/* The same for a server that starts all the same: each is logged. */
void environment_warn(char *const *environment);

#endif
