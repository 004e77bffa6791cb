#include "fanout/publication.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"

struct publication {
    atomic_int refs;
    unsigned kinds; /* bits of enum publication_kind */
    struct arena arena;
    struct publication_entry *entries; /* `first` while there is one */
    size_t count;
    size_t room;
    struct publication_entry first;
};

struct publication *publication_new(void)
{
    struct publication *publication = memory_zeroed(sizeof *publication);
    atomic_init(&publication->refs, 1);
    publication->entries = &publication->first;
    publication->room = 1;
    return publication;
}

struct publication *publication_ref(struct publication *publication)
{
    atomic_fetch_add_explicit(&publication->refs, 1, memory_order_relaxed);
    return publication;
}

void publication_unref(struct publication *publication)
{
    if (!publication || atomic_fetch_sub_explicit(&publication->refs, 1, memory_order_acq_rel) > 1) {
        return;
    }
    arena_release(&publication->arena);
    if (publication->entries != &publication->first) {
        free(publication->entries);
    }
    free(publication);
}

static void make_room(struct publication *publication)
{
    struct publication_entry *old = publication->entries;
    bool is_first = old == &publication->first;
    size_t room = is_first ? 4 : publication->room * 2;
    publication->entries = memory_resize(is_first ? NULL : old, room * sizeof *old);
    publication->entries[0] = is_first ? *old : publication->entries[0];
    publication->room = room;
}

/* Live output is one entry, thousands of times a second: its texts get just the room they need. */
static void reserve_texts(struct arena *arena, const struct publication_entry *entry)
{
    const struct slice texts[] = {entry->session_id, entry->type,   entry->thread_id,
                                  entry->json,       entry->reason, entry->only_user};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bytes += texts[i].len + 1;
    }
    arena_reserve(arena, bytes);
}

void publication_add(struct publication *publication, const struct publication_entry *entry)
{
    if (publication->count == publication->room) {
        make_room(publication);
    }
    struct publication_entry *copy = &publication->entries[publication->count++];
    struct arena *arena = &publication->arena;
    *copy = *entry;
    if (entry->kind == PUBLISH_DELTA) {
        reserve_texts(arena, entry);
    }
    copy->session_id = arena_copy(arena, entry->session_id);
    copy->type = arena_copy(arena, entry->type);
    copy->thread_id = arena_copy(arena, entry->thread_id);
    copy->json = arena_copy(arena, entry->json);
    copy->reason = arena_copy(arena, entry->reason);
    copy->only_user = arena_copy(arena, entry->only_user);
    publication->kinds |= 1u << entry->kind;
}

size_t publication_count(const struct publication *publication)
{
    return publication->count;
}

const struct publication_entry *publication_at(const struct publication *publication, size_t index)
{
    return &publication->entries[index];
}

void publication_number(struct publication *publication, size_t index, int64_t sequence, int64_t delta)
{
    publication->entries[index].sequence = sequence;
    publication->entries[index].delta = delta;
}

bool publication_has(const struct publication *publication, enum publication_kind kind)
{
    return publication->kinds & 1u << kind;
}
