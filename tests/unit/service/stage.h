/* What a service without a server stands on: ordinary limits, and a first owner. For tests that run the service in
 * their own thread. */
#ifndef UNIT_SERVICE_STAGE_H
#define UNIT_SERVICE_STAGE_H

#include "service/identity/identity.h"
#include "service/core/watchdog.h"

static inline struct service stage_service(struct clock *clock, struct id_source *ids)
{
    static struct identity_epoch epoch;
    static struct watchdog_record record;
    return (struct service){
        .clock = clock,
        .ids = ids,
        .identity_epoch = &epoch,
        .watchdog_record = &record,
        .limits.session = {.metadata_bytes_max = 16384,
                           .title_chars_max = 200,
                           .workspace_chars_max = 100,
                           .prompt_chars_max = 100000},
        .limits.event.per_append_max = 100,
        .limits.event.bytes_max = 65536,
        .limits.sessions.per_user_max = 10,
        .limits.people.participants_max = 10,
        .limits.people.share_links_max = 10,
        .limits.sessions.children_max = 10,
        .limits.prompt.queued_max = 10,
        .limits.claim.lease_ms_default = 30000,
        .limits.claim.lease_ms_min = 1000,
        .limits.claim.lease_ms_max = 600000,
        .limits.claim.max = 64,
        .limits.claim.attempts_max = 3,
        .limits.sessions.human_ms = 12 * 3600 * 1000,
        .limits.retention.idempotency_ms = 1000,
        .limits.identity.cookie_ms = 1000000,
        .limits.identity.ticket_ms = 30000,
        .limits.identity.link_ms = 1000000,
        .limits.identity.password_chars_min = 12,
        .limits.identity.tokens_per_user_max = 10,
        .limits.event.delta_bytes_max = 65536,
        .limits.sessions.cached_max = 64,
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
