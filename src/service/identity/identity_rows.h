/* What the files of identity share: ids, secrets kept as hashes, membership. Private to the room. */
#ifndef SERVICE_IDENTITY_ROWS_H
#define SERVICE_IDENTITY_ROWS_H

#include "base/hash.h"
#include "service/identity/identity.h"

#define FIRST_TENANT_ID "default"

/* In the call's arena. */
struct slice identity_new_id(struct call *call);
/* "user:ID" for users, "KIND:NAME" for the others. */
struct slice identity_actor_name(struct arena *arena, const struct token *token);
MUST_CHECK enum status identity_insert_token(struct call *call, struct token *token, struct slice secret);
/* Makes the secret and tells it; the row keeps its hash. */
MUST_CHECK enum status identity_insert_grant(struct call *call, struct grant *grant, const char *prefix,
                                             int64_t keep_ms, char out_secret[TOKEN_TEXT_BYTES]);
/* NOT_FOUND for somebody of another tenant. */
MUST_CHECK enum status identity_check_member(struct call *call, struct slice user_id, enum member_role *out);
/* The user behind a live cookie, link or ticket; UNAUTHENTICATED otherwise. */
MUST_CHECK enum status identity_of_grant(struct call *call, enum grant_kind kind, struct slice secret,
                                         struct grant *grant, struct principal *out);

#endif
