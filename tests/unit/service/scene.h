/* A service on an engine of its own, with a clock that only the test moves, and an engine whose k-th call can fail. */
#ifndef UNIT_SERVICE_SCENE_H
#define UNIT_SERVICE_SCENE_H

#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>

#include "../unit.h"
#include "service/work/claim.h"
#include "service/session/event.h"
#include "service/session/people.h"
#include "service/prompt/prompt.h"
#include "service/turn/turn.h"
#include "service/session/session.h"
#include "service/core/timer.h"
#include "stage.h"
#include "store/engine.h"

/* --- the engine that fails --- */

static struct {
    const struct db_vtable *real;
    struct db_vtable vtable;
    int64_t calls;   /* so far */
    int64_t fail_at; /* 0 = never */
    bool happened;
} faults;

static bool fails(struct failure *failure)
{
    faults.calls++;
    if (faults.fail_at == 0 || faults.calls != faults.fail_at) {
        return false;
    }
    faults.happened = true;
    (void)failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "The engine was told to fail.");
    return true;
}

static enum status faulty_begin(struct db *db, struct failure *failure)
{
    return fails(failure) ? STATUS_UNAVAILABLE : faults.real->begin(db, failure);
}

static enum status faulty_commit(struct db *db, struct failure *failure)
{
    if (fails(failure)) {
        faults.real->rollback(db);
        return STATUS_UNAVAILABLE;
    }
    return faults.real->commit(db, failure);
}

static enum status faulty_run(struct query *query, int64_t *out_changed, struct failure *failure)
{
    return fails(failure) ? STATUS_UNAVAILABLE : faults.real->run(query, out_changed, failure);
}

static enum status faulty_run_guarded(struct query *query, struct failure *failure)
{
    return fails(failure) ? STATUS_UNAVAILABLE : faults.real->run_guarded(query, failure);
}

static enum status faulty_step(struct query *query, bool *out_row, struct failure *failure)
{
    return fails(failure) ? STATUS_UNAVAILABLE : faults.real->step(query, out_row, failure);
}

static enum status faulty_event_insert(struct db *db, int64_t tenant_key, int64_t session_key,
                                       const struct event *event, struct failure *failure)
{
    return fails(failure) ? STATUS_UNAVAILABLE : faults.real->event_insert(db, tenant_key, session_key, event, failure);
}

static enum status faulty_session_touch(struct db *db, const struct session *session, int64_t old_sequence,
                                        struct failure *failure)
{
    return fails(failure) ? STATUS_UNAVAILABLE : faults.real->session_touch(db, session, old_sequence, failure);
}

static inline void faults_install(struct db *db)
{
    faults.real = db->vtable;
    faults.vtable = *db->vtable;
    faults.vtable.begin = faulty_begin;
    faults.vtable.commit = faulty_commit;
    faults.vtable.run = faulty_run;
    faults.vtable.run_guarded = faulty_run_guarded;
    faults.vtable.step = faulty_step;
    faults.vtable.event_insert = faulty_event_insert;
    if (db->vtable->session_touch) {
        faults.vtable.session_touch = faulty_session_touch;
    }
    db->vtable = &faults.vtable;
}

static inline void faults_set(int64_t fail_at)
{
    faults.calls = 0;
    faults.fail_at = fail_at;
    faults.happened = false;
}

/* --- the scene --- */

struct scene {
    struct clock clock;
    struct id_source ids;
    struct service service;
    struct db *db;
    struct transaction transaction;
    struct arena arena;
    struct principal who;
    char directory[32];
    char path[64];
};

static int64_t scene_now_ms;

static int64_t scene_time(struct clock *clock)
{
    (void)clock;
    return scene_now_ms;
}

static inline struct call scene_call(struct scene *scene)
{
    return (struct call){
        .service = &scene->service,
        .db = scene->db,
        .transaction = &scene->transaction,
        .arena = &scene->arena,
        .who = &scene->who,
        .now_ms = scene_now_ms,
        .steady_ms = scene_now_ms,
    };
}

static inline void scene_open_db(struct scene *scene)
{
    struct failure failure = {0};
    struct db_options options = {.engine = DB_SQLITE, .path = scene->path};
    if (db_open(&options, &scene->db, &failure) != STATUS_OK) {
        fail_msg("%s: %s", failure.code, failure.detail);
    }
}

static inline void scene_begin(struct scene *scene)
{
    struct failure failure = {0};
    check_status(transaction_begin(&scene->transaction, &failure), STATUS_OK, __FILE__, __LINE__);
}

static inline void scene_commit(struct scene *scene)
{
    struct failure failure = {0};
    struct publication *publication = NULL;
    check_status(transaction_commit(&scene->transaction, &publication, &failure), STATUS_OK, __FILE__, __LINE__);
    publication_unref(publication);
}

static inline void scene_make_owner(struct scene *scene)
{
    struct call call = scene_call(scene);
    scene_begin(scene);
    check_status(stage_owner(&call, &scene->arena, &scene->who), STATUS_OK, __FILE__, __LINE__);
    scene_commit(scene);
}

static inline struct scene *scene_new(void)
{
    struct scene *scene = memory_zeroed(sizeof *scene);
    assert_true(sodium_init() >= 0);
    scene_now_ms = 1700000000000;
    scene->clock = (struct clock){.wall_ms = scene_time, .steady_ms = scene_time};
    id_source_init_seeded(&scene->ids, 7);
    scene->service = stage_service(&scene->clock, &scene->ids);
    scene->service.limits.prompt.collect_debounce_ms = 3000;
    scene->service.limits.prompt.turns_per_session_max = 50;
    strcpy(scene->directory, "/tmp/sojourn-unit-XXXXXX");
    assert_non_null(mkdtemp(scene->directory));
    snprintf(scene->path, sizeof scene->path, "%s/db", scene->directory);
    scene_open_db(scene);
    transaction_init(&scene->transaction, &scene->service, scene->db);
    scene_make_owner(scene);
    return scene;
}

static inline void scene_free(struct scene *scene)
{
    char command[128];
    transaction_release(&scene->transaction);
    db_close(scene->db);
    arena_release(&scene->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", scene->directory);
    assert_int_equal(system(command), 0);
    free(scene);
}

/* --- short hands --- */

static inline enum status make_session(struct call *call, const char *id, const char *type, const char *work,
                                       struct session_access *out)
{
    bool created;
    struct session_input input = {.id = slice_of(id),
                                  .type = slice_of(type),
                                  .status = slice_of(work),
                                  .agent = SLICE("a"),
                                  .attempt = 1,
                                  .ttl_ms = -1};
    return session_create(call, &input, out, &created);
}

static inline enum status append_text(struct call *call, const char *id, const char *type, size_t count)
{
    struct event events[8] = {{0}};
    bool duplicates[8] = {0};
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct event){.kind = event_kind_find(slice_of(type)),
                                   .custom = slice_of(type),
                                   .content = SLICE("[{\"type\":\"text\",\"text\":\"hello\"}]"),
                                   .metadata = SLICE("{}")};
    }
    struct append append = {.events = events, .duplicates = duplicates, .count = count, .if_sequence = -1};
    return event_append(call, slice_of(id), &append);
}

#endif
