/* Pairs of sockets: one end in a set, bytes written to the other. */
#include "unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "net/socket_set.h"

enum { PAIRS = 3, GATHER_US = 2000, DEADLINE_S = 30 };

struct scene {
    struct loop *loop;
    struct socket_set set;
    int ours[PAIRS], theirs[PAIRS];
    int heard[PAIRS];
    int heard_now; /* since the loop was last run */
    int looks;
    bool drops_others, is_closed;
};

static void drop_others(struct scene *scene, int index)
{
    for (int i = 0; i < PAIRS; i++) {
        if (i != index) {
            socket_set_drop(&scene->set, scene->ours[i]);
        }
    }
}

static void on_ready(void *owner, int fd, unsigned events)
{
    struct scene *scene = owner;
    char byte;
    int index = 0;
    while (scene->ours[index] != fd) {
        index++;
    }
    assert_true(events & EPOLLIN);
    assert_int_equal(read(fd, &byte, 1), 1);
    scene->heard[index]++;
    scene->heard_now++;
    if (scene->drops_others) {
        drop_others(scene, index);
    }
}

static void on_looked(void *owner)
{
    struct scene *scene = owner;
    scene->looks++;
}

static void on_closed(void *owner)
{
    struct scene *scene = owner;
    scene->is_closed = true;
}

static void scene_open(struct scene *scene, int64_t gather_us)
{
    *scene = (struct scene){.loop = loop_new(0)};
    scene->set =
        (struct socket_set){.owner = scene, .on_ready = on_ready, .on_looked = on_looked, .on_closed = on_closed};
    socket_set_open(&scene->set, scene->loop, gather_us);
    for (int i = 0; i < PAIRS; i++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        scene->ours[i] = ends[0];
        scene->theirs[i] = ends[1];
        assert_true(socket_set_watch(&scene->set, ends[0], EPOLLOUT));
        assert_true(socket_set_watch(&scene->set, ends[0], EPOLLIN));
    }
}

static void scene_close(struct scene *scene)
{
    for (int i = 0; i < PAIRS; i++) {
        socket_set_drop(&scene->set, scene->ours[i]);
        close(scene->ours[i]);
        close(scene->theirs[i]);
    }
    socket_set_close(&scene->set);
    assert_false(scene->is_closed);
    loop_free(scene->loop);
    assert_true(scene->is_closed);
}

static void say(struct scene *scene, int index)
{
    assert_int_equal(write(scene->theirs[index], "x", 1), 1);
}

static int run_once(struct scene *scene)
{
    scene->heard_now = 0;
    uv_run(loop_uv(scene->loop), UV_RUN_ONCE);
    return scene->heard_now;
}

static uint64_t deadline(void)
{
    return uv_hrtime() + DEADLINE_S * UINT64_C(1000000000);
}

/* One byte after the other, each heard before the next is said, until the set gathers. */
static void make_busy(struct scene *scene)
{
    for (uint64_t until = deadline(); !scene->set.is_gathering;) {
        assert_true(uv_hrtime() < until);
        say(scene, 0);
        run_once(scene);
    }
}

static void sockets_are_heard_at_once(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 0);
    for (int i = 0; i < PAIRS; i++) {
        say(&scene, i);
        assert_int_equal(run_once(&scene), 1);
        assert_int_equal(scene.heard[i], 1);
    }
    for (int i = 0; i < 10000; i++) {
        say(&scene, 0);
        assert_int_equal(run_once(&scene), 1);
    }
    assert_false(scene.set.is_gathering);
    scene_close(&scene);
}

static void dropped_sockets_are_silent_within_the_same_look(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, 0);
    scene.drops_others = true;
    for (int i = 0; i < PAIRS; i++) {
        say(&scene, i);
    }
    assert_int_equal(run_once(&scene), 1);
    assert_int_equal(scene.looks, 1);
    scene_close(&scene);
}

static int run_without_waiting(struct scene *scene)
{
    scene->heard_now = 0;
    uv_run(loop_uv(scene->loop), UV_RUN_NOWAIT);
    return scene->heard_now;
}

/* A tick may come between any two steps, so what was said first is heard alone at times, but not always. */
static void busy_sockets_are_heard_together(void **state)
{
    struct scene scene;
    int heard = 0;
    (void)state;
    scene_open(&scene, GATHER_US);
    for (uint64_t until = deadline(); heard < PAIRS && uv_hrtime() < until;) {
        make_busy(&scene);
        say(&scene, 0);
        heard = run_without_waiting(&scene);
        say(&scene, 1);
        say(&scene, 2);
        while (run_once(&scene) == 0) {
        }
        heard = heard ? 0 : scene.heard_now;
    }
    assert_int_equal(heard, PAIRS);
    scene_close(&scene);
}

static void quiet_sockets_are_heard_at_once_again(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, GATHER_US);
    make_busy(&scene);
    for (uint64_t until = deadline(); scene.set.is_gathering;) {
        assert_true(uv_hrtime() < until);
        run_once(&scene); /* by its own tick */
    }
    say(&scene, 1);
    assert_int_equal(run_once(&scene), 1);
    scene_close(&scene);
}

static void on_message(struct loop_message *message)
{
    message->run = NULL;
}

static void others_on_the_loop_do_not_wait(void **state)
{
    struct scene scene;
    int heard = 1;
    (void)state;
    scene_open(&scene, GATHER_US);
    for (uint64_t until = deadline(); heard > 0 && uv_hrtime() < until;) {
        struct loop_message message = {.run = on_message};
        make_busy(&scene);
        say(&scene, 0);
        loop_post(scene.loop, &message);
        heard = run_without_waiting(&scene);
        assert_null(message.run);
    }
    assert_int_equal(heard, 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_are_heard_at_once),
        cmocka_unit_test(dropped_sockets_are_silent_within_the_same_look),
        cmocka_unit_test(busy_sockets_are_heard_together),
        cmocka_unit_test(quiet_sockets_are_heard_at_once_again),
        cmocka_unit_test(others_on_the_loop_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
