#include "service/agent/models.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/enum_names.h"
#include "runner/model/provider.h"

enum { VENDORS_MAX = 8, ANSWER_BYTES_MAX = 4 * 1024 * 1024 };

static const char *const vendor_state_names[VENDOR_STATE_COUNT] = {
    [VENDOR_UNCONFIGURED] = "not_configured", [VENDOR_OK] = "ok", [VENDOR_UNAVAILABLE] = "unavailable"};
const struct enum_names vendor_state_enum = {vendor_state_names, VENDOR_STATE_COUNT};

struct vendor {
    struct models *models;
    struct http_call *call; /* NULL = it is not being asked */
    int status;
    struct buffer body;
    struct arena arena; /* of what it offers */
    int64_t good_until_ms;
};

struct waiter {
    void (*done)(void *owner, const struct model_vendor *vendors, size_t count);
    void *owner;
    struct waiter *next;
};

struct models {
    struct models_options options;
    size_t count, asked; /* vendors in all; those that have not answered yet */
    struct vendor vendors[VENDORS_MAX];
    struct model_vendor shown[VENDORS_MAX];
    struct waiter *waiters;
    struct loop_message stop_message;
    bool stopped;
};

struct models *models_new(const struct models_options *options)
{
    struct models *models = memory_zeroed(sizeof *models);
    models->options = *options;
    models->count = provider_count() < VENDORS_MAX ? provider_count() : VENDORS_MAX;
    for (size_t i = 0; i < models->count; i++) {
        models->vendors[i].models = models;
        models->shown[i].name = provider_name(i);
    }
    return models;
}

void models_free(struct models *models)
{
    if (!models) {
        return;
    }
    for (size_t i = 0; i < models->count; i++) {
        buffer_release(&models->vendors[i].body);
        arena_release(&models->vendors[i].arena);
    }
    while (models->waiters) {
        struct waiter *next = models->waiters->next;
        free(models->waiters);
        models->waiters = next;
    }
    free(models);
}

struct loop *models_loop(const struct models *models)
{
    return models->options.loop;
}

static void tell_all(struct models *models)
{
    struct waiter *waiter = models->waiters;
    models->waiters = NULL;
    while (waiter) {
        struct waiter *next = waiter->next;
        waiter->done(waiter->owner, models->stopped ? NULL : models->shown, models->count);
        free(waiter);
        waiter = next;
    }
}

/* --- an answer --- */

static struct model_vendor *shown_of(struct vendor *vendor)
{
    return &vendor->models->shown[vendor - vendor->models->vendors];
}

static void refuse(struct vendor *vendor, const char *what, struct slice words)
{
    struct model_vendor *shown = shown_of(vendor);
    shown->state = VENDOR_UNAVAILABLE;
    shown->offers = NULL;
    shown->offer_count = 0;
    vendor->good_until_ms = 0;
    snprintf(shown->detail, sizeof shown->detail, "%s%s%.*s", what, words.len ? ": " : "", SLICE_ARG(words));
}

/* Both formats: {"data":[{"id", "display_name"?}]}. */
static void read_offers(struct vendor *vendor)
{
    struct model_vendor *shown = shown_of(vendor);
    const struct json *answer = NULL, *data = NULL;
    struct failure failure;
    arena_reset(&vendor->arena);
    struct slice text = arena_copy(&vendor->arena, buffer_slice(&vendor->body));
    if (json_parse(&vendor->arena, text, &answer, &failure) == STATUS_OK) {
        data = json_get(answer, "data");
    }
    if (!json_is(data, JSON_ARRAY)) {
        refuse(vendor, "The answer has no list of models", (struct slice){0});
        return;
    }
    struct model_offer *offers = arena_alloc(&vendor->arena, (data->count + 1) * sizeof *offers);
    size_t count = 0;
    for (const struct json *one = data->child; one; one = one->next) {
        struct slice id = json_text_of(one, "id");
        if (id.len > 0) {
            offers[count++] = (struct model_offer){id, json_text_of(one, "display_name")};
        }
    }
    shown->state = VENDOR_OK;
    shown->detail[0] = '\0';
    shown->offers = offers;
    shown->offer_count = count;
    vendor->good_until_ms = clock_steady_ms(vendor->models->options.clock) + vendor->models->options.limits.cache_ms;
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    (void)headers, (void)count;
    ((struct vendor *)owner)->status = status;
}

static void on_body(void *owner, struct slice bytes)
{
    buffer_add(&((struct vendor *)owner)->body, bytes);
}

static void on_end(void *owner, const struct failure *failure)
{
    struct vendor *vendor = owner;
    char status[16];
    vendor->call = NULL;
    shown_of(vendor)->asked_at_ms = clock_wall_ms(vendor->models->options.clock);
    if (failure) {
        refuse(vendor, failure->code, slice_of(failure->detail));
    } else if (vendor->status != 200) {
        snprintf(status, sizeof status, "%d", vendor->status);
        refuse(vendor, "It answered with the status", slice_of(status));
    } else {
        read_offers(vendor);
    }
    buffer_release(&vendor->body);
    vendor->body = (struct buffer){0};
    if (--vendor->models->asked == 0) {
        tell_all(vendor->models);
    }
}

/* --- the question --- */

static void ask_vendor(struct models *models, size_t index, struct http_client *client)
{
    struct vendor *vendor = &models->vendors[index];
    struct http_call_handler handler = {vendor, on_head, on_body, on_end};
    struct provider_question question = {models->options.limits.timeout_ms, ANSWER_BYTES_MAX};
    struct failure failure;
    if (vendor->call || clock_steady_ms(models->options.clock) < vendor->good_until_ms) {
        return;
    }
    if (!provider_is_configured(models->options.providers, index)) {
        models->shown[index].state = VENDOR_UNCONFIGURED;
        return;
    }
    vendor->status = 0;
    if (provider_list_models(client, models->options.providers, index, &question, &handler, &vendor->call, &failure) ==
        STATUS_OK) {
        models->asked++;
    } else {
        refuse(vendor, failure.code, slice_of(failure.detail));
    }
}

void models_ask(struct models *models, struct http_client *client,
                void (*done)(void *owner, const struct model_vendor *vendors, size_t count), void *owner)
{
    struct waiter *waiter = memory_zeroed(sizeof *waiter);
    *waiter = (struct waiter){done, owner, models->waiters};
    models->waiters = waiter;
    for (size_t i = 0; i < models->count && !models->stopped; i++) {
        ask_vendor(models, i, client);
    }
    if (models->asked == 0) {
        tell_all(models);
    }
}

static void on_stop(struct loop_message *message)
{
    struct models *models = (struct models *)((char *)message - offsetof(struct models, stop_message));
    for (size_t i = 0; i < models->count; i++) {
        provider_cancel_question(models->vendors[i].call);
        models->vendors[i].call = NULL;
    }
    models->stopped = true;
    models->asked = 0;
    tell_all(models);
}

void models_stop(struct models *models)
{
    models->stop_message.run = on_stop;
    loop_post(models->options.loop, &models->stop_message);
}
