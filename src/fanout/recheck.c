#include "fanout/recheck.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "fanout/hub.h"
#include "fanout/viewer.h"

/* What several viewers may share. */
struct shown {
    struct shown_key {
        struct hash hash;
        int64_t tenant_key;
        uint8_t kind, member;
    } key;
    struct slice user_id;
    bool is_revoked;
};

struct recheck {
    struct lookup lookup;
    struct arena arena;
    struct map shown; /* by key */
};

static struct shown_key key_of(const struct viewer *viewer)
{
    struct shown_key key;
    memset(&key, 0, sizeof key); /* its bytes are compared */
    key.hash = viewer->credential_hash;
    key.tenant_key = viewer->feed->key[0];
    key.kind = viewer->credential_kind;
    key.member = viewer->member;
    return key;
}

/* --- reader thread --- */

static enum status ask(const struct viewer_rights *rights, struct db *db, struct shown *shown, struct failure *failure)
{
    struct viewer_credential credential = {
        .tenant_key = shown->key.tenant_key,
        .credential = {.kind = (enum credential_kind)shown->key.kind, .hash = shown->key.hash},
        .member = (enum member_role)shown->key.member,
        .user_id = shown->user_id,
    };
    return rights->is_revoked(db, &credential, &shown->is_revoked, failure);
}

static void recheck_ask(struct lookup *lookup, struct db *db)
{
    struct recheck *recheck = (struct recheck *)lookup;
    struct failure failure = {0};
    enum status status = STATUS_OK;
    size_t cursor = 0;
    for (struct shown *shown; status == STATUS_OK && (shown = map_next(&recheck->shown, &cursor));) {
        status = ask(lookup->hub->fanout->options.rights, db, shown, &failure);
    }
    if (status != STATUS_OK) {
        log_error("credentials of streams not read", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
}

/* --- hub thread --- */

static bool is_revoked(void *owner, const struct viewer *viewer)
{
    const struct recheck *recheck = owner;
    struct shown_key key = key_of(viewer);
    const struct shown *shown = map_get(&recheck->shown, slice_from(&key, sizeof key));
    return shown && shown->is_revoked;
}

static void on_rechecked(struct lookup *lookup)
{
    struct recheck *recheck = (struct recheck *)lookup;
    struct hub *hub = lookup->hub;
    hub->recheck = NULL;
    if (!atomic_load(&lookup->abandoned)) {
        hub_close_where(hub, is_revoked, recheck, SLICE("access_revoked"));
    }
    map_release(&recheck->shown);
    arena_release(&recheck->arena);
    free(recheck);
    if (hub->recheck_again && !hub->closing) {
        recheck_start(hub);
    }
}

static void gather(struct recheck *recheck, const struct viewer *viewer)
{
    struct shown_key key = key_of(viewer);
    if (key.kind == CREDENTIAL_NONE || map_get(&recheck->shown, slice_from(&key, sizeof key))) {
        return;
    }
    struct shown *shown = arena_alloc(&recheck->arena, sizeof *shown);
    *shown = (struct shown){.user_id = arena_copy(&recheck->arena, slice_from(viewer->user_id, viewer->user_id_len))};
    memcpy(&shown->key, &key, sizeof key);
    map_put(&recheck->shown, slice_from(&shown->key, sizeof shown->key), shown);
}

void recheck_start(struct hub *hub)
{
    assert(loop_is_mine(hub->loop));
    hub->recheck_again = hub->recheck != NULL;
    if (hub->recheck || hub->closing) {
        return;
    }
    struct recheck *recheck = memory_zeroed(sizeof *recheck);
    size_t cursor = 0;
    for (struct feed *feed; (feed = map_next(&hub->feeds, &cursor));) {
        for (const struct viewer *viewer = feed->viewers; viewer; viewer = viewer->next) {
            gather(recheck, viewer);
        }
    }
    recheck->lookup.ask = recheck_ask;
    recheck->lookup.done = on_rechecked;
    hub->recheck = recheck;
    lookup_start(&recheck->lookup, hub);
}
