#include "base/map.h"

#include <stdlib.h>

#include "base/arena.h"

void map_release(struct map *map)
{
    free(map->slots);
    *map = (struct map){0};
}

static size_t probe(const struct map *map, struct slice key, uint64_t hash)
{
    size_t at = hash & (map->room - 1);
    while (map->slots[at].value && !(map->slots[at].hash == hash && slice_eq(map->slots[at].key, key))) {
        at = (at + 1) & (map->room - 1);
    }
    return at;
}

void *map_get(const struct map *map, struct slice key)
{
    return map->room ? map->slots[probe(map, key, slice_hash(key))].value : NULL;
}

static void grow(struct map *map)
{
    struct map old = *map;
    map->room = old.room ? old.room * 2 : 16;
    map->slots = memory_zeroed(map->room * sizeof *map->slots);
    for (size_t i = 0; i < old.room; i++) {
        if (old.slots[i].value) {
            map->slots[probe(map, old.slots[i].key, old.slots[i].hash)] = old.slots[i];
        }
    }
    free(old.slots);
}

void *map_put(struct map *map, struct slice key, void *value)
{
    if ((map->count + 1) * 4 > map->room * 3) {
        grow(map);
    }
    uint64_t hash = slice_hash(key);
    struct map_slot *slot = &map->slots[probe(map, key, hash)];
    void *old = slot->value;
    map->count += old ? 0 : 1;
    *slot = (struct map_slot){key, value, hash};
    return old;
}

void *map_remove(struct map *map, struct slice key)
{
    if (!map->room) {
        return NULL;
    }
    size_t hole = probe(map, key, slice_hash(key));
    void *old = map->slots[hole].value;
    if (!old) {
        return NULL;
    }
    map->count--;
    /* Close the hole: later entries of the same run move up unless they already stand at or after their home. */
    for (size_t at = hole;;) {
        at = (at + 1) & (map->room - 1);
        if (!map->slots[at].value) {
            break;
        }
        size_t home = map->slots[at].hash & (map->room - 1);
        if (((at - home) & (map->room - 1)) >= ((at - hole) & (map->room - 1))) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].value = NULL;
    return old;
}

void *map_next(const struct map *map, size_t *cursor)
{
    while (*cursor < map->room) {
        void *value = map->slots[(*cursor)++].value;
        if (value) {
            return value;
        }
    }
    return NULL;
}
