#include <stdlib.h>

#include "api/core/handlers.h"
#include "api/core/outgoing.h"
#include "service/agent/agent.h"
#include "service/agent/models.h"

enum { AGENTS_MAX = 1000 };

/* A model that an agent names, also as one to fall back on. */
struct naming {
    struct slice provider, model, agent;
};

struct listing {
    struct loop_message message;
    struct request *request;
    struct naming *namings; /* of the request's arena */
    size_t count;
};

static bool names(const struct naming *naming, struct slice provider, struct slice model)
{
    return slice_eq(naming->provider, provider) && slice_eq(naming->model, model);
}

static void write_model(struct json_out *out, const struct listing *listing, struct slice provider,
                        const struct model_offer *offer, bool listed)
{
    json_begin_object(out);
    json_put_text(out, "provider", provider);
    json_put_text(out, "id", offer->id);
    json_put_text(out, "name", offer->name);
    json_put_bool(out, "listed", listed);
    json_key(out, "agents");
    json_begin_array(out);
    for (size_t i = 0; i < listing->count; i++) {
        if (names(&listing->namings[i], provider, offer->id)) {
            json_text(out, listing->namings[i].agent);
        }
    }
    json_end_array(out);
    json_end_object(out);
}

static bool is_offered(const struct naming *naming, const struct model_vendor *vendors, size_t count)
{
    for (size_t v = 0; v < count; v++) {
        for (size_t i = 0; i < vendors[v].offer_count; i++) {
            if (names(naming, slice_of(vendors[v].name), vendors[v].offers[i].id)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_first(const struct listing *listing, size_t index)
{
    size_t i = 0;
    while (!names(&listing->namings[i], listing->namings[index].provider, listing->namings[index].model)) {
        i++;
    }
    return i == index;
}

static void write_vendors(struct json_out *out, const struct model_vendor *vendors, size_t count)
{
    json_key(out, "providers");
    json_begin_array(out);
    for (size_t v = 0; v < count; v++) {
        json_begin_object(out);
        json_put_text(out, "name", slice_of(vendors[v].name));
        json_put_text(out, "state", slice_of(vendor_state_enum.names[vendors[v].state]));
        json_put_text(out, "detail", vendors[v].detail[0] ? slice_of(vendors[v].detail) : (struct slice){0});
        json_put_time(out, "asked_at", vendors[v].asked_at_ms);
        json_end_object(out);
    }
    json_end_array(out);
}

static void write_all(void *owner, const struct model_vendor *vendors, size_t count)
{
    struct listing *listing = owner;
    if (!vendors) {
        struct failure failure;
        (void)failure_set(&failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops; try again.");
        failure.retry_after_s = 1;
        request_fail(listing->request, &failure);
        free(listing);
        return;
    }
    struct json_out out = json_out_to(&listing->request->exchange->body);
    json_begin_object(&out);
    json_key(&out, "models");
    json_begin_array(&out);
    for (size_t v = 0; v < count; v++) {
        for (size_t i = 0; i < vendors[v].offer_count; i++) {
            write_model(&out, listing, slice_of(vendors[v].name), &vendors[v].offers[i], true);
        }
    }
    for (size_t i = 0; i < listing->count; i++) {
        if (is_first(listing, i) && !is_offered(&listing->namings[i], vendors, count)) {
            struct model_offer named = {.id = listing->namings[i].model};
            write_model(&out, listing, listing->namings[i].provider, &named, false);
        }
    }
    json_end_array(&out);
    write_vendors(&out, vendors, count);
    json_end_object(&out);
    request_reply(listing->request);
    free(listing);
}

static void on_loop(struct loop_message *message)
{
    struct listing *listing = (struct listing *)message;
    struct api *api = listing->request->api;
    models_ask(api->models, outgoing_client(api->outgoing, models_loop(api->models)), write_all, listing);
}

static void ask(struct request *request)
{
    struct listing *listing = request->state;
    listing->message.run = on_loop;
    loop_post(models_loop(request->api->models), &listing->message);
}

static void name(struct listing *listing, const struct model_choice *choice, struct slice agent)
{
    if (slice_present(choice->model) && slice_present(choice->provider)) {
        listing->namings[listing->count++] = (struct naming){choice->provider, choice->model, agent};
    }
}

static enum status name_agents(struct call *call, struct listing *listing, const struct agent_row *rows, size_t count)
{
    enum status status = STATUS_OK;
    struct agent *agents = arena_alloc(call->arena, (count + 1) * sizeof *agents);
    size_t room = 0;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = agent_of_row(call->arena, &rows[i], &agents[i], &call->failure);
        room += status == STATUS_OK ? agents[i].fallback_count + 1 : 0;
    }
    listing->namings = arena_alloc(call->arena, (room + 1) * sizeof *listing->namings);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        name(listing, &agents[i].model, rows[i].slug);
        for (size_t f = 0; f < agents[i].fallback_count; f++) {
            name(listing, &agents[i].fallbacks[f], rows[i].slug);
        }
    }
    return status;
}

static enum status models_list(struct request *request)
{
    struct call *call = &request->call;
    struct agent_row *rows;
    size_t count = 0;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = agent_list(call, (struct slice){0}, AGENTS_MAX, &rows, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct listing *listing = memory_zeroed(sizeof *listing);
    listing->request = request;
    status = name_agents(call, listing, rows, count);
    if (status != STATUS_OK) {
        free(listing);
        return status;
    }
    request->state = listing;
    request->defer = ask;
    return STATUS_OK;
}

const struct route model_routes[] = {
    {HTTP_GET, "/api/models", models_list, .answer = "ModelList",
     .summary = "The models that agents can use, by provider."},
    {0},
};
