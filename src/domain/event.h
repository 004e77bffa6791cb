/* One entry of a session's log. */
#ifndef DOMAIN_EVENT_H
#define DOMAIN_EVENT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/enum_names.h"
#include "domain/principal.h"

enum event_role { ROLE_USER, ROLE_AGENT, ROLE_SYSTEM, ROLE_COUNT };
extern const struct enum_names event_role_enum;

struct event {
    int64_t sequence; /* 0 until the store assigns it */
    int64_t at_ms;    /* wall */
    struct slice type;
    enum event_role role;
    bool role_is_given;    /* by the client, not by the type */
    struct slice content;  /* a JSON array, or absent */
    struct slice metadata; /* a JSON object, or absent */
    struct slice thread_id;
    struct slice external_id;
    struct slice actor; /* "user:ID", "worker:NAME", "token:ID", "system" */
};

/* Who may write an event type. */
enum event_writers {
    WRITERS_ANYONE, /* collaborators, holders, channels */
    WRITERS_PEOPLE, /* the same without code in a sandbox and runners, which speak for an agent only */
    WRITERS_HOLDER, /* whoever runs the turn: lease holder, runner, sandbox (or an owner's token acting as the agent) */
    WRITERS_HUMAN,  /* the owner of a running mixed session: human.* */
    WRITERS_SERVER, /* the server alone: session.*, prompt.*, … */
};

struct event_type {
    const char *name;
    enum event_writers writers;
    enum event_role role; /* the default */
    bool counts_message;  /* in the session's message_count */
    bool counts_tool;     /* in tool_call_count */
    bool audit;           /* part of the audit log */
    /* Checks content and metadata of the structured types; NULL = free. */
    enum status (*check)(const struct json *content, const struct json *metadata, struct failure *failure);
};

/* All types the server knows (S0-028 … S0-036 and the server's own); ends with a NULL name. */
extern const struct event_type event_types[];

/* Who may write a custom type that begins so, and its role when none is given; ends with a NULL prefix, which stands
 * for everything else. */
struct event_prefix {
    const char *prefix;
    enum event_writers writers;
    enum event_role role;
};
extern const struct event_prefix event_prefixes[];

/* NULL for a custom type. */
const struct event_type *event_type_find(struct slice name);
/* [a-z][a-z0-9_.]*, at most 64 characters */
bool event_type_is_valid(struct slice name);
/* The row for a known type; for a custom one the rule of its prefix (reserved prefixes are guarded). */
enum event_writers event_type_writers(struct slice name);

/* Validates one event as a client sent it (an object with type, role, content, metadata, thread_id, external_event_id)
 * and fills `out` with slices of it. Unknown members are refused. Does not check who writes: event_check_writer. */
MUST_CHECK enum status event_read(const struct json *object, struct event *out, struct failure *failure);

/* Appends {"session_id","sequence","type","role","actor","content","metadata","thread_id","external_event_id",
 * "created_at"}; absent members are left out, content and metadata default to [] and {}. */
void event_write(struct buffer *to, struct slice session_id, const struct event *event);

#endif
