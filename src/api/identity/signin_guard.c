#include "api/identity/signin_guard.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"

/* A table of fixed size: two names that share a slot share a limit, which only makes guessing slower. */
enum { SLOTS = 4096, EMAIL_BYTES_MAX = 254 };

struct slot {
    int64_t window_start_ms;
    int64_t attempts;
};

struct signin_guard {
    pthread_mutex_t lock;
    int64_t attempts_max;
    int64_t window_ms;
    struct slot slots[SLOTS];
};

struct signin_guard *signin_guard_new(int64_t attempts_max, int64_t window_ms)
{
    struct signin_guard *guard = memory_zeroed(sizeof *guard);
    pthread_mutex_init(&guard->lock, NULL);
    guard->attempts_max = attempts_max;
    guard->window_ms = window_ms;
    return guard;
}

void signin_guard_free(struct signin_guard *guard)
{
    if (guard) {
        pthread_mutex_destroy(&guard->lock);
        free(guard);
    }
}

static struct slot *slot_of(struct signin_guard *guard, struct slice name)
{
    return &guard->slots[slice_hash(name) % SLOTS];
}

/* One account, however its letters are written. */
static struct slot *slot_of_email(struct signin_guard *guard, struct slice email)
{
    char folded[EMAIL_BYTES_MAX];
    size_t len = email.len < sizeof folded ? email.len : sizeof folded;
    for (size_t i = 0; i < len; i++) {
        char c = email.ptr[i];
        folded[i] = c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
    }
    return slot_of(guard, slice_from(folded, len));
}

/* Whoever has one address of IPv6 has all of its network of 64 bits. */
static struct slot *slot_of_peer(struct signin_guard *guard, struct slice peer)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct in6_addr v6;
    if (peer.len < sizeof text) {
        memcpy(text, peer.ptr, peer.len);
    }
    bool is_v6 = inet_pton(AF_INET6, text, &v6) == 1;
    return slot_of(guard, is_v6 ? slice_from((const char *)v6.s6_addr, 8) : peer);
}

static int64_t count(struct signin_guard *guard, struct slot *slot, int64_t now_ms)
{
    if (now_ms - slot->window_start_ms >= guard->window_ms) {
        *slot = (struct slot){.window_start_ms = now_ms};
    }
    slot->attempts++;
    return slot->attempts > guard->attempts_max ? slot->window_start_ms + guard->window_ms - now_ms : 0;
}

int64_t signin_guard_enter(struct signin_guard *guard, struct slice peer, struct slice email, int64_t now_ms)
{
    pthread_mutex_lock(&guard->lock);
    int64_t by_peer = count(guard, slot_of_peer(guard, peer), now_ms);
    int64_t by_email = count(guard, slot_of_email(guard, email), now_ms);
    pthread_mutex_unlock(&guard->lock);
    return by_peer > by_email ? by_peer : by_email;
}

void signin_guard_passed(struct signin_guard *guard, struct slice peer, struct slice email)
{
    pthread_mutex_lock(&guard->lock);
    struct slot *by_peer = slot_of_peer(guard, peer);
    by_peer->attempts -= by_peer->attempts > 0;
    *slot_of_email(guard, email) = (struct slot){0};
    pthread_mutex_unlock(&guard->lock);
}
