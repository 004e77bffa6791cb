#include "main/sandboxing.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "net/http_client.h"

enum { LOOPS_MAX = 256, ANSWER_BYTES_MAX = 1024 * 1024 };

struct sandboxing {
    struct arena arena;
    struct sandboxes *sandboxes;
    struct http_client *clients[LOOPS_MAX]; /* by loop, each touched by its own thread only */
};

/* One call of a backend, until its answer was told. */
struct backend_call {
    struct loop_message message;
    struct sandbox_reply reply;
    struct buffer body;
    struct failure failure;
    int http_status;
};

static void call_finish(struct backend_call *call, const struct failure *failure)
{
    call->reply.done(call->reply.owner, call->http_status, buffer_slice(&call->body), failure);
    buffer_release(&call->body);
    free(call);
}

static void on_refused(struct loop_message *message)
{
    struct backend_call *call = (struct backend_call *)message;
    call_finish(call, &call->failure);
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    (void)headers;
    (void)count;
    ((struct backend_call *)owner)->http_status = status;
}

static void on_body(void *owner, struct slice bytes)
{
    buffer_add(&((struct backend_call *)owner)->body, bytes);
}

static void on_end(void *owner, const struct failure *failure)
{
    call_finish(owner, failure);
}

static struct http_client *client_of(struct sandboxing *sandboxing, struct loop *loop)
{
    struct http_client **client = &sandboxing->clients[loop_index(loop) % LOOPS_MAX];
    if (!*client) {
        *client = http_client_new(loop, &(struct http_client_options){.ignores_environment = true});
    }
    return *client;
}

static void post(void *owner, struct loop *loop, const char *url, struct slice json, int64_t time_ms_max,
                 struct sandbox_reply reply)
{
    struct http_header type = http_header_own("content-type", SLICE("application/json"));
    struct backend_call *call = memory_zeroed(sizeof *call);
    struct http_call *started;
    call->reply = reply;
    call->message.run = on_refused;
    struct http_call_spec spec = {
        .method = "POST",
        .url = url,
        .headers = &type,
        .header_count = 1,
        .body = json,
        .total_ms = time_ms_max,
        .body_bytes_max = ANSWER_BYTES_MAX,
        .allow_http = true, /* the operator named the address */
    };
    struct http_call_handler handler = {call, on_head, on_body, on_end};
    if (http_call_start(client_of(owner, loop), &spec, &handler, &started, &call->failure) != STATUS_OK) {
        loop_post(loop, &call->message);
    }
}

static const char *const *list_of(struct arena *arena, const struct text_list *list)
{
    const char **items = arena_array(arena, list->count + 1, sizeof *items);
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
    }
    return items;
}

struct sandboxing *sandboxing_new(const struct options *options)
{
    struct sandboxing *sandboxing = memory_zeroed(sizeof *sandboxing);
    struct arena *arena = &sandboxing->arena;
    sandboxing->sandboxes = sandboxes_new(&(struct sandboxes_options){
        .data = options->data,
        .snapshots = options->snapshots,
        .unprotected = options->sandbox_unprotected,
        .limits = options->sandbox,
        .shown = list_of(arena, &options->sandbox_show),
        .projects = list_of(arena, &options->sandbox_projects),
        .backends = list_of(arena, &options->sandbox_backends),
        .post = {sandboxing, post},
    });
    return sandboxing;
}

struct sandboxes *sandboxing_registry(struct sandboxing *sandboxing)
{
    return sandboxing->sandboxes;
}

void sandboxing_leave(struct sandboxing *sandboxing, struct loop *loop)
{
    struct http_client **client = &sandboxing->clients[loop_index(loop) % LOOPS_MAX];
    if (*client) {
        http_client_free(*client);
        *client = NULL;
    }
}

void sandboxing_free(struct sandboxing *sandboxing)
{
    if (sandboxing) {
        sandboxes_free(sandboxing->sandboxes);
        arena_release(&sandboxing->arena);
        free(sandboxing);
    }
}
