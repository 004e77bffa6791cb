/* Labels: the scalar values of a session's metadata, one row each, for filtering. Private to the room. */
#ifndef STORE_LABEL_H
#define STORE_LABEL_H

#include "domain/session.h"
#include "store/db.h"

/* Longer names and values are kept in the session but cannot be searched for. */
enum { LABEL_NAME_BYTES_MAX = 128, LABEL_VALUE_BYTES_MAX = 256 };

MUST_CHECK enum status labels_insert(struct db *db, const struct session *session, struct failure *failure);
MUST_CHECK enum status labels_replace(struct db *db, const struct session *session, struct failure *failure);
/* How many labels the session has. */
int64_t labels_count(const struct session *session);
/* After a change of listed_at_ms. */
MUST_CHECK enum status labels_relist(struct db *db, const struct session *session, struct failure *failure);

#endif
