/* The details of a session: facts about its repository, sandbox and billing that no rule of the two machines depends
 * on, as one JSON object with known keys. Stored sparsely; a reader sees every key, absent ones with their default. */
#ifndef DOMAIN_SESSION_DETAILS_H
#define DOMAIN_SESSION_DETAILS_H

#include "domain/session.h"

enum detail_kind { DETAIL_TEXT, DETAIL_WORD, DETAIL_COUNT, DETAIL_TIME, DETAIL_OBJECT, DETAIL_CONTEXT, DETAIL_GIT };

struct detail {
    const char *name; /* NULL ends the table */
    enum detail_kind kind;
    const char *fallback; /* JSON shown when the key is absent */
    const char *accepted; /* of a DETAIL_WORD: "web cli" */
};

extern const struct detail session_details[];

enum { DETAILS_BYTES_MAX = 262144 };

/* `patch` over `old` (a JSON object, or absent): null removes a key, unknown keys and wrong kinds are refused with what
 * is accepted; git_state is merged member by member. *out is in `arena`, and absent when nothing remains. `patch` may
 * be NULL. */
MUST_CHECK enum status session_details_merge(struct arena *arena, struct slice old, const struct json *patch,
                                             struct slice *out, struct failure *failure);
/* Which sandbox a session has, what leads into it and what it is restored from is the server's to say, where it runs
 * the session's agent (`hosted`), and its persona always: INVALID (`served_detail`) when the patch names one of them.
 */
MUST_CHECK enum status session_details_check_own(const struct json *patch, bool hosted, struct failure *failure);
/* Is the key there, and not null? */
bool session_details_has(const struct session *session, const char *key);
/* The whole number under this key; 0 when there is none. */
int64_t session_details_number(const struct session *session, const char *key);
/* A prompt with the persona that was frozen into the session behind it; the prompt itself when there is none. */
struct slice session_prompt_with_persona(struct arena *arena, const struct session *session, struct slice prompt);
/* The session's git_state, every member of it. */
void session_git_state_write(struct json_out *out, const struct session *session);
/* Every known key, as one object. */
void session_details_write(struct json_out *out, const struct session *session);

#endif
