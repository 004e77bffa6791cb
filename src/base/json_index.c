#include "base/json_index.h"

#include <stdlib.h>

struct json_entry {
    struct slice text; /* the name of a member, or the text of an element */
    const struct json *value;
};

struct json_index {
    size_t count;
    struct json_entry entries[];
};

static int compare_entries(const void *a, const void *b)
{
    const struct json_entry *x = a, *y = b;
    return slice_cmp(x->text, y->text);
}

static struct json_index *index_new(struct arena *arena, size_t room)
{
    return arena_alloc(arena, sizeof(struct json_index) + room * sizeof(struct json_entry));
}

static const struct json_index *index_sort(struct json_index *index)
{
    qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    return index;
}

const struct json_index *json_index_members(struct arena *arena, const struct json *object)
{
    struct json_index *index = index_new(arena, object->count);
    for (const struct json *member = object->child; member; member = member->next) {
        index->entries[index->count++] = (struct json_entry){member->key, member};
    }
    return index_sort(index);
}

const struct json_index *json_index_texts(struct arena *arena, const struct json *array)
{
    const struct json *first = json_is(array, JSON_ARRAY) ? array->child : NULL;
    struct json_index *index = index_new(arena, first ? array->count : 0);
    for (const struct json *one = first; one; one = one->next) {
        if (json_is(one, JSON_STRING)) {
            index->entries[index->count++] = (struct json_entry){one->text, one};
        }
    }
    return index_sort(index);
}

const struct json *json_index_find(const struct json_index *index, struct slice text)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_cmp(text, index->entries[middle].text);
        if (order == 0) {
            return index->entries[middle].value;
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle : high;
    }
    return NULL;
}

const struct json *json_index_repeated(const struct json_index *index)
{
    for (size_t i = 1; i < index->count; i++) {
        if (slice_eq(index->entries[i - 1].text, index->entries[i].text)) {
            return index->entries[i].value;
        }
    }
    return NULL;
}
