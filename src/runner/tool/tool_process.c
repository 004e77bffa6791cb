#include "runner/tool/tool_call.h"

#include <stdlib.h>

/* Owns itself until `done` was called or it was cancelled. */
struct running {
    struct arena arena;
    struct tool_place place; /* borrowed parts live as long as the call */
    struct tool_call call;
    struct tool_done then;
    struct tool_steps steps;
    const char *const *environment;
    size_t step;
    struct process *process;
    struct buffer output;
    struct buffer undecoded; /* of the stream, less than a character */
    size_t dropped_bytes;
    void *giving; /* the job that keeps a long result; NULL = none */
};

/* False when it could not be started: then the call is over. */
static bool start_step(struct running *running);

static void running_free(struct running *running)
{
    buffer_release(&running->output);
    buffer_release(&running->undecoded);
    arena_release(&running->arena);
    free(running);
}

/* --- the end --- */

static void given(void *owner, const struct tool_result *result)
{
    struct running *running = owner;
    running->then.done(running->then.owner, result);
    running_free(running);
}

static void finish(struct running *running, enum turn_error error)
{
    struct tool_done then = {running, given};
    struct buffer text = {0};
    tool_text_add(&text, buffer_slice(&running->output));
    if (running->dropped_bytes > 0) {
        buffer_format(&text, "\n[%zu further bytes were not kept]", running->dropped_bytes);
    }
    /* A result that fits is given, and `running` freed, before this returns. */
    void *giving = tool_give(&running->place, &running->call, then, &text, error);
    if (giving) {
        running->giving = giving;
    }
}

static void add_line_end(struct buffer *text)
{
    if (text->len > 0 && text->ptr[text->len - 1] != '\n') {
        buffer_add_byte(text, '\n');
    }
}

/* False when the later steps can't be run. */
static bool learn(struct running *running)
{
    const char *const *learned = NULL;
    if (!running->steps.learn || running->step > 0) {
        return true;
    }
    if (running->dropped_bytes == 0) {
        learned = running->steps.learn(&running->arena, buffer_slice(&running->output), running->steps.further);
    }
    running->environment = learned;
    running->output.len = running->dropped_bytes = 0;
    return learned != NULL;
}

static void on_end(void *owner, const struct process_end *end)
{
    struct running *running = owner;
    bool ended_well = end->exit_code == 0 && !end->timed_out;
    running->process = NULL;
    if (ended_well && running->step + 1 < running->steps.count) {
        if (learn(running)) {
            running->step++;
            start_step(running);
        } else {
            buffer_add(&running->output, SLICE("The repository has more settings than this tool reads."));
            finish(running, TURN_TOOL_FAILED);
        }
        return;
    }
    add_line_end(&running->output);
    if (end->timed_out) {
        buffer_add(&running->output, SLICE("[stopped: its time was up]"));
    } else if (end->exit_code < 0) {
        buffer_format(&running->output, "[ended by signal %d]", end->signal);
    } else if (end->exit_code > 0) {
        buffer_format(&running->output, "[exit code %d]", end->exit_code);
    } else if (running->output.len == 0) {
        buffer_add(&running->output, slice_of(running->steps.when_empty));
    }
    finish(running, end->timed_out ? TURN_TIMEOUT : ended_well ? TURN_OK : TURN_TOOL_FAILED);
}

/* --- output --- */

/* Shows whole characters only; the rest waits for the next bytes. */
static void show(struct running *running, struct slice bytes)
{
    struct buffer text = {0};
    buffer_add(&running->undecoded, bytes);
    struct slice all = buffer_slice(&running->undecoded);
    size_t cut = all.len;
    for (size_t back = 1; back <= 3 && back <= all.len; back++) {
        unsigned char c = (unsigned char)all.ptr[all.len - back];
        if (c >= 0xC0) {
            size_t needs = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
            cut = needs > back ? all.len - back : all.len;
            break;
        }
        if (c < 0x80) {
            break;
        }
    }
    tool_text_add(&text, slice_from(all.ptr, cut));
    buffer_consume(&running->undecoded, cut);
    if (text.len > 0 && !turn_is_full(running->place.turn)) {
        turn_delta(running->place.turn, DELTA_TOOL_OUTPUT, running->call.id, buffer_slice(&text));
    }
    buffer_release(&text);
}

static void on_output(void *owner, struct slice bytes)
{
    struct running *running = owner;
    size_t max = tool_settings_of(&running->place)->command_bytes_max;
    size_t room = max > running->output.len ? max - running->output.len : 0;
    struct slice kept = slice_from(bytes.ptr, bytes.len < room ? bytes.len : room);
    buffer_add(&running->output, kept);
    running->dropped_bytes += bytes.len - kept.len;
    if (running->steps.streams && running->place.turn && kept.len > 0) {
        show(running, kept);
    }
}

/* --- the start --- */

static int64_t time_max(const struct running *running)
{
    int64_t own = running->place.agent->sandbox.command_ms_max, asked = running->steps.time_ms_max;
    int64_t most = own > 0 ? own : tool_settings_of(&running->place)->command_ms_max;
    return asked > 0 && asked < most ? asked : most;
}

static bool start_step(struct running *running)
{
    const struct process_spec spec = {
        .argv = running->steps.argv[running->step],
        .environment = running->environment,
        .directory = running->steps.directory,
        .time_ms_max = time_max(running),
    };
    const struct process_handler handler = {running, on_output, on_output, on_end};
    struct failure failure = {0};
    enum status status =
        process_start(running->place.loop, running->place.sandbox, &spec, &handler, &running->process, &failure);
    if (status != STATUS_OK) {
        running->process = NULL;
        buffer_add(&running->output, slice_of(failure.detail));
        finish(running, status == STATUS_NOT_FOUND ? TURN_TOOL_FAILED : TURN_SANDBOX_ERROR);
    }
    return status == STATUS_OK;
}

static const char *const *copy_texts(struct arena *arena, const char *const *texts)
{
    size_t count = 0;
    while (texts && texts[count]) {
        count++;
    }
    const char **copy = arena_array(arena, count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = arena_copy(arena, slice_of(texts[i])).ptr;
    }
    return copy;
}

void *tool_process_start(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                         const struct tool_steps *steps)
{
    if (!place->sandbox) {
        tool_refuse(then, TURN_TOOL_UNAVAILABLE, SLICE("This session has no sandbox, so no commands are run."));
        return NULL;
    }
    struct running *running = memory_zeroed(sizeof *running);
    struct arena *arena = &running->arena;
    running->place = *place;
    running->then = then;
    running->steps = *steps;
    running->call = (struct tool_call){.id = arena_copy(arena, call->id), .name = arena_copy(arena, call->name)};
    for (size_t i = 0; i < steps->count; i++) {
        running->steps.argv[i] = copy_texts(arena, steps->argv[i]);
    }
    running->steps.directory = arena_copy(arena, slice_of(steps->directory)).ptr;
    running->steps.further = copy_texts(arena, steps->further);
    running->environment = copy_texts(arena, steps->environment);
    return start_step(running) ? running : NULL;
}

void tool_process_cancel(void *owner)
{
    struct running *running = owner;
    if (running->process) {
        process_abandon(running->process);
    }
    if (running->giving) {
        tool_job_cancel(running->giving);
    }
    running_free(running);
}
