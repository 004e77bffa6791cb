/* JSON Pointer (RFC 6901): "/a/0/b~1c". */
#ifndef WIRE_JSON_POINTER_H
#define WIRE_JSON_POINTER_H

#include "base/arena.h"
#include "base/json.h"

struct json_pointer {
    struct slice *tokens; /* decoded; in the arena */
    size_t count;         /* 0 = the whole document */
};

/* False, with *out untouched, unless `text` is empty or begins with a slash and every ~ is followed by 0 or 1, and it
 * has at most JSON_DEPTH_MAX tokens. */
MUST_CHECK bool json_pointer_parse(struct arena *arena, struct slice text, struct json_pointer *out);
/* The value it points at, or NULL. */
const struct json *json_pointer_get(const struct json_pointer *pointer, const struct json *document);
/* An array index without sign or leading zeroes; false for anything else, "-" included. */
bool json_pointer_index(struct slice token, uint32_t *out);

#endif
