/* How a schema is written down. Private to the files of schemas. */
#ifndef API_SCHEMA_INTERNAL_H
#define API_SCHEMA_INTERNAL_H

#include "base/enum_names.h"

/* A member's shape in a few letters: s string, s? string or null, i integer, i? , b boolean, t time, t? , o object, o?,
 * a array, l array of strings, x anything, @Name another schema, @Name? that or null, [Name an array of it; a last -
 * may be missing; words come from their table. The member "*" says that there may be others.
 */
struct member {
    const char *name;
    const char *shape;
    const struct enum_names *words;
};

struct schema {
    const char *name;
    const struct member *members;
};

extern const struct schema main_schemas[]; /* everything else; ends with a NULL name */
extern const struct schema work_schemas[]; /* tasks, entities, runs; ends with a NULL name */

#endif
