#include "service/identity.h"
#include "service/unit_parts.h"

/* Above this a session's strings are copied together into a fresh arena. */
enum { SESSION_ARENA_BYTES_MAX = 64 * 1024 };

void unit_init(struct unit *unit, const struct service *service, struct db *db)
{
    *unit = (struct unit){.service = service, .db = db};
}

const struct principal server_principal = {.kind = PRINCIPAL_SYSTEM, .name = {"system", 6}};

struct call unit_call(struct unit *unit, struct arena *arena, const struct principal *who)
{
    const struct service *service = unit->service;
    return (struct call){
        .service = service,
        .db = unit->db,
        .unit = unit,
        .arena = arena,
        .who = who,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
}

enum status unit_begin(struct unit *unit, struct failure *failure)
{
    unit->writes = 0;
    unit->work_queued = unit->identity_changed = false;
    unit->earliest_timer_ms = 0;
    return db_begin(unit->db, failure);
}

void unit_touch(struct unit *unit, struct loaded_session *loaded)
{
    unit->writes++;
    if (!loaded->touched) {
        loaded->touched = true;
        loaded->next_touched = unit->touched;
        unit->touched = loaded;
    }
}

enum status unit_save(struct unit *unit, struct loaded_session *loaded, struct failure *failure)
{
    if (loaded->changed == 0) {
        return STATUS_OK;
    }
    enum status status = store_session_update(unit->db, &loaded->session, loaded->changed, loaded->stored_sequence,
                                              loaded->stored_work, failure);
    if (status == STATUS_OK) {
        unit_mark_stored(loaded);
    }
    return status;
}

static enum status save_touched(struct unit *unit, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (struct loaded_session *at = unit->touched; at && status == STATUS_OK; at = at->next_touched) {
        status = unit_save(unit, at, failure);
    }
    return status;
}

enum status unit_flush(struct unit *unit, struct failure *failure)
{
    return save_touched(unit, failure);
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

void unit_rollback(struct unit *unit)
{
    db_rollback(unit->db);
    while (unit->touched) {
        struct loaded_session *loaded = unit->touched;
        unit->touched = loaded->next_touched;
        unit_forget(unit, loaded);
    }
    if (unit->writes > 0) {
        queue_heads_clear(&unit->queue_heads);
    }
    publication_unref(unit->publication);
    unit->publication = NULL;
}

enum status unit_commit(struct unit *unit, struct publication **out_publication, struct failure *failure)
{
    enum status status = save_touched(unit, failure);
    if (status == STATUS_OK) {
        status = db_commit(unit->db, failure);
    }
    if (status != STATUS_OK) {
        unit_rollback(unit);
        return status;
    }
    while (unit->touched) {
        struct loaded_session *loaded = unit->touched;
        unit->touched = loaded->next_touched;
        loaded->touched = false;
        if (loaded->lease_known && !loaded->has_lease) {
            renewals_drop(&unit->renewals, loaded->session.key);
        }
        repack(loaded);
    }
    if (unit->identity_changed) {
        unit->service->identity_epoch->value++;
    }
    *out_publication = unit->publication;
    unit->publication = NULL;
    return STATUS_OK;
}

void unit_wrote(struct unit *unit)
{
    unit->writes++;
}
