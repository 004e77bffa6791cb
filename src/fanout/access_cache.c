#include "fanout/access_cache.h"

#include <stdlib.h>

#include "base/arena.h"

enum { ACCESS_CACHE_SLOTS = 256 }; /* a power of two */

/* A decision that lands on another's slot replaces it: it is asked again when needed. */
struct access_cache_slot {
    int64_t session_key; /* 0 = empty */
    enum access_cache_verdict verdict;
};

struct access_cache {
    const struct viewer_rights *rights;
    struct principal who; /* texts live in `arena` */
    struct arena arena;
    struct access_cache_slot slots[ACCESS_CACHE_SLOTS];
};

struct access_cache *access_cache_new(const struct viewer_rights *rights, const struct principal *who)
{
    struct access_cache *access_cache = memory_zeroed(sizeof *access_cache);
    struct principal *copy = &access_cache->who;
    access_cache->rights = rights;
    *copy = *who;
    copy->tenant_id = arena_copy(&access_cache->arena, who->tenant_id);
    copy->user_id = arena_copy(&access_cache->arena, who->user_id);
    copy->name = arena_copy(&access_cache->arena, who->name);
    copy->id_prefix = arena_copy(&access_cache->arena, who->id_prefix);
    copy->session_id = arena_copy(&access_cache->arena, who->session_id);
    copy->token_id = arena_copy(&access_cache->arena, who->token_id);
    return access_cache;
}

void access_cache_free(struct access_cache *access_cache)
{
    if (access_cache) {
        arena_release(&access_cache->arena);
        free(access_cache);
    }
}

static size_t slot_of(int64_t session_key)
{
    return (size_t)((uint64_t)session_key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (ACCESS_CACHE_SLOTS - 1);
}

enum access_cache_verdict access_cache_recall(const struct access_cache *access_cache, int64_t session_key)
{
    const struct access_cache_slot *slot = &access_cache->slots[slot_of(session_key)];
    return slot->session_key == session_key ? slot->verdict : ACCESS_CACHE_UNKNOWN;
}

void access_cache_forget(struct access_cache *access_cache, int64_t session_key)
{
    struct access_cache_slot *slot = &access_cache->slots[slot_of(session_key)];
    if (slot->session_key == session_key) {
        *slot = (struct access_cache_slot){0};
    }
}

void access_cache_forget_all(struct access_cache *access_cache)
{
    memset(access_cache->slots, 0, sizeof access_cache->slots);
}

enum status access_cache_decide(struct access_cache *access_cache, struct db *db, int64_t session_key,
                                bool *out_allowed, struct failure *failure)
{
    enum access_cache_verdict known = access_cache_recall(access_cache, session_key);
    if (known != ACCESS_CACHE_UNKNOWN) {
        *out_allowed = known == ACCESS_CACHE_ALLOWED;
        return STATUS_OK;
    }
    enum status status = access_cache->rights->may_see(db, &access_cache->who, session_key, out_allowed, failure);
    if (status == STATUS_OK) {
        access_cache->slots[slot_of(session_key)] =
            (struct access_cache_slot){session_key, *out_allowed ? ACCESS_CACHE_ALLOWED : ACCESS_CACHE_DENIED};
    }
    return status;
}

/* Its number is never given to another, so what is known of it stays true. */
bool access_cache_had(const struct access_cache *access_cache, int64_t session_key, struct slice audience)
{
    enum access_cache_verdict known = access_cache_recall(access_cache, session_key);
    return known == ACCESS_CACHE_UNKNOWN ? access_cache->rights->could_see(&access_cache->who, session_key, audience)
                                         : known == ACCESS_CACHE_ALLOWED;
}

bool access_cache_depends_on(enum event_kind kind)
{
    return event_kind_has(kind, CHANGES_ACCESS);
}
