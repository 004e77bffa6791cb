/* The context of a session: where its person works, sent by the surface that starts it (`details.context`). Plain text
 * for agents and viewers, so nothing in it may be a secret. */
#ifndef DOMAIN_CONTEXT_H
#define DOMAIN_CONTEXT_H

#include "domain/agent.h"

enum { CONTEXT_VARIABLES_MAX = 100 };

/* {"working_dir","active_file","selection":{"file","start_line","end_line"},"git_ref","fs_scope","variables":{…}};
 * unknown keys, wrong kinds and variables that look like secrets are refused (INVALID `invalid_context`). */
MUST_CHECK enum status context_check(const struct json *context, struct failure *failure);
/* The file scope a session asks for by its context; `otherwise` when it says nothing. */
enum fs_scope context_fs_scope(const struct session *session, enum fs_scope fallback);

#endif
