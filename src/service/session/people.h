/* Who else is in a session: participants and share links. */
#ifndef SERVICE_PEOPLE_H
#define SERVICE_PEOPLE_H

#include "service/session/session.h"

/* By id or by email; `out_user_id` is in the call's arena. */
MUST_CHECK enum status participant_add(struct call *call, struct slice session_id, struct slice user_id,
                                       struct slice email, enum access_role role, struct slice *out_user_id);
MUST_CHECK enum status participant_remove(struct call *call, struct slice session_id, struct slice user_id);

struct share_request {
    enum access_role role;
    int64_t expires_at_ms; /* wall; 0 = never */
    int64_t max_uses;      /* 0 = unlimited */
};

/* out_token is told once and kept only hashed. */
MUST_CHECK enum status share_create(struct call *call, struct slice session_id, const struct share_request *request,
                                    struct share_link *out, char out_token[TOKEN_TEXT_BYTES]);
MUST_CHECK enum status share_deactivate(struct call *call, struct slice session_id, struct slice link_id);
/* The calling user joins. Redeeming twice burns one use. */
MUST_CHECK enum status share_redeem(struct call *call, struct slice token, struct session_access *out,
                                    enum access_role *out_role);

/* Reader. Who takes part in a session. */
MUST_CHECK enum status participant_list(struct call *call, struct slice session_id, struct participant **out,
                                        size_t *out_count);

/* Reader. The share links of a session. */
MUST_CHECK enum status share_list(struct call *call, struct slice session_id, struct share_link **out,
                                  size_t *out_count);

#endif
