/* A hash map from text to pointer. The map copies no keys: a key must live as long as its entry (it usually is a field
 * of the value). */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/slice.h"

struct map_slot {
    struct slice key;
    void *value; /* NULL = empty */
    uint64_t hash;
};

struct map {
    struct map_slot *slots;
    size_t count;
    size_t room; /* a power of two, or 0 */
};

/* A map of zeroes is empty and ready. */
void map_release(struct map *map);
void *map_get(const struct map *map, struct slice key);
/* Replaces; returns the value that was there, or NULL. `value` is not NULL. */
void *map_put(struct map *map, struct slice key, void *value);
void *map_remove(struct map *map, struct slice key);
/* Walks all values in no order: start with *cursor = 0; NULL at the end. The map must not change meanwhile. */
void *map_next(const struct map *map, size_t *cursor);

#endif
