#include "fanout/window.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"

struct window *window_new(int64_t sequence, int64_t count)
{
    struct window *window = memory_zeroed(sizeof *window);
    window->sequence = sequence;
    window->count = count;
    window->complete = count == 0;
    tail_restart(&window->recent, (struct cursor){sequence, count});
    return window;
}

void window_free(struct window *window)
{
    if (!window) {
        return;
    }
    tail_release(&window->recent);
    fold_release(&window->fold);
    frame_unref(window->snapshot);
    free(window);
}

static void snapshot_forget(struct window *window)
{
    frame_unref(window->snapshot);
    window->snapshot = NULL;
}

bool window_append(struct window *window, struct frame *frame, size_t bytes_max)
{
    int64_t number = frame->at.delta;
    assert(frame->at.sequence == window->sequence);
    if (number <= window->count) {
        return false;
    }
    if (number > window->count + 1) {
        window->complete = false;
        tail_restart(&window->recent, (struct cursor){window->sequence, number - 1});
    }
    tail_append(&window->recent, frame, bytes_max);
    fold_add(&window->fold, frame->entry.json, bytes_max);
    window->count = number;
    snapshot_forget(window);
    return true;
}

/* What each kind of live output becomes. */
static const struct {
    const char *type, *kind;
} settled_by[] = {
    {"agent.message", "text"},
    {"agent.thinking", "reasoning"},
    {"agent.tool_call", "tool_input"},
    {"agent.tool_result", "tool_output"},
};

static bool ends_turn(struct slice type, struct slice json)
{
    struct arena arena = {0};
    const struct json *event;
    bool moves = slice_is(type, "session.status_change");
    bool stays = moves && json_parse(&arena, json, &event, NULL) == STATUS_OK &&
                 slice_is(json_text_of(json_get(event, "metadata"), "to"), "running");
    arena_release(&arena);
    return slice_is(type, "turn.ended") || (moves && !stays);
}

struct window *window_after(struct window *old, int64_t sequence, struct slice event_type, struct slice event_json)
{
    if (!old->complete || ends_turn(event_type, event_json)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof settled_by / sizeof settled_by[0]; i++) {
        if (slice_is(event_type, settled_by[i].type)) {
            fold_settle(&old->fold, slice_of(settled_by[i].kind));
        }
    }
    if (old->fold.count == 0) {
        return NULL;
    }
    struct window *window = window_new(sequence, 0);
    window->fold = old->fold;
    window->carried = true;
    old->fold = (struct fold){0};
    return window;
}

struct window *window_from(const struct partial *partial, size_t bytes_max)
{
    struct window *window = window_new(partial->sequence, partial->count);
    window->complete = false;
    window_complete(window, partial, bytes_max);
    return window;
}

void window_complete(struct window *window, const struct partial *partial, size_t bytes_max)
{
    if (window->complete) {
        return;
    }
    struct cursor at = window->recent.base;
    fold_release(&window->fold);
    if (partial->sequence == window->sequence && partial->body.len > 0) {
        fold_add(&window->fold, partial->body, bytes_max);
        window->carried = true;
        at = cursor_max(at, (struct cursor){partial->sequence, partial->count});
    }
    for (struct frame *frame; (frame = tail_next(&window->recent, at)); at = frame->at) {
        fold_add(&window->fold, frame->entry.json, bytes_max);
    }
    window->complete = true;
    snapshot_forget(window);
}

struct frame *window_next(struct window *window, int64_t delta)
{
    struct cursor at = {window->sequence, delta};
    if (tail_covers(&window->recent, at)) {
        return tail_next(&window->recent, at);
    }
    return window->complete ? window_snapshot(window) : NULL;
}

static struct frame *snapshot_new(struct cursor at, struct slice partial)
{
    return frame_new(
        &(struct frame){.kind = FRAME_SNAPSHOT, .style = CURSOR_SESSION, .at = at, .snapshot.partial = partial});
}

struct frame *window_snapshot(struct window *window)
{
    assert(window->complete);
    if (!window->snapshot) {
        struct buffer partial = {0};
        fold_write(&window->fold, &partial);
        window->snapshot = snapshot_new((struct cursor){window->sequence, window->count}, buffer_slice(&partial));
        buffer_release(&partial);
    }
    return window->snapshot;
}

struct frame *window_snapshot_empty(int64_t sequence)
{
    return snapshot_new((struct cursor){sequence, 0}, SLICE("[]"));
}
