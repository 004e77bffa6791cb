#include "net/socket_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MET_MAX = 256, HANDLES = 2 };

static void must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "sojourn: %s: %s\n", what, strerror(errno));
        abort();
    }
}

/* --- looking --- */

static void on_sockets(uv_poll_t *handle, int status, int events);
static void on_tick(uv_poll_t *handle, int status, int events);

static void tick_every(struct socket_set *set, int64_t each_us)
{
    struct timespec each = {each_us / 1000000, each_us % 1000000 * 1000};
    must(timerfd_settime(set->tick_fd, 0, &(struct itimerspec){each, each}, NULL), "timer of the outgoing sockets");
}

static void gather(struct socket_set *set, bool is_gathering)
{
    if (is_gathering == set->is_gathering) {
        return;
    }
    set->is_gathering = is_gathering;
    tick_every(set, is_gathering ? set->moderation.gather_us : 0);
    if (is_gathering) {
        uv_poll_stop(&set->sockets);
        uv_poll_start(&set->tick, UV_READABLE, on_tick);
    } else {
        uv_poll_stop(&set->tick);
        uv_poll_start(&set->sockets, UV_READABLE, on_sockets);
    }
}

/* What on_ready does may drop sockets that were met as well: their descriptor is -1 then. */
static void look(struct socket_set *set)
{
    struct epoll_event met[MET_MAX];
    int count = epoll_wait(set->sockets_fd, met, MET_MAX, 0);
    set->met = met;
    set->met_count = count > 0 ? count : 0;
    for (int i = 0; i < set->met_count; i++) {
        if (met[i].data.fd >= 0) {
            set->on_ready(set->owner, met[i].data.fd, met[i].events);
        }
    }
    set->on_looked(set->owner);
    gather(set, read_coalescing_note(&set->moderation, (int64_t)(uv_hrtime() / 1000), (size_t)set->met_count));
    set->met = NULL;
    set->met_count = 0;
}

static void on_sockets(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    look(handle->data);
}

static void on_tick(uv_poll_t *handle, int status, int events)
{
    struct socket_set *set = handle->data;
    uint64_t ticks;
    (void)status, (void)events;
    ssize_t got = read(set->tick_fd, &ticks, sizeof ticks); /* nothing to read is nothing lost */
    (void)got;
    look(set);
}

/* --- the sockets --- */

bool socket_set_watch(struct socket_set *set, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(set->sockets_fd, EPOLL_CTL_MOD, fd, &event) == 0) {
        return true;
    }
    return errno == ENOENT && epoll_ctl(set->sockets_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void socket_set_drop(struct socket_set *set, int fd)
{
    epoll_ctl(set->sockets_fd, EPOLL_CTL_DEL, fd, NULL); /* it may be gone already */
    for (int i = 0; i < set->met_count; i++) {
        if (set->met[i].data.fd == fd) {
            set->met[i].data.fd = -1;
        }
    }
}

/* --- life --- */

static void poll_open(struct socket_set *set, struct loop *loop, uv_poll_t *handle, int fd)
{
    must(fd, "set of the outgoing sockets");
    errno = -uv_poll_init(loop_uv(loop), handle, fd);
    must(-errno, "set of the outgoing sockets");
    handle->data = set;
    uv_unref((uv_handle_t *)handle);
}

void socket_set_open(struct socket_set *set, struct loop *loop, int64_t gather_us)
{
    read_coalescing_init(&set->moderation, gather_us);
    set->sockets_fd = epoll_create1(EPOLL_CLOEXEC);
    set->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    poll_open(set, loop, &set->sockets, set->sockets_fd);
    poll_open(set, loop, &set->tick, set->tick_fd);
    set->handles_open = HANDLES;
    uv_poll_start(&set->sockets, UV_READABLE, on_sockets);
}

void socket_set_hold(struct socket_set *set, bool held)
{
    uv_handle_t *handles[HANDLES] = {(uv_handle_t *)&set->sockets, (uv_handle_t *)&set->tick};
    for (int i = 0; i < HANDLES; i++) {
        held ? uv_ref(handles[i]) : uv_unref(handles[i]);
    }
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct socket_set *set = handle->data;
    if (--set->handles_open == 0) {
        set->on_closed(set->owner);
    }
}

void socket_set_close(struct socket_set *set)
{
    uv_close((uv_handle_t *)&set->sockets, on_handle_closed);
    uv_close((uv_handle_t *)&set->tick, on_handle_closed);
    close(set->sockets_fd);
    close(set->tick_fd);
}
