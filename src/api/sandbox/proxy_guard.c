#include "api/sandbox/proxy_guard.h"

#include <pthread.h>
#include <stdlib.h>

#include "fanout/fanout.h"
#include "loop/timer.h"
#include "service/session/tunnel.h"
#include "wire/websocket.h"

struct proxy_guards {
    pthread_mutex_t lock;
    struct proxy_guard *first;
};

struct proxy_guard {
    struct read_job job; /* first: the reader's job is the guard */
    struct loop_message message;
    struct proxy_guard *next, **link; /* of all guards, under their lock */
    struct api *api;
    struct loop *loop;
    struct arena arena; /* of the copies below */
    int64_t tenant_key, session_key;
    struct principal who;
    struct slice session_id, tunnel, lease_token;
    struct viewer *viewer;
    struct loop_timer *timer; /* a viewer must not be closed while it writes: the end comes by a timer of no time */
    void *owner;
    void (*over)(void *owner, int code, const char *reason);
    int code;
    const char *reason;
    bool is_asking, asks_again; /* the job is on its way; something happened meanwhile */
    bool is_refused;            /* what the job found */
    bool is_closed;             /* freed when the job is back */
};

struct proxy_guards *proxy_guards_new(void)
{
    struct proxy_guards *guards = memory_zeroed(sizeof *guards);
    pthread_mutex_init(&guards->lock, NULL);
    return guards;
}

void proxy_guards_free(struct proxy_guards *guards)
{
    if (guards) {
        pthread_mutex_destroy(&guards->lock);
        free(guards);
    }
}

/* --- how many --- */

static bool enter(struct proxy_guards *guards, struct proxy_guard *guard, int64_t max)
{
    int64_t count = 0;
    pthread_mutex_lock(&guards->lock);
    for (const struct proxy_guard *one = guards->first; one; one = one->next) {
        count += one->tenant_key == guard->tenant_key && one->session_key == guard->session_key;
    }
    if (count < max) {
        guard->next = guards->first;
        guard->link = &guards->first;
        if (guard->next) {
            guard->next->link = &guard->next;
        }
        guards->first = guard;
    }
    pthread_mutex_unlock(&guards->lock);
    return count < max;
}

static void leave(struct proxy_guards *guards, struct proxy_guard *guard)
{
    pthread_mutex_lock(&guards->lock);
    if (guard->link) {
        *guard->link = guard->next;
        if (guard->next) {
            guard->next->link = guard->link;
        }
        guard->link = NULL;
    }
    pthread_mutex_unlock(&guards->lock);
}

/* --- the question --- */

static void guard_free(struct proxy_guard *guard)
{
    arena_release(&guard->arena);
    free(guard);
}

static void end_soon(struct proxy_guard *guard, int code, const char *reason)
{
    if (!guard->reason) {
        guard->code = code;
        guard->reason = reason;
        loop_timer_set(guard->timer, 0);
    }
}

static void ask(struct proxy_guard *guard);

static void on_asked(struct loop_message *message)
{
    struct proxy_guard *guard = (struct proxy_guard *)((char *)message - offsetof(struct proxy_guard, message));
    guard->is_asking = false;
    if (guard->is_closed) {
        guard_free(guard);
    } else if (guard->is_refused) {
        end_soon(guard, WEBSOCKET_CLOSE_POLICY, "the tunnel is closed, or closed to you");
    } else if (guard->asks_again) {
        ask(guard);
    }
}

/* Reader thread. A store that does not answer is no reason to end. */
static void run(struct read_job *job, struct db *db)
{
    struct proxy_guard *guard = (struct proxy_guard *)job;
    const struct service *service = guard->api->service;
    struct arena arena = {0};
    struct session session;
    struct slice target;
    struct call call = {
        .service = service,
        .db = db,
        .arena = &arena,
        .who = &guard->who,
        .lease_token = guard->lease_token,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
    enum status status = tunnel_find(&call, guard->session_id, guard->tunnel, false, &session, &target);
    guard->is_refused = status == STATUS_NOT_FOUND || status == STATUS_FORBIDDEN || status == STATUS_GONE;
    arena_release(&arena);
    loop_post(guard->loop, &guard->message);
}

static void ask(struct proxy_guard *guard)
{
    guard->asks_again = guard->is_asking;
    if (!guard->is_asking) {
        guard->is_asking = true;
        guard->job.run = run;
        guard->message.run = on_asked;
        guard->is_asking = readers_submit(guard->api->readers, &guard->job); /* else the next heartbeat asks */
    }
}

/* --- the session --- */

/* Whatever comes, a heartbeat too, may have changed who may pass. */
static bool sink_take(void *owner, const struct frame *frame)
{
    (void)frame;
    ask(owner);
    return true;
}

static void sink_end(void *owner, int code)
{
    bool stops = code == WEBSOCKET_CLOSE_GOING_AWAY;
    end_soon(owner, code, stops ? "the server stops" : "the session is closed, or closed to you");
}

static void on_timer(void *owner)
{
    struct proxy_guard *guard = owner;
    guard->over(guard->owner, guard->code, guard->reason);
}

static struct proxy_guard *guard_new(struct request *request, const struct session *session)
{
    struct proxy_guard *guard = memory_zeroed(sizeof *guard);
    struct arena *arena = &guard->arena;
    struct slice *strings[PRINCIPAL_STRINGS_MAX];
    guard->api = request->api;
    guard->loop = request->exchange->loop;
    guard->tenant_key = session->tenant_key;
    guard->session_key = session->key;
    guard->session_id = arena_copy(arena, session->id);
    guard->tunnel = arena_copy(arena, request->params[1]);
    guard->who = request->who;
    size_t count = principal_strings(&guard->who, strings);
    for (size_t i = 0; i < count; i++) {
        *strings[i] = slice_present(*strings[i]) ? arena_copy(arena, *strings[i]) : (struct slice){0};
    }
    struct slice lease = request->call.lease_token;
    guard->lease_token = slice_present(lease) ? arena_copy(arena, lease) : (struct slice){0};
    return guard;
}

static enum status watch(struct proxy_guard *guard, struct failure *failure)
{
    const struct principal *who = &guard->who;
    struct viewer_options options = {
        .sink = {.owner = guard, .take = sink_take, .end = sink_end},
        .tenant_key = guard->tenant_key,
        .session_key = guard->session_key,
        .session_id = guard->session_id,
        .from_end = true,
        .user_id = access_holder(who),
        .credential = who->credential,
        .member = slice_present(who->user_id) ? who->member : MEMBER_NONE,
        .types = {SLICE("session.*")},
        .type_count = 1,
    };
    return viewer_open(guard->api->fanout, guard->loop, &options, &guard->viewer, failure);
}

enum status proxy_guard_open(struct request *request, const struct session *session, void *owner,
                             void (*over)(void *owner, int code, const char *reason), struct proxy_guard **out,
                             struct failure *failure)
{
    struct proxy_guard *guard = guard_new(request, session);
    int64_t max = request->api->limits.proxy_sockets_max;
    enum status status = STATUS_OK;
    guard->owner = owner;
    guard->over = over;
    if (!enter(guard->api->proxy_guards, guard, max)) {
        status = failure_set(
            failure, STATUS_LIMITED, "too_many_sockets",
            "%lld WebSockets pass through the tunnels of this session already, the limit (option proxy-sockets-max).",
            (long long)max);
    }
    if (status == STATUS_OK) {
        status = watch(guard, failure);
    }
    if (status != STATUS_OK) {
        leave(guard->api->proxy_guards, guard);
        guard_free(guard);
        return status;
    }
    guard->timer = loop_timer_new(guard->loop, on_timer, guard);
    viewer_writable(guard->viewer);
    *out = guard;
    return STATUS_OK;
}

void proxy_guard_close(struct proxy_guard *guard)
{
    if (!guard) {
        return;
    }
    leave(guard->api->proxy_guards, guard);
    viewer_closed(guard->viewer);
    loop_timer_free(guard->timer);
    guard->is_closed = true;
    if (!guard->is_asking) {
        guard_free(guard);
    }
}
