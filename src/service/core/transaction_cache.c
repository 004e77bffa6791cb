#include <assert.h>
#include <stdlib.h>

#include "service/core/transaction_internal.h"

static void unlink_used(struct transaction *transaction, struct loaded_session *loaded)
{
    *(loaded->newer ? &loaded->newer->older : &transaction->newest) = loaded->older;
    *(loaded->older ? &loaded->older->newer : &transaction->oldest) = loaded->newer;
    loaded->newer = loaded->older = NULL;
}

static void link_newest(struct transaction *transaction, struct loaded_session *loaded)
{
    loaded->older = transaction->newest;
    *(transaction->newest ? &transaction->newest->newer : &transaction->oldest) = loaded;
    transaction->newest = loaded;
}

/* The key is known once the row exists. */
void transaction_know_key(struct transaction *transaction, struct loaded_session *loaded)
{
    map_put(&transaction->by_key, slice_from(&loaded->session.key, sizeof loaded->session.key), loaded);
}

void transaction_forget(struct transaction *transaction, struct loaded_session *loaded)
{
    map_remove(&transaction->sessions, loaded->map_key);
    if (loaded->session.key != 0) {
        map_remove(&transaction->by_key, slice_from(&loaded->session.key, sizeof loaded->session.key));
    }
    unlink_used(transaction, loaded);
    arena_release(&loaded->arena);
    arena_release(&loaded->lease_arena);
    free((char *)loaded->map_key.ptr);
    free(loaded);
}

static void forget_oldest(struct transaction *transaction)
{
    struct loaded_session *at = transaction->oldest;
    while (at && transaction->sessions.count >= transaction->service->limits.sessions.cached_max) {
        struct loaded_session *newer = at->newer;
        if (!at->touched) {
            transaction_forget(transaction, at);
        }
        at = newer;
    }
}

void transaction_release(struct transaction *transaction)
{
    while (transaction->oldest) {
        transaction_forget(transaction, transaction->oldest);
    }
    map_release(&transaction->sessions);
    map_release(&transaction->by_key);
    buffer_release(&transaction->scratch);
    renewals_release(&transaction->renewals);
    queue_heads_clear(&transaction->queue_heads);
    publication_unref(transaction->publication);
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

struct loaded_session *transaction_remember(struct transaction *transaction, int64_t tenant_key, struct slice id)
{
    char bytes[MAP_KEY_BYTES];
    struct slice key = map_key_of(bytes, tenant_key, id);
    forget_oldest(transaction);
    struct loaded_session *loaded = memory_zeroed(sizeof *loaded);
    char *copy = memory_alloc(key.len);
    memcpy(copy, key.ptr, key.len);
    loaded->map_key = slice_from(copy, key.len);
    loaded->loaded_by = loaded->used_by = transaction->command;
    map_put(&transaction->sessions, loaded->map_key, loaded);
    link_newest(transaction, loaded);
    return loaded;
}

static struct loaded_session *find(struct transaction *transaction, int64_t tenant_key, struct slice id)
{
    char bytes[MAP_KEY_BYTES];
    struct loaded_session *loaded = map_get(&transaction->sessions, map_key_of(bytes, tenant_key, id));
    if (loaded && loaded != transaction->newest) {
        unlink_used(transaction, loaded);
        link_newest(transaction, loaded);
    }
    if (loaded) {
        loaded->used_by = transaction->command;
    }
    return loaded;
}

void transaction_mark_stored(struct loaded_session *loaded)
{
    loaded->stored_sequence = loaded->session.last_sequence;
    loaded->stored_work = loaded->session.status;
    loaded->changed = 0;
}

/* A row that was just read becomes the loaded session; `arena` is taken over. */
static struct loaded_session *adopt(struct transaction *transaction, const struct session *session, struct arena *arena)
{
    struct loaded_session *loaded = transaction_remember(transaction, session->tenant_key, session->id);
    loaded->session = *session;
    loaded->arena = *arena;
    transaction_know_key(transaction, loaded);
    transaction_mark_stored(loaded);
    return loaded;
}

enum status transaction_load(struct transaction *transaction, int64_t tenant_key, struct slice id,
                             struct loaded_session **out, struct failure *failure)
{
    assert(transaction_is_open(transaction));
    if (!session_id_is_valid(id)) {
        return STATUS_NOT_FOUND;
    }
    *out = find(transaction, tenant_key, id);
    if (*out) {
        return STATUS_OK;
    }
    struct arena arena = {0};
    struct session session = {0};
    enum status status = store_session_by_id(transaction->db, tenant_key, id, &arena, &session, failure);
    if (status != STATUS_OK) {
        arena_release(&arena);
        return status;
    }
    *out = adopt(transaction, &session, &arena);
    return STATUS_OK;
}

enum status transaction_load_key(struct transaction *transaction, int64_t tenant_key, int64_t key,
                                 struct loaded_session **out, struct failure *failure)
{
    assert(transaction_is_open(transaction));
    *out = map_get(&transaction->by_key, slice_from(&key, sizeof key));
    if (*out) {
        (*out)->used_by = transaction->command;
        return (*out)->session.tenant_key == tenant_key ? STATUS_OK : STATUS_NOT_FOUND;
    }
    struct arena arena = {0};
    struct session session = {0};
    enum status status = store_session_by_key(transaction->db, tenant_key, key, &arena, &session, failure);
    if (status != STATUS_OK) {
        arena_release(&arena);
        return status;
    }
    *out = adopt(transaction, &session, &arena);
    return STATUS_OK;
}

enum status transaction_load_fresh(struct transaction *transaction, int64_t tenant_key, int64_t key,
                                   struct loaded_session **out, struct failure *failure)
{
    assert(transaction_is_open(transaction));
    enum status status = transaction_load_key(transaction, tenant_key, key, out, failure);
    bool remembered = status == STATUS_OK && (*out)->loaded_by != transaction->command && !(*out)->touched;
    if (!remembered || !db_has_other_writers(transaction->db)) {
        return status;
    }
    transaction_forget(transaction, *out);
    return transaction_load_key(transaction, tenant_key, key, out, failure);
}

void transaction_start_command(struct transaction *transaction)
{
    transaction->command++;
}

bool transaction_forget_remembered(struct transaction *transaction)
{
    bool any = false;
    struct loaded_session *at = db_has_other_writers(transaction->db) ? transaction->newest : NULL;
    while (at) {
        struct loaded_session *older = at->older;
        if (at->used_by == transaction->command && at->loaded_by != transaction->command && !at->touched) {
            transaction_forget(transaction, at);
            any = true;
        }
        at = older;
    }
    return any;
}
