/* JSON Patch (RFC 6902). A patch is applied whole or not at all. */
#ifndef WIRE_JSON_PATCH_H
#define WIRE_JSON_PATCH_H

#include "wire/json_pointer.h"

struct json_patch_limits {
    size_t ops_max;
    size_t result_bytes_max; /* of the document after any operation, as compact JSON */
};

enum json_patch_kind { PATCH_ADD, PATCH_REMOVE, PATCH_REPLACE, PATCH_MOVE, PATCH_COPY, PATCH_TEST, PATCH_KIND_COUNT };

struct json_patch_op {
    enum json_patch_kind kind;
    struct json_pointer path;
    struct slice path_text; /* for messages */
    struct json_pointer from;
    const struct json *value; /* of add, replace and test */
};

struct json_patch {
    struct json_patch_op *ops; /* in the arena; values point into the parsed patch */
    size_t count;
};

/* Checks the form of a patch without a document: STATUS_INVALID with code "invalid_patch" names the first wrong
 * operation, STATUS_TOO_LARGE says that there are too many. */
MUST_CHECK enum status json_patch_parse(struct arena *arena, const struct json *patch,
                                        const struct json_patch_limits *limits, struct json_patch *out,
                                        struct failure *failure);
/* Appends the patched document as JSON text. Values that no operation touched keep their exact bytes. The document
 * itself is not changed. The work is bounded by the thread's budget (base/budget.h). STATUS_CONFLICT with code
 * "patch_path_missing" or "patch_test_failed", or STATUS_TOO_LARGE; nothing is appended then. Working memory comes from
 * the arena. */
MUST_CHECK enum status json_patch_apply(struct arena *arena, const struct json *document,
                                        const struct json_patch *patch, const struct json_patch_limits *limits,
                                        struct buffer *out, struct failure *failure);

#endif
