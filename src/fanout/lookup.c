#include "fanout/lookup.h"

#include <assert.h>
#include <stddef.h>

#include "fanout/hub.h"

static struct lookup *lookup_of(struct read_job *job)
{
    return (struct lookup *)job;
}

static void on_answer(struct loop_message *message)
{
    struct lookup *lookup = (struct lookup *)((char *)message - offsetof(struct lookup, message));
    struct hub *hub = lookup->hub;
    hub->lookups.running--;
    lookup->done(lookup);
    lookups_submit(hub);
}

static void lookup_run(struct read_job *job, struct db *db)
{
    struct lookup *lookup = lookup_of(job);
    if (!atomic_load_explicit(&lookup->abandoned, memory_order_relaxed)) {
        lookup->ask(lookup, db);
    }
    loop_post(lookup->hub->loop, &lookup->message);
}

static struct lookup *queue_take(struct lookup_queue *queue)
{
    struct lookup *lookup = queue->first;
    queue->first = lookup ? lookup_of((struct read_job *)lookup->job.work.next) : NULL;
    return lookup;
}

static void queue_put(struct lookup_queue *queue, struct lookup *lookup)
{
    lookup->job.work.next = NULL;
    if (!queue->first) {
        queue->first = lookup;
    } else {
        *queue->last = &lookup->job.work;
    }
    queue->last = &lookup->job.work.next;
}

static void queue_put_back(struct lookup_queue *queue, struct lookup *lookup)
{
    lookup->job.work.next = queue->first ? &queue->first->job.work : NULL;
    queue->last = queue->first ? queue->last : &lookup->job.work.next;
    queue->first = lookup;
}

struct slice lookup_keep_id(struct slice id, char out[LOOKUP_ID_BYTES])
{
    struct slice kept = slice_utf8_prefix(id, LOOKUP_ID_BYTES);
    return slice_place(kept, &out);
}

void lookup_start(struct lookup *lookup, struct hub *hub)
{
    lookup->hub = hub;
    lookup->job.run = lookup_run;
    lookup->message.run = on_answer;
    queue_put(&hub->lookups, lookup);
    lookups_submit(hub);
}

void lookups_submit(struct hub *hub)
{
    assert(loop_is_mine(hub->loop));
    const struct fanout_options *options = &hub->fanout->options;
    struct lookup_queue *queue = &hub->lookups;
    while (queue->first && queue->running < LOOKUPS_MAX) {
        struct lookup *lookup = queue_take(queue);
        queue->running++;
        if (!options->submit_read(options->owner, &lookup->job)) {
            queue->running--;
            queue_put_back(queue, lookup);
            return;
        }
        counter_add(&hub->figures.store_pages, 1);
    }
}

void lookups_drop(struct hub *hub)
{
    assert(loop_is_mine(hub->loop));
    for (struct lookup *lookup; (lookup = queue_take(&hub->lookups));) {
        atomic_store(&lookup->abandoned, true);
        lookup->done(lookup);
    }
}
