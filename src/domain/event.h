/* One entry of a session's log. */
#ifndef DOMAIN_EVENT_H
#define DOMAIN_EVENT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "domain/event_kind.h"
#include "domain/principal.h"

struct event {
    int64_t sequence; /* 0 until the store assigns it */
    int64_t at_ms;    /* wall */
    enum event_kind kind;
    struct slice custom; /* the name of a custom kind */
    enum event_role role;
    bool role_is_given;    /* by the client, not by the type */
    struct slice content;  /* a JSON array, or absent */
    struct slice metadata; /* a JSON object, or absent */
    struct slice thread_id;
    struct slice external_id;
    struct slice actor; /* "user:ID", "worker:NAME", "token:ID", "system" */
};

/* Names the event: of its kind, or the client's own. */
static inline struct slice event_type(const struct event *event)
{
    return event->kind == EVENT_CUSTOM ? event->custom : event_kind_name(event->kind);
}
/* Sets kind and custom from a name; the slice is borrowed. */
void event_set_type(struct event *event, struct slice name);

/* Validates one event as a client sent it (an object with type, role, content, metadata, thread_id, external_event_id)
 * and fills `out` with slices of it. Unknown members are refused. Does not check who writes: event_check_writer. */
MUST_CHECK enum status event_read(const struct json *object, struct event *out, struct failure *failure);

/* Appends {"session_id","sequence","type","role","actor","content","metadata","thread_id","external_event_id",
 * "created_at"}; absent members are left out, content and metadata default to [] and {}. */
void event_write(struct buffer *to, struct slice session_id, const struct event *event);

#endif
