#include "domain/principal.h"

static const char *const principal_kind_names[PRINCIPAL_COUNT] = {
    [PRINCIPAL_ANONYMOUS] = "anonymous",   [PRINCIPAL_USER] = "user",       [PRINCIPAL_WORKER] = "worker",
    [PRINCIPAL_RUNNER] = "runner",         [PRINCIPAL_SANDBOX] = "sandbox", [PRINCIPAL_CHANNEL] = "channel",
    [PRINCIPAL_SHARE_LINK] = "share_link", [PRINCIPAL_SYSTEM] = "system",
};
const struct enum_names principal_kind_enum = {principal_kind_names, PRINCIPAL_COUNT};

static const char *const member_role_names[MEMBER_COUNT] = {
    [MEMBER_NONE] = "none",
    [MEMBER_MEMBER] = "member",
    [MEMBER_ADMIN] = "admin",
    [MEMBER_OWNER] = "owner",
};
const struct enum_names member_role_enum = {member_role_names, MEMBER_COUNT};

static const char *const scope_names[] = {"read", "write", "claim", "admin"};
const struct enum_names scope_enum = {scope_names, 4};

size_t principal_strings(struct principal *who, struct slice **out)
{
    struct slice *all[] = {&who->tenant_id, &who->user_id,    &who->name,
                           &who->id_prefix, &who->session_id, &who->token_id};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        out[i] = all[i];
    }
    return sizeof all / sizeof *all;
}
