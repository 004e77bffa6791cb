/* A place for tool calls without a server: a tree in a temporary directory, a loop run by the test itself, and doubles
 * for what the host and the sandbox define. Commands run as plain processes in the tree. */
#ifndef TOOL_SCENE_H
#define TOOL_SCENE_H

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "loop/loop.h"
#include "runner/tool/tool.h"

struct sandbox {
    char root[200];
};

struct turn {
    struct buffer streamed;
    struct slice serve_result, serve_error;
    char served[400];
    struct turn_served then; /* when it is not answered at once */
    bool answers_later;
};

struct scene {
    struct arena arena;
    struct sandbox sandbox;
    char outside[200], files_dir[200];
    char top[200];
    struct agent agent;
    struct turn turn;
    struct tool_settings settings;
    struct tool_place place;
    struct tool_call call;
    /* the result of the last call */
    int done_count;
    bool is_error;
    enum turn_error error;
    struct slice text, spill;
    int64_t bytes;
    void *running;
};

/* --- doubles --- */

struct slice sandbox_root(const struct sandbox *sandbox)
{
    return slice_of(sandbox->root);
}

void turn_delta(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    (void)id;
    assert_int_equal(kind, DELTA_TOOL_OUTPUT);
    assert_true(slice_is_utf8(text));
    buffer_add(&turn->streamed, text);
}

bool turn_is_full(const struct turn *turn)
{
    (void)turn;
    return false;
}

void turn_call_service(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    snprintf(turn->served, sizeof turn->served, "%.*s %.*s", SLICE_ARG(tool), SLICE_ARG(arguments));
    turn->then = then;
    if (!turn->answers_later) {
        then.done(then.owner, turn->serve_result, turn->serve_error);
    }
}

struct process {
    uv_process_t child;
    uv_pipe_t out, err;
    uv_timer_t timer;
    struct process_handler handler;
    struct process_end end;
    int open; /* handles */
    bool is_abandoned;
};

static void process_closed(uv_handle_t *handle)
{
    struct process *process = handle->data;
    if (--process->open == 0) {
        if (!process->is_abandoned) {
            process->handler.on_end(process->handler.owner, &process->end);
        }
        free(process);
    }
}

static void process_exited(uv_process_t *child, int64_t code, int signal)
{
    struct process *process = child->data;
    process->end.exit_code = signal ? -1 : (int)code;
    process->end.signal = signal;
    uv_close((uv_handle_t *)child, process_closed);
    uv_close((uv_handle_t *)&process->timer, process_closed);
}

static void process_late(uv_timer_t *timer)
{
    struct process *process = timer->data;
    process->end.timed_out = true;
    uv_process_kill(&process->child, SIGKILL);
}

static void process_room(uv_handle_t *handle, size_t size, uv_buf_t *out)
{
    (void)handle;
    *out = uv_buf_init(memory_alloc(size), (unsigned)size);
}

static void process_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *bytes)
{
    struct process *process = stream->data;
    if (got > 0 && !process->is_abandoned) {
        process->handler.on_stdout(process->handler.owner, slice_from(bytes->base, (size_t)got));
    }
    free(bytes->base);
    if (got < 0) {
        uv_close((uv_handle_t *)stream, process_closed);
    }
}

static char process_environment_seen[40000];
static char process_directory_seen[200];

static void note_spec(const struct process_spec *spec)
{
    size_t at = 0;
    for (const char *const *one = spec->environment; one && *one; one++) {
        at += (size_t)snprintf(process_environment_seen + at, sizeof process_environment_seen - at, "%s\n", *one);
    }
    snprintf(process_directory_seen, sizeof process_directory_seen, "%s", spec->directory ? spec->directory : "");
}

static void process_pipe(uv_loop_t *loop, struct process *process, uv_pipe_t *pipe, uv_stdio_container_t *to)
{
    uv_pipe_init(loop, pipe, 0);
    pipe->data = process;
    process->open++;
    to->flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
    to->data.stream = (uv_stream_t *)pipe;
}

enum status process_start(struct loop *loop, struct sandbox *sandbox, const struct process_spec *spec,
                          const struct process_handler *handler, struct process **out, struct failure *failure)
{
    struct process *process = memory_zeroed(sizeof *process);
    static const char *const usual[] = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"};
    const char *environment[700] = {NULL};
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE}};
    size_t count = 0;
    note_spec(spec);
    for (size_t i = 0; spec->environment && spec->environment[i]; i++) {
        environment[count++] = spec->environment[i]; /* the first of a name counts */
    }
    memcpy(environment + count, usual, sizeof usual);
    process->handler = *handler;
    process_pipe(loop_uv(loop), process, &process->out, &stdio[1]);
    process_pipe(loop_uv(loop), process, &process->err, &stdio[2]);
    uv_timer_init(loop_uv(loop), &process->timer);
    process->timer.data = process->child.data = process;
    process->open += 2;
    uv_process_options_t options = {.file = spec->argv[0],
                                    .args = (char **)(uintptr_t)spec->argv,
                                    .env = (char **)(uintptr_t)environment,
                                    .cwd = sandbox->root,
                                    .stdio_count = 3,
                                    .stdio = stdio,
                                    .exit_cb = process_exited};
    int error = uv_spawn(loop_uv(loop), &process->child, &options);
    if (error != 0) {
        process->is_abandoned = true;
        uv_close((uv_handle_t *)&process->child, process_closed);
        uv_close((uv_handle_t *)&process->timer, process_closed);
        uv_close((uv_handle_t *)&process->out, process_closed);
        uv_close((uv_handle_t *)&process->err, process_closed);
        return failure_set(failure, STATUS_NOT_FOUND, "no_program", "\"%s\": %s.", spec->argv[0], uv_strerror(error));
    }
    uv_read_start((uv_stream_t *)&process->out, process_room, process_read);
    uv_read_start((uv_stream_t *)&process->err, process_room, process_read);
    if (spec->time_ms_max > 0) {
        uv_timer_start(&process->timer, process_late, (uint64_t)spec->time_ms_max, 0);
    }
    *out = process;
    return STATUS_OK;
}

void process_abandon(struct process *process)
{
    process->is_abandoned = true;
    uv_process_kill(&process->child, SIGKILL);
}

/* --- the scene --- */

static inline void scene_init(struct scene *scene)
{
    *scene = (struct scene){.settings = tool_settings_usual};
    snprintf(scene->top, sizeof scene->top, "/tmp/tool_test.XXXXXX");
    assert_non_null(mkdtemp(scene->top));
    snprintf(scene->sandbox.root, sizeof scene->sandbox.root, "%.150s/tree", scene->top);
    snprintf(scene->outside, sizeof scene->outside, "%.150s/outside", scene->top);
    snprintf(scene->files_dir, sizeof scene->files_dir, "%.150s/files", scene->top);
    assert_int_equal(mkdir(scene->sandbox.root, 0755), 0);
    assert_int_equal(mkdir(scene->outside, 0755), 0);
    assert_int_equal(mkdir(scene->files_dir, 0755), 0);
    scene->place = (struct tool_place){.loop = loop_new(0),
                                       .settings = &scene->settings,
                                       .agent = &scene->agent,
                                       .sandbox = &scene->sandbox,
                                       .files_dir = slice_of(scene->files_dir),
                                       .turn = &scene->turn};
    scene->agent.id = SLICE("tester");
}

static inline void scene_release(struct scene *scene)
{
    char line[300];
    uv_run(loop_uv(scene->place.loop), UV_RUN_NOWAIT);
    loop_free(scene->place.loop);
    buffer_release(&scene->turn.streamed);
    arena_release(&scene->arena);
    snprintf(line, sizeof line, "rm -rf '%s'", scene->top);
    assert_int_equal(system(line), 0);
}

static inline void scene_done(void *owner, const struct tool_result *result)
{
    struct scene *scene = owner;
    scene->done_count++;
    scene->is_error = result->is_error;
    scene->error = result->error;
    scene->text = arena_copy(&scene->arena, result->text);
    scene->spill = arena_copy(&scene->arena, result->spill);
    scene->bytes = result->bytes;
    uv_stop(loop_uv(scene->place.loop));
}

/* Checks and starts; `scene_wait` follows. */
static inline void scene_start(struct scene *scene, const char *name, const char *arguments)
{
    const struct tool *tool = tool_find(slice_of(name));
    struct failure failure = {0};
    assert_non_null(tool);
    scene->done_count = 0;
    scene->call = (struct tool_call){.id = SLICE("call-1"), .name = slice_of(tool->spec->name)};
    assert_status(
        json_parse(&scene->arena, arena_copy(&scene->arena, slice_of(arguments)), &scene->call.arguments, NULL),
        STATUS_OK);
    if (tool_check(tool, scene->call.arguments, &failure) != STATUS_OK) {
        fail_msg("%s %s: %s", name, arguments, failure.detail);
    }
    scene->running = tool->run(&scene->place, &scene->call, (struct tool_done){scene, scene_done});
}

static inline void scene_wait(struct scene *scene)
{
    while (scene->done_count == 0) {
        uv_run(loop_uv(scene->place.loop), UV_RUN_DEFAULT);
    }
    assert_int_equal(scene->done_count, 1);
}

static inline void scene_call(struct scene *scene, const char *name, const char *arguments)
{
    scene_start(scene, name, arguments);
    scene_wait(scene);
}

#define assert_good(scene)                                                                                             \
    do {                                                                                                               \
        if ((scene)->is_error) {                                                                                       \
            fail_msg("refused: %.*s", SLICE_ARG((scene)->text));                                                       \
        }                                                                                                              \
    } while (0)
#define assert_holds(scene, part) assert_non_null(strstr((scene)->text.ptr, (part)))
#define assert_refused(scene, code, part)                                                                              \
    do {                                                                                                               \
        assert_true((scene)->is_error);                                                                                \
        assert_int_equal((scene)->error, (code));                                                                      \
        if (!strstr((scene)->text.ptr, (part))) {                                                                      \
            fail_msg("\"%.*s\" does not say \"%s\"", SLICE_ARG((scene)->text), (part));                                \
        }                                                                                                              \
    } while (0)

/* Files of the tree, named from the top directory of the scene: "tree/a", "outside/b". */
static inline const char *scene_path(const struct scene *scene, const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%.190s/%.200s", scene->top, name);
    return path;
}

static inline void scene_write(const struct scene *scene, const char *name, struct slice content)
{
    int fd = open(scene_path(scene, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content.ptr, content.len), (ssize_t)content.len);
    close(fd);
}

static inline struct slice scene_read(struct scene *scene, const char *name)
{
    enum { MAX = 1 << 20 };
    char *bytes = arena_bytes(&scene->arena, MAX);
    int fd = open(scene_path(scene, name), O_RDONLY);
    if (fd < 0) {
        return (struct slice){0};
    }
    ssize_t got = read(fd, bytes, MAX);
    close(fd);
    return slice_from(bytes, (size_t)got);
}

static inline void scene_link(const struct scene *scene, const char *target, const char *name)
{
    assert_int_equal(symlink(target, scene_path(scene, name)), 0);
}

static inline void scene_directory(const struct scene *scene, const char *name)
{
    assert_int_equal(mkdir(scene_path(scene, name), 0755), 0);
}

#endif
