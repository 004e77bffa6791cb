/* Where the person works who starts a conversation: found out here, unless told. */
#ifndef CLI_CHAT_CONTEXT_H
#define CLI_CHAT_CONTEXT_H

#include "base/json.h"
#include "cli/option.h"

/* What was told; NULL = not told. */
struct chat_context {
    bool detects; /* what is not told is found out */
    const char *working_dir;
    const char *git_ref;
    const char *active_file; /* an editor tells it by SOJOURN_ACTIVE_FILE */
    struct text_list variables;
};

/* Writes the member `context`: {working_dir, git_ref, active_file, variables}. INVALID when a variable is no KEY=VALUE.
 */
MUST_CHECK enum status chat_context_put(struct json_out *out, const struct chat_context *context,
                                        struct failure *failure);

#endif
