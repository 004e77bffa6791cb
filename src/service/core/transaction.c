#include <assert.h>

#include "service/identity/identity.h"
#include "service/core/transaction_internal.h"

/* Above this a session's strings are copied together into a fresh arena. */
enum { SESSION_ARENA_BYTES_MAX = 64 * 1024 };

void transaction_init(struct transaction *transaction, const struct service *service, struct db *db)
{
    *transaction = (struct transaction){.service = service, .db = db};
}

const struct principal server_principal = {.kind = PRINCIPAL_SYSTEM, .name = {"system", 6}};

struct call transaction_call(struct transaction *transaction, struct arena *arena, const struct principal *who)
{
    const struct service *service = transaction->service;
    return (struct call){
        .service = service,
        .db = transaction->db,
        .transaction = transaction,
        .arena = arena,
        .who = who,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
}

enum status transaction_begin(struct transaction *transaction, struct failure *failure)
{
    assert(!transaction->is_open && !transaction->touched && !transaction->publication);
    transaction->touches = transaction->saves = 0;
    transaction->work_queued = transaction->identity_changed = false;
    transaction->earliest_timer_ms = 0;
    enum status status = db_begin(transaction->db, failure);
    transaction->is_open = status == STATUS_OK;
    transaction->begun_by = pthread_self();
    return status;
}

bool transaction_is_open(const struct transaction *transaction)
{
    return transaction->is_open && pthread_equal(transaction->begun_by, pthread_self());
}

void transaction_touch(struct transaction *transaction, struct loaded_session *loaded)
{
    assert(transaction_is_open(transaction));
    transaction->touches++;
    if (!loaded->touched) {
        loaded->touched = true;
        loaded->next_touched = transaction->touched;
        transaction->touched = loaded;
    }
}

enum status transaction_save(struct transaction *transaction, struct loaded_session *loaded, struct failure *failure)
{
    if (loaded->changed == 0) {
        return STATUS_OK;
    }
    assert(transaction_is_open(transaction) && loaded->touched);
    assert(loaded->session.last_sequence >= loaded->stored_sequence);
    int64_t writes_before = db_writes(transaction->db);
    enum status status = store_session_update(transaction->db, &loaded->session, loaded->changed,
                                              loaded->stored_sequence, loaded->stored_work, failure);
    transaction->saves += db_writes(transaction->db) - writes_before;
    if (status == STATUS_OK) {
        transaction_mark_stored(loaded);
    }
    return status;
}

static enum status save_touched(struct transaction *transaction, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (struct loaded_session *at = transaction->touched; at && status == STATUS_OK; at = at->next_touched) {
        status = transaction_save(transaction, at, failure);
    }
    return status;
}

enum status transaction_flush(struct transaction *transaction, struct failure *failure)
{
    return save_touched(transaction, failure);
}

static void repack(struct loaded_session *loaded)
{
    if (loaded->arena.used_bytes <= SESSION_ARENA_BYTES_MAX) {
        return;
    }
    struct arena fresh = {0};
    struct session copy;
    session_copy(&copy, &loaded->session, &fresh);
    arena_release(&loaded->arena);
    loaded->arena = fresh;
    loaded->session = copy;
}

void transaction_rollback(struct transaction *transaction)
{
    assert(!transaction->is_open || transaction_is_open(transaction));
    transaction->is_open = false;
    db_rollback(transaction->db);
    while (transaction->touched) {
        struct loaded_session *loaded = transaction->touched;
        transaction->touched = loaded->next_touched;
        transaction_forget(transaction, loaded);
    }
    if (transaction_writes(transaction) > 0) {
        queue_heads_clear(&transaction->queue_heads);
    }
    publication_unref(transaction->publication);
    transaction->publication = NULL;
}

enum status transaction_commit(struct transaction *transaction, struct publication **out_publication,
                               struct failure *failure)
{
    assert(transaction_is_open(transaction));
    enum status status = save_touched(transaction, failure);
    if (status == STATUS_OK) {
        status = db_commit(transaction->db, failure);
    }
    if (status != STATUS_OK) {
        transaction_rollback(transaction);
        return status;
    }
    transaction->is_open = false;
    while (transaction->touched) {
        struct loaded_session *loaded = transaction->touched;
        assert(loaded->changed == 0 && loaded->stored_sequence == loaded->session.last_sequence);
        transaction->touched = loaded->next_touched;
        loaded->touched = false;
        if (loaded->lease_known && !loaded->has_lease) {
            renewals_drop(&transaction->renewals, loaded->session.key);
        }
        repack(loaded);
    }
    if (transaction->identity_changed) {
        transaction->service->identity_epoch->value++;
    }
    *out_publication = transaction->publication;
    transaction->publication = NULL;
    return STATUS_OK;
}

int64_t transaction_writes(const struct transaction *transaction)
{
    return transaction->touches + db_writes(transaction->db) - transaction->saves;
}
