/* JSON Schema, the part that forms and tool arguments need: type, enum, const, the bounds of numbers, texts, lists and
 * objects, properties, required, additionalProperties, items, allOf, anyOf, oneOf, not, true and false. What only
 * describes (title, description, default, format, examples, …) is passed over. References and patterns are not offered:
 * a schema that uses a word outside this list is refused, not half understood. */
#ifndef WIRE_JSON_SCHEMA_H
#define WIRE_JSON_SCHEMA_H

#include "base/json.h"
#include "base/status.h"

enum { JSON_SCHEMA_DEPTH_MAX = 32, JSON_SCHEMA_UNIQUE_MAX = 1000 /* elements that are compared with each other */ };

/* Is it a schema that validate understands? INVALID `invalid_schema` names the word that is not. */
MUST_CHECK enum status json_schema_check(const struct json *schema, struct failure *failure);
/* Does the value fit a checked schema? INVALID `does_not_fit` names the place and what is expected there. */
MUST_CHECK enum status json_schema_validate(const struct json *schema, const struct json *value,
                                            struct failure *failure);

#endif
