#include "scene.h"

#include "fanout/sweep.h"
#include "fanout/viewer.h"

static void append_many(int64_t session_key, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        fake_append(session_key, "agent.message", NULL, 0);
    }
}

/* Commits and publishes one event. */
static int64_t say(struct scene *scene, int64_t session_key, const char *type)
{
    int64_t sequence = fake_append(session_key, type, NULL, 0);
    publish_range(scene->fanout, session_key, sequence, sequence);
    return sequence;
}

static void backlog_then_live(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 25);
    socket_open(scene, &socket, watch(1, 20));
    scene_run(scene);
    assert_string_equal(socket_story(&socket),
                        "ready{\"cursor\":\"20\",\"sequence\":25,\"asks\":[]} event:21 event:22 event:23 "
                        "event:24 event:25");
    say(scene, 1, "agent.message");
    say(scene, 2, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:26");
    socket_close(&socket);
}

static void replay_of_many_pages(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 35);
    socket_open(scene, &socket, watch(1, 0));
    int pages = 0;
    while (scene_run_loops(scene) || scene_run_job(scene)) {
        pages += scene->job_count == 1;
        assert_true(scene->job_count <= 1);
    }
    const char *story = socket_story(&socket);
    assert_non_null(strstr(story, "event:1 event:2 "));
    assert_non_null(strstr(story, "event:34 event:35"));
    assert_int_equal(pages, 4);
    socket_close(&socket);
}

/* An event committed and published while the page is read is neither lost nor repeated. */
static void switch_without_gap_or_repeat(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 3);
    socket_open(scene, &socket, watch(1, 0));
    fake_append(1, "agent.message", NULL, 0); /* committed, not yet published: the page sees it */
    assert_true(scene_run_job(scene));
    say(scene, 1, "agent.message"); /* after the page was read, before it comes back */
    publish_range(scene->fanout, 1, 4, 4);
    scene_run(scene);
    assert_string_equal(socket_story(&socket),
                        "ready{\"cursor\":\"0\",\"sequence\":4,\"asks\":[]} event:1 event:2 event:3 event:4 event:5");
    socket_close(&socket);
}

static void second_viewer_needs_no_store(void **state)
{
    struct scene *scene = *state;
    struct socket first, second;
    append_many(1, 2);
    socket_open(scene, &first, watch(1, 2));
    scene_run(scene);
    say(scene, 1, "agent.message");
    say(scene, 1, "agent.message");
    scene_run(scene);
    int64_t reads = fake.reads;
    socket_open(scene, &second, watch(1, 3));
    scene_run(scene);
    assert_int_equal(fake.reads, reads);
    assert_string_equal(socket_story(&second), "ready{\"cursor\":\"3\",\"sequence\":4,\"asks\":[]} event:4");
    socket_close(&first);
    socket_close(&second);
}

static void from_the_end(void **state)
{
    struct scene *scene = *state;
    struct socket first, second;
    struct viewer_options options = watch(1, 0);
    options.from_end = true;
    append_many(1, 7);
    socket_open(scene, &first, options);
    scene_run(scene);
    socket_open(scene, &second, options);
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&first), "ready{\"cursor\":\"7\",\"sequence\":7,\"asks\":[]} event:8");
    assert_string_equal(socket_story(&second), "ready{\"cursor\":\"7\",\"sequence\":7,\"asks\":[]} event:8");
    socket_close(&first);
    socket_close(&second);
}

static void cursor_ahead_of_the_log(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 5);
    socket_open(scene, &socket, watch(1, 9));
    scene_run(scene);
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket),
                        "ready{\"cursor\":\"5\",\"sequence\":5,\"asks\":[]} "
                        "gap{\"from\":6,\"to\":9,\"reason\":\"ahead\",\"cursor\":\"5\"} event:6");
    socket_close(&socket);
}

static void hole_in_the_store(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 5);
    fake.events[2].erased = fake.events[3].erased = true;
    socket_open(scene, &socket, watch(1, 1));
    scene_run(scene);
    assert_string_equal(socket_story(&socket),
                        "ready{\"cursor\":\"1\",\"sequence\":5,\"asks\":[]} event:2 "
                        "gap{\"from\":3,\"to\":4,\"reason\":\"erased\",\"cursor\":\"4\"} event:5");
    socket_close(&socket);
}

static void session_without_log_is_deleted(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    socket_open(scene, &socket, watch(1, 4));
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "closed{\"reason\":\"deleted\",\"cursor\":\"4\"}");
    assert_true(socket.ended);
    assert_int_equal(socket.end_code, 1000);
    socket_close(&socket);
}

static void broken_store_ends_the_stream(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 4);
    fake.broken = true;
    socket_open(scene, &socket, watch(1, 2));
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "closed{\"reason\":\"store_unavailable\",\"cursor\":\"2\"}");
    assert_int_equal(socket.end_code, 1011);
    socket_close(&socket);
}

/* Bytes are taken one by one: frames stay whole and in order. */
static void one_byte_at_a_time(void **state)
{
    struct scene *scene = *state;
    struct socket socket, fast;
    append_many(1, 12);
    socket_open(scene, &fast, watch(1, 0));
    scene_run(scene);
    socket_open(scene, &socket, watch(1, 0));
    socket.room = 0;
    scene_run(scene);
    for (int i = 0; i < 100000 && scene->job_count + socket.got.len < fast.got.len; i++) {
        socket_drain(&socket, 1);
        scene_run(scene);
    }
    assert_int_equal(socket.got.len, fast.got.len);
    assert_memory_equal(socket.got.ptr, fast.got.ptr, fast.got.len);
    socket_close(&socket);
    socket_close(&fast);
}

static void slow_viewer_continues_from_the_tail(void **state)
{
    struct scene *scene = *state;
    struct socket slow, fast;
    append_many(1, 1);
    socket_open(scene, &slow, watch(1, 1));
    socket_open(scene, &fast, watch(1, 1));
    scene_run(scene);
    slow.room = 30;
    for (int i = 0; i < 4; i++) {
        say(scene, 1, "agent.message");
    }
    scene_run(scene);
    assert_string_equal(socket_story(&fast),
                        "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} event:2 event:3 event:4 event:5");
    int64_t reads = fake.reads;
    socket_drain(&slow, SIZE_MAX);
    scene_run(scene);
    assert_int_equal(fake.reads, reads);
    assert_string_equal(socket_story(&slow),
                        "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} event:2 event:3 event:4 event:5");
    socket_close(&slow);
    socket_close(&fast);
}

static void slow_viewer_falls_back_to_the_store(void **state)
{
    struct scene *scene = *state;
    struct socket slow, fast;
    struct fanout_stats figures;
    append_many(1, 1);
    socket_open(scene, &slow, watch(1, 1));
    socket_open(scene, &fast, watch(1, 1));
    scene_run(scene);
    socket_story(&slow);
    slow.room = 10;
    for (int i = 0; i < 60; i++) {
        say(scene, 1, "agent.message");
        scene_run(scene);
    }
    size_t writes = slow.writes;
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_int_equal(slow.writes, writes); /* a full socket is left alone */
    assert_non_null(strstr(socket_story(&fast), "event:61 event:62"));
    socket_drain(&slow, SIZE_MAX);
    scene_run(scene);
    const char *story = socket_story(&slow);
    assert_non_null(
        strstr(story, "event:2 slow{\"sequence\":2,\"cursor\":\"2\",\"dropped_deltas\":0} event:3 event:4"));
    assert_non_null(strstr(story, "event:60 event:61 event:62"));
    fanout_figures_read(scene->fanout, &figures);
    assert_int_equal(figures.slow_total, 1);
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&slow), "event:63");
    socket_close(&slow);
    socket_close(&fast);
}

static void filters(void **state)
{
    struct scene *scene = *state;
    struct socket types, thread;
    struct viewer_options options = watch(1, 0);
    options.types[0] = SLICE("tool.*");
    options.types[1] = SLICE("session.updated");
    options.type_count = 2;
    fake_append(1, "session.created", NULL, 0);
    fake_append(1, "tool.call", "a", 0);
    append_many(1, 15);
    socket_open(scene, &types, options);
    options = watch(1, 0);
    options.thread_id = SLICE("a");
    socket_open(scene, &thread, options);
    scene_run(scene);
    say(scene, 1, "agent.message");
    say(scene, 1, "tool.result");
    say(scene, 1, "toolbox");
    say(scene, 1, "session.updated");
    int64_t sequence = fake_append(1, "agent.message", "a", 0);
    publish_range(scene->fanout, 1, sequence, sequence);
    scene_run(scene);
    assert_string_equal(socket_story(&types),
                        "ready{\"cursor\":\"0\",\"sequence\":17,\"asks\":[]} event:2 event:19 event:21");
    assert_string_equal(socket_story(&thread), "ready{\"cursor\":\"0\",\"sequence\":17,\"asks\":[]} event:2 event:22");
    socket_close(&types);
    socket_close(&thread);
}

static void websocket_frames(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer_options options = watch(1, 0);
    options.encoder = &encoder_websocket;
    fake_append(1, "session.created", NULL, 0);
    socket_open(scene, &socket, options);
    scene_run(scene);
    const char expected[] = "\x81\x3d{\"type\":\"ready\",\"data\":{\"cursor\":\"0\",\"sequence\":1,\"asks\":[]}}"
                            "\x81\x7e";
    assert_memory_equal(socket.got.ptr, expected, sizeof expected - 1);
    assert_non_null(
        memmem(socket.got.ptr, socket.got.len, "{\"type\":\"event\",\"id\":\"1\",\"data\":{\"session_id\":", 46));
    socket_close(&socket);
}

/* Takes frames as they are, as many as it has room for. */
struct taker {
    struct viewer *viewer;
    enum frame_kind kinds[64];
    struct cursor cursors[64];
    size_t count, room;
    struct slice reason; /* static */
    bool ended;
};

static bool taker_take(void *owner, const struct frame *frame)
{
    struct taker *taker = owner;
    if (taker->count == taker->room) {
        return false;
    }
    taker->kinds[taker->count] = frame->kind;
    taker->cursors[taker->count++] = frame->at;
    if (frame->kind == FRAME_CLOSED && slice_is(frame->closed.reason, "deleted")) {
        taker->reason = SLICE("deleted");
    }
    return true;
}

static void taker_end(void *owner, int code)
{
    (void)code;
    ((struct taker *)owner)->ended = true;
}

static void taker_open(struct scene *scene, struct taker *taker, struct viewer_options options)
{
    struct failure failure;
    options.encoder = NULL;
    options.sink = (struct viewer_sink){.owner = taker, .take = taker_take, .end = taker_end};
    assert_int_equal(viewer_open(scene->fanout, scene->loops[0], &options, &taker->viewer, &failure), STATUS_OK);
    viewer_writable(taker->viewer);
}

static void frames_as_they_are(void **state)
{
    struct scene *scene = *state;
    struct taker taker = {.room = 64};
    append_many(1, 12);
    taker_open(scene, &taker, watch(1, 0));
    scene_run(scene);
    say(scene, 1, "agent.message");
    publish_delta(scene->fanout, 1, 13, 0, "{\"kind\":\"text\",\"text\":\"a\"}");
    scene_run(scene);
    for (int i = 0; i < HUB_WHEEL_SLOTS; i++) {
        hub_beat(&scene->fanout->hubs[0]);
    }
    publish_close(scene->fanout, 1, "deleted", NULL);
    scene_run(scene);
    assert_int_equal(taker.count, 1 + 13 + 1 + 1 + 1);
    assert_int_equal(taker.kinds[0], FRAME_READY);
    for (size_t i = 1; i <= 13; i++) {
        assert_int_equal(taker.kinds[i], FRAME_EVENT);
        assert_int_equal(taker.cursors[i].sequence, i);
    }
    assert_int_equal(taker.kinds[14], FRAME_DELTA);
    assert_int_equal(taker.kinds[15], FRAME_HEARTBEAT);
    assert_int_equal(taker.kinds[16], FRAME_CLOSED);
    assert_true(slice_is(taker.reason, "deleted"));
    assert_true(taker.ended);
    viewer_closed(taker.viewer);
}

/* One that is full is offered the same frame again, and goes on in the middle of a page. */
static void frames_wait_for_room(void **state)
{
    struct scene *scene = *state;
    struct taker taker = {0};
    append_many(1, 12);
    taker_open(scene, &taker, watch(1, 0));
    scene_run(scene);
    say(scene, 1, "agent.message");
    for (; taker.room < 14; viewer_writable(taker.viewer)) {
        assert_int_equal(taker.count, taker.room);
        taker.room++;
        scene_run(scene);
    }
    scene_run(scene);
    assert_int_equal(taker.count, 14);
    assert_int_equal(taker.kinds[0], FRAME_READY);
    for (size_t i = 1; i < 14; i++) {
        assert_int_equal(taker.cursors[i].sequence, i);
    }
    viewer_closed(taker.viewer);
}

/* What was read for a viewer that left is freed. */
static void frames_left_behind(void **state)
{
    struct scene *scene = *state;
    struct taker taker = {.room = 3};
    append_many(1, 12);
    taker_open(scene, &taker, watch(1, 0));
    scene_run(scene);
    assert_int_equal(taker.count, 3);
    viewer_closed(taker.viewer);
}

static void from_state_to_state(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 12);
    socket_open(scene, &socket, watch(1, 0));
    assert_int_equal(socket.viewer->state, VIEWER_STARTING);
    socket.room = 10;
    while (scene_run_job(scene) || scene_run_loops(scene)) {
    }
    assert_int_equal(socket.viewer->state, VIEWER_BEHIND); /* a page of ten, and no room for it */
    socket_drain(&socket, SIZE_MAX);
    assert_int_equal(socket.viewer->state, VIEWER_READING);
    scene_run(scene);
    assert_int_equal(socket.viewer->state, VIEWER_LIVE);
    socket.room = 10;
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_int_equal(socket.viewer->state, VIEWER_LAGGING);
    socket_drain(&socket, SIZE_MAX);
    assert_int_equal(socket.viewer->state, VIEWER_LIVE);
    socket.room = 10;
    publish_close(scene->fanout, 1, "deleted", NULL);
    scene_run(scene);
    assert_int_equal(socket.viewer->state, VIEWER_LEAVING);
    for (int i = 0; i < HUB_WHEEL_SLOTS; i++) {
        hub_beat(&scene->fanout->hubs[0]);
    }
    assert_int_equal(socket.viewer->state, VIEWER_OVERDUE);
    socket_drain(&socket, SIZE_MAX);
    assert_int_equal(socket.viewer->state, VIEWER_ENDED);
    socket_close(&socket);
}

static void a_revoked_credential_ends_the_stream(void **state)
{
    struct scene *scene = *state;
    struct socket gone, good, none;
    struct viewer_options options = watch(1, 1);
    append_many(1, 1);
    socket_open(scene, &none, options);
    options.credential.kind = CREDENTIAL_TOKEN;
    socket_open(scene, &gone, options);
    options.credential.hash = hash_of(SLICE("good"));
    socket_open(scene, &good, options);
    scene_run(scene);
    fanout_recheck(scene->fanout);
    scene_run(scene);
    assert_true(gone.ended);
    assert_int_equal(gone.end_code, 1008);
    assert_non_null(strstr(socket_story(&gone), "closed{\"reason\":\"access_revoked\",\"cursor\":\"1\"}"));
    assert_false(good.ended);
    assert_false(none.ended);
    socket_close(&gone);
    socket_close(&good);
    socket_close(&none);
}

static void closed_by_the_service(void **state)
{
    struct scene *scene = *state;
    struct socket ann, bob, stuck;
    struct viewer_options options = watch(1, 1);
    append_many(1, 1);
    socket_open(scene, &ann, options);
    socket_open_on(scene, 1, &stuck, options);
    options.user_id = SLICE("bob");
    socket_open(scene, &bob, options);
    scene_run(scene);
    publish_close(scene->fanout, 1, "access_revoked", "bob");
    scene_run(scene);
    assert_true(bob.ended);
    assert_int_equal(bob.end_code, 1008);
    assert_false(ann.ended);
    assert_non_null(strstr(socket_story(&bob), "closed{\"reason\":\"access_revoked\",\"cursor\":\"1\"}"));
    stuck.room = 5;
    publish_close(scene->fanout, 1, "deleted", NULL);
    scene_run(scene);
    assert_true(ann.ended);
    assert_false(stuck.ended);
    for (int i = 0; i < 2 * HUB_WHEEL_SLOTS; i++) {
        hub_beat(&scene->fanout->hubs[1]);
    }
    assert_true(stuck.ended); /* it had its time */
    socket_close(&ann);
    socket_close(&bob);
    socket_close(&stuck);
}

static void leaves_while_reading(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer_options options = watch(1, 0);
    options.thread_id = SLICE("a");
    append_many(1, 3);
    socket_open(scene, &socket, options);
    assert_int_equal(scene->job_count, 1);
    socket_close(&socket);
    scene_run(scene);
    assert_int_equal(fake.reads, 0);
    assert_int_equal(scene->fanout->hubs[0].feeds.count, 0);
}

static void too_many_viewers(void **state)
{
    struct scene *scene = *state;
    struct socket sockets[100];
    struct viewer *viewer;
    struct failure failure;
    struct viewer_options options = watch(1, 0);
    for (int i = 0; i < 100; i++) {
        socket_open_on(scene, i % LOOPS, &sockets[i], options);
    }
    assert_int_equal(viewer_open(scene->fanout, scene->loops[0], &options, &viewer, &failure), STATUS_LIMITED);
    assert_true(scene->job_count <= LOOPS * LOOKUPS_MAX);
    for (int i = 0; i < 100; i++) {
        socket_close(&sockets[i]);
    }
    scene_run(scene);
}

static void heartbeats_are_spread(void **state)
{
    struct scene *scene = *state;
    struct socket sockets[30];
    append_many(1, 1);
    for (int i = 0; i < 30; i++) {
        socket_open(scene, &sockets[i], watch(1, 1));
    }
    scene_run(scene);
    for (int i = 0; i < 30; i++) {
        socket_story(&sockets[i]);
    }
    for (int tick = 0; tick < HUB_WHEEL_SLOTS; tick++) {
        int pinged = 0;
        hub_beat(&scene->fanout->hubs[0]);
        for (int i = 0; i < 30; i++) {
            pinged += strcmp(socket_story(&sockets[i]), "ping") == 0;
        }
        assert_int_equal(pinged, 2);
    }
    for (int i = 0; i < 30; i++) {
        socket_close(&sockets[i]);
    }
}

/* A lost or reordered publication is read from the store, once for all viewers. */
static void missing_publication_is_fetched(void **state)
{
    struct scene *scene = *state;
    struct socket sockets[10];
    append_many(1, 1);
    for (int i = 0; i < 10; i++) {
        socket_open(scene, &sockets[i], watch(1, 1));
    }
    scene_run(scene);
    int64_t reads = fake.reads;
    append_many(1, 2);
    publish_range(scene->fanout, 1, 3, 3);
    scene_run(scene);
    assert_int_equal(fake.reads, reads + 1);
    for (int i = 0; i < 10; i++) {
        assert_string_equal(socket_story(&sockets[i]),
                            "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} event:2 event:3");
        socket_close(&sockets[i]);
    }
}

static void poke_looks_into_the_store(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 1);
    socket_open_on(scene, 1, &socket, watch(1, 1));
    assert_true(scene_run_job(scene)); /* the page is read */
    append_many(1, 14);
    fanout_refresh(scene->fanout, FAKE_TENANT, 1); /* before the page comes back */
    scene_run(scene);
    append_many(1, 1);
    fanout_refresh(scene->fanout, 0, 0);
    scene_run(scene);
    const char *story = socket_story(&socket);
    assert_non_null(strstr(story, "\"sequence\":1,\"asks\":[]} event:2 event:3 "));
    assert_non_null(strstr(story, "event:14 event:15 event:16"));
    socket_close(&socket);
}

static struct scene *scene_of_meanwhile;

static void write_and_poke(void)
{
    append_many(1, 1);
    fanout_refresh(scene_of_meanwhile->fanout, FAKE_TENANT, 1);
    scene_run_loops(scene_of_meanwhile);
}

/* The poke comes while the store is read: what is behind it was not seen by that read. */
static void poke_during_a_read_is_not_forgotten(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    scene_of_meanwhile = scene;
    append_many(1, 1);
    fake.meanwhile = write_and_poke;
    socket_open(scene, &socket, watch(1, 0)); /* during the first page */
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"0\",\"sequence\":1,\"asks\":[]} event:1 event:2");
    append_many(1, 1);
    fanout_refresh(scene->fanout, FAKE_TENANT, 1);
    fake.meanwhile = write_and_poke; /* during a fetch */
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:3 event:4");
    socket_close(&socket);
}

/* With many watched sessions, one read tells which of them have changed. */
static void poke_of_everything_reads_only_what_changed(void **state)
{
    struct scene *scene = *state;
    enum { WATCHED = SWEEP_FEEDS_MIN + 5 };
    struct socket sockets[WATCHED];
    for (int i = 0; i < WATCHED; i++) {
        append_many(i + 1, 1);
        socket_open(scene, &sockets[i], watch(i + 1, 1));
    }
    scene_run(scene);
    append_many(3, 1);
    fanout_refresh(scene->fanout, 0, 0); /* the first time nothing is known: all look */
    scene_run(scene);
    int64_t reads = fake.reads;
    append_many(3, 12);
    append_many(7, 1);
    fanout_refresh(scene->fanout, 0, 0);
    fanout_refresh(scene->fanout, FAKE_TENANT, 0);
    scene_run(scene);
    assert_true(fake.reads - reads < 12);
    assert_non_null(strstr(socket_story(&sockets[2]), "event:2 event:3 event:4 "));
    assert_non_null(strstr(socket_story(&sockets[6]), "event:2"));
    for (int i = 0; i < WATCHED; i++) {
        socket_close(&sockets[i]);
    }
}

static void nobody_watches_nothing_travels(void **state)
{
    struct scene *scene = *state;
    scene_run(scene);
    say(scene, 1, "agent.message");
    assert_false(scene_run_loops(scene));
}

static void readers_that_refuse_are_asked_again(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    append_many(1, 2);
    scene->refuses_jobs = true;
    socket_open(scene, &socket, watch(1, 0));
    scene_run(scene);
    assert_int_equal(socket.got.len, 0);
    scene->refuses_jobs = false;
    hub_beat(&scene->fanout->hubs[0]);
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"0\",\"sequence\":2,\"asks\":[]} event:1 event:2");
    socket_close(&socket);
}

static void stopping(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer *viewer;
    struct failure failure;
    struct viewer_options options = watch(1, 1);
    append_many(1, 1);
    socket_open(scene, &socket, options);
    scene_run(scene);
    fanout_close_all(scene->fanout, "server_stopping");
    scene_run(scene);
    assert_non_null(strstr(socket_story(&socket), "closed{\"reason\":\"server_stopping\",\"cursor\":\"1\"}"));
    assert_int_equal(socket.end_code, 1001);
    assert_int_equal(viewer_open(scene->fanout, scene->loops[0], &options, &viewer, &failure), STATUS_UNAVAILABLE);
    socket_close(&socket);
}

static void an_idle_viewer_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct viewer) + 36 <= 300);
}

#define SCENE(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(backlog_then_live),
        SCENE(replay_of_many_pages),
        SCENE(switch_without_gap_or_repeat),
        SCENE(second_viewer_needs_no_store),
        SCENE(from_the_end),
        SCENE(cursor_ahead_of_the_log),
        SCENE(hole_in_the_store),
        SCENE(session_without_log_is_deleted),
        SCENE(broken_store_ends_the_stream),
        SCENE(one_byte_at_a_time),
        SCENE(slow_viewer_continues_from_the_tail),
        SCENE(slow_viewer_falls_back_to_the_store),
        SCENE(filters),
        SCENE(websocket_frames),
        SCENE(closed_by_the_service),
        SCENE(leaves_while_reading),
        SCENE(too_many_viewers),
        SCENE(heartbeats_are_spread),
        SCENE(missing_publication_is_fetched),
        SCENE(poke_looks_into_the_store),
        SCENE(poke_during_a_read_is_not_forgotten),
        SCENE(poke_of_everything_reads_only_what_changed),
        SCENE(nobody_watches_nothing_travels),
        SCENE(readers_that_refuse_are_asked_again),
        SCENE(stopping),
        cmocka_unit_test(an_idle_viewer_is_small),
        SCENE(from_state_to_state),
        SCENE(a_revoked_credential_ends_the_stream),
        SCENE(frames_as_they_are),
        SCENE(frames_wait_for_room),
        SCENE(frames_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
