#include "service/unit.h"

#include "domain/silence.h"

#include <assert.h>
#include <stdlib.h>

#include "service/media.h"
#include "service/run.h"

/* Above this a session's strings are copied together into a fresh arena. */
enum { SESSION_ARENA_BYTES_MAX = 64 * 1024 };

void unit_init(struct unit *unit, struct service *service, struct db *db)
{
    *unit = (struct unit){.service = service, .db = db};
}

const struct principal server_principal = {.kind = PRINCIPAL_SYSTEM, .name = {"system", 6}};

struct call unit_call(struct unit *unit, struct arena *arena, const struct principal *who)
{
    struct service *service = unit->service;
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

/* --- the sessions this writer knows --- */

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
static void know_key(struct unit *unit, struct loaded_session *loaded)
{
    map_put(&unit->by_key, slice_from(&loaded->session.key, sizeof loaded->session.key), loaded);
}

static void forget(struct unit *unit, struct loaded_session *loaded)
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
    while (at && unit->sessions.count >= unit->service->cached_sessions_max) {
        struct loaded_session *newer = at->newer;
        if (!at->touched) {
            forget(unit, at);
        }
        at = newer;
    }
}

void unit_release(struct unit *unit)
{
    while (unit->oldest) {
        forget(unit, unit->oldest);
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

static struct loaded_session *remember(struct unit *unit, int64_t tenant_key, struct slice id)
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

static void mark_stored(struct loaded_session *loaded)
{
    loaded->stored_sequence = loaded->session.last_sequence;
    loaded->stored_work = loaded->session.work;
    loaded->changed = 0;
}

/* A row that was just read becomes the loaded session; `arena` is taken over. */
static struct loaded_session *adopt(struct unit *unit, const struct session *session, struct arena *arena)
{
    struct loaded_session *loaded = remember(unit, session->tenant_key, session->id);
    loaded->session = *session;
    loaded->arena = *arena;
    know_key(unit, loaded);
    mark_stored(loaded);
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
    forget(unit, *out);
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
            forget(unit, at);
            any = true;
        }
        at = older;
    }
    return any;
}

/* --- the group --- */

enum status unit_begin(struct unit *unit, struct failure *failure)
{
    unit->writes = 0;
    unit->work_queued = unit->identity_changed = false;
    unit->earliest_timer_ms = 0;
    return db_begin(unit->db, failure);
}

static void touch(struct unit *unit, struct loaded_session *loaded)
{
    unit->writes++;
    if (!loaded->touched) {
        loaded->touched = true;
        loaded->next_touched = unit->touched;
        unit->touched = loaded;
    }
}

static enum status save(struct unit *unit, struct loaded_session *loaded, struct failure *failure)
{
    if (loaded->changed == 0) {
        return STATUS_OK;
    }
    enum status status = store_session_update(unit->db, &loaded->session, loaded->changed, loaded->stored_sequence,
                                              loaded->stored_work, failure);
    if (status == STATUS_OK) {
        mark_stored(loaded);
    }
    return status;
}

static enum status save_touched(struct unit *unit, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (struct loaded_session *at = unit->touched; at && status == STATUS_OK; at = at->next_touched) {
        status = save(unit, at, failure);
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
        forget(unit, loaded);
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
        unit->service->identity_epoch++;
    }
    *out_publication = unit->publication;
    unit->publication = NULL;
    return STATUS_OK;
}

void unit_wrote(struct unit *unit)
{
    unit->writes++;
}

/* --- what commands do --- */

static void publish(struct unit *unit, const struct publication_entry *entry)
{
    if (!unit->publication) {
        unit->publication = publication_new();
    }
    publication_add(unit->publication, entry);
}

static void publish_event(struct unit *unit, const struct session *session, const struct event *event)
{
    unit->scratch.len = 0;
    event_write(&unit->scratch, session->id, event);
    publish(unit, &(struct publication_entry){
                      .kind = PUBLISH_EVENTS,
                      .tenant_key = session->tenant_key,
                      .session_key = session->key,
                      .session_id = session->id,
                      .sequence = event->sequence,
                      .type = event->type,
                      .thread_id = event->thread_id,
                      .json = buffer_slice(&unit->scratch),
                  });
}

/* The files an event tells of get their rows; what cannot be read of them stays in the log only. */
static enum status keep_files(struct call *call, const struct session *session, const struct event *event)
{
    const struct json *metadata = NULL;
    struct file_change change;
    if (!file_change_is_told_by(event->type) || !slice_present(event->metadata) ||
        json_parse(call->arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    const struct json *files = json_get_value(metadata, "files");
    enum status status = STATUS_OK;
    int room = FILES_PER_EVENT_MAX;
    for (const struct json *file = json_is(files, JSON_ARRAY) ? files->child : NULL;
         file && status == STATUS_OK && room; file = file->next, room--) {
        if (file_change_read(file, &change, NULL) == STATUS_OK) {
            status = store_file_change_put(call->db, session->tenant_key, session->key, &change, event->sequence,
                                           event->at_ms, &call->failure);
        }
    }
    return status;
}

static void apply(struct call *call, struct loaded_session *loaded, struct event *event)
{
    event->sequence = loaded->session.last_sequence + 1;
    event->at_ms = event->at_ms ? event->at_ms : call->now_ms;
    event->actor = slice_present(event->actor) ? event->actor : call->who->name;
    loaded->changed |= session_apply(&loaded->session, event, &loaded->arena);
}

/* After a change of the session, or its creation. */
static void note_queue_place(struct unit *unit, const struct session *session, bool was_claimable)
{
    if (was_claimable) {
        queue_heads_remove(&unit->queue_heads, session->key);
    }
    if (session_is_claimable(session)) {
        queue_heads_add(&unit->queue_heads, session);
    }
}

static enum status settle_media(struct call *call, const struct session *session, struct event *event)
{
    enum status status = media_settle(call, session, &event->content);
    return status == STATUS_OK ? media_settle(call, session, &event->metadata) : status;
}

enum status unit_append(struct call *call, struct loaded_session *loaded, struct event *events, size_t count)
{
    struct unit *unit = call->unit;
    enum work before = loaded->session.work;
    bool held = session_is_held(&loaded->session);
    bool was_claimable = session_is_claimable(&loaded->session);
    touch(unit, loaded);
    for (size_t i = 0; i < count; i++) {
        silence_keep(call->arena, &loaded->session, &events[i]);
        enum status status = settle_media(call, &loaded->session, &events[i]);
        if (status != STATUS_OK) {
            return status;
        }
        apply(call, loaded, &events[i]);
        status =
            store_event_insert(unit->db, loaded->session.tenant_key, loaded->session.key, &events[i], &call->failure);
        if (status == STATUS_OK) {
            status = keep_files(call, &loaded->session, &events[i]);
        }
        if (status != STATUS_OK) {
            return status;
        }
        publish_event(unit, &loaded->session, &events[i]);
    }
    note_queue_place(unit, &loaded->session, was_claimable);
    if (loaded->session.work != before) {
        enum status status = run_keep_up(call, &loaded->session);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if ((loaded->session.work != before || held) && session_is_claimable(&loaded->session)) {
        unit->work_queued = true;
    }
    return STATUS_OK;
}

enum status unit_append_changes(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    return unit_append(call, loaded, changes->events, changes->count);
}

enum status unit_create(struct call *call, int64_t tenant_key, struct slice id, const struct changes *changes,
                        struct loaded_session **out)
{
    struct unit *unit = call->unit;
    struct loaded_session *loaded = remember(unit, tenant_key, id);
    loaded->session = (struct session){.tenant_key = tenant_key, .id = arena_copy(&loaded->arena, id)};
    touch(unit, loaded);
    struct changes own = *changes;
    for (size_t i = 0; i < own.count; i++) {
        apply(call, loaded, &own.events[i]);
    }
    enum status status = store_session_insert(unit->db, &loaded->session, &call->failure);
    for (size_t i = 0; i < own.count && status == STATUS_OK; i++) {
        status = store_event_insert(unit->db, tenant_key, loaded->session.key, &own.events[i], &call->failure);
        publish_event(unit, &loaded->session, &own.events[i]);
    }
    if (status != STATUS_OK) {
        return status;
    }
    know_key(unit, loaded);
    mark_stored(loaded);
    loaded->lease_known = loaded->prompts_known = loaded->asks_known = loaded->children_known = true;
    note_queue_place(unit, &loaded->session, false);
    unit->work_queued |= work_is_claimable(loaded->session.work);
    *out = loaded;
    return run_begin(call, &loaded->session);
}

enum status unit_lease(struct unit *unit, struct loaded_session *loaded, const struct lease **out,
                       struct failure *failure)
{
    bool fresh = db_engine(unit->db) == DB_SQLITE || loaded->lease_known_by == unit->command;
    if (!loaded->lease_known || !fresh) {
        arena_reset(&loaded->lease_arena);
        enum status status = store_lease_get(unit->db, loaded->session.tenant_key, loaded->session.key,
                                             &loaded->lease_arena, &loaded->lease, failure);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            return status;
        }
        loaded->lease_known = true;
        loaded->lease_known_by = unit->command;
        loaded->has_lease = status == STATUS_OK;
        if (loaded->has_lease) {
            renewals_apply(&unit->renewals, &loaded->lease);
        }
    }
    *out = loaded->has_lease ? &loaded->lease : NULL;
    return STATUS_OK;
}

enum status unit_lease_put(struct unit *unit, struct loaded_session *loaded, const struct lease *lease,
                           struct failure *failure)
{
    touch(unit, loaded);
    struct lease copy = *lease;
    struct arena fresh = {0};
    copy.token_hash = arena_copy(&fresh, lease->token_hash);
    copy.worker = arena_copy(&fresh, lease->worker);
    arena_release(&loaded->lease_arena);
    loaded->lease_arena = fresh;
    loaded->lease = copy;
    loaded->lease_known = loaded->has_lease = true;
    loaded->lease_known_by = unit->command;
    return store_lease_put(unit->db, &copy, failure);
}

bool unit_lease_renew(const struct call *call, struct loaded_session *loaded, int64_t expires_at_ms)
{
    struct unit *unit = call->unit;
    if (db_engine(unit->db) != DB_SQLITE || loaded->touched ||
        !renewals_take(&unit->renewals, &loaded->lease, expires_at_ms, call->now_ms, call->steady_ms)) {
        return false;
    }
    loaded->lease.expires_at_ms = expires_at_ms;
    loaded->lease.heartbeat_at_ms = call->now_ms;
    return true;
}

enum status unit_lease_delete(struct unit *unit, struct loaded_session *loaded, struct failure *failure)
{
    touch(unit, loaded);
    loaded->lease_known = true;
    loaded->lease_known_by = unit->command;
    loaded->has_lease = false;
    return store_lease_delete(unit->db, loaded->session.tenant_key, loaded->session.key, failure);
}

enum status unit_timer(struct call *call, const struct loaded_session *loaded, enum timer_kind kind, int64_t due_ms)
{
    struct unit *unit = call->unit;
    bool is_lease = kind == TIMER_LEASE; /* its own row says when it is due */
    unit->writes++;
    if (due_ms == 0) {
        return is_lease ? STATUS_OK : store_timer_delete(unit->db, kind, loaded->session.key, &call->failure);
    }
    if (unit->earliest_timer_ms == 0 || due_ms < unit->earliest_timer_ms) {
        unit->earliest_timer_ms = due_ms;
    }
    if (is_lease) {
        return STATUS_OK;
    }
    struct timer timer = {kind, loaded->session.tenant_key, loaded->session.key, due_ms};
    return store_timer_put(unit->db, &timer, &call->failure);
}

void unit_close_viewers(struct unit *unit, const struct session *session, struct slice reason, struct slice only_user)
{
    publish(unit, &(struct publication_entry){
                      .kind = PUBLISH_CLOSE,
                      .tenant_key = session->tenant_key,
                      .session_key = session->key,
                      .session_id = session->id,
                      .sequence = session->last_sequence,
                      .reason = reason,
                      .only_user = only_user,
                  });
}

void unit_close_streams_of(struct unit *unit, int64_t tenant_key, struct slice holder)
{
    if (slice_present(holder)) {
        publish(unit, &(struct publication_entry){.kind = PUBLISH_CLOSE,
                                                  .tenant_key = tenant_key,
                                                  .reason = SLICE("access_revoked"),
                                                  .only_user = holder});
    }
}

void unit_identity_changed(struct call *call)
{
    struct unit *unit = call->unit;
    if (!unit->identity_changed) {
        unit->identity_changed = true;
        db_touch(unit->db, call->who->tenant_key, IDENTITY_TOUCHED);
        publish(unit, &(struct publication_entry){.kind = PUBLISH_RECHECK});
    }
}

enum status unit_delete(struct call *call, struct loaded_session *loaded)
{
    struct unit *unit = call->unit;
    /* The row must be as the store knows it before it goes, or counts would drift. */
    touch(unit, loaded);
    enum status status = save(unit, loaded, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_delete(unit->db, &loaded->session, call->who->name, call->now_ms, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    queue_heads_remove(&unit->queue_heads, loaded->session.key);
    unit_close_viewers(unit, &loaded->session, SLICE("deleted"), (struct slice){0});
    struct loaded_session **link = &unit->touched;
    while (*link != loaded) {
        link = &(*link)->next_touched;
    }
    *link = loaded->next_touched;
    forget(unit, loaded);
    return STATUS_OK;
}
