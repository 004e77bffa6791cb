#include "fanout/sight.h"

#include <stdlib.h>

#include "base/arena.h"

enum { SIGHT_SLOTS = 256 }; /* a power of two */

/* A decision that lands on another's slot replaces it: it is asked again when needed. */
struct sight_slot {
    int64_t session_key; /* 0 = empty */
    enum sight_verdict verdict;
};

struct sight {
    const struct viewer_rights *rights;
    struct principal who; /* texts live in `arena` */
    struct arena arena;
    struct sight_slot slots[SIGHT_SLOTS];
};

struct sight *sight_new(const struct viewer_rights *rights, const struct principal *who)
{
    struct sight *sight = memory_zeroed(sizeof *sight);
    struct principal *copy = &sight->who;
    sight->rights = rights;
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

enum status sight_decide(struct sight *sight, struct db *db, int64_t session_key, bool *out_allowed,
                         struct failure *failure)
{
    enum sight_verdict known = sight_recall(sight, session_key);
    if (known != SIGHT_UNKNOWN) {
        *out_allowed = known == SIGHT_ALLOWED;
        return STATUS_OK;
    }
    enum status status = sight->rights->may_see(db, &sight->who, session_key, out_allowed, failure);
    if (status == STATUS_OK) {
        sight->slots[slot_of(session_key)] =
            (struct sight_slot){session_key, *out_allowed ? SIGHT_ALLOWED : SIGHT_DENIED};
    }
    return status;
}

/* Its number is never given to another, so what is known of it stays true. */
bool sight_had(const struct sight *sight, int64_t session_key, struct slice audience)
{
    enum sight_verdict known = sight_recall(sight, session_key);
    return known == SIGHT_UNKNOWN ? sight->rights->could_see(&sight->who, session_key, audience)
                                  : known == SIGHT_ALLOWED;
}

bool sight_depends_on(struct slice event_type)
{
    static const char *const prefixes[] = {"session.updated", "session.participant_", "session.share_", NULL};
    for (size_t i = 0; prefixes[i]; i++) {
        if (slice_starts(event_type, slice_of(prefixes[i]))) {
            return true;
        }
    }
    return false;
}
