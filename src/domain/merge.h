/* Two JSON objects made one. Results are in the caller's arena. */
#ifndef DOMAIN_MERGE_H
#define DOMAIN_MERGE_H

#include "base/json.h"

/* RFC 7396 on the first level: members of `patch` replace those of `old`, null removes. `old` is the text of a JSON
 * object or absent; `patch` is an object or NULL. At least "{}". */
struct slice merge_objects(struct arena *arena, struct slice old, const struct json *patch);
/* Adds numbers member by member, at any depth; what is no number is taken from `more`, but never in place of one. Whole
 * numbers stay whole as long as they fit. */
struct slice merge_totals(struct arena *arena, struct slice total, struct slice more);

#endif
