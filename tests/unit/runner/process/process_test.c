#include "runner/sandbox_scene.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

static const char *const usual[] = {"PATH=/usr/bin:/bin", NULL};

static void test_output_and_exit_code(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_data(&scene);
    scene_sh(&scene, NULL, "echo out; echo err >&2; echo again >/dev/stdout; exit 3", &ran);
    assert_bytes(buffer_slice(&ran.out), "out\nagain\n");
    assert_bytes(buffer_slice(&ran.err), "err\n");
    assert_int_equal(ran.end.exit_code, 3);
    assert_int_equal(ran.end.signal, 0);
    assert_false(ran.end.timed_out);
    ran_release(&ran);
    scene_end(&scene);
}

static void test_environment_is_only_what_was_given(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/usr/bin/env", NULL};
    const char *environment[] = {"A=1", "B=two words", NULL};
    scene_data(&scene);
    setenv("SECRET_OF_THE_SERVER", "hunter2", 1);
    (void)scene_start(&scene, NULL, (struct process_spec){.argv = argv, .environment = environment}, &ran);
    scene_wait(&scene, &ran.done);
    assert_bytes(buffer_slice(&ran.out), "A=1\nB=two words\n");
    ran_release(&ran);
    scene_end(&scene);
}

static void test_descriptors_stay_here(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    int leaky = open("/etc/passwd", O_RDONLY); /* without close-on-exec, as some library might */
    assert_int_equal(fcntl(leaky, F_DUPFD, 20), 20);
    scene_data(&scene);
    scene_sh(&scene, NULL, "ls /proc/self/fd", &ran);
    assert_bytes(buffer_slice(&ran.out), "0\n1\n2\n3\n"); /* 3 is the directory that ls reads */
    ran_release(&ran);
    close(leaky);
    close(20);
    scene_end(&scene);
}

static void test_stdin_is_passed_and_bounded(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/cat", NULL};
    scene_data(&scene);
    struct process *process = scene_start(&scene, NULL, (struct process_spec){.argv = argv, .wants_stdin = true}, &ran);
    size_t much = process_limits_usual.stdin_bytes_max;
    char *bytes = calloc(1, much + 1);
    assert_false(process_write(process, slice_from(bytes, much + 1)));
    assert_true(process_write(process, SLICE("one ")));
    assert_false(process_write(process, slice_from(bytes, much)));
    assert_true(process_write(process, SLICE("two")));
    process_close_stdin(process);
    assert_false(process_write(process, SLICE("late")));
    scene_wait(&scene, &ran.done);
    assert_bytes(buffer_slice(&ran.out), "one two");
    free(bytes);
    ran_release(&ran);
    scene_end(&scene);
}

static void test_writing_to_one_that_is_gone(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "exec <&-; echo closed; exec /bin/sleep 60", NULL};
    scene_data(&scene);
    struct process *process = scene_start(&scene, NULL, (struct process_spec){.argv = argv, .wants_stdin = true}, &ran);
    while (ran.out.len == 0) {
        uv_run(loop_uv(scene.loop), UV_RUN_ONCE);
    }
    while (process_write(process, SLICE("nobody reads this"))) {
        uv_run(loop_uv(scene.loop), UV_RUN_ONCE);
    }
    process_stop(process);
    scene_wait(&scene, &ran.done);
    assert_int_equal(ran.ends, 1);
    ran_release(&ran);
    scene_end(&scene);
}

static void test_output_cap(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "yes | head -c 1000000; echo end >&2", NULL};
    scene_data(&scene);
    (void)scene_start(&scene, NULL, (struct process_spec){.argv = argv, .environment = usual, .output_bytes_max = 1000},
                      &ran);
    scene_wait(&scene, &ran.done);
    assert_int_equal(ran.out.len, 1000);
    assert_bytes(buffer_slice(&ran.err), "end\n"); /* the writer was not blocked */
    assert_int_equal(ran.end.exit_code, 0);
    ran_release(&ran);
    scene_end(&scene);
}

static void on_timer(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

static void turn_for(struct scene *scene, uint64_t ms)
{
    uv_timer_t timer;
    bool over = false;
    uv_timer_init(loop_uv(scene->loop), &timer);
    timer.data = &over;
    uv_timer_start(&timer, on_timer, ms, 0);
    scene_wait(scene, &over);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(loop_uv(scene->loop), UV_RUN_NOWAIT);
}

/* Paused, the writer blocks in its pipe; nothing is lost, even when it ends before reading goes on. */
static void test_pause_holds_output_back(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "head -c 30000 /dev/zero", NULL};
    scene_data(&scene);
    struct process *process =
        scene_start(&scene, NULL, (struct process_spec){.argv = argv, .environment = usual}, &ran);
    process_pause(process, true);
    turn_for(&scene, 1500); /* longer than the drain after an end */
    assert_false(ran.done);
    assert_int_equal(ran.out.len, 0);
    process_pause(process, false);
    scene_wait(&scene, &ran.done);
    assert_int_equal(ran.out.len, 30000);
    ran_release(&ran);
    scene_end(&scene);
}

static void test_time_limit(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "sleep 100", NULL};
    scene_data(&scene);
    (void)scene_start(&scene, NULL, (struct process_spec){.argv = argv, .environment = usual, .time_ms_max = 100},
                      &ran);
    scene_wait(&scene, &ran.done);
    assert_true(ran.end.timed_out);
    assert_int_equal(ran.end.exit_code, -1);
    assert_int_equal(ran.end.signal, SIGTERM);
    ran_release(&ran);
    scene_end(&scene);
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* A child in a session of its own, deaf to TERM, goes too. */
static void test_stop_ends_the_whole_tree(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done'", NULL};
    scene_data(&scene);
    struct process *process =
        scene_start(&scene, NULL, (struct process_spec){.argv = argv, .environment = usual}, &ran);
    while (ran.out.len == 0) {
        uv_run(loop_uv(scene.loop), UV_RUN_ONCE);
    }
    pid_t deaf = (pid_t)number_of(buffer_slice(&ran.out));
    assert_true(is_alive(deaf));
    process_stop(process);
    process_stop(process);
    scene_wait(&scene, &ran.done);
    assert_int_equal(ran.ends, 1);
    for (int i = 0; i < 200 && is_alive(deaf); i++) {
        turn_for(&scene, 10); /* its new parent takes it away */
    }
    assert_false(is_alive(deaf));
    ran_release(&ran);
    scene_end(&scene);
}

static void test_abandon_says_nothing(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "echo $$; sleep 100", NULL};
    scene_data(&scene);
    struct process *process =
        scene_start(&scene, NULL, (struct process_spec){.argv = argv, .environment = usual}, &ran);
    while (ran.out.len == 0) {
        uv_run(loop_uv(scene.loop), UV_RUN_ONCE);
    }
    pid_t pid = process_pid(process);
    process_abandon(process);
    scene_end(&scene); /* returns when the last handle is closed, so when it was reaped */
    assert_int_equal(ran.ends, 0);
    assert_false(is_alive(pid)); /* and no zombie either */
    ran_release(&ran);
}

static void test_what_cannot_start(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran = {0};
    struct failure failure;
    struct process *process = NULL;
    const char *argv[] = {"/nonexistent/program", NULL};
    struct process_handler handler = ran_handler(&ran);
    scene_data(&scene);
    assert_status(process_start(scene.loop, NULL, &(struct process_spec){.argv = argv}, &handler, &process, &failure),
                  STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "process_not_started");
    assert_non_null(strstr(failure.detail, "no such file"));
    assert_null(process);
    scene_end(&scene);
    assert_int_equal(ran.ends, 0);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir)) {
        count++;
    }
    closedir(dir);
    return count;
}

static void test_no_descriptor_is_left(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_data(&scene);
    scene_sh(&scene, NULL, "true", &ran);
    uv_run(loop_uv(scene.loop), UV_RUN_NOWAIT);
    size_t before = open_descriptors();
    for (int i = 0; i < 50; i++) {
        scene_sh(&scene, NULL, "true", &ran);
    }
    uv_run(loop_uv(scene.loop), UV_RUN_NOWAIT);
    assert_int_equal(open_descriptors(), before);
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_exit_code),        cmocka_unit_test(test_environment_is_only_what_was_given),
        cmocka_unit_test(test_descriptors_stay_here),       cmocka_unit_test(test_stdin_is_passed_and_bounded),
        cmocka_unit_test(test_writing_to_one_that_is_gone), cmocka_unit_test(test_output_cap),
        cmocka_unit_test(test_pause_holds_output_back),     cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_stop_ends_the_whole_tree),    cmocka_unit_test(test_abandon_says_nothing),
        cmocka_unit_test(test_what_cannot_start),           cmocka_unit_test(test_no_descriptor_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
