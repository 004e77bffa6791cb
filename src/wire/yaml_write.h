/* YAML written from the values of base/json.h, so that the same value is the same bytes wherever it is written: members
 * sorted by name, lists in their order, block style, two spaces. What yaml_parse makes of it is the same value, and
 * writing that gives the same bytes again. */
#ifndef WIRE_YAML_WRITE_H
#define WIRE_YAML_WRITE_H

#include "base/json.h"

/* Appends one document that ends with a line break. The arena holds what is sorted. */
void yaml_write(struct buffer *to, struct arena *arena, const struct json *value);

#endif
