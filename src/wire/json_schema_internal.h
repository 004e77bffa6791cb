/* What the parts of JSON Schema share: bounds and types, the words that validate, and the check of a schema itself. */
#ifndef WIRE_JSON_SCHEMA_INTERNAL_H
#define WIRE_JSON_SCHEMA_INTERNAL_H

#include "wire/json_schema.h"

/* Where the value stands, from the outside in; written only when something does not fit. */
struct schema_place {
    const struct schema_place *outer;
    struct slice key; /* absent: the element `index` */
    size_t index;
};

struct schema_check {
    struct failure *failure; /* NULL while alternatives are tried */
    const struct schema_place *place;
    unsigned depth;
};

/* Says what is expected at the place; always false. */
bool schema_refuse(const struct schema_check *check, const char *expected, struct slice what);

/* --- numbers and bounds --- */

/* False when it is no number. Exact for every 64-bit number. */
bool schema_number(const struct json *value, long double *out);
bool schema_is_whole(const struct json *value);
struct schema_bound;
/* NULL when the word is none. */
const struct schema_bound *schema_bound_find(struct slice word);
bool schema_bound_fits(const struct schema_check *check, const struct schema_bound *bound, const struct json *limit,
                       const struct json *value);

/* --- types --- */

bool schema_type_is_known(const struct json *name);
bool schema_type_fits(const struct schema_check *check, const struct json *type, const struct json *value);

/* --- words --- */

/* What the value of a word must look like. */
enum schema_shape {
    SHAPE_ANY,
    SHAPE_TYPE,
    SHAPE_VALUES,
    SHAPE_NAMES,
    SHAPE_FLAG,
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,
    SHAPE_PROPERTIES,
};

struct schema_word {
    const char *name;
    enum schema_shape shape;
    /* NULL: describes */
    bool (*fits)(const struct schema_check *check, const struct json *word, const struct json *value);
};
/* NULL when the word is not offered. */
const struct schema_word *schema_word_find(struct slice name);

#endif
