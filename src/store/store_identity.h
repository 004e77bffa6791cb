/* Tenants, users, their tokens and wishes, and who takes part in a session: part of store/store.h, by which it is
 * included. */
#ifndef STORE_STORE_IDENTITY_H
#define STORE_STORE_IDENTITY_H

#include "domain/access.h"
#include "store/db.h"

/* --- personas and preferences --- */
struct persona {
    int64_t tenant_key;
    struct slice id, owner, name, prompt;
    bool shared; /* in the tenant; else its owner's alone */
    int64_t created_at_ms, updated_at_ms;
};
/* Inserts, or changes name, prompt and visibility of the one with its id. */
MUST_CHECK enum status store_persona_put(struct db *db, const struct persona *persona, struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_persona_get(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                         struct persona *out, struct failure *failure);
/* Shared ones and those of the user, by id, after `after` (absent = from the first). */
MUST_CHECK enum status store_persona_list(struct db *db, int64_t tenant_key, struct slice user_id, struct slice after,
                                          int64_t limit, struct arena *arena, struct persona **out, size_t *out_count,
                                          struct failure *failure);
MUST_CHECK enum status store_persona_count(struct db *db, int64_t tenant_key, struct slice owner, int64_t *out,
                                           struct failure *failure);
MUST_CHECK enum status store_persona_delete(struct db *db, int64_t tenant_key, struct slice id,
                                            struct failure *failure);
struct preferences {
    int64_t idle_timeout_ms; /* 0 = not told */
    int queue_mode;          /* enum queue_mode; -1 = not told */
};
MUST_CHECK enum status store_preferences_put(struct db *db, int64_t tenant_key, struct slice user_id,
                                             const struct preferences *preferences, struct failure *failure);
/* Of who told none: nothing told. */
MUST_CHECK enum status store_preferences_get(struct db *db, int64_t tenant_key, struct slice user_id,
                                             struct preferences *out, struct failure *failure);

/* --- identity --- */
struct tenant {
    int64_t key;
    struct slice id, name;
    int64_t created_at_ms;
};
struct user {
    struct slice id, email, name, password_hash;
    int64_t created_at_ms, disabled_at_ms;
    int64_t sessions_max; /* 0 = the server's option */
};
struct token {
    struct slice id, name, hash, user_id, id_prefix, session_id;
    int64_t tenant_key;
    enum principal_kind kind;
    unsigned scopes;
    int64_t created_at_ms, expires_at_ms, revoked_at_ms, last_used_at_ms;
};
/* A browser's sign-in, a one-time link, a one-use ticket, or a one-time link to an ask: secrets with an end. */
enum grant_kind { GRANT_COOKIE = 1, GRANT_LINK = 2, GRANT_TICKET = 3, GRANT_ASK = 4 };
struct grant {
    enum grant_kind kind;
    struct slice hash, user_id, csrf;
    struct slice token_id;   /* ticket: of the token it was made with, or absent */
    struct slice session_id; /* ticket: only this session, or absent */
    struct slice ask_id;     /* of a link to an ask */
    int64_t tenant_key, created_at_ms, expires_at_ms;
};
MUST_CHECK enum status store_tenant_insert(struct db *db, struct tenant *tenant,
                                           struct failure *failure); /* sets key */
MUST_CHECK enum status store_tenant_by_id(struct db *db, struct slice id, struct arena *arena, struct tenant *out,
                                          struct failure *failure);
MUST_CHECK enum status store_tenant_by_key(struct db *db, int64_t key, struct arena *arena, struct tenant *out,
                                           struct failure *failure);
MUST_CHECK enum status store_tenant_list(struct db *db, struct arena *arena, struct tenant **out, size_t *out_count,
                                         struct failure *failure);
MUST_CHECK enum status store_user_insert(struct db *db, const struct user *user,
                                         struct failure *failure); /* CONFLICT: id taken */
MUST_CHECK enum status store_user_update(struct db *db, const struct user *user, struct failure *failure);
MUST_CHECK enum status store_user_by_id(struct db *db, struct slice id, struct arena *arena, struct user *out,
                                        struct failure *failure);
/* The same; on PostgreSQL his row is the caller's until the commit. Writer. */
MUST_CHECK enum status store_user_lock(struct db *db, struct slice id, struct arena *arena, struct user *out,
                                       struct failure *failure);
/* An email is unique within a tenant, not across them: tenants must not learn of each other's users. The accounts of
 * all tenants with this email, at most `max`: for signing in. */
MUST_CHECK enum status store_users_by_email(struct db *db, struct slice email, int64_t max, struct arena *arena,
                                            struct user **out, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_member_by_email(struct db *db, int64_t tenant_key, struct slice email, struct arena *arena,
                                             struct user *out, struct failure *failure);
MUST_CHECK enum status store_user_list(struct db *db, int64_t tenant_key, struct arena *arena, struct user **out,
                                       enum member_role **out_roles, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_user_count(struct db *db, int64_t *out, struct failure *failure);
MUST_CHECK enum status store_membership_put(struct db *db, int64_t tenant_key, struct slice user_id,
                                            enum member_role role, struct failure *failure); /* MEMBER_NONE deletes */
MUST_CHECK enum status store_membership_get(struct db *db, int64_t tenant_key, struct slice user_id,
                                            enum member_role *out, struct failure *failure);
/* Writer: the same, and nobody else changes it before the commit. */
MUST_CHECK enum status store_membership_lock(struct db *db, int64_t tenant_key, struct slice user_id,
                                             enum member_role *out, struct failure *failure);
/* The user's tenants, oldest membership first. */
MUST_CHECK enum status store_membership_list(struct db *db, struct slice user_id, struct arena *arena,
                                             struct tenant **out, enum member_role **out_roles, size_t *out_count,
                                             struct failure *failure);
MUST_CHECK enum status store_token_insert(struct db *db, const struct token *token, struct failure *failure);
MUST_CHECK enum status store_token_by_hash(struct db *db, struct slice hash, struct arena *arena, struct token *out,
                                           struct failure *failure);
MUST_CHECK enum status store_token_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                         struct token *out, struct failure *failure);
/* Without those that are revoked or have expired by `ended_by_ms`; 0 = all. */
MUST_CHECK enum status store_token_list(struct db *db, int64_t tenant_key, int64_t ended_by_ms, struct arena *arena,
                                        struct token **out, size_t *out_count, struct failure *failure);
/* Deletes those that ended before. */
MUST_CHECK enum status store_token_prune(struct db *db, int64_t before_ms, struct failure *failure);
/* Those bound to this session that were not revoked. */
MUST_CHECK enum status store_token_of_session(struct db *db, int64_t tenant_key, struct slice session_id,
                                              enum principal_kind kind, struct arena *arena, struct token **out,
                                              size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_token_revoke(struct db *db, int64_t tenant_key, struct slice id, int64_t now_ms,
                                          bool *out_changed, struct failure *failure);
MUST_CHECK enum status store_grant_insert(struct db *db, const struct grant *grant, struct failure *failure);
MUST_CHECK enum status store_grant_by_hash(struct db *db, enum grant_kind kind, struct slice hash, struct arena *arena,
                                           struct grant *out, struct failure *failure);
/* Takes a link or ticket: NOT_FOUND when it was used before. */
MUST_CHECK enum status store_grant_delete(struct db *db, enum grant_kind kind, struct slice hash,
                                          struct failure *failure);
/* All of a user's but those of `except_kind` and the one with this hash (absent = none). */
MUST_CHECK enum status store_grant_delete_of_user(struct db *db, struct slice user_id, enum grant_kind except_kind,
                                                  struct slice except_hash, struct failure *failure);
MUST_CHECK enum status store_grant_prune(struct db *db, int64_t before_ms, struct failure *failure);

/* --- participants and share links --- */
struct participant {
    struct slice user_id, name, email;
    enum access_role role;
    int64_t added_at_ms;
};
MUST_CHECK enum status store_participant_role(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct slice user_id, enum access_role *out,
                                              struct failure *failure); /* NONE when absent */
MUST_CHECK enum status store_participant_put(struct db *db, int64_t tenant_key, int64_t session_key,
                                             struct slice user_id, enum access_role role, int64_t now_ms,
                                             struct failure *failure);
MUST_CHECK enum status store_participant_delete(struct db *db, int64_t tenant_key, int64_t session_key,
                                                struct slice user_id, bool *out_deleted, struct failure *failure);
MUST_CHECK enum status store_participant_list(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct arena *arena, struct participant **out, size_t *out_count,
                                              struct failure *failure);

struct share_link {
    struct slice id;
    int64_t tenant_key, session_key;
    struct slice session_id;
    struct slice token_hash; /* 32 bytes */
    enum access_role role;
    int64_t expires_at_ms; /* 0 = never */
    int64_t max_uses;      /* 0 = unlimited */
    int64_t use_count;
    bool active;
    struct slice created_by;
    int64_t created_at_ms;
};
MUST_CHECK enum status store_share_insert(struct db *db, const struct share_link *link, struct failure *failure);
MUST_CHECK enum status store_share_by_hash(struct db *db, struct slice token_hash, struct arena *arena,
                                           struct share_link *out, struct failure *failure);
MUST_CHECK enum status store_share_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                        struct share_link **out, size_t *out_count, struct failure *failure);
/* Deletes links, and who used them, that are switched off, expired or used up, and are from before. */
MUST_CHECK enum status store_share_prune(struct db *db, int64_t before_ms, struct failure *failure);
MUST_CHECK enum status store_share_deactivate(struct db *db, int64_t tenant_key, int64_t session_key,
                                              struct slice link_id, bool *out_changed, struct failure *failure);
/* Counts one use unless this user redeemed it before (*out_first false) or the uses are spent (LIMITED, atomically). */
MUST_CHECK enum status store_share_redeem(struct db *db, const struct share_link *link, struct slice user_id,
                                          int64_t now_ms, bool *out_first, struct failure *failure);

#endif
