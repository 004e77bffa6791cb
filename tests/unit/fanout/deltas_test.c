#include "scene.h"

static int64_t say(struct scene *scene, int64_t session_key)
{
    int64_t sequence = fake_append(session_key, "agent.message", NULL, 0);
    publish_range(scene->fanout, session_key, sequence, sequence);
    return sequence;
}

static void delta(struct scene *scene, int64_t sequence, const char *text)
{
    char json[256];
    snprintf(json, sizeof json, "{\"kind\":\"text\",\"text\":\"%s\"}", text);
    publish_delta(scene->fanout, 1, sequence, 0, json);
}

static void deltas_follow_their_event(void **state)
{
    struct scene *scene = *state;
    struct socket here, there, without;
    struct viewer_options options = watch(1, 0);
    say(scene, 1);
    socket_open_on(scene, 0, &here, options);
    socket_open_on(scene, 1, &there, options);
    options.deltas = false;
    socket_open_on(scene, 1, &without, options);
    scene_run(scene);
    delta(scene, 1, "Hel");
    delta(scene, 1, "lo");
    say(scene, 1);
    delta(scene, 2, "x");
    delta(scene, 1, "late"); /* its sender did not know of event 2 yet */
    scene_run(scene);
    const char *expected = "ready{\"cursor\":\"0\",\"sequence\":1,\"asks\":[]} event:1 "
                           "delta:1.1{\"kind\":\"text\",\"text\":\"Hel\"} delta:1.2{\"kind\":\"text\",\"text\":\"lo\"} "
                           "event:2 delta:2.1{\"kind\":\"text\",\"text\":\"x\"} "
                           "delta:2.2{\"kind\":\"text\",\"text\":\"late\"}";
    assert_string_equal(socket_story(&here), expected);
    assert_string_equal(socket_story(&there), expected);
    assert_string_equal(socket_story(&without), "ready{\"cursor\":\"0\",\"sequence\":1,\"asks\":[]} event:1 event:2");
    socket_close(&here);
    socket_close(&there);
    socket_close(&without);
}

static void late_viewer_gets_them_one_by_one(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer_options options = watch(1, 1);
    options.after.delta = 1;
    say(scene, 1);
    delta(scene, 1, "a");
    delta(scene, 1, "b");
    delta(scene, 1, "c");
    scene_run(scene);
    socket_open_on(scene, 1, &socket, options);
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"1.1\",\"sequence\":1,\"asks\":[]} "
                                               "delta:1.2{\"kind\":\"text\",\"text\":\"b\"} "
                                               "delta:1.3{\"kind\":\"text\",\"text\":\"c\"}");
    socket_close(&socket);
}

static void cut_window_becomes_a_snapshot(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    say(scene, 1);
    for (int i = 0; i < 100; i++) {
        delta(scene, 1, "ab");
    }
    scene_run(scene);
    socket_open(scene, &socket, watch(1, 1));
    scene_run(scene);
    char expected[512], text[201];
    for (int i = 0; i < 200; i++) {
        text[i] = i % 2 ? 'b' : 'a';
    }
    text[200] = 0;
    snprintf(
        expected, sizeof expected,
        "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} snapshot{\"sequence\":1,\"cursor\":\"1.100\",\"partial\":"
        "[{\"kind\":\"text\",\"text\":\"%s\"}]}",
        text);
    assert_string_equal(socket_story(&socket), expected);
    delta(scene, 1, "!");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "delta:1.101{\"kind\":\"text\",\"text\":\"!\"}");
    socket_close(&socket);
}

static void partial_output_is_saved_and_comes_back(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    say(scene, 1);
    delta(scene, 1, "a");
    delta(scene, 1, "b");
    scene_run(scene);
    hub_flush(&scene->fanout->hubs[0]);
    assert_int_equal(fake.partials[1].count, 2);
    assert_int_equal(fake.partials[1].sequence, 1);
    assert_true(slice_is(fake.partials[1].body, "[{\"kind\":\"text\",\"text\":\"ab\"}]"));

    /* A new process knows only the store. */
    scene_stop(scene);
    struct fanout_options options = scene_options(scene);
    scene->fanout = fanout_new(&options, scene->loops, LOOPS);
    socket_open_on(scene, 1, &socket, watch(1, 1));
    scene_run(scene);
    assert_string_equal(
        socket_story(&socket),
        "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} snapshot{\"sequence\":1,\"cursor\":\"1.2\",\"partial\":"
        "[{\"kind\":\"text\",\"text\":\"ab\"}]}");
    /* The turn goes on: numbers and text continue, also where nobody watches. */
    publish_delta(scene->fanout, 1, 1, 2, "{\"kind\":\"text\",\"text\":\"c\"}");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "delta:1.3{\"kind\":\"text\",\"text\":\"c\"}");
    hub_flush(&scene->fanout->hubs[0]);
    assert_int_equal(fake.partials[1].count, 3);
    assert_true(slice_is(fake.partials[1].body, "[{\"kind\":\"text\",\"text\":\"abc\"}]"));
    socket_close(&socket);
}

static int saved_sessions(int sessions)
{
    int saved = 0;
    for (int i = 1; i <= sessions; i++) {
        saved += fake.partials[i].count > 0;
    }
    return saved;
}

/* Fifty long answers must not stop the loop for as long as copying all of them takes. */
static void much_partial_output_is_saved_in_pieces(void **state)
{
    enum { SESSIONS = 40, TEXT_BYTES = 3000 };
    struct scene *scene = *state;
    struct hub *hub = &scene->fanout->hubs[0];
    static char json[TEXT_BYTES + 64];
    snprintf(json, sizeof json, "{\"kind\":\"text\",\"text\":\"%0*d\"}", (int)TEXT_BYTES, 7);
    for (int i = 1; i <= SESSIONS; i++) {
        publish_delta(scene->fanout, i, say(scene, i), 0, json);
    }
    scene_run(scene);
    hub_flush_some(hub);
    assert_in_range(saved_sessions(SESSIONS), 1, SESSIONS - 1);
    int saved = fake.partials[1].count > 0 ? 1 : SESSIONS; /* one end of the list was first */
    publish_delta(scene->fanout, saved, 1, 0, "{\"kind\":\"text\",\"text\":\"x\"}");
    scene_run(scene);
    hub_flush_some(hub);
    assert_int_equal(saved_sessions(SESSIONS), SESSIONS);
    assert_int_equal(fake.partials[saved].count, 1); /* what came meanwhile waits behind those that were left */
    hub_flush_some(hub);
    assert_int_equal(fake.partials[saved].count, 2);
}

static void late_viewer_after_a_restart_waits_for_the_store(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    fake_append(1, "agent.message", NULL, 0);
    fake_save_partial(NULL, FAKE_TENANT, 1, &(struct partial){1, 2, SLICE("[{\"kind\":\"text\",\"text\":\"ab\"}]"), 0});
    publish_delta(scene->fanout, 1, 1, 2, "{\"kind\":\"text\",\"text\":\"c\"}");
    scene_run_loops(scene);
    assert_int_equal(scene->job_count, 1); /* the saving hub loads what it has not */
    hub_flush(&scene->fanout->hubs[0]);
    assert_int_equal(fake.partials[1].count, 2); /* and saves nothing before */
    socket_open_on(scene, 1, &socket, watch(1, 1));
    scene_run(scene);
    assert_string_equal(
        socket_story(&socket),
        "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} snapshot{\"sequence\":1,\"cursor\":\"1.3\",\"partial\":"
        "[{\"kind\":\"text\",\"text\":\"abc\"}]}");
    hub_flush(&scene->fanout->hubs[0]);
    assert_int_equal(fake.partials[1].count, 3);
    socket_close(&socket);
}

/* Deltas that were lost with a crash: the client has numbers that the server does not know. */
static void client_knows_more_deltas_than_the_server(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer_options options = watch(1, 1);
    options.after.delta = 7;
    say(scene, 1);
    socket_open(scene, &socket, options);
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"1.7\",\"sequence\":1,\"asks\":[]} "
                                               "snapshot{\"sequence\":1,\"cursor\":\"1\",\"partial\":[]}");
    delta(scene, 1, "a");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "delta:1.1{\"kind\":\"text\",\"text\":\"a\"}");
    socket_close(&socket);
}

static void delta_overtakes_its_event(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    say(scene, 1);
    socket_open(scene, &socket, watch(1, 1));
    scene_run(scene);
    fake_append(1, "agent.message", NULL, 0);
    delta(scene, 2, "a");
    scene_run(scene);
    publish_range(scene->fanout, 1, 2, 2);
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} event:2 "
                                               "delta:2.1{\"kind\":\"text\",\"text\":\"a\"}");
    socket_close(&socket);
}

static void slow_viewer_is_told_what_it_missed(void **state)
{
    struct scene *scene = *state;
    struct socket slow;
    say(scene, 1);
    socket_open(scene, &slow, watch(1, 1));
    scene_run(scene);
    socket_story(&slow);
    slow.room = 10;
    for (int i = 0; i < 5; i++) {
        delta(scene, 1, "a"); /* the first is taken in part */
    }
    say(scene, 1);
    delta(scene, 2, "b");
    say(scene, 1);
    delta(scene, 3, "c");
    scene_run(scene);
    socket_drain(&slow, SIZE_MAX);
    scene_run(scene);
    assert_string_equal(socket_story(&slow), "delta:1.1{\"kind\":\"text\",\"text\":\"a\"} "
                                             "slow{\"sequence\":1,\"cursor\":\"1.1\",\"dropped_deltas\":5} "
                                             "event:2 event:3 delta:3.1{\"kind\":\"text\",\"text\":\"c\"}");
    socket_close(&slow);
}

static void window_goes_with_the_next_event(void **state)
{
    struct scene *scene = *state;
    say(scene, 1);
    delta(scene, 1, "a");
    scene_run(scene);
    assert_int_equal(scene->fanout->hubs[0].feeds.count, 1);
    assert_int_equal(scene->fanout->hubs[1].feeds.count, 1);
    say(scene, 1);
    scene_run(scene);
    assert_int_equal(scene->fanout->hubs[0].feeds.count, 0);
    assert_int_equal(scene->fanout->hubs[1].feeds.count, 0);
    assert_int_equal(atomic_load(&scene->fanout->interest), 0);
}

/* The window must not outlive its event although nobody watched when the event was published. */
static void event_right_behind_a_delta_is_not_left_out(void **state)
{
    struct scene *scene = *state;
    say(scene, 1);
    delta(scene, 1, "a");
    say(scene, 1);
    scene_run(scene);
    assert_int_equal(scene->fanout->hubs[0].feeds.count, 0);
}

static void unsaved_output_is_saved_when_stopping(void **state)
{
    struct scene *scene = *state;
    say(scene, 1);
    delta(scene, 1, "a");
    fanout_close_all(scene->fanout, "server_stopping");
    delta(scene, 1, "b");
    scene_run(scene);
    assert_int_equal(fake.partials[1].count, 2);
    assert_true(slice_is(fake.partials[1].body, "[{\"kind\":\"text\",\"text\":\"ab\"}]"));
}

static void happen(struct scene *scene, const char *type)
{
    int64_t sequence = fake_append(1, type, NULL, 0);
    publish_range(scene->fanout, 1, sequence, sequence);
}

/* A tool is called in the middle of a message: its text is in no event yet. */
static void an_event_in_the_middle_of_a_message(void **state)
{
    struct scene *scene = *state;
    struct socket early, between, late, after;
    say(scene, 1);
    socket_open_on(scene, 0, &early, watch(1, 1));
    scene_run(scene);
    delta(scene, 1, "Hel");
    happen(scene, "agent.tool_call");
    scene_run(scene);
    socket_open_on(scene, 1, &between, watch(1, 1));
    scene_run(scene);
    delta(scene, 2, "lo");
    scene_run(scene);
    socket_open_on(scene, 1, &late, watch(1, 1));
    scene_run(scene);
    assert_string_equal(socket_story(&early), "ready{\"cursor\":\"1\",\"sequence\":1,\"asks\":[]} "
                                              "delta:1.1{\"kind\":\"text\",\"text\":\"Hel\"} event:2 "
                                              "delta:2.1{\"kind\":\"text\",\"text\":\"lo\"}");
    assert_string_equal(socket_story(&between), "ready{\"cursor\":\"1\",\"sequence\":2,\"asks\":[]} event:2 "
                                                "snapshot{\"sequence\":2,\"cursor\":\"2\",\"partial\":"
                                                "[{\"kind\":\"text\",\"text\":\"Hel\"}]} "
                                                "delta:2.1{\"kind\":\"text\",\"text\":\"lo\"}");
    assert_string_equal(socket_story(&late), "ready{\"cursor\":\"1\",\"sequence\":2,\"asks\":[]} event:2 "
                                             "snapshot{\"sequence\":2,\"cursor\":\"2.1\",\"partial\":"
                                             "[{\"kind\":\"text\",\"text\":\"Hello\"}]}");
    say(scene, 1);
    scene_run(scene);
    socket_open_on(scene, 1, &after, watch(1, 2));
    scene_run(scene);
    assert_string_equal(socket_story(&late), "event:3");
    assert_string_equal(socket_story(&after), "ready{\"cursor\":\"2\",\"sequence\":3,\"asks\":[]} event:3");
    socket_close(&early);
    socket_close(&between);
    socket_close(&late);
    socket_close(&after);
}

/* It is saved behind the new event, too, and comes back after a restart. */
static void what_is_carried_is_saved(void **state)
{
    struct scene *scene = *state;
    say(scene, 1);
    delta(scene, 1, "Hel");
    happen(scene, "agent.tool_call");
    scene_run(scene);
    hub_flush(&scene->fanout->hubs[0]);
    assert_int_equal(fake.partials[1].sequence, 2);
    assert_int_equal(fake.partials[1].count, 0);
    assert_true(slice_is(fake.partials[1].body, "[{\"kind\":\"text\",\"text\":\"Hel\"}]"));
    happen(scene, "turn.ended");
    scene_run(scene);
    assert_int_equal(scene->fanout->hubs[0].feeds.count, 0);
}

#define SCENE(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(deltas_follow_their_event),
        SCENE(late_viewer_gets_them_one_by_one),
        SCENE(cut_window_becomes_a_snapshot),
        SCENE(partial_output_is_saved_and_comes_back),
        SCENE(much_partial_output_is_saved_in_pieces),
        SCENE(late_viewer_after_a_restart_waits_for_the_store),
        SCENE(client_knows_more_deltas_than_the_server),
        SCENE(delta_overtakes_its_event),
        SCENE(slow_viewer_is_told_what_it_missed),
        SCENE(window_goes_with_the_next_event),
        SCENE(event_right_behind_a_delta_is_not_left_out),
        SCENE(unsaved_output_is_saved_when_stopping),
        SCENE(an_event_in_the_middle_of_a_message),
        SCENE(what_is_carried_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
