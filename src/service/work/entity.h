/* Entities: what work is about. They belong to the tenant: its members and workers read and change them; steps of tasks
 * fill their fields (service/work/step.h). */
#ifndef SERVICE_ENTITY_H
#define SERVICE_ENTITY_H

#include "service/core/transaction.h"

/* FORBIDDEN for whoever reaches only some sessions of the tenant: share links, channels, runners, sandboxes. */
MUST_CHECK enum status entity_check_reach(struct call *call);

/* Writer. `id` absent = a new one. */
MUST_CHECK enum status entity_create(struct call *call, struct slice id, struct slice type, const struct json *fields,
                                     struct entity *out);
/* Writer. `fields` are merged, null removes; `version` is what the caller saw: STALE (`version_changed`) when it is
 * another by now, 0 = whatever it is. */
MUST_CHECK enum status entity_change(struct call *call, struct slice id, const struct json *fields, int64_t version,
                                     struct entity *out);
MUST_CHECK enum status entity_remove(struct call *call, struct slice id, int64_t version);
/* Reader or writer; NOT_FOUND `entity_not_found`. */
MUST_CHECK enum status entity_find(struct call *call, struct slice id, struct entity *out);
/* A list by id. What is searched for may be sealed in the store, so it is looked for here: a search looks at so many
 * entities at most, and then answers with what it found and where to go on. */
struct entity_query {
    struct slice after, type; /* absent = from the first; of all types */
    struct slice text;        /* absent = all */
    int64_t limit;
};
struct entity_page {
    struct entity *entities;
    size_t count;
    bool has_more;
    struct slice cursor; /* when there may be more: what to go on after */
};
/* Reader. */
MUST_CHECK enum status entity_list(struct call *call, const struct entity_query *query, struct entity_page *out);
/* Writer, for steps: what they yield, in the transaction that ends them. *out_changed false: it stood there already. */
MUST_CHECK enum status entity_fill(struct call *call, int64_t tenant_key, struct slice id, struct slice fields,
                                   struct entity *out, bool *out_changed);

#endif
