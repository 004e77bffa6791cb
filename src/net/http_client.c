#include "net/http_client.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/http_call.h"

enum { HEADER_BYTES_MAX = 64 * 1024 };

/* --- sockets --- */

static void act(struct http_client *client, curl_socket_t fd, int events)
{
    int running;
    client->inside++;
    curl_multi_socket_action(client->multi, fd, events, &running);
    client->inside--;
}

/* What is wrong with a socket curl learns by using it. */
static void on_ready(void *owner, int fd, unsigned events)
{
    bool is_broken = events & (EPOLLERR | EPOLLHUP);
    int flags = is_broken || events & EPOLLIN ? CURL_CSELECT_IN : 0;
    flags |= is_broken || events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
    act(owner, fd, flags);
}

void http_client_forget_socket(struct http_client *client, curl_socket_t fd)
{
    assert(loop_is_mine(client->loop));
    socket_set_drop(&client->sockets, fd);
}

void http_client_close_socket(struct http_client *client, curl_socket_t fd)
{
    assert(loop_is_mine(client->loop));
    http_client_forget_socket(client, fd);
    close(fd);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *assigned)
{
    struct http_client *client = owner;
    unsigned events = (what & CURL_POLL_IN ? (unsigned)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (unsigned)EPOLLOUT : 0);
    (void)easy;
    (void)assigned;
    if (what == CURL_POLL_REMOVE) {
        socket_set_drop(&client->sockets, fd);
        return 0;
    }
    return socket_set_watch(&client->sockets, fd, events) ? 0 : -1;
}

/* --- time --- */

static void on_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
    http_client_run_deferred(timer->data);
}

static int on_timeout_wanted(CURLM *multi, long after_ms, void *owner)
{
    struct http_client *client = owner;
    (void)multi;
    if (after_ms < 0) {
        uv_timer_stop(&client->timer);
    } else {
        uv_timer_start(&client->timer, on_timer, (uint64_t)after_ms, 0);
    }
    return 0;
}

/* --- ends and starts, with curl off the stack --- */

static void take_ends(struct http_client *client)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(client->multi, &left))) {
        struct http_call *call = NULL;
        CURLcode result = message->data.result; /* the message goes with its handle */
        if (message->msg == CURLMSG_DONE) {
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
            http_call_finish(call, result);
        }
    }
}

static bool is_finished(const struct http_call *call)
{
    return (call->stage == CALL_RUNNING && call->broken) ||
           (call->stage == CALL_UPGRADING && (call->broken || call->is_over));
}

static void take_changed(struct http_client *client)
{
    struct http_call *next;
    for (struct http_call *call = client->calls; call; call = next) {
        next = call->next;
        if (call->stage == CALL_CANCELLED) {
            http_call_free(call);
        } else if (call->stage == CALL_WAITING) {
            http_call_add(call);
        } else if (is_finished(call)) {
            http_call_finish(call, CURLE_OK);
            client->is_unsettled = true; /* a handler ran: look at everything again */
            return;
        } else if (call->stage == CALL_UPGRADING && call->is_held && !call->is_paused) {
            call->is_held = false;
            http_upgrade_resume(call);
            client->is_unsettled = true;
            return;
        } else if (call->stage == CALL_RUNNING && call->is_held && !call->is_paused) {
            call->is_held = false;
            client->inside++;
            curl_easy_pause(call->easy, CURLPAUSE_CONT);
            client->inside--;
            client->is_unsettled = true;
            return;
        }
    }
}

void http_client_run_deferred(struct http_client *client)
{
    assert(loop_is_mine(client->loop));
    if (client->inside || client->is_settling) {
        client->is_unsettled = true;
        return;
    }
    client->is_settling = true;
    take_ends(client);
    while (client->is_unsettled) { /* else no call needs a look, however many there are */
        client->is_unsettled = false;
        take_changed(client);
        take_ends(client);
    }
    client->is_settling = false;
}

static void on_looked(void *owner)
{
    http_client_run_deferred(owner);
}

/* --- the client --- */

static void on_kick(void *owner)
{
    struct http_client *client = owner;
    client->is_unsettled = true;
    http_client_run_deferred(client);
}

static void curl_prepare(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* The socket set, or the timer. */
static void on_part_closed(void *owner)
{
    struct http_client *client = owner;
    if (--client->parts_open == 0) {
        free(client);
    }
}

struct http_client *http_client_new(struct loop *loop, const struct http_client_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, curl_prepare);
    struct http_client *client = memory_zeroed(sizeof *client);
    client->loop = loop;
    client->options = options ? *options : (struct http_client_options){0};
    if (!client->options.header_bytes_max) {
        client->options.header_bytes_max = HEADER_BYTES_MAX;
    }
    uv_timer_init(loop_uv(loop), &client->timer);
    client->timer.data = client;
    client->sockets =
        (struct socket_set){.owner = client, .on_ready = on_ready, .on_looked = on_looked, .on_closed = on_part_closed};
    socket_set_open(&client->sockets, loop, client->options.gather_us);
    client->parts_open = 2;
    client->kick = loop_timer_new(loop, on_kick, client);
    client->multi = curl_multi_init();
    if (!client->multi) {
        abort();
    }
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    if (client->options.connections_max > 0) {
        curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, client->options.connections_max);
    }
    return client;
}

void http_client_stop_waiting(struct http_client *client)
{
    assert(loop_is_mine(client->loop));
    client->is_stopping = true;
    for (struct http_call *call = client->calls; call; call = call->next) {
        if (!call->is_headed && !call->broken) {
            call->broken = "stopping";
        }
    }
    on_kick(client);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

void http_client_free(struct http_client *client)
{
    if (!client) {
        return;
    }
    while (client->calls) {
        http_call_free(client->calls);
    }
    curl_multi_cleanup(client->multi);
    loop_timer_free(client->kick);
    socket_set_close(&client->sockets);
    uv_close((uv_handle_t *)&client->timer, on_timer_closed);
}
