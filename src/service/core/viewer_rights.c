#include "service/core/viewer_rights.h"

#include "domain/access.h"

/* --- a session among those of a tenant --- */

static enum status may_see(struct db *db, const struct principal *who, int64_t session_key, bool *out_may,
                           struct failure *failure)
{
    struct arena arena = {0};
    struct session session;
    enum access_role participant = ACCESS_NONE;
    enum status status = store_session_by_key(db, who->tenant_key, session_key, &arena, &session, failure);
    if (status == STATUS_OK && slice_present(who->user_id)) {
        status = store_participant_role(db, who->tenant_key, session_key, who->user_id, &participant, failure);
    }
    if (status == STATUS_OK) {
        *out_may = access_role(who, &session, participant, false) != ACCESS_NONE;
    } else if (status == STATUS_NOT_FOUND) {
        *out_may = false;
        status = STATUS_OK;
    }
    arena_release(&arena);
    return status;
}

static bool took_part(const struct json *audience, struct slice user_id)
{
    const struct json *participants = json_get(audience, "participants");
    for (const struct json *one = participants ? participants->child : NULL; one; one = one->next) {
        struct slice id;
        if (json_as_text(one, &id) && slice_present(user_id) && slice_eq(id, user_id)) {
            return true;
        }
    }
    return false;
}

static bool could_see(const struct principal *who, int64_t session_key, struct slice audience)
{
    struct arena arena = {0};
    const struct json *known;
    bool could = false;
    if (json_parse(&arena, audience, &known, NULL) == STATUS_OK) {
        struct session session = {
            .key = session_key,
            .tenant_key = who->tenant_key,
            .id = json_text_of(known, "id"),
            .owner = json_text_of(known, "owner"),
            .visibility = (enum visibility)json_i64_of(known, "visibility"),
            .purpose = (enum purpose)json_i64_of(known, "purpose"),
        };
        enum access_role participant = took_part(known, who->user_id) ? ACCESS_VIEWER : ACCESS_NONE;
        could = access_role(who, &session, participant, false) != ACCESS_NONE;
    }
    arena_release(&arena);
    return could;
}

/* --- the credential of a viewer --- */

static enum status credential_is_revoked(struct db *db, const struct credential *credential, bool *out_revoked,
                                         struct failure *failure)
{
    struct arena arena = {0};
    struct slice hash = hash_slice(&credential->hash);
    struct token token = {0};
    struct grant grant = {0};
    struct share_link link = {.active = true};
    enum status status = STATUS_OK;
    switch (credential->kind) {
    case CREDENTIAL_NONE:
        break;
    case CREDENTIAL_TOKEN:
        status = store_token_by_hash(db, hash, &arena, &token, failure);
        break;
    case CREDENTIAL_COOKIE:
        status = store_grant_by_hash(db, GRANT_COOKIE, hash, &arena, &grant, failure);
        break;
    case CREDENTIAL_SHARE_LINK:
        status = store_share_by_hash(db, hash, &arena, &link, failure);
        break;
    }
    *out_revoked = status == STATUS_NOT_FOUND || (status == STATUS_OK && (token.revoked_at_ms != 0 || !link.active));
    arena_release(&arena);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status is_revoked(struct db *db, const struct viewer_credential *shown, bool *out_revoked,
                              struct failure *failure)
{
    enum member_role member = MEMBER_NONE;
    enum status status = credential_is_revoked(db, &shown->credential, out_revoked, failure);
    if (status != STATUS_OK || *out_revoked || shown->member == MEMBER_NONE) {
        return status;
    }
    status = store_membership_get(db, shown->tenant_key, shown->user_id, &member, failure);
    *out_revoked = status == STATUS_OK && member != shown->member;
    return status;
}

const struct viewer_rights service_viewer_rights = {may_see, could_see, is_revoked};
