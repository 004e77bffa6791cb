/* The shapes of answers, for the OpenAPI document. A test compares them with what the server really sends. */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include "base/json.h"

struct enum_names;

/* Writes one object: name → JSON Schema. */
void schemas_write(struct json_out *out);
/* Every vocabulary of the server: name → words. */
void vocabularies_write(struct json_out *out);
/* Every status of a session: what it is shown as, and its groups. */
void states_write(struct json_out *out);
/* The member "enum". */
void schema_words_write(struct json_out *out, const struct enum_names *words, bool nullable);
/* The schema of a string, one of the words when there are any. */
void schema_text_write(struct json_out *out, const struct enum_names *words);

#endif
