#include "api/core/door.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

struct entry {
    const struct door *door;
    struct slice prefix;
    struct route_index *routes;
};

struct doors {
    size_t count;
    struct entry entries[];
};

struct doors *doors_new(const struct door *const *table)
{
    size_t count = 0;
    while (table[count]) {
        count++;
    }
    assert(count > 0 && table[count - 1]->prefix[0] == '\0');
    struct doors *doors = memory_zeroed(sizeof *doors + count * sizeof *doors->entries);
    doors->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct door *door = table[i];
        assert(door->credential && door->refuse && door->sse && door->websocket);
        doors->entries[i] = (struct entry){door, slice_of(door->prefix), route_index_new(door->tables)};
    }
    return doors;
}

void doors_free(struct doors *doors)
{
    for (size_t i = 0; doors && i < doors->count; i++) {
        route_index_free(doors->entries[i].routes);
    }
    free(doors);
}

/* "/acp" and "/acp/x" lie under "/acp", "/acpx" does not. */
static bool lies_under(struct slice path, struct slice prefix)
{
    return slice_starts(path, prefix) && (prefix.len == 0 || path.len == prefix.len || path.ptr[prefix.len] == '/');
}

const struct door *doors_find(const struct doors *doors, struct slice path, const struct route_index **out_routes)
{
    const struct entry *entry = doors->entries;
    while (entry < &doors->entries[doors->count - 1] && !lies_under(path, entry->prefix)) {
        entry++;
    }
    *out_routes = entry->routes;
    return entry->door;
}
