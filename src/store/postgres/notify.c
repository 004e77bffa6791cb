#include "store/postgres/notify.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "store/postgres/connection.h"

enum { ORIGIN_CHARACTERS = 16, ALONE_AFTER_MS = 30000 };

static char origin[ORIGIN_CHARACTERS + 1];
static pthread_once_t origin_once = PTHREAD_ONCE_INIT;

static void origin_make(void)
{
    struct id_source source;
    uint64_t number;
    id_source_init_system(&source);
    source.fill(&source, &number, sizeof number);
    snprintf(origin, sizeof origin, "%016llx", (unsigned long long)number);
}

struct slice notify_origin(void)
{
    pthread_once(&origin_once, origin_make);
    return slice_from(origin, ORIGIN_CHARACTERS);
}

/* --- are there others --- */

static atomic_bool listening;
static atomic_llong heard_ms; /* when another node was last heard or seen; 0 = never */

void notify_listening(bool listens)
{
    listening = listens;
}

void notify_heard(void)
{
    heard_ms = monotonic_ms();
}

bool notify_is_needed(void)
{
    return !listening || (heard_ms != 0 && monotonic_ms() - heard_ms < ALONE_AFTER_MS);
}

/* --- what was touched --- */

void touches_add(struct touches *touches, int64_t tenant_key, int64_t session_key)
{
    struct touch *last = touches->count ? &touches->items[touches->count - 1] : NULL;
    if (last && last->tenant_key == tenant_key && last->session_key == session_key) {
        return;
    }
    if (touches->count == touches->room) {
        touches->room = touches->room ? touches->room * 2 : 64;
        touches->items = memory_resize(touches->items, touches->room * sizeof *touches->items);
    }
    touches->items[touches->count++] = (struct touch){tenant_key, session_key};
}

static int touch_compare(const void *a, const void *b)
{
    const struct touch *left = a, *right = b;
    if (left->tenant_key != right->tenant_key) {
        return left->tenant_key < right->tenant_key ? -1 : 1;
    }
    return left->session_key < right->session_key ? -1 : left->session_key > right->session_key;
}

void touches_write(struct touches *touches, struct buffer *to)
{
    size_t start = to->len;
    qsort(touches->items, touches->count, sizeof *touches->items, touch_compare);
    buffer_add(to, notify_origin());
    for (size_t i = 0; i < touches->count; i++) {
        if (i == 0 || touch_compare(&touches->items[i - 1], &touches->items[i]) != 0) {
            buffer_format(to, " %lld:%lld", (long long)touches->items[i].tenant_key,
                          (long long)touches->items[i].session_key);
        }
    }
    if (to->len - start > NOTIFY_TOUCHES_MAX) {
        to->len = start + ORIGIN_CHARACTERS;
        buffer_add(to, SLICE(" many"));
    }
}

void touches_release(struct touches *touches)
{
    free(touches->items);
    *touches = (struct touches){0};
}
