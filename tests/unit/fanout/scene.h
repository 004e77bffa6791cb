/* One fanout on two loops that run by hand, readers that run when told, and sockets. */
#ifndef FANOUT_SCENE_H
#define FANOUT_SCENE_H

#include "fakes.h"
#include "doors/native/frame_encoders.h"
#include "fanout/hub.h"

enum { JOBS_MAX = 4096, LOOPS = 2 };

struct scene {
    struct loop *loops[LOOPS];
    struct fanout *fanout;
    struct clock clock;
    struct read_job *jobs[JOBS_MAX];
    size_t job_count;
    bool refuses_jobs;
};

struct socket {
    struct buffer got;
    size_t room; /* how much it still takes */
    struct viewer *viewer;
    struct loop *loop;
    bool ended;
    int end_code;
    size_t writes;
};

static bool scene_submit(void *owner, struct read_job *job)
{
    struct scene *scene = owner;
    if (scene->refuses_jobs) {
        return false;
    }
    assert_true(scene->job_count < JOBS_MAX);
    scene->jobs[scene->job_count++] = job;
    return true;
}

static struct fanout_options scene_options(struct scene *scene)
{
    return (struct fanout_options){.clock = &scene->clock,
                                   .rights = &fake_rights,
                                   .heartbeat_ms = 15000,
                                   .partial_flush_ms = 1000,
                                   .tail_bytes_max = 4096,
                                   .window_bytes_max = 4096,
                                   .page_events = 10,
                                   .viewers_max = 100,
                                   .owner = scene,
                                   .submit_read = scene_submit,
                                   .save_partial = fake_save_partial};
}

static int scene_open(void **state)
{
    struct scene *scene = memory_zeroed(sizeof *scene);
    clock_init_system(&scene->clock);
    fake_reset();
    for (int i = 0; i < LOOPS; i++) {
        scene->loops[i] = loop_new(i);
    }
    struct fanout_options options = scene_options(scene);
    scene->fanout = fanout_new(&options, scene->loops, LOOPS);
    *state = scene;
    return 0;
}

/* Everything that loops have to do, but no reads. */
static bool scene_run_loops(struct scene *scene)
{
    bool any = false, ran = true;
    while (ran) {
        ran = false;
        for (int i = 0; i < LOOPS; i++) {
            ran |= loop_run_some(scene->loops[i]);
        }
        any |= ran;
    }
    return any;
}

static bool scene_run_job(struct scene *scene)
{
    if (scene->job_count == 0) {
        return false;
    }
    struct read_job *job = scene->jobs[0];
    scene->job_count--;
    memmove(scene->jobs, scene->jobs + 1, scene->job_count * sizeof *scene->jobs);
    job->run(job, NULL);
    return true;
}

static UNUSED void scene_run(struct scene *scene)
{
    while (scene_run_loops(scene) || scene_run_job(scene)) {
    }
}

static void scene_stop(struct scene *scene)
{
    scene->refuses_jobs = false;
    fanout_close_all(scene->fanout, "server_stopping");
    scene_run(scene);
    for (int i = 0; i < LOOPS; i++) {
        uv_run(&scene->loops[i]->uv, UV_RUN_NOWAIT);
    }
    fanout_free(scene->fanout);
}

static int scene_close(void **state)
{
    struct scene *scene = *state;
    scene_stop(scene);
    for (int i = 0; i < LOOPS; i++) {
        loop_free(scene->loops[i]);
    }
    fake_reset();
    free(scene);
    return 0;
}

static size_t socket_write(void *owner, struct slice bytes)
{
    struct socket *socket = owner;
    assert_false(socket->ended);
    size_t taken = bytes.len < socket->room ? bytes.len : socket->room;
    socket->room -= taken;
    socket->writes++;
    buffer_add(&socket->got, slice_from(bytes.ptr, taken));
    return taken;
}

static void socket_end(void *owner, int code)
{
    struct socket *socket = owner;
    assert_false(socket->ended);
    socket->ended = true;
    socket->end_code = code;
}

static UNUSED struct viewer_options watch(int64_t session_key, int64_t after)
{
    return (struct viewer_options){.encoder = &encoder_sse,
                                   .tenant_key = FAKE_TENANT,
                                   .user_id = SLICE("ann"),
                                   .session_key = session_key,
                                   .session_id = SLICE("s1"),
                                   .after = {after, 0},
                                   .sees_all = true,
                                   .deltas = true};
}

static UNUSED void socket_open_on(struct scene *scene, int loop, struct socket *socket, struct viewer_options options)
{
    struct failure failure;
    *socket = (struct socket){.room = SIZE_MAX, .loop = scene->loops[loop]};
    options.sink = (struct viewer_sink){.owner = socket, .write = socket_write, .end = socket_end};
    assert_int_equal(viewer_open(scene->fanout, socket->loop, &options, &socket->viewer, &failure), STATUS_OK);
    viewer_writable(socket->viewer);
}

static UNUSED void socket_open(struct scene *scene, struct socket *socket, struct viewer_options options)
{
    socket_open_on(scene, 0, socket, options);
}

static UNUSED void socket_close(struct socket *socket)
{
    viewer_closed(socket->viewer);
    buffer_release(&socket->got);
}

static UNUSED void socket_drain(struct socket *socket, size_t room)
{
    socket->room = room;
    viewer_writable(socket->viewer);
}

/* What arrived, in short: "ready event:1 event:2 delta:2.1 gap:51-60 slow:2 closed:deleted ping". */
static UNUSED const char *socket_story(struct socket *socket)
{
    static char story[1 << 16];
    size_t len = 0;
    struct slice rest = buffer_slice(&socket->got), frame, line, value;
    char id[64] = "";
    story[0] = 0;
    while (rest.len > 0) {
        const char *end = memmem(rest.ptr, rest.len, "\n\n", 2);
        frame = end ? slice_from(rest.ptr, (size_t)(end - rest.ptr)) : rest;
        rest = slice_after(rest, frame.len + 2);
        char name[32] = "?", data[4096] = "";
        id[0] = 0;
        while (frame.len > 0) {
            slice_cut(frame, '\n', &line, &frame);
            if (slice_starts(line, SLICE(": "))) {
                snprintf(name, sizeof name, "%.*s", SLICE_ARG(slice_after(line, 2)));
            }
            if (slice_cut(line, ':', &line, &value)) {
                value = slice_trim(value);
                if (slice_is(line, "event")) {
                    snprintf(name, sizeof name, "%.*s", SLICE_ARG(value));
                } else if (slice_is(line, "id")) {
                    snprintf(id, sizeof id, "%.*s", SLICE_ARG(value));
                } else if (slice_is(line, "data")) {
                    snprintf(data, sizeof data, "%.*s", SLICE_ARG(value));
                }
            }
        }
        bool is_plain = strcmp(name, "event") == 0 || strcmp(name, "ping") == 0;
        len += (size_t)snprintf(story + len, sizeof story - len, "%s%s%s%s%s%s%s", len ? " " : "", name,
                                id[0] ? ":" : "", id, is_plain ? "" : data, "", end ? "" : "...");
    }
    socket->got.len = 0;
    return story;
}

#endif
