/* A server on a thread of the test program: each connection gets the next answer of a script, byte for byte (the last
 * one again and again), and what was asked is kept. For tests of everything that calls out. */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"

enum { PEER_ANSWERS_MAX = 16 };

struct http_peer {
    int fd, port;
    const char *says[PEER_ANSWERS_MAX]; /* ends with NULL; "+" before an answer keeps its connection open */
    pthread_t thread;
    pthread_mutex_t lock;
    struct buffer heard[PEER_ANSWERS_MAX]; /* the requests */
    size_t heard_count;
    int held[PEER_ANSWERS_MAX];
    size_t held_count;
};

static inline void peer_hear(struct buffer *heard, int fd)
{
    char bytes[65536];
    for (;;) {
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got <= 0) {
            return;
        }
        buffer_add(heard, slice_from(bytes, (size_t)got));
        buffer_add_byte(heard, '\0');
        heard->len--;
        const char *end = strstr(heard->ptr, "\r\n\r\n");
        const char *length = strcasestr(heard->ptr, "content-length: ");
        size_t body = length && end && length < end ? (size_t)atol(length + 16) : 0;
        if (end && heard->len >= (size_t)(end - heard->ptr) + 4 + body) {
            return;
        }
    }
}

static inline void peer_answer(struct http_peer *peer, int fd, const char *says)
{
    bool is_held = *says == '+';
    const char *at = is_held ? says + 1 : says;
    size_t left = strlen(at);
    while (left > 0) {
        ssize_t put = send(fd, at, left, MSG_NOSIGNAL);
        if (put <= 0) {
            break;
        }
        at += put;
        left -= (size_t)put;
    }
    if (is_held && peer->held_count < PEER_ANSWERS_MAX) {
        peer->held[peer->held_count++] = fd;
    } else {
        close(fd);
    }
}

static inline void *peer_main(void *owner)
{
    struct http_peer *peer = owner;
    size_t next = 0;
    for (;;) {
        int fd = accept(peer->fd, NULL, NULL);
        if (fd < 0) {
            return NULL;
        }
        struct buffer heard = {0};
        peer_hear(&heard, fd);
        pthread_mutex_lock(&peer->lock);
        if (peer->heard_count < PEER_ANSWERS_MAX) {
            peer->heard[peer->heard_count++] = heard;
        } else {
            buffer_release(&heard);
        }
        pthread_mutex_unlock(&peer->lock);
        peer_answer(peer, fd, peer->says[next]);
        next += peer->says[next + 1] != NULL;
    }
}

static inline void peer_start(struct http_peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    pthread_mutex_init(&peer->lock, NULL);
    peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(peer->fd, (struct sockaddr *)&address, len) != 0 || listen(peer->fd, 64) != 0 ||
        getsockname(peer->fd, (struct sockaddr *)&address, &len) != 0) {
        abort();
    }
    peer->port = ntohs(address.sin_port);
    pthread_create(&peer->thread, NULL, peer_main, peer);
}

/* After it the requests may be read without the lock. */
static inline void peer_stop(struct http_peer *peer)
{
    shutdown(peer->fd, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->fd);
    for (size_t i = 0; i < peer->held_count; i++) {
        close(peer->held[i]);
    }
}

static inline void peer_release(struct http_peer *peer)
{
    for (size_t i = 0; i < peer->heard_count; i++) {
        buffer_release(&peer->heard[i]);
    }
    pthread_mutex_destroy(&peer->lock);
}

#endif
