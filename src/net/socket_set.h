/* Sockets that one owner on a loop reads, looked at together: at once while little happens, and gathered for a moment
 * (net/read_coalescing.h) while the loop would wake for every single one. Other handles of the loop never wait for it.
 * Everything here happens on the loop's thread. */
#ifndef NET_SOCKET_SET_H
#define NET_SOCKET_SET_H

#include <sys/epoll.h>

#include "loop/loop.h"
#include "net/read_coalescing.h"

/* Embedded in its owner, which must live until `on_closed`. */
struct socket_set {
    void *owner;
    void (*on_ready)(void *owner, int fd, unsigned events); /* EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP */
    void (*on_looked)(void *owner);                         /* after those of one look, before the next */
    void (*on_closed)(void *owner);
    struct read_coalescing moderation;
    uv_poll_t sockets; /* ready when one of them is */
    uv_poll_t tick;    /* ready when the wait is over */
    int sockets_fd, tick_fd;
    int handles_open;
    bool is_gathering;
    struct epoll_event *met; /* of the look that is under way */
    int met_count;
};

/* The caller has set owner and the three callbacks. gather_us 0 = never gathers. Keeps the loop running only while it
 * is held. */
void socket_set_open(struct socket_set *set, struct loop *loop, int64_t gather_us);
void socket_set_hold(struct socket_set *set, bool held);
/* Adds the socket, or changes what is waited for: EPOLLIN, EPOLLOUT or both. */
bool socket_set_watch(struct socket_set *set, int fd, unsigned events);
/* Before the socket is closed, too. on_ready is not called for it any more, not even by the look that is under way. */
void socket_set_drop(struct socket_set *set, int fd);
/* Not from within on_ready; on_closed comes later, from the loop. */
void socket_set_close(struct socket_set *set);

#endif
