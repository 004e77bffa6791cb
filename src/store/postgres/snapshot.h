/* Which transactions a snapshot of a PostgreSQL server sees. Pure. */
#ifndef STORE_POSTGRES_SNAPSHOT_H
#define STORE_POSTGRES_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { SNAPSHOT_RUNNING_MAX = 512 };

/* It sees every transaction below `next`, except those that were running. */
struct snapshot {
    int64_t next;
    size_t running_count;
    int64_t running[SNAPSHOT_RUNNING_MAX];
};

/* As pg_current_snapshot() writes it: "MIN:NEXT:RUNNING,RUNNING". False when it is not that, or has too many. */
bool snapshot_parse(struct slice text, struct snapshot *out);
void snapshot_write(const struct snapshot *snapshot, struct buffer *to);
bool snapshot_sees(const struct snapshot *snapshot, int64_t transaction);
/* Whether `outer` sees all that `inner` sees. */
bool snapshot_is_within(const struct snapshot *inner, const struct snapshot *outer);
/* From now on it sees this transaction, or all that `other` sees, too. Nothing changes where that has no room. */
void snapshot_add(struct snapshot *snapshot, int64_t transaction);
void snapshot_join(struct snapshot *snapshot, const struct snapshot *other);

#endif
