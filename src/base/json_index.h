/* Finds a member among many, or an element of a long list, in O(log n). It is sorted, not hashed: whatever names a
 * client chooses, no lookup gets slower. */
#ifndef BASE_JSON_INDEX_H
#define BASE_JSON_INDEX_H

#include "base/json.h"

struct json_index;

/* Of an object's members by their names; lives in the arena. */
const struct json_index *json_index_members(struct arena *arena, const struct json *object);
/* Of an array's texts, also when `array` is NULL; what is not text is left out. */
const struct json_index *json_index_texts(struct arena *arena, const struct json *array);
/* By name or text; NULL when there is none. */
const struct json *json_index_find(const struct json_index *index, struct slice text);
/* One of the entries that are in it twice, or NULL. */
const struct json *json_index_repeated(const struct json_index *index);

#endif
