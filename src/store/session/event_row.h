/* An event as columns. Private to the room. */
#ifndef STORE_EVENT_ROW_H
#define STORE_EVENT_ROW_H

#include "domain/event.h"
#include "store/db.h"

/* Reads {event_columns} that begin at column `first`; the slices are valid until the next step. */
void event_read_row(struct query *query, int first, struct event *out);

#endif
