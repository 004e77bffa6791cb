/* Checks bodies and query strings against the fields of the route table. */
#ifndef API_VALIDATE_H
#define API_VALIDATE_H

#include "api/core/route.h"
#include "base/json.h"

/* Every member known, of its kind and within bounds; required ones present. A null member counts as not given. */
MUST_CHECK enum status validate_body(const struct field *fields, const struct json *body, struct failure *failure);
/* The same; unknown members and parameters are ignored where the door says so. */
MUST_CHECK enum status validate_body_as(bool ignores_unknown, const struct field *fields, const struct json *body,
                                        struct failure *failure);
MUST_CHECK enum status validate_query_as(bool ignores_unknown, const struct field *fields,
                                         const struct url_query *query, struct failure *failure);
MUST_CHECK enum status validate_query(const struct field *fields, const struct url_query *query,
                                      struct failure *failure);

#endif
