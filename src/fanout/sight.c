#include "fanout/sight.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"

enum { SIGHT_SLOTS = 256 }; /* a power of two */

/* A decision that lands on another's slot replaces it: it is asked again when needed. */
struct sight_slot {
    int64_t session_key; /* 0 = empty */
    enum sight_verdict verdict;
};

struct sight {
    struct principal who; /* texts live in `arena` */
    struct arena arena;
    struct sight_slot slots[SIGHT_SLOTS];
};

struct sight *sight_new(const struct principal *who)
{
    struct sight *sight = memory_zeroed(sizeof *sight);
    struct principal *copy = &sight->who;
    *copy = *who;
    copy->tenant_id = arena_copy(&sight->arena, who->tenant_id);
    copy->user_id = arena_copy(&sight->arena, who->user_id);
    copy->name = arena_copy(&sight->arena, who->name);
    copy->id_prefix = arena_copy(&sight->arena, who->id_prefix);
    copy->session_id = arena_copy(&sight->arena, who->session_id);
    copy->token_id = arena_copy(&sight->arena, who->token_id);
    return sight;
}

void sight_free(struct sight *sight)
{
    if (sight) {
        arena_release(&sight->arena);
        free(sight);
    }
}

static size_t slot_of(int64_t session_key)
{
    return (size_t)((uint64_t)session_key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (SIGHT_SLOTS - 1);
}

enum sight_verdict sight_recall(const struct sight *sight, int64_t session_key)
{
    const struct sight_slot *slot = &sight->slots[slot_of(session_key)];
    return slot->session_key == session_key ? slot->verdict : SIGHT_UNKNOWN;
}

void sight_forget(struct sight *sight, int64_t session_key)
{
    struct sight_slot *slot = &sight->slots[slot_of(session_key)];
    if (slot->session_key == session_key) {
        *slot = (struct sight_slot){0};
    }
}

void sight_forget_all(struct sight *sight)
{
    memset(sight->slots, 0, sizeof sight->slots);
}

static enum status ask(const struct sight *sight, struct db *db, int64_t session_key, bool *out_allowed,
                       struct failure *failure)
{
    struct arena arena = {0};
    struct session session;
    enum access_role participant = ACCESS_NONE;
    const struct principal *who = &sight->who;
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

enum status sight_decide(struct sight *sight, struct db *db, int64_t session_key, bool *out_allowed,
                         struct failure *failure)
{
    enum sight_verdict known = sight_recall(sight, session_key);
    if (known != SIGHT_UNKNOWN) {
        *out_allowed = known == SIGHT_ALLOWED;
        return STATUS_OK;
    }
    enum status status = ask(sight, db, session_key, out_allowed, failure);
    if (status == STATUS_OK) {
        sight->slots[slot_of(session_key)] =
            (struct sight_slot){session_key, *out_allowed ? SIGHT_ALLOWED : SIGHT_DENIED};
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
bool sight_had(const struct sight *sight, int64_t session_key, struct slice audience)
{
    struct arena arena = {0};
    const struct json *said;
    const struct principal *who = &sight->who;
    enum sight_verdict known = sight_recall(sight, session_key);
    bool had = known == SIGHT_ALLOWED;
    if (known == SIGHT_UNKNOWN && json_parse(&arena, audience, &said, NULL) == STATUS_OK) {
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

bool sight_depends_on(enum event_kind kind)
{
    return event_kind_has(kind, CHANGES_ACCESS);
}
