#include "fanout/fanout.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "fanout/hub.h"

struct fanout *fanout_new(const struct fanout_options *options, struct loop *const *loops, size_t loop_count)
{
    struct fanout *fanout = memory_zeroed(sizeof *fanout);
    assert(options->rights && loop_count > 0);
    fanout->options = *options;
    fanout->hubs = memory_zeroed(loop_count * sizeof *fanout->hubs);
    fanout->hub_count = loop_count;
    watched_init(&fanout->watched);
    for (size_t i = 0; i < loop_count; i++) {
        hub_init(&fanout->hubs[i], fanout, loops[i]);
    }
    return fanout;
}

void fanout_free(struct fanout *fanout)
{
    if (!fanout) {
        return;
    }
    for (size_t i = 0; i < fanout->hub_count; i++) {
        hub_release(&fanout->hubs[i]);
    }
    watched_release(&fanout->watched);
    free(fanout->hubs);
    free(fanout);
}

/* --- publishing --- */

struct delivery {
    struct loop_message message;
    struct hub *hub;
    struct publication *publication;
};

static void delivery_post(struct hub *hub, struct publication *publication, void (*run)(struct loop_message *message))
{
    struct delivery *delivery = memory_alloc(sizeof *delivery);
    *delivery = (struct delivery){.message = {.run = run}, .hub = hub, .publication = publication};
    loop_post(hub->loop, &delivery->message);
}

static void on_delivery(struct loop_message *message)
{
    struct delivery *delivery = (struct delivery *)message;
    struct fanout *fanout = delivery->hub->fanout;
    hub_deliver(delivery->hub, delivery->publication);
    if (publication_has(delivery->publication, PUBLISH_DELTA)) {
        atomic_fetch_sub(&fanout->interest, 1);
    }
    publication_unref(delivery->publication);
    free(delivery);
}

static void on_first_delivery(struct loop_message *message)
{
    struct delivery *delivery = (struct delivery *)message;
    struct fanout *fanout = delivery->hub->fanout;
    if (publication_has(delivery->publication, PUBLISH_DELTA)) {
        hub_number(delivery->hub, delivery->publication);
    }
    for (size_t i = 1; i < fanout->hub_count; i++) {
        delivery_post(&fanout->hubs[i], publication_ref(delivery->publication), on_delivery);
    }
    on_delivery(message);
}

/* A viewer counts before it reads: when none counts here, after the commit, every later one reads what was committed.
 */
static bool somebody_cares(struct fanout *fanout)
{
    return atomic_fetch_add(&fanout->interest, 0) > 0; /* a load alone would not be ordered behind the commit */
}

void fanout_publish(struct fanout *fanout, struct publication *publication)
{
    if (publication_has(publication, PUBLISH_DELTA)) {
        /* Each hub takes one off when it has delivered: events that follow must not be left out meanwhile. */
        atomic_fetch_add(&fanout->interest, (int64_t)fanout->hub_count);
    } else if (!somebody_cares(fanout)) {
        publication_unref(publication);
        return;
    }
    delivery_post(&fanout->hubs[0], publication, on_first_delivery);
}

void fanout_recheck(struct fanout *fanout)
{
    struct publication *publication = publication_new();
    publication_add(publication, &(struct publication_entry){.kind = PUBLISH_RECHECK});
    fanout_publish(fanout, publication);
}

/* --- pokes --- */

struct poke {
    struct loop_message message;
    struct hub *hub;
    int64_t tenant_key, session_key;
};

static void on_poke(struct loop_message *message)
{
    struct poke *poke = (struct poke *)message;
    hub_refresh(poke->hub, poke->tenant_key, poke->session_key);
    free(poke);
}

void fanout_refresh(struct fanout *fanout, int64_t tenant_key, int64_t session_key)
{
    if (!somebody_cares(fanout)) {
        return;
    }
    for (size_t i = 0; i < fanout->hub_count; i++) {
        struct poke *poke = memory_alloc(sizeof *poke);
        *poke = (struct poke){{.run = on_poke}, &fanout->hubs[i], tenant_key, session_key};
        loop_post(fanout->hubs[i].loop, &poke->message);
    }
}

/* --- the end --- */

struct closing {
    struct loop_message message;
    struct hub *hub;
    size_t reason_len;
    char reason[];
};

static void on_closing(struct loop_message *message)
{
    struct closing *closing = (struct closing *)message;
    hub_close(closing->hub, slice_from(closing->reason, closing->reason_len));
    free(closing);
}

void fanout_close_all(struct fanout *fanout, const char *reason)
{
    size_t len = strlen(reason);
    for (size_t i = 0; i < fanout->hub_count; i++) {
        struct closing *closing = memory_alloc(sizeof *closing + len);
        *closing = (struct closing){.message = {.run = on_closing}, .hub = &fanout->hubs[i], .reason_len = len};
        memcpy(closing->reason, reason, len);
        loop_post(fanout->hubs[i].loop, &closing->message);
    }
}

bool fanout_is_watched(struct fanout *fanout, int64_t session_key)
{
    return watched_has(&fanout->watched, session_key);
}

void fanout_figures_read(struct fanout *fanout, struct fanout_stats *out)
{
    *out = (struct fanout_stats){0};
    for (size_t i = 0; i < fanout->hub_count; i++) {
        struct hub_stats *figures = &fanout->hubs[i].figures;
        out->viewers += atomic_load_explicit(&figures->viewers, memory_order_relaxed);
        out->watched_sessions += atomic_load_explicit(&figures->watched_sessions, memory_order_relaxed);
        out->frames_sent += atomic_load_explicit(&figures->frames_sent, memory_order_relaxed);
        out->bytes_sent += atomic_load_explicit(&figures->bytes_sent, memory_order_relaxed);
        out->slow_total += atomic_load_explicit(&figures->slow_total, memory_order_relaxed);
        out->store_pages += atomic_load_explicit(&figures->store_pages, memory_order_relaxed);
    }
}
