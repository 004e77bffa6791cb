/* Who calls. */
#ifndef DOMAIN_PRINCIPAL_H
#define DOMAIN_PRINCIPAL_H

#include "base/hash.h"
#include "base/slice.h"
#include "base/enum_names.h"

enum principal_kind {
    PRINCIPAL_ANONYMOUS,
    PRINCIPAL_USER,
    PRINCIPAL_WORKER,
    PRINCIPAL_RUNNER,
    PRINCIPAL_SANDBOX,
    PRINCIPAL_CHANNEL,
    PRINCIPAL_SHARE_LINK,
    PRINCIPAL_SYSTEM, /* the server itself: timers */
    PRINCIPAL_COUNT
};

enum member_role { MEMBER_NONE, MEMBER_MEMBER, MEMBER_ADMIN, MEMBER_OWNER, MEMBER_COUNT };

/* What a token may do, as bits. */
enum scope {
    SCOPE_READ = 1,  /* read sessions, events, streams */
    SCOPE_WRITE = 2, /* create and change sessions, append */
    SCOPE_CLAIM = 4, /* claim work */
    SCOPE_ADMIN = 8, /* users, tokens, tenant settings */
    SCOPE_ALL = 15,
};

extern const struct enum_names principal_kind_enum;
extern const struct enum_names member_role_enum;
extern const struct enum_names scope_enum; /* index = bit number: read, write, claim, admin */

/* The credential of the caller; a stream ends with it. */
enum credential_kind { CREDENTIAL_NONE, CREDENTIAL_TOKEN, CREDENTIAL_COOKIE, CREDENTIAL_SHARE_LINK };
struct credential {
    enum credential_kind kind;
    struct hash hash;
    int64_t expires_at_ms; /* wall; 0 = never */
};

struct principal {
    enum principal_kind kind;
    int64_t tenant_key; /* 0 = none */
    struct slice tenant_id;
    struct slice user_id;    /* of a user, and of the user behind a token */
    struct slice name;       /* "user:ID", "worker:NAME": the actor written into events */
    enum member_role member; /* of the user in the tenant */
    unsigned scopes;
    struct slice id_prefix;  /* only sessions whose id begins so; absent = all */
    struct slice session_id; /* share links, runners and sandboxes: only this session */
    struct slice token_id;
    int share_role;               /* enum access_role of a share link */
    struct credential credential; /* of a ticket: what it was made with */
};

/* Every slice of a principal, for copying: fills `out` (room for PRINCIPAL_STRINGS_MAX), returns how many. */
enum { PRINCIPAL_STRINGS_MAX = 8 };
size_t principal_strings(struct principal *who, struct slice **out);

#endif
