/* Where a session's work stands in git: what it came from, its branch and its pull request. One typed object among the
 * session's details; every session has it, whatever was told. */
#ifndef DOMAIN_GIT_STATE_H
#define DOMAIN_GIT_STATE_H

#include "base/json.h"
#include "base/status.h"

/* `patch` is an object whose members replace those that stand, null removes; unknown members, kinds and words are
 * refused with what is accepted. */
MUST_CHECK enum status git_state_check(const struct json *patch, struct failure *failure);
/* Every member; `stored` is what was told (an object) or NULL. */
void git_state_write(struct json_out *out, const struct json *stored);

#endif
