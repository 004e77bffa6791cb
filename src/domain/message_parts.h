/* The parts of a message: the kinds of AI SDK v6, in what people and agents say. Members that are not named here are
 * free, names are accepted as snake_case and as camelCase, and kinds with `_` for `-`. */
#ifndef DOMAIN_MESSAGE_PARTS_H
#define DOMAIN_MESSAGE_PARTS_H

#include "base/json.h"
#include "base/status.h"

struct part_kind {
    const char *name;  /* with a last `*`: everything that begins so and goes on; NULL ends the table */
    const char *needs; /* members separated by spaces, all of them; `a|b` = one of them; "" = none */
};

/* Looked through in order: exact names stand before the prefixes that would take them. */
extern const struct part_kind part_kinds[];

/* `content` is an array, or NULL (nothing was said). A string is a part of its own, and so is an object with `text` and
 * no `type`. */
MUST_CHECK enum status parts_check(const struct json *content, struct failure *failure);
/* The same for the table of event types. */
MUST_CHECK enum status payload_check_message(const struct json *content, const struct json *metadata,
                                             struct failure *failure);

#endif
