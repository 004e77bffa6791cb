#include "scene.h"

static void say(struct scene *scene, int64_t session_key, const char *type)
{
    int64_t sequence = fake_append(session_key, type, NULL, 0);
    publish_range(scene->fanout, session_key, sequence, sequence);
}

static struct viewer_options firehose(int64_t after)
{
    return (struct viewer_options){.encoder = &encoder_sse,
                                   .tenant_key = FAKE_TENANT,
                                   .user_id = SLICE("ann"),
                                   .position = {after, 0},
                                   .sees_all = true};
}

/* A member who is nobody's owner: sees what she takes part in. */
static struct viewer_options restricted(int64_t after)
{
    struct viewer_options options = firehose(after);
    options.sees_all = false;
    options.who = (struct principal){.kind = PRINCIPAL_USER,
                                     .tenant_key = FAKE_TENANT,
                                     .user_id = SLICE("ann"),
                                     .name = SLICE("user:ann"),
                                     .member = MEMBER_MEMBER,
                                     .scopes = SCOPE_ALL};
    return options;
}

static void all_sessions_on_one_connection(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    say(scene, 1, "session.created");
    say(scene, 2, "session.created");
    socket_open_on(scene, 1, &socket, firehose(1));
    scene_run(scene);
    assert_non_null(memmem(socket.got.ptr, socket.got.len, "\"session_id\":\"s2\"", 17));
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"1-0\"} event:2-0");
    say(scene, 3, "session.created");
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:3-0 event:4-0");
    socket_close(&socket);
}

static void resumes_over_many_pages(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    for (int i = 0; i < 45; i++) {
        say(scene, 1 + i % 5, "agent.message");
    }
    socket_open(scene, &socket, firehose(3));
    scene_run(scene);
    const char *story = socket_story(&socket);
    assert_non_null(strstr(story, "ready{\"cursor\":\"3-0\"} event:4-0 event:5-0 "));
    assert_non_null(strstr(story, " event:44-0 event:45-0"));
    socket_close(&socket);
}

static void from_the_end(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer_options options = firehose(0);
    options.from_end = true;
    say(scene, 1, "session.created");
    socket_open(scene, &socket, options);
    scene_run(scene);
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"1-0\"} event:2-0");
    socket_close(&socket);
}

static void publications_are_read_together(void **state)
{
    struct scene *scene = *state;
    struct socket sockets[5];
    say(scene, 1, "session.created");
    for (int i = 0; i < 5; i++) {
        socket_open(scene, &sockets[i], firehose(1));
    }
    scene_run(scene);
    int64_t reads = fake.reads;
    for (int i = 0; i < 8; i++) {
        say(scene, 1, "agent.message");
    }
    scene_run(scene);
    assert_true(fake.reads - reads <= 2);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(socket_story(&sockets[i]),
                            "ready{\"cursor\":\"1-0\"} event:2-0 event:3-0 event:4-0 event:5-0 event:6-0 event:7-0 "
                            "event:8-0 event:9-0");
        socket_close(&sockets[i]);
    }
}

static void types_are_filtered(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    struct viewer_options options = firehose(0);
    options.types[0] = SLICE("tool.*");
    options.type_count = 1;
    say(scene, 1, "session.created");
    say(scene, 1, "tool.call");
    socket_open(scene, &socket, options);
    scene_run(scene);
    say(scene, 1, "agent.message");
    say(scene, 1, "tool.result");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"0-0\"} event:2-0 event:4-0");
    socket_close(&socket);
}

static void only_what_the_viewer_may_see(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    fake.participants[2] = ACCESS_VIEWER;
    say(scene, 1, "session.created");
    say(scene, 2, "session.created");
    socket_open(scene, &socket, restricted(0));
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"0-0\"} event:2-0");
    int64_t decisions = fake.decisions;
    say(scene, 1, "agent.message");
    say(scene, 2, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:4-0");
    assert_int_equal(fake.decisions, decisions); /* remembered */
    say(scene, 3, "agent.message");
    say(scene, 2, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:6-0");
    assert_int_equal(fake.decisions, decisions + 1);
    socket_close(&socket);
}

static void access_given_and_taken(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    say(scene, 1, "session.created");
    socket_open(scene, &socket, restricted(0));
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "ready{\"cursor\":\"0-0\"}");
    fake.participants[1] = ACCESS_COLLABORATOR;
    say(scene, 1, "session.participant_added");
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:2-0 event:3-0");
    fake.participants[1] = ACCESS_NONE;
    say(scene, 1, "session.participant_removed");
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "");
    fake.participants[1] = ACCESS_VIEWER;
    publish_close(scene->fanout, 1, "access_revoked", "ann"); /* decisions are made again */
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:6-0");
    socket_close(&socket);
}

static void slow_firehose_viewer(void **state)
{
    struct scene *scene = *state;
    struct socket slow, fast;
    say(scene, 1, "session.created");
    socket_open(scene, &slow, firehose(1));
    socket_open(scene, &fast, firehose(1));
    scene_run(scene);
    socket_story(&slow);
    slow.room = 7;
    for (int i = 0; i < 50; i++) {
        say(scene, 1, "agent.message");
        scene_run(scene);
    }
    socket_drain(&slow, SIZE_MAX);
    scene_run(scene);
    const char *story = socket_story(&slow);
    assert_non_null(strstr(story, "event:2-0 slow{\"cursor\":\"2-0\",\"dropped_deltas\":0} event:3-0 event:4-0"));
    assert_non_null(strstr(story, "event:50-0 event:51-0"));
    assert_non_null(strstr(socket_story(&fast), "event:50-0 event:51-0"));
    socket_close(&slow);
    socket_close(&fast);
}

static void revoked_user_loses_the_firehose(void **state)
{
    struct scene *scene = *state;
    struct socket ann, bob;
    struct viewer_options options = firehose(0);
    say(scene, 1, "session.created");
    socket_open(scene, &ann, options);
    options.user_id = SLICE("bob");
    socket_open(scene, &bob, options);
    scene_run(scene);
    publish_close(scene->fanout, 0, "access_revoked", "bob");
    scene_run(scene);
    assert_false(ann.ended);
    assert_true(bob.ended);
    socket_close(&ann);
    socket_close(&bob);
}

static struct scene *scene_of_meanwhile;

static void say_meanwhile(void)
{
    say(scene_of_meanwhile, 2, "agent.message");
    scene_run_loops(scene_of_meanwhile);
}

static void publication_during_a_read_is_not_forgotten(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    scene_of_meanwhile = scene;
    say(scene, 1, "session.created");
    socket_open(scene, &socket, firehose(1));
    scene_run(scene);
    socket_story(&socket);
    say(scene, 1, "agent.message");
    fake.meanwhile = say_meanwhile;
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "event:2-0 event:3-0");
    socket_close(&socket);
}

static void failed_fetch_is_repeated(void **state)
{
    struct scene *scene = *state;
    struct socket socket;
    say(scene, 1, "session.created");
    socket_open(scene, &socket, firehose(0));
    scene_run(scene);
    socket_story(&socket);
    fake.broken = true;
    say(scene, 1, "agent.message");
    scene_run(scene);
    assert_string_equal(socket_story(&socket), "");
    fake.broken = false;
    for (int i = 0; i < HUB_WHEEL_SLOTS; i++) {
        hub_beat(&scene->fanout->hubs[0]);
    }
    scene_run(scene);
    assert_non_null(strstr(socket_story(&socket), "event:2-0"));
    socket_close(&socket);
}

#define SCENE(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(all_sessions_on_one_connection),
        SCENE(resumes_over_many_pages),
        SCENE(from_the_end),
        SCENE(publications_are_read_together),
        SCENE(types_are_filtered),
        SCENE(only_what_the_viewer_may_see),
        SCENE(access_given_and_taken),
        SCENE(slow_firehose_viewer),
        SCENE(revoked_user_loses_the_firehose),
        SCENE(publication_during_a_read_is_not_forgotten),
        SCENE(failed_fetch_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
