#include "contract.h"

static struct entity entity_of(const char *id, const char *fields, int64_t version)
{
    return (struct entity){.id = slice_of(id),
                           .type = SLICE("t"),
                           .fields = slice_of(fields),
                           .version = version,
                           .created_at_ms = 1,
                           .updated_at_ms = version,
                           .updated_by = SLICE("user:u")};
}

static void entities_change_by_version(void **state)
{
    struct fixture *f = *state;
    struct entity entity = entity_of("e", "{\"a\":1}", 1), read;
    bool deleted = true;
    fixture_begin(f);
    must(store_entity_insert(f->db, f->tenant, &entity, &f->failure));
    must(store_entity_insert(f->db, f->other, &entity, &f->failure));
    assert_status(store_entity_insert(f->db, f->tenant, &entity, &f->failure), STATUS_CONFLICT);
    entity = entity_of("e", "{\"a\":2}", 2);
    must(store_entity_lock(f->db, f->tenant, SLICE("e"), &f->arena, &read, &f->failure));
    must(store_entity_update(f->db, f->tenant, &entity, &f->failure));
    assert_status(store_entity_update(f->db, f->tenant, &entity, &f->failure), STATUS_STALE);
    fixture_commit(f);
    must(store_entity_get(f->db, f->tenant, SLICE("e"), &f->arena, &read, &f->failure));
    assert_slice(read.fields, "{\"a\":2}");
    assert_int_equal(read.version, 2);
    must(store_entity_get(f->db, f->other, SLICE("e"), &f->arena, &read, &f->failure));
    assert_int_equal(read.version, 1);
    fixture_begin(f);
    must(store_entity_delete(f->db, f->tenant, SLICE("e"), 1, &deleted, &f->failure));
    assert_false(deleted);
    must(store_entity_delete(f->db, f->tenant, SLICE("e"), 2, &deleted, &f->failure));
    assert_true(deleted);
    fixture_commit(f);
    assert_status(store_entity_get(f->db, f->tenant, SLICE("e"), &f->arena, &read, &f->failure), STATUS_NOT_FOUND);
}

static void entities_are_listed(void **state)
{
    struct fixture *f = *state;
    static const char *const ids[] = {"b", "a", "c"};
    struct entity *entities;
    size_t count = 0;
    fixture_begin(f);
    for (size_t i = 0; i < 3; i++) {
        struct entity entity = entity_of(ids[i], "{}", 1);
        must(store_entity_insert(f->db, f->tenant, &entity, &f->failure));
    }
    fixture_commit(f);
    must(store_entity_list(f->db, f->tenant, (struct slice){0}, (struct slice){0}, 2, &f->arena, &entities, &count,
                           &f->failure));
    assert_int_equal(count, 2);
    assert_slice(entities[1].id, "b");
    must(store_entity_list(f->db, f->tenant, SLICE("b"), SLICE("t"), 9, &f->arena, &entities, &count, &f->failure));
    assert_int_equal(count, 1);
    must(store_entity_list(f->db, f->tenant, (struct slice){0}, SLICE("u"), 9, &f->arena, &entities, &count,
                           &f->failure));
    assert_int_equal(count, 0);
}

static void tasks_change_by_version(void **state)
{
    struct fixture *f = *state;
    struct task_row task = {.id = SLICE("t"),
                            .name = SLICE("T"),
                            .definition = SLICE("{}"),
                            .version = 1,
                            .created_at_ms = 1,
                            .updated_at_ms = 1,
                            .updated_by = SLICE("user:u")};
    struct task_row read;
    bool deleted = false;
    fixture_begin(f);
    must(store_task_insert(f->db, f->tenant, &task, &f->failure));
    assert_status(store_task_insert(f->db, f->tenant, &task, &f->failure), STATUS_CONFLICT);
    task.version = 2;
    task.name = SLICE("U");
    must(store_task_update(f->db, f->tenant, &task, &f->failure));
    assert_status(store_task_update(f->db, f->tenant, &task, &f->failure), STATUS_STALE);
    fixture_commit(f);
    must(store_task_get(f->db, f->tenant, SLICE("t"), &f->arena, &read, &f->failure));
    assert_slice(read.name, "U");
    assert_status(store_task_get(f->db, f->other, SLICE("t"), &f->arena, &read, &f->failure), STATUS_NOT_FOUND);
    fixture_begin(f);
    must(store_task_delete(f->db, f->other, SLICE("t"), &deleted, &f->failure));
    assert_false(deleted);
    must(store_task_delete(f->db, f->tenant, SLICE("t"), &deleted, &f->failure));
    assert_true(deleted);
    fixture_commit(f);
}

static void what_ended_stands(void **state)
{
    struct fixture *f = *state;
    struct session *session = fixture_session(f, f->tenant, "s", "u1", "{}");
    struct automation_run run = {.id = SLICE("r"), .session_key = session->key, .outcome = -1, .created_at_ms = 1},
                          read;
    fixture_begin(f);
    must(store_run_insert(f->db, f->tenant, &run, &f->failure));
    run.status = RUN_RUNNING;
    run.started_at_ms = 2;
    must(store_run_follow(f->db, f->tenant, &run, &f->failure));
    run.status = RUN_SUCCEEDED;
    run.outcome = OUTCOME_SUCCEEDED;
    run.summary = SLICE("done");
    run.ended_at_ms = 3;
    must(store_run_update(f->db, f->tenant, &run, &f->failure));
    run.status = RUN_FAILED;
    must(store_run_follow(f->db, f->tenant, &run, &f->failure));
    fixture_commit(f);
    must(store_run_of_session(f->db, f->tenant, session->key, &f->arena, &read, &f->failure));
    assert_int_equal(read.status, RUN_SUCCEEDED);
    assert_int_equal(read.started_at_ms, 2);
    assert_slice(read.summary, "done");
    assert_slice(read.session_id, "s");
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(entities_change_by_version),
    CONTRACT_TEST(entities_are_listed),
    CONTRACT_TEST(tasks_change_by_version),
    CONTRACT_TEST(what_ended_stands),
};
const struct contract_part contract_work = {"work", tests, COUNT_OF(tests)};
