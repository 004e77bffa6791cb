/* The shapes of answers, for the OpenAPI document. A test compares them with what the server really sends. */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include "base/json.h"

/* Writes one object: name → JSON Schema. */
void schemas_write(struct json_out *out);

#endif
