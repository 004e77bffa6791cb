#include "runner/process/process.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner/process/sandbox_base.h"

enum {
    READ_BYTES = 65536,
    SUPERVISOR = 1, /* of the processes of a tree, those on top */
    SUPERVISOR_AND_WALL = 2,
    DRAIN_MS = 1000, /* after its end, for what others who hold its pipes still write */
};

const struct process_limits process_limits_usual = {.stdin_bytes_max = 8 * 1024 * 1024, .grace_ms = 5000};

/* One of the three pipes, seen from here. */
struct duct {
    uv_pipe_t handle; /* first: its data is the process */
    bool is_open;
    size_t passed;
    void (*deliver)(void *owner, struct slice bytes);
};

/* Owned by its loop: freed when it has ended and every handle is closed.
 *
 *     running ─→ (TERM sent) ─→ (KILL sent) ─→ exited ─→ pipes at their end ─→ on_end ─→ handles closed ─→ freed
 *
 * An abandoned one takes the same way, only its handler hears nothing. */
struct process {
    struct sandbox *sandbox; /* NULL = none */
    struct process *previous, *next;
    struct process_handler handler;
    struct process_limits limits;
    size_t output_bytes_max;
    uv_process_t child;
    uv_timer_t clock; /* its time limit, then the grace time, then the drain */
    struct duct in, out, err;
    size_t stdin_waiting;
    struct process_end end;
    int lifeline; /* of its supervisor; -1 = cut */
    int handles;  /* not yet closed */
    bool is_walled, is_paused, is_stopping, has_exited, is_abandoned, is_over;
};

/* --- its place in the sandbox --- */

static void enter_sandbox(struct process *process)
{
    struct sandbox *sandbox = process->sandbox;
    if (!sandbox) {
        return;
    }
    process->next = sandbox->processes;
    if (process->next) {
        process->next->previous = process;
    }
    sandbox->processes = process;
    if (!process->next && sandbox->on_busy) {
        sandbox->on_busy(sandbox);
    }
}

void process_detach(struct process *process)
{
    struct sandbox *sandbox = process->sandbox;
    if (process->next) {
        process->next->previous = process->previous;
    }
    if (process->previous) {
        process->previous->next = process->next;
    } else {
        sandbox->processes = process->next;
    }
    process->sandbox = NULL;
    process->next = process->previous = NULL;
}

static void leave_sandbox(struct process *process)
{
    struct sandbox *sandbox = process->sandbox;
    if (sandbox) {
        process_detach(process);
        if (!sandbox->processes && sandbox->on_empty) {
            sandbox->on_empty(sandbox);
        }
    }
}

struct process *process_next(const struct process *process)
{
    return process->next;
}

pid_t process_pid(const struct process *process)
{
    return process->child.pid;
}

/* --- the end --- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct process *process = handle->data;
    if (--process->handles == 0) {
        free(process);
    }
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle)) {
        uv_close(handle, on_handle_closed);
    }
}

static void close_duct(struct duct *duct)
{
    if (duct->is_open) {
        duct->is_open = false;
        close_handle((uv_handle_t *)&duct->handle);
    }
}

static void finish(struct process *process)
{
    if (process->is_over || !process->has_exited || process->out.is_open || process->err.is_open) {
        return;
    }
    process->is_over = true;
    close_duct(&process->in);
    uv_timer_stop(&process->clock);
    if (!process->is_abandoned) {
        process->handler.on_end(process->handler.owner, &process->end);
    }
    leave_sandbox(process); /* after it: this may be the last the sandbox waited for to go itself */
    close_handle((uv_handle_t *)&process->clock);
    close_handle((uv_handle_t *)&process->child);
}

static void on_drained(uv_timer_t *clock)
{
    struct process *process = clock->data;
    close_duct(&process->out);
    close_duct(&process->err);
    finish(process);
}

/* A reader that pauses gets all of it, however late. */
static void start_drain(struct process *process)
{
    if (process->has_exited && !process->is_paused && !process->is_over) {
        uv_timer_start(&process->clock, on_drained, DRAIN_MS, 0);
    }
}

static void cut_lifeline(struct process *process)
{
    if (process->lifeline >= 0) {
        close(process->lifeline);
        process->lifeline = -1;
    }
}

static void on_exit_status(uv_process_t *child, int64_t exit_status, int signal)
{
    struct process *process = child->data;
    process->has_exited = true;
    process->end.exit_code = signal ? -1 : (int)exit_status;
    process->end.signal = signal;
    uv_timer_stop(&process->clock);
    cut_lifeline(process);
    start_drain(process);
    finish(process);
}

/* Its supervisor kills all of it then. A process with the rights of the server may have stopped the supervisor. */
static void kill_tree(struct process *process)
{
    if (!process->has_exited) {
        cut_lifeline(process);
        kill(process->child.pid, SIGCONT);
    }
}

static void on_grace_over(uv_timer_t *clock)
{
    kill_tree(clock->data);
}

static void terminate_tree(struct process *process)
{
    /* TERM would end the wall itself, and with it everything at once and without a word. */
    process_tree_signal(process->child.pid, SIGTERM, process->is_walled ? SUPERVISOR_AND_WALL : SUPERVISOR);
    process->is_stopping = true;
    uv_timer_start(&process->clock, on_grace_over, (uint64_t)process->limits.grace_ms, 0);
}

static void on_time_over(uv_timer_t *clock)
{
    struct process *process = clock->data;
    process->end.timed_out = true;
    terminate_tree(process);
}

void process_stop(struct process *process)
{
    if (!process->has_exited && !process->is_stopping) {
        terminate_tree(process);
    }
}

void process_kill(struct process *process, const char *why)
{
    if (why && !process->is_abandoned && process->handler.on_stderr) {
        process->handler.on_stderr(process->handler.owner, slice_of(why));
    }
    process->is_stopping = true;
    kill_tree(process);
}

void process_abandon(struct process *process)
{
    process->is_abandoned = true;
    close_duct(&process->in);
    close_duct(&process->out);
    close_duct(&process->err);
    kill_tree(process);
    finish(process);
}

/* --- reading --- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    static _Thread_local char room[READ_BYTES];
    (void)handle;
    (void)suggested;
    *out = uv_buf_init(room, sizeof room);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct process *process = stream->data;
    struct duct *duct = (struct duct *)stream;
    if (count < 0) {
        close_duct(duct);
        finish(process);
        return;
    }
    size_t len = (size_t)count;
    size_t room = process->output_bytes_max ? process->output_bytes_max - duct->passed : len;
    len = len < room ? len : room; /* the rest is read and dropped, so that the writer goes on */
    duct->passed += process->output_bytes_max ? len : 0;
    if (len > 0 && duct->deliver) {
        duct->deliver(process->handler.owner, slice_from(buf->base, len));
    }
}

static void read_from(struct duct *duct)
{
    if (duct->is_open) {
        uv_read_start((uv_stream_t *)&duct->handle, on_room, on_read);
    }
}

void process_pause(struct process *process, bool paused)
{
    if (process->is_paused == paused || process->is_abandoned) {
        return;
    }
    process->is_paused = paused;
    if (!paused) {
        read_from(&process->out);
        start_drain(process);
    } else if (process->out.is_open) {
        uv_read_stop((uv_stream_t *)&process->out.handle);
        if (process->has_exited) {
            uv_timer_stop(&process->clock);
        }
    }
}

/* --- writing --- */

struct writing {
    uv_write_t request; /* first: its data is the process */
    size_t len;
    char bytes[];
};

static void on_written(uv_write_t *request, int result)
{
    struct writing *writing = (struct writing *)request;
    struct process *process = request->data;
    process->stdin_waiting -= writing->len;
    if (result < 0 && result != UV_ECANCELED) {
        close_duct(&process->in);
    }
    free(writing);
}

bool process_write(struct process *process, struct slice bytes)
{
    if (!process->in.is_open || bytes.len > process->limits.stdin_bytes_max - process->stdin_waiting) {
        return false;
    }
    struct writing *writing = memory_alloc(sizeof *writing + bytes.len);
    memcpy(writing->bytes, bytes.ptr, bytes.len);
    writing->len = bytes.len;
    writing->request.data = process;
    uv_buf_t buf = uv_buf_init(writing->bytes, (unsigned)bytes.len);
    if (uv_write(&writing->request, (uv_stream_t *)&process->in.handle, &buf, 1, on_written) != 0) {
        free(writing);
        return false;
    }
    process->stdin_waiting += bytes.len;
    return true;
}

static void on_stdin_done(uv_shutdown_t *request, int result)
{
    struct process *process = request->data;
    (void)result;
    close_duct(&process->in);
    free(request);
}

void process_close_stdin(struct process *process)
{
    if (!process->in.is_open || !uv_is_writable((uv_stream_t *)&process->in.handle)) {
        return;
    }
    uv_shutdown_t *request = memory_alloc(sizeof *request); /* after what still waits to be written */
    request->data = process;
    if (uv_shutdown(request, (uv_stream_t *)&process->in.handle, on_stdin_done) != 0) {
        free(request);
        close_duct(&process->in);
    }
}

/* --- the start --- */

static void open_duct(struct process *process, struct loop *loop, struct duct *duct, uv_file *fd)
{
    if (*fd < 0) {
        return;
    }
    uv_pipe_init(loop_uv(loop), &duct->handle, 0);
    duct->handle.data = process;
    process->handles++;
    duct->is_open = true;
    int result = uv_pipe_open(&duct->handle, *fd);
    assert(result == 0);
    (void)result;
    *fd = -1;
}

static enum status refuse(struct failure *failure, const char *program, int result)
{
    return failure_set(failure, STATUS_UNAVAILABLE, "process_not_started", "%s could not be started: %s.", program,
                       uv_strerror(result));
}

static void on_stillborn_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static struct process *process_new(struct sandbox *sandbox, const struct process_spec *spec,
                                   const struct process_handler *handler)
{
    struct process *process = memory_zeroed(sizeof *process);
    process->sandbox = sandbox;
    process->handler = *handler;
    process->limits = sandbox ? sandbox->limits : process_limits_usual;
    process->output_bytes_max = spec->output_bytes_max;
    process->out.deliver = handler->on_stdout;
    process->err.deliver = handler->on_stderr;
    process->child.data = process;
    process->clock.data = process;
    return process;
}

enum status process_spawn(struct loop *loop, struct sandbox *sandbox, struct launch *launch,
                          const struct process_spec *spec, const struct process_handler *handler, struct process **out,
                          struct failure *failure)
{
    struct pipes pipes;
    int result = launch_check(launch);
    result = result == 0 ? pipes_open(&pipes, spec->wants_stdin) : result;
    if (result != 0) {
        return refuse(failure, launch->argv[0], result);
    }
    struct process *process = process_new(sandbox, spec, handler);
    process->is_walled = launch->is_walled;
    result = launch_spawn(launch, loop, &pipes, &process->child, on_exit_status);
    if (result != 0) {
        pipes_close(&pipes);
        uv_close((uv_handle_t *)&process->child, on_stillborn_closed);
        return refuse(failure, launch->argv[0], result);
    }
    process->handles = 2; /* child and clock */
    process->lifeline = pipes.lifeline[0];
    pipes.lifeline[0] = -1;
    open_duct(process, loop, &process->in, &pipes.in[0]);
    open_duct(process, loop, &process->out, &pipes.out[0]);
    open_duct(process, loop, &process->err, &pipes.err[0]);
    pipes_close(&pipes); /* the child's ends */
    uv_timer_init(loop_uv(loop), &process->clock);
    if (spec->time_ms_max > 0) {
        uv_timer_start(&process->clock, on_time_over, (uint64_t)spec->time_ms_max, 0);
    }
    read_from(&process->out);
    read_from(&process->err);
    enter_sandbox(process);
    *out = process;
    return STATUS_OK;
}

enum status process_start(struct loop *loop, struct sandbox *sandbox, const struct process_spec *spec,
                          const struct process_handler *handler, struct process **out, struct failure *failure)
{
    struct launch launch;
    enum status status = STATUS_OK;
    launch_init(&launch);
    if (sandbox) {
        status = sandbox->prepare(sandbox, spec, &launch, failure);
    } else {
        launch_plain(&launch, spec);
    }
    if (status == STATUS_OK) {
        status = process_spawn(loop, sandbox, &launch, spec, handler, out, failure);
    }
    launch_release(&launch);
    return status;
}
