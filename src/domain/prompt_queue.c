#include "domain/prompt.h"

size_t prompt_place(const struct prompt *queue, size_t count, const struct prompt *prompt)
{
    size_t at = count;
    while (at > 0 && queue[at - 1].priority < prompt->priority && queue[at - 1].mode != QUEUE_STEER) {
        at--;
    }
    return at;
}

bool prompt_same_thread(const struct prompt *a, const struct prompt *b)
{
    return slice_eq(a->thread_id, b->thread_id);
}

/* The next one of the same thread behind `at`; `count` when there is none. */
static size_t next_of_thread(const struct prompt *queue, size_t count, size_t at)
{
    size_t next = at + 1;
    while (next < count && !prompt_same_thread(&queue[at], &queue[next])) {
        next++;
    }
    return next;
}

/* When the collected prompts that begin at `at` may go: 0 when something else of their thread waits behind them. */
static int64_t due_of(const struct prompt *queue, size_t count, size_t at)
{
    size_t last = at, next = next_of_thread(queue, count, at);
    while (next < count && queue[next].mode == QUEUE_COLLECT) {
        last = next;
        next = next_of_thread(queue, count, next);
    }
    return next < count ? 0 : queue[last].due_ms;
}

static bool is_ready(const struct prompt *queue, size_t count, size_t at, int64_t steady_ms)
{
    return queue[at].mode != QUEUE_COLLECT || due_of(queue, count, at) <= steady_ms;
}

/* Does it become part of the turn of the prompt before it in its thread? */
static bool joins(const struct prompt *queue, size_t at, const struct prompt *prompt)
{
    while (at > 0 && !prompt_same_thread(&queue[at - 1], prompt)) {
        at--;
    }
    return at > 0 && prompt->mode == QUEUE_COLLECT && queue[at - 1].mode == QUEUE_COLLECT;
}

int64_t prompt_turns_ahead(const struct prompt *queue, size_t count, const struct prompt *prompt)
{
    int64_t turns = 0;
    for (size_t i = 0; i < count; i++) {
        turns += !joins(queue, i, &queue[i]);
    }
    return turns - joins(queue, count, prompt);
}

/* The collected prompts that stand together from `at` on, as far as they fit. */
static size_t gather(const struct prompt *queue, size_t count, size_t at, size_t bytes_max, struct prompt *out)
{
    size_t taken = 0, bytes = 0;
    while (at < count && queue[at].mode == QUEUE_COLLECT) {
        bytes += queue[at].content.len + queue[at].metadata.len;
        if (taken > 0 && bytes > bytes_max) {
            break;
        }
        out[taken++] = queue[at];
        at = next_of_thread(queue, count, at);
    }
    return taken;
}

size_t prompt_pick(const struct prompt *queue, size_t count, int64_t steady_ms, size_t bytes_max, struct prompt *out)
{
    size_t at = 0;
    while (at < count && !is_ready(queue, count, at, steady_ms)) {
        at++;
    }
    if (at == count) {
        return 0;
    }
    if (queue[at].mode == QUEUE_COLLECT) {
        return gather(queue, count, at, bytes_max, out);
    }
    out[0] = queue[at];
    return 1;
}

int64_t prompt_next_due(const struct prompt *queue, size_t count, int64_t steady_ms)
{
    int64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t due = queue[i].mode == QUEUE_COLLECT ? due_of(queue, count, i) : 0;
        if (due > steady_ms && (next == 0 || due < next)) {
            next = due;
        }
    }
    return next;
}
