/* A listening socket, watched by one loop. It accepts and deals the connections out to all loops in turn. */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include "base/status.h"
#include "net/server_loop.h"

/* The peer of every connection to a unix socket; others have their address. */
#define PEER_UNIX "unix"

/* Where accepted sockets go. Called on the listener's loop; the callee owns `fd`. */
struct listener_target {
    void *owner;
    void (*accept)(void *owner, int fd, const char *peer);
};

struct listener {
    struct listener *next;
    uv_poll_t poll;
    uv_timer_t retry; /* after the process ran out of descriptors */
    struct loop *loop;
    struct loop_message start_message;
    struct listener_target target;
    int fd;
    char *unix_path; /* to be removed at the end */
    void (*closed)(struct listener *listener);
    int handles_open;
    bool closing;
};

/* Is it HOST:PORT, [IPV6]:PORT, :PORT or unix:PATH? Says nothing about whether it can be had. Any thread. */
MUST_CHECK enum status listener_check_address(struct slice address, struct failure *failure);
/* Any thread: binds and listens; accepting begins on `loop`. `scheme` is "http" or "https". */
MUST_CHECK enum status listener_open(struct slice address, const char *scheme, struct loop *loop,
                                     const struct listener_target *target, struct listener **out, char *out_address,
                                     size_t room, struct failure *failure);
/* On its loop; `closed` may then free it. */
void listener_close(struct listener *listener, void (*closed)(struct listener *listener));
void listener_free(struct listener *listener);

#endif
