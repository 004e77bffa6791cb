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

/* Reader. The events of the session that `filter` asks for (its tenant and session are filled in here), until `each`
 * says false. */
MUST_CHECK enum status event_log_read(struct call *call, const struct session *session, struct event_filter *filter,
                                      bool (*each)(void *owner, const struct event *event), void *owner);
/* Reader. What is shown of the message that is under way, and not in the log yet; count 0 when there is none. */
MUST_CHECK enum status event_read_partial(struct call *call, const struct session *session, struct partial *out);
/* Reader. Where the firehose of the caller's tenant ends now. */
MUST_CHECK enum status event_firehose_end(struct call *call, struct position *out);
/* Reader. May the caller show live output now? It belongs to a turn: CONFLICT (`session_ended`) when none can be under
 * way, STALE (`lease_required`) when somebody else runs it. */
MUST_CHECK enum status event_check_live(struct call *call, const struct session *session);

#endif
