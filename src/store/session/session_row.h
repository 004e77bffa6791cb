/* A session as columns, by the table of domain/session_fields.h. Private to the room. */
#ifndef STORE_SESSION_ROW_H
#define STORE_SESSION_ROW_H

#include "domain/session_fields.h"
#include "store/store.h"

/* Binds one field as the next parameter, by its row in the table; -1 = the key. */
void session_bind(struct query *query, const struct session *session, int row);
/* Reads a row selected with {session_columns}: the key, then every field. Text is copied into the arena. */
void session_read(struct query *query, struct arena *arena, struct session *out);

#endif
