#include "service/work/queue_head.h"

#include <stdlib.h>

#include "base/arena.h"
#include "domain/agent.h"

bool candidate_goes_before(const struct candidate *a, const struct candidate *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (a->queued_ms != b->queued_ms) {
        return a->queued_ms < b->queued_ms;
    }
    return a->key < b->key;
}

static bool filter_equal(const struct queue_filter *a, const struct queue_filter *b)
{
    return a->tenant_key == b->tenant_key && a->type == b->type && a->hosted == b->hosted &&
           slice_present(a->agent) == slice_present(b->agent) && slice_eq(a->agent, b->agent);
}

/* As the statements claim_candidates… say it: a runner's session is claimed by key only. */
static bool filter_takes(const struct queue_filter *filter, const struct session *session)
{
    enum agent_driver driver = (enum agent_driver)session->driver;
    bool driven = filter->hosted ? driver != DRIVER_WORKER && driver != DRIVER_RUNNER : driver == DRIVER_WORKER;
    return driven && filter->tenant_key == session->tenant_key &&
           (filter->type < 0 || filter->type == (int)session->type) &&
           (!slice_present(filter->agent) || slice_eq(filter->agent, session->agent));
}

const struct queue_head *queue_heads_find(struct queue_heads *heads, const struct queue_filter *filter, size_t wanted)
{
    for (size_t i = 0; i < heads->count; i++) {
        struct queue_head *head = heads->heads[i];
        if (filter_equal(&head->filter, filter)) {
            head->used_at = ++heads->uses;
            return head->whole || head->count >= wanted ? head : NULL;
        }
    }
    return NULL;
}

/* The head of this filter, a new one, or the one that was not used for longest. */
static struct queue_head *place_for(struct queue_heads *heads, const struct queue_filter *filter)
{
    struct queue_head *oldest = heads->count ? heads->heads[0] : NULL;
    for (size_t i = 0; i < heads->count; i++) {
        if (filter_equal(&heads->heads[i]->filter, filter)) {
            return heads->heads[i];
        }
        oldest = heads->heads[i]->used_at < oldest->used_at ? heads->heads[i] : oldest;
    }
    if (heads->count == QUEUE_HEADS_MAX) {
        return oldest;
    }
    return heads->heads[heads->count++] = memory_zeroed(sizeof(struct queue_head));
}

const struct queue_head *queue_heads_fill(struct queue_heads *heads, const struct queue_filter *filter,
                                          const struct candidate *items, size_t count)
{
    if (filter->agent.len > QUEUE_AGENT_BYTES_MAX) {
        return NULL;
    }
    struct queue_head *head = place_for(heads, filter);
    *head = (struct queue_head){
        .filter = *filter, .count = count, .whole = count < QUEUE_HEAD_ROOM, .used_at = ++heads->uses};
    if (slice_present(filter->agent)) {
        memcpy(head->agent, filter->agent.ptr, filter->agent.len);
        head->filter.agent = slice_from(head->agent, filter->agent.len);
    }
    memcpy(head->items, items, count * sizeof *items);
    return head;
}

static void drop_last(struct queue_head *head)
{
    head->count--;
    head->whole = false;
}

static void insert(struct queue_head *head, const struct candidate *one)
{
    size_t end = head->first + head->count, at = end;
    while (at > head->first && candidate_goes_before(one, &head->items[at - 1])) {
        at--;
    }
    if (at == end && !head->whole) {
        return; /* others may stand between the last one and this */
    }
    if (head->count == QUEUE_HEAD_ROOM) {
        if (at == end) {
            head->whole = false;
            return;
        }
        drop_last(head);
    }
    if (head->first > 0) {
        head->first--;
        at--;
        memmove(&head->items[head->first], &head->items[head->first + 1], (at - head->first) * sizeof *one);
    } else {
        memmove(&head->items[at + 1], &head->items[at], (head->count - at) * sizeof *one);
    }
    head->items[at] = *one;
    head->count++;
}

void queue_heads_add(struct queue_heads *heads, const struct session *session)
{
    struct candidate one = {session->key, session->priority, session->queued_at_ms};
    for (size_t i = 0; i < heads->count; i++) {
        if (filter_takes(&heads->heads[i]->filter, session)) {
            insert(heads->heads[i], &one);
        }
    }
}

static void remove_at(struct queue_head *head, size_t at)
{
    if (at == head->first) {
        head->first++;
    } else {
        size_t behind = head->first + head->count - at - 1;
        memmove(&head->items[at], &head->items[at + 1], behind * sizeof *head->items);
    }
    head->count--;
}

void queue_heads_remove(struct queue_heads *heads, int64_t session_key)
{
    for (size_t i = 0; i < heads->count; i++) {
        struct queue_head *head = heads->heads[i];
        for (size_t at = head->first; at < head->first + head->count; at++) {
            if (head->items[at].key == session_key) {
                remove_at(head, at);
                break;
            }
        }
    }
}

void queue_heads_clear(struct queue_heads *heads)
{
    for (size_t i = 0; i < heads->count; i++) {
        free(heads->heads[i]);
    }
    *heads = (struct queue_heads){0};
}
