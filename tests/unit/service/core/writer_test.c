/* Groups, what happens when one of a group fails, parked commands, timers, stopping. */
#include <pthread.h>

#include "service/scene.h"
#include "service/core/viewer_rights.h"
#include "service/core/writer.h"

struct probe {
    struct command command; /* first */
    struct scene *scene;
    const char *append_to; /* a session, or NULL */
    const char *tenant;    /* makes one, beside all sessions, or NULL */
    bool spoils;           /* fails after it wrote */
    int park_times;        /* waits this often */
    int64_t park_ms;
    int runs;
    bool finished;
    enum status status;
};

struct probe_board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int finished;
};

static struct probe_board board = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static enum status probe_run(struct call *given, struct command *command)
{
    struct probe *probe = (struct probe *)command;
    struct call call = scene_call(probe->scene);
    call.transaction = given->transaction;
    call.db = given->db;
    call.arena = given->arena;
    probe->runs++;
    enum status status = STATUS_OK;
    if (probe->append_to) {
        status = append_text(&call, probe->append_to, "note.x", 1);
    }
    if (status == STATUS_OK && probe->tenant) {
        struct tenant tenant = {.id = slice_of(probe->tenant)};
        status = store_tenant_insert(call.db, &tenant, &call.failure);
    }
    if (probe->park_times-- > 0) {
        command->waits = true;
        command->waits_until_ms = scene_now_ms + probe->park_ms;
    }
    return probe->spoils ? failure_set(&given->failure, STATUS_CONFLICT, "spoils", "It fails.") : status;
}

static void probe_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct probe *probe = (struct probe *)command;
    (void)failure;
    pthread_mutex_lock(&board.lock);
    probe->finished = true;
    probe->status = status;
    board.finished++;
    pthread_cond_broadcast(&board.changed);
    pthread_mutex_unlock(&board.lock);
}

static void wait_finished(int count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&board.lock);
    while (board.finished < count) {
        assert_int_equal(pthread_cond_timedwait(&board.changed, &board.lock, &until), 0);
    }
    pthread_mutex_unlock(&board.lock);
}

/* What the writer told, and what somebody else could read at that moment. */
static struct {
    int times;
    int64_t told, stored;
} witness;

static void hear(void *owner, const struct publication *publication)
{
    struct scene *scene = owner;
    struct db *other = NULL;
    struct session session;
    struct arena arena = {0};
    struct failure failure = {0};
    struct db_options options = {.engine = DB_SQLITE, .path = scene->path};
    assert_int_equal(db_open(&options, &other, &failure), STATUS_OK);
    assert_int_equal(store_session_by_id(other, scene->who.tenant_key, SLICE("a"), &arena, &session, &failure),
                     STATUS_OK);
    witness.times++;
    witness.told = publication_at(publication, publication_count(publication) - 1)->sequence;
    witness.stored = session.last_sequence;
    arena_release(&arena);
    db_close(other);
}

static struct scene *start(struct writer **out, struct fanout **out_fanout, struct loop **out_loop)
{
    struct scene *scene = scene_new();
    struct session_access entry;
    struct call call = scene_call(scene);
    scene_begin(scene);
    assert_int_equal(make_session(&call, "a", "agent", NULL, &entry), STATUS_OK);
    scene_commit(scene);
    transaction_release(&scene->transaction);
    *out_loop = loop_new(0);
    struct fanout_options fanout = {.clock = &scene->clock,
                                    .rights = &service_viewer_rights,
                                    .heartbeat_ms = 1000,
                                    .partial_flush_ms = 1000,
                                    .viewers_max = 1,
                                    .page_events = 10};
    *out_fanout = fanout_new(&fanout, out_loop, 1);
    loop_start(*out_loop);
    struct writer_options options = {.service = &scene->service,
                                     .db = scene->db,
                                     .fanout = *out_fanout,
                                     .group_max = 64,
                                     .queue_max = 100,
                                     .on_commit = hear,
                                     .on_commit_owner = scene};
    *out = writer_new(&options);
    board.finished = 0;
    return scene;
}

static void stop(struct scene *scene, struct writer *writer, struct fanout *fanout, struct loop *loop)
{
    writer_stop(writer);
    fanout_close_all(fanout, "test");
    loop_stop(loop);
    loop_join(loop);
    fanout_free(fanout);
    loop_free(loop);
    writer_free(writer);
    scene_open_db(scene);
    transaction_init(&scene->transaction, &scene->service, scene->db);
}

static int64_t last_sequence(struct scene *scene)
{
    struct session session;
    struct failure failure;
    assert_int_equal(
        store_session_by_id(scene->db, scene->who.tenant_key, SLICE("a"), &scene->arena, &session, &failure),
        STATUS_OK);
    return session.last_sequence;
}

static void submit(struct writer *writer, struct scene *scene, struct probe *probe)
{
    probe->scene = scene;
    static const struct command_type type = {"probe", 0, probe_run, probe_finish};
    probe->command.type = &type;
    assert_true(writer_submit(writer, &probe->command));
}

static void test_one_spoiled_command_does_not_hurt_its_group(void **state)
{
    (void)state;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe probes[5];
    memset(probes, 0, sizeof probes);
    for (int i = 0; i < 5; i++) {
        probes[i].append_to = "a";
        probes[i].spoils = i == 2;
        submit(writer, scene, &probes[i]);
    }
    writer_start(writer);
    wait_finished(5);
    stop(scene, writer, fanout, loop);
    assert_int_equal(last_sequence(scene), 5); /* created + four notes: the spoiled one left nothing */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(probes[i].status, i == 2 ? STATUS_CONFLICT : STATUS_OK); /* its answer is its own */
        assert_true(probes[i].runs <= 2);
    }
    assert_int_equal(probes[2].runs, 2);
    scene_free(scene);
}

static void test_what_is_told_is_committed(void **state)
{
    (void)state;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe probe = {.append_to = "a"};
    witness.times = 0;
    submit(writer, scene, &probe);
    writer_start(writer);
    wait_finished(1);
    stop(scene, writer, fanout, loop);
    assert_int_equal(witness.times, 1);
    assert_int_equal(witness.told, 2);
    assert_int_equal(witness.stored, 2); /* whoever hears of it can read it */
    scene_free(scene);
}

static enum status refuse_commit(struct db *db, struct failure *failure)
{
    faults.real->rollback(db);
    return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "The engine was told to fail.");
}

static enum status doubt_commit(struct db *db, struct failure *failure)
{
    faults.real->rollback(db);
    return failure_set(failure, STATUS_UNCERTAIN, "storage_uncertain", "The engine was told to doubt.");
}

static void commit_fails_with(enum status (*commit)(struct db *db, struct failure *failure), enum status told)
{
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe probe = {.append_to = "a"};
    faults_install(scene->db);
    faults.vtable.commit = commit;
    witness.times = 0;
    submit(writer, scene, &probe);
    writer_start(writer);
    wait_finished(1);
    stop(scene, writer, fanout, loop);
    assert_int_equal(probe.status, told);
    assert_int_equal(witness.times, 0);
    assert_int_equal(last_sequence(scene), 1);
    scene_free(scene);
}

static void test_what_is_not_committed_is_not_told(void **state)
{
    (void)state;
    commit_fails_with(refuse_commit, STATUS_UNAVAILABLE);
    commit_fails_with(doubt_commit, STATUS_UNCERTAIN);
}

static void test_parked_command_runs_again_when_work_is_queued(void **state)
{
    (void)state;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe waiting = {.park_times = 1, .park_ms = 3600000};
    submit(writer, scene, &waiting);
    writer_start(writer);
    struct writer_stats figures = {0};
    while (figures.parked == 0) {
        writer_figures_read(writer, &figures);
    }
    assert_false(waiting.finished);
    writer_retry_parked(writer);
    wait_finished(1);
    assert_int_equal(waiting.runs, 2);
    stop(scene, writer, fanout, loop);
    scene_free(scene);
}

static void test_parked_commands_are_answered_when_the_writer_stops(void **state)
{
    (void)state;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe waiting = {.park_times = 1, .park_ms = 3600000};
    submit(writer, scene, &waiting);
    writer_start(writer);
    stop(scene, writer, fanout, loop);
    assert_true(waiting.finished);
    scene_free(scene);
}

static void test_full_queue_is_refused(void **state)
{
    (void)state;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe *probes = memory_zeroed(101 * sizeof *probes);
    for (int i = 0; i < 100; i++) {
        submit(writer, scene, &probes[i]);
    }
    assert_false(writer_submit(writer, &probes[100].command));
    writer_start(writer);
    wait_finished(100);
    stop(scene, writer, fanout, loop);
    free(probes);
    scene_free(scene);
}

/* Nothing but the statement says that there is something to commit. */
static void test_what_was_written_is_committed(void **state)
{
    (void)state;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    struct scene *scene = start(&writer, &fanout, &loop);
    struct probe probe = {.tenant = "beside"};
    struct tenant tenant;
    struct failure failure = {0};
    submit(writer, scene, &probe);
    writer_start(writer);
    wait_finished(1);
    assert_int_equal(probe.status, STATUS_OK);
    stop(scene, writer, fanout, loop);
    assert_int_equal(store_tenant_by_id(scene->db, SLICE("beside"), &scene->arena, &tenant, &failure), STATUS_OK);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_spoiled_command_does_not_hurt_its_group),
        cmocka_unit_test(test_what_is_told_is_committed),
        cmocka_unit_test(test_what_is_not_committed_is_not_told),
        cmocka_unit_test(test_parked_command_runs_again_when_work_is_queued),
        cmocka_unit_test(test_parked_commands_are_answered_when_the_writer_stops),
        cmocka_unit_test(test_full_queue_is_refused),
        cmocka_unit_test(test_what_was_written_is_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
