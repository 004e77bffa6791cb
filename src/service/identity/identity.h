/* Tenants, users, tokens, sign-in: who a caller is and how they prove it. */
#ifndef SERVICE_IDENTITY_H
#define SERVICE_IDENTITY_H

#include "base/map.h"
#include "service/core/transaction.h"

/* Grows whenever tokens, users or memberships change: caches of principals look at it. One per server. */
struct identity_epoch {
    _Atomic int64_t value;
};

/* Principals this thread has seen, by hash of their secret; thrown away when the identity epoch moves or after a second
 * (another node may have changed them). */
struct principal_cache {
    struct map principals;
    struct arena arena;
    int64_t epoch;
    int64_t filled_at_ms;
};

void principal_cache_release(struct principal_cache *cache);

/* UNAUTHENTICATED unless the secret is a live token (or share link). The principal lives in the cache until the next
 * call. */
MUST_CHECK enum status identity_of_token(struct call *call, struct principal_cache *cache, struct slice secret,
                                         struct principal *out);
/* A browser's cookie; *out_csrf is what unsafe requests must repeat in X-CSRF-Token. */
MUST_CHECK enum status identity_of_cookie(struct call *call, struct slice secret, struct principal *out,
                                          struct slice *out_csrf);
/* Writer: takes a one-use ticket. */
MUST_CHECK enum status identity_of_ticket(struct call *call, struct slice secret, struct principal *out,
                                          struct slice *out_session_id);

/* The maker of a link to an ask, as he is now; the link stays. */
MUST_CHECK enum status identity_of_ask_link(struct call *call, struct slice secret, struct principal *out,
                                            struct slice *out_session_id, struct slice *out_ask_id);

/* The owner of the first tenant signs in under this name until they change it. */
#define FIRST_OWNER_EMAIL "owner@localhost"

/* First start: tenant "default" and its owner. Returns false when there is a user already. */
MUST_CHECK enum status identity_first_start(struct call *call, struct slice bootstrap_token, bool *out_made,
                                            char out_link[TOKEN_TEXT_BYTES]);

/* A further token of the first tenant's owner, told once: for who starts the server and can read its files anyway.
 * NOT_FOUND when there is no owner. */
MUST_CHECK enum status identity_owner_token(struct call *call, struct slice name, char out_secret[TOKEN_TEXT_BYTES]);

struct token_request {
    struct slice name;
    enum principal_kind kind;
    unsigned scopes;
    struct slice id_prefix;
    struct slice session_id;
    struct slice user_id; /* absent = the caller, for kind user */
    int64_t expires_at_ms;
};
MUST_CHECK enum status token_create(struct call *call, const struct token_request *request, struct token *out,
                                    char out_secret[TOKEN_TEXT_BYTES]);
/* A token of kind runner or sandbox that reaches this session only, in place of those of the kind it had before; their
 * connections end. For the owner of the session. */
MUST_CHECK enum status token_of_session(struct call *call, struct slice session_id, enum principal_kind kind,
                                        struct token *out, char out_secret[TOKEN_TEXT_BYTES]);
/* The same by the server itself, for what it starts in the session's sandbox: nobody is asked whether he may. */
MUST_CHECK enum status token_replace(struct call *call, struct slice session_id, enum principal_kind kind,
                                     struct token *out, char out_secret[TOKEN_TEXT_BYTES]);
/* Those of the session end, and their connections with them. What a sandbox was given does not outlive it. */
MUST_CHECK enum status token_end_of(struct call *call, const struct session *session, enum principal_kind kind);
MUST_CHECK enum status token_revoke(struct call *call, struct slice id);

struct user_request {
    struct slice email, name;
    enum member_role role;
    int64_t sessions_max;       /* -1 = unchanged */
    struct slice password_hash; /* absent = unchanged */
};
MUST_CHECK enum status user_create(struct call *call, const struct user_request *request, struct user *out,
                                   char out_link[TOKEN_TEXT_BYTES]);
MUST_CHECK enum status user_update(struct call *call, struct slice user_id, const struct user_request *request,
                                   struct user *out);
MUST_CHECK enum status user_remove(struct call *call, struct slice user_id);
MUST_CHECK enum status tenant_create(struct call *call, struct slice id, struct slice name, struct tenant *out);

/* Reader thread: argon2id takes a tenth of a second on purpose. */
MUST_CHECK enum status password_hash(struct call *call, struct slice password, struct slice *out_hash);
bool password_matches(struct slice hash, struct slice password);

struct sign_in {
    char cookie[TOKEN_TEXT_BYTES];
    char csrf[TOKEN_TEXT_BYTES];
    struct slice user_id;
    int64_t expires_at_ms;
};
/* Writer: gives the user a browser session, in `tenant_key` or (0) the oldest membership. */
MUST_CHECK enum status sign_in_start(struct call *call, struct slice user_id, int64_t tenant_key, struct sign_in *out);
/* Writer: takes a one-time link; the user may then set a password. */
MUST_CHECK enum status sign_in_by_link(struct call *call, struct slice secret, struct sign_in *out);
MUST_CHECK enum status sign_out(struct call *call, struct slice cookie_secret);
/* Writer: a one-use ticket for EventSource or WebSocket; session_id absent = the firehose and every session. */
MUST_CHECK enum status ticket_create(struct call *call, struct slice session_id, char out_ticket[TOKEN_TEXT_BYTES],
                                     int64_t *out_expires_at_ms);

/* Reader. */
MUST_CHECK enum status user_find(struct call *call, struct slice user_id, struct user *out);
/* The users of the caller's tenant, and what each is in it. */
MUST_CHECK enum status user_list(struct call *call, struct user **out, enum member_role **out_roles, size_t *out_count);
/* What a user is in this tenant; MEMBER_NONE when they are not in it. */
MUST_CHECK enum status user_role(struct call *call, int64_t tenant_key, struct slice user_id, enum member_role *out);
/* Reader. The user with this email and password; the tenants of several people with one email do not know of each
 * other. An unknown email costs as much as a wrong password. */
MUST_CHECK enum status user_by_password(struct call *call, struct slice email, struct slice password, struct user *out);
/* Reader. The tenants the caller is a member of; none for who is no user. */
MUST_CHECK enum status tenant_list(struct call *call, struct tenant **out, enum member_role **out_roles,
                                   size_t *out_count);
/* Reader. The tokens of the caller's tenant; with `ended` also those that were revoked or have expired. */
MUST_CHECK enum status token_list(struct call *call, bool ended, struct token **out, size_t *out_count);

#endif
