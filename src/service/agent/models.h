/* Which models the providers offer, as they say themselves, remembered for a while. On the loop of the turns, where the
 * providers' keys may be read. */
#ifndef SERVICE_MODELS_H
#define SERVICE_MODELS_H

#include "service/core/limits.h"
#include "base/clock.h"
#include "base/slice.h"
#include "loop/loop.h"

struct http_client;
struct models;
struct provider_options;

enum vendor_state { VENDOR_UNCONFIGURED, VENDOR_OK, VENDOR_UNAVAILABLE, VENDOR_STATE_COUNT };
extern const struct enum_names vendor_state_enum;

struct model_offer {
    struct slice id, name; /* the name may be absent */
};

struct model_vendor {
    const char *name;
    enum vendor_state state;
    char detail[300];    /* of one that is unavailable: why, in a sentence */
    int64_t asked_at_ms; /* wall; 0 = never */
    const struct model_offer *offers;
    size_t offer_count;
};

struct models_options {
    const struct provider_options *providers;
    struct clock *clock;
    struct loop *loop;
    struct models_limits limits;
};

struct models *models_new(const struct models_options *options);
void models_free(struct models *models);
struct loop *models_loop(const struct models *models);

/* Any thread, once. Nobody is asked any more; those who wait are told at once. The loop must run on. */
void models_stop(struct models *models);

/* `done` comes once, at the latest when the questions time out, maybe before this returns; with NULL when the server
 * stops meanwhile. What it is given is good until it returns. */
void models_ask(struct models *models, struct http_client *client,
                void (*done)(void *owner, const struct model_vendor *vendors, size_t count), void *owner);

#endif
