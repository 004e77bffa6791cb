#include <assert.h>
#include <stdlib.h>

#include "service/unit_parts.h"

static void unlink_used(struct unit *unit, struct loaded_session *loaded)
{
    *(loaded->newer ? &loaded->newer->older : &unit->newest) = loaded->older;
    *(loaded->older ? &loaded->older->newer : &unit->oldest) = loaded->newer;
    loaded->newer = loaded->older = NULL;
}

static void link_newest(struct unit *unit, struct loaded_session *loaded)
{
    loaded->older = unit->newest;
    *(unit->newest ? &unit->newest->newer : &unit->oldest) = loaded;
    unit->newest = loaded;
}

/* The key is known once the row exists. */
void unit_know_key(struct unit *unit, struct loaded_session *loaded)
{
    map_put(&unit->by_key, slice_from(&loaded->session.key, sizeof loaded->session.key), loaded);
}

void unit_forget(struct unit *unit, struct loaded_session *loaded)
{
    map_remove(&unit->sessions, loaded->map_key);
    if (loaded->session.key != 0) {
        map_remove(&unit->by_key, slice_from(&loaded->session.key, sizeof loaded->session.key));
    }
    unlink_used(unit, loaded);
    arena_release(&loaded->arena);
    arena_release(&loaded->lease_arena);
    free((char *)loaded->map_key.ptr);
    free(loaded);
}

static void forget_oldest(struct unit *unit)
{
    struct loaded_session *at = unit->oldest;
    while (at && unit->sessions.count >= unit->service->limits.sessions.cached_max) {
        struct loaded_session *newer = at->newer;
        if (!at->touched) {
            unit_forget(unit, at);
        }
        at = newer;
    }
}

void unit_release(struct unit *unit)
{
    while (unit->oldest) {
        unit_forget(unit, unit->oldest);
    }
    map_release(&unit->sessions);
    map_release(&unit->by_key);
    buffer_release(&unit->scratch);
    renewals_release(&unit->renewals);
    queue_heads_clear(&unit->queue_heads);
    publication_unref(unit->publication);
}

enum { MAP_KEY_BYTES = sizeof(int64_t) + SESSION_ID_BYTES_MAX };

/* The tenant's key, then the id, which is valid. */
static struct slice map_key_of(char bytes[MAP_KEY_BYTES], int64_t tenant_key, struct slice id)
{
    assert(id.len <= SESSION_ID_BYTES_MAX);
    memcpy(bytes, &tenant_key, sizeof tenant_key);
    memcpy(bytes + sizeof tenant_key, id.ptr, id.len);
    return slice_from(bytes, sizeof tenant_key + id.len);
}

struct loaded_session *unit_remember(struct unit *unit, int64_t tenant_key, struct slice id)
{
    char bytes[MAP_KEY_BYTES];
    struct slice key = map_key_of(bytes, tenant_key, id);
    forget_oldest(unit);
    struct loaded_session *loaded = memory_zeroed(sizeof *loaded);
    char *copy = memory_alloc(key.len);
    memcpy(copy, key.ptr, key.len);
    loaded->map_key = slice_from(copy, key.len);
    loaded->loaded_by = loaded->used_by = unit->command;
    map_put(&unit->sessions, loaded->map_key, loaded);
    link_newest(unit, loaded);
    return loaded;
}

static struct loaded_session *find(struct unit *unit, int64_t tenant_key, struct slice id)
{
    char bytes[MAP_KEY_BYTES];
    struct loaded_session *loaded = map_get(&unit->sessions, map_key_of(bytes, tenant_key, id));
    if (loaded && loaded != unit->newest) {
        unlink_used(unit, loaded);
        link_newest(unit, loaded);
    }
    if (loaded) {
        loaded->used_by = unit->command;
    }
    return loaded;
}

void unit_mark_stored(struct loaded_session *loaded)
{
    loaded->stored_sequence = loaded->session.last_sequence;
    loaded->stored_work = loaded->session.work;
    loaded->changed = 0;
}

/* A row that was just read becomes the loaded session; `arena` is taken over. */
static struct loaded_session *adopt(struct unit *unit, const struct session *session, struct arena *arena)
{
    struct loaded_session *loaded = unit_remember(unit, session->tenant_key, session->id);
    loaded->session = *session;
    loaded->arena = *arena;
    unit_know_key(unit, loaded);
    unit_mark_stored(loaded);
    return loaded;
}

enum status unit_load(struct unit *unit, int64_t tenant_key, struct slice id, struct loaded_session **out,
                      struct failure *failure)
{
    if (!session_id_is_valid(id)) {
        return STATUS_NOT_FOUND;
    }
    *out = find(unit, tenant_key, id);
    if (*out) {
        return STATUS_OK;
    }
    struct arena arena = {0};
    struct session session = {0};
    enum status status = store_session_by_id(unit->db, tenant_key, id, &arena, &session, failure);
    if (status != STATUS_OK) {
        arena_release(&arena);
        return status;
    }
    *out = adopt(unit, &session, &arena);
    return STATUS_OK;
}

enum status unit_load_key(struct unit *unit, int64_t tenant_key, int64_t key, struct loaded_session **out,
                          struct failure *failure)
{
    *out = map_get(&unit->by_key, slice_from(&key, sizeof key));
    if (*out) {
        (*out)->used_by = unit->command;
        return (*out)->session.tenant_key == tenant_key ? STATUS_OK : STATUS_NOT_FOUND;
    }
    struct arena arena = {0};
    struct session session = {0};
    enum status status = store_session_by_key(unit->db, tenant_key, key, &arena, &session, failure);
    if (status != STATUS_OK) {
        arena_release(&arena);
        return status;
    }
    *out = adopt(unit, &session, &arena);
    return STATUS_OK;
}

enum status unit_load_fresh(struct unit *unit, int64_t tenant_key, int64_t key, struct loaded_session **out,
                            struct failure *failure)
{
    enum status status = unit_load_key(unit, tenant_key, key, out, failure);
    bool remembered = status == STATUS_OK && (*out)->loaded_by != unit->command && !(*out)->touched;
    if (!remembered || db_engine(unit->db) != DB_POSTGRES) {
        return status;
    }
    unit_forget(unit, *out);
    return unit_load_key(unit, tenant_key, key, out, failure);
}

void unit_start_command(struct unit *unit)
{
    unit->command++;
}

bool unit_forget_remembered(struct unit *unit)
{
    bool any = false;
    struct loaded_session *at = db_engine(unit->db) == DB_POSTGRES ? unit->newest : NULL;
    while (at) {
        struct loaded_session *older = at->older;
        if (at->used_by == unit->command && at->loaded_by != unit->command && !at->touched) {
            unit_forget(unit, at);
            any = true;
        }
        at = older;
    }
    return any;
}
