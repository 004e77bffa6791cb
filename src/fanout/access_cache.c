#include "fanout/access_cache.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"

enum { ACCESS_CACHE_SLOTS = 256 }; /* a power of two */

/* A decision that lands on another's slot replaces it: it is asked again when needed. */
struct access_cache_slot {
    int64_t session_key; /* 0 = empty */
    enum access_cache_verdict verdict;
};

struct access_cache {
    struct principal who; /* texts live in `arena` */
    struct arena arena;
    struct access_cache_slot slots[ACCESS_CACHE_SLOTS];
};

struct access_cache *access_cache_new(const struct principal *who)
{
    struct access_cache *access_cache = memory_zeroed(sizeof *access_cache);
    struct principal *copy = &access_cache->who;
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

static enum status ask(const struct access_cache *access_cache, struct db *db, int64_t session_key, bool *out_allowed,
                       struct failure *failure)
{
    struct arena arena = {0};
    struct session session;
    enum access_role participant = ACCESS_NONE;
    const struct principal *who = &access_cache->who;
    enum status status = store_session_by_key(db, who->tenant_key, session_key, &arena, &session, failure);
    if (status == STATUS_OK && slice_present(who->user_id)) {
        status = store_participant_role(db, who->tenant_key, session_key, who->user_id, &participant, failure);
    }
    if (status == STATUS_OK) {
        *out_allowed = access_role(who, &session, participant, false) != ACCESS_NONE;
    } else if (status == STATUS_NOT_FOUND) {
        *out_allowed = false;
        status = STATUS_OK;
    }
    arena_release(&arena);
    return status;
}

enum status access_cache_decide(struct access_cache *access_cache, struct db *db, int64_t session_key,
                                bool *out_allowed, struct failure *failure)
{
    enum access_cache_verdict known = access_cache_recall(access_cache, session_key);
    if (known != ACCESS_CACHE_UNKNOWN) {
        *out_allowed = known == ACCESS_CACHE_ALLOWED;
        return STATUS_OK;
    }
    enum status status = ask(access_cache, db, session_key, out_allowed, failure);
    if (status == STATUS_OK) {
        access_cache->slots[slot_of(session_key)] =
            (struct access_cache_slot){session_key, *out_allowed ? ACCESS_CACHE_ALLOWED : ACCESS_CACHE_DENIED};
    }
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

/* Its number is never given to another, so what is known of it stays true. */
bool access_cache_had(const struct access_cache *access_cache, int64_t session_key, struct slice audience)
{
    struct arena arena = {0};
    const struct json *said;
    const struct principal *who = &access_cache->who;
    enum access_cache_verdict known = access_cache_recall(access_cache, session_key);
    bool had = known == ACCESS_CACHE_ALLOWED;
    if (known == ACCESS_CACHE_UNKNOWN && json_parse(&arena, audience, &said, NULL) == STATUS_OK) {
        struct session session = {
            .key = session_key,
            .tenant_key = who->tenant_key,
            .id = json_text_of(said, "id"),
            .owner = json_text_of(said, "owner"),
            .visibility = (enum visibility)json_i64_of(said, "visibility"),
            .purpose = (enum purpose)json_i64_of(said, "purpose"),
        };
        enum access_role participant = took_part(said, who->user_id) ? ACCESS_VIEWER : ACCESS_NONE;
        had = access_role(who, &session, participant, false) != ACCESS_NONE;
    }
    arena_release(&arena);
    return had;
}

bool access_cache_depends_on(enum event_kind kind)
{
    return event_kind_has(kind, CHANGES_ACCESS);
}
