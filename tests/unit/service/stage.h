/* What a service without a server stands on: ordinary limits, and a first owner. For tests that run the service in
 * their own thread. */
#ifndef UNIT_SERVICE_STAGE_H
#define UNIT_SERVICE_STAGE_H

#include "service/identity/identity.h"

static inline struct service stage_service(struct clock *clock, struct id_source *ids)
{
    return (struct service){
        .clock = clock,
        .ids = ids,
        .session_limits = {.metadata_bytes_max = 16384,
                           .title_chars_max = 200,
                           .workspace_chars_max = 100,
                           .prompt_chars_max = 100000},
        .events_per_append_max = 100,
        .event_bytes_max = 65536,
        .sessions_per_user_max = 10,
        .participants_max = 10,
        .share_links_max = 10,
        .children_max = 10,
        .prompts_queued_max = 10,
        .lease_ms_default = 30000,
        .lease_ms_min = 1000,
        .lease_ms_max = 600000,
        .claim_max = 64,
        .claim_attempts_max = 3,
        .human_session_ms = 12 * 3600 * 1000,
        .idempotency_keep_ms = 1000,
        .cookie_ms = 1000000,
        .ticket_ms = 30000,
        .link_ms = 1000000,
        .password_chars_min = 12,
        .tokens_per_user_max = 10,
        .delta_bytes_max = 65536,
        .cached_sessions_max = 64,
    };
}

/* Makes the first tenant and its owner in the transaction of the call; `out` lives in `arena`. */
static inline enum status stage_owner(struct call *call, struct arena *arena, struct principal *out)
{
    bool made = false;
    char link[TOKEN_TEXT_BYTES];
    struct principal_cache cache = {0};
    struct slice secret = SLICE("0123456789012345678901234567890123456789");
    enum status status = identity_first_start(call, secret, &made, link);
    if (status == STATUS_OK) {
        status = transaction_flush(call->transaction, &call->failure);
    }
    if (status == STATUS_OK) {
        status = identity_of_token(call, &cache, secret, out);
    }
    if (status == STATUS_OK) {
        out->user_id = arena_copy(arena, out->user_id);
        out->name = arena_copy(arena, out->name);
        out->tenant_id = arena_copy(arena, out->tenant_id);
        out->token_id = arena_copy(arena, out->token_id);
    }
    principal_cache_release(&cache);
    return status;
}

#endif
