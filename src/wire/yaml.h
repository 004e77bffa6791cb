/* YAML read into the values of base/json.h, so that a configuration file and a JSON body are checked by the same code.
 * A careful subset: one document, no anchors, aliases or tags, every name once. Plain null, true, false and numbers (as
 * JSON writes them) are what they look like; everything else is a string, "yes" and "007" included. */
#ifndef WIRE_YAML_H
#define WIRE_YAML_H

#include "base/json.h"

enum { YAML_BYTES_MAX = 1 << 20 };

struct yaml_mark {
    uint32_t offset; /* in `text` */
    uint32_t line;
};

/* Everything lives in the arena given to yaml_parse. */
struct yaml {
    const struct json *root;
    struct slice text; /* the document as JSON; raw slices point into it */
    struct yaml_mark *marks;
    size_t mark_count;
};

/* An empty document is null. Every failure names the line. */
MUST_CHECK enum status yaml_parse(struct arena *arena, struct slice text, struct yaml *out, struct failure *failure);
/* The line, counted from 1, where a value of this document stands; of a member: where its name stands. */
unsigned yaml_line(const struct yaml *yaml, const struct json *value);

#endif
