#include "fanout/delta_window.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"

struct delta_window *delta_window_new(int64_t sequence, int64_t count)
{
    struct delta_window *window = memory_zeroed(sizeof *window);
    window->sequence = sequence;
    window->count = count;
    window->complete = count == 0;
    recent_frames_restart(&window->recent, (struct cursor){sequence, count});
    return window;
}

void delta_window_free(struct delta_window *window)
{
    if (!window) {
        return;
    }
    recent_frames_release(&window->recent);
    live_output_release(&window->fold);
    frame_unref(window->snapshot);
    free(window);
}

static void snapshot_forget(struct delta_window *window)
{
    frame_unref(window->snapshot);
    window->snapshot = NULL;
}

bool delta_window_append(struct delta_window *window, struct frame *frame, size_t bytes_max)
{
    int64_t number = frame->at.delta;
    assert(frame->at.sequence == window->sequence);
    if (number <= window->count) {
        return false;
    }
    if (number > window->count + 1) {
        window->complete = false;
        recent_frames_restart(&window->recent, (struct cursor){window->sequence, number - 1});
    }
    recent_frames_append(&window->recent, frame, bytes_max);
    live_output_add(&window->fold, frame->entry.json, bytes_max);
    window->count = number;
    snapshot_forget(window);
    return true;
}

/* What each kind of live output becomes. */
static const struct {
    enum event_kind event;
    enum delta_kind kind;
} settled_by[] = {
    {EVENT_AGENT_MESSAGE, DELTA_TEXT},
    {EVENT_AGENT_THINKING, DELTA_REASONING},
    {EVENT_AGENT_TOOL_CALL, DELTA_TOOL_INPUT},
    {EVENT_AGENT_TOOL_RESULT, DELTA_TOOL_OUTPUT},
};

struct delta_window *delta_window_after(struct delta_window *old, int64_t sequence, const struct event_facts *event)
{
    if (!old->complete || event_facts_end_turn(event)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof settled_by / sizeof settled_by[0]; i++) {
        if (event->kind == settled_by[i].event) {
            live_output_drop(&old->fold, settled_by[i].kind);
        }
    }
    if (old->fold.count == 0) {
        return NULL;
    }
    struct delta_window *window = delta_window_new(sequence, 0);
    window->fold = old->fold;
    window->carried = true;
    old->fold = (struct live_output){0};
    return window;
}

struct delta_window *delta_window_from(const struct partial *partial, size_t bytes_max)
{
    struct delta_window *window = delta_window_new(partial->sequence, partial->count);
    window->complete = false;
    delta_window_complete(window, partial, bytes_max);
    return window;
}

void delta_window_complete(struct delta_window *window, const struct partial *partial, size_t bytes_max)
{
    if (window->complete) {
        return;
    }
    struct cursor at = window->recent.base;
    live_output_release(&window->fold);
    if (partial->sequence == window->sequence && partial->body.len > 0) {
        live_output_add(&window->fold, partial->body, bytes_max);
        window->carried = true;
        at = cursor_max(at, (struct cursor){partial->sequence, partial->count});
    }
    for (struct frame *frame; (frame = recent_frames_next(&window->recent, at)); at = frame->at) {
        live_output_add(&window->fold, frame->entry.json, bytes_max);
    }
    window->complete = true;
    snapshot_forget(window);
}

struct frame *delta_window_next(struct delta_window *window, int64_t delta)
{
    struct cursor at = {window->sequence, delta};
    if (recent_frames_covers(&window->recent, at)) {
        return recent_frames_next(&window->recent, at);
    }
    return window->complete ? delta_window_snapshot(window) : NULL;
}

static struct frame *snapshot_new(struct cursor at, struct slice partial)
{
    return frame_new(
        &(struct frame){.kind = FRAME_SNAPSHOT, .style = CURSOR_SESSION, .at = at, .snapshot.partial = partial});
}

struct frame *delta_window_snapshot(struct delta_window *window)
{
    assert(window->complete);
    if (!window->snapshot) {
        struct buffer partial = {0};
        live_output_write(&window->fold, &partial);
        window->snapshot = snapshot_new((struct cursor){window->sequence, window->count}, buffer_slice(&partial));
        buffer_release(&partial);
    }
    return window->snapshot;
}

struct frame *delta_window_snapshot_empty(int64_t sequence)
{
    return snapshot_new((struct cursor){sequence, 0}, SLICE("[]"));
}
