/* An entity: something the work is about (a customer, a ticket, a page). Fields that steps of tasks fill, and a version
 * that counts the changes. */
#ifndef DOMAIN_ENTITY_H
#define DOMAIN_ENTITY_H

#include "base/arena.h"
#include "base/json.h"
#include "base/enum_names.h"
#include "domain/change.h"

enum { ENTITY_ID_BYTES_MAX = 128, ENTITY_TYPE_BYTES_MAX = 64 };

struct entity {
    struct slice id, type;
    struct slice fields; /* JSON object */
    int64_t version;     /* 1, 2, … */
    int64_t created_at_ms, updated_at_ms;
    struct slice updated_by; /* actor */
};

/* Its id as that of a session, its type a name without white space, its fields at most `bytes_max`. */
MUST_CHECK enum status entity_check(const struct entity *entity, size_t bytes_max, struct failure *failure);
/* Its fields after `patch`, an object: members replace, null removes. The version grows, if anything differs. */
MUST_CHECK enum status entity_apply(struct arena *arena, struct entity *entity, const struct json *patch,
                                    size_t bytes_max, bool *out_changed, struct failure *failure);
/* entity.updated {entity_id, version, fields: names}: for the log of the session that did it. */
void change_entity_updated(struct arena *arena, const struct entity *entity, struct slice names, struct changes *out);
/* Whether its id, its type, or a name or value among its fields, at any depth, has `text` in it, whatever the case of
 * ASCII letters. The arena is for reading the fields. */
bool entity_has_text(struct arena *arena, const struct entity *entity, struct slice text);
void entity_write(struct json_out *out, const struct entity *entity);

#endif
