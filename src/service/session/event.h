/* Appending to a session's log. */
#ifndef SERVICE_EVENT_H
#define SERVICE_EVENT_H

#include "service/session/session.h"

struct append {
    struct event *events; /* as the client sent them, validated; sequence, time and actor are filled in */
    bool *duplicates;     /* per event: it was there already, and events[i] is now the stored one */
    size_t count;
    int64_t if_sequence; /* append only when the log ends here; -1 = always */
    struct session_access entry;
};

/* All or nothing. STALE (`sequence_mismatch`, with the current one) when if_sequence does not hold. */
MUST_CHECK enum status event_append(struct call *call, struct slice session_id, struct append *append);
/* `keep` gets the last event of these types, or is not called. */
MUST_CHECK enum status event_last(struct call *call, const struct session *session, const enum event_kind *kinds,
                                  size_t count, bool (*keep)(void *owner, const struct event *event), void *owner);

#endif
