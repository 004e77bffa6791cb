#include "domain/event_kind.h"

#include <assert.h>

#include "domain/message_parts.h"
#include "domain/event_payload.h"
#include "domain/file_change.h"

static const char *const event_role_names[ROLE_COUNT] = {
    [ROLE_USER] = "user",
    [ROLE_AGENT] = "agent",
    [ROLE_SYSTEM] = "system",
};
const struct enum_names event_role_enum = {event_role_names, ROLE_COUNT};

const struct event_kind_row event_kinds[EVENT_KIND_COUNT] = {
#define KIND(kind, name, writers, role, flags, check) [EVENT_##kind] = {name, writers, role, flags, check},
    EVENT_KINDS(KIND)
#undef KIND
};

/* Names that are not in the table, by what they begin with. Whatever is not here is free. */
const struct event_prefix event_prefixes[] = {
    {"agent.", WRITERS_HOLDER, ROLE_AGENT},          {"approval.", WRITERS_SERVER, ROLE_SYSTEM},
    {"ask.", WRITERS_SERVER, ROLE_SYSTEM},           {"channel.", WRITERS_SERVER, ROLE_SYSTEM},
    {"context.", WRITERS_HOLDER, ROLE_SYSTEM},       {"entity.", WRITERS_SERVER, ROLE_SYSTEM},
    {"external.", WRITERS_ANYONE, ROLE_SYSTEM},      {"human.", WRITERS_HUMAN, ROLE_USER},
    {"introspection.", WRITERS_SERVER, ROLE_SYSTEM}, {"lease.", WRITERS_SERVER, ROLE_SYSTEM},
    {"participant.", WRITERS_SERVER, ROLE_SYSTEM},   {"prompt.", WRITERS_SERVER, ROLE_SYSTEM},
    {"question.", WRITERS_SERVER, ROLE_SYSTEM},      {"runner.", WRITERS_SERVER, ROLE_SYSTEM},
    {"runtime.", WRITERS_SERVER, ROLE_SYSTEM},       {"session.", WRITERS_SERVER, ROLE_SYSTEM},
    {"share.", WRITERS_SERVER, ROLE_SYSTEM},         {"state.", WRITERS_HOLDER, ROLE_SYSTEM},
    {"system.", WRITERS_SERVER, ROLE_SYSTEM},        {"tool.", WRITERS_HOLDER, ROLE_SYSTEM},
    {"turn.", WRITERS_SERVER, ROLE_SYSTEM},          {"user.", WRITERS_PEOPLE, ROLE_USER},
    {"watchdog.", WRITERS_SERVER, ROLE_SYSTEM},      {NULL, WRITERS_ANYONE, ROLE_SYSTEM},
};

static int compare_name(struct slice name, const char *known)
{
    int order = strncmp(name.ptr, known, name.len);
    return order ? order : known[name.len] ? -1 : 0;
}

enum event_kind event_kind_find(struct slice name)
{
    if (name.len == 0) {
        return EVENT_CUSTOM;
    }
    int low = EVENT_CUSTOM + 1, high = EVENT_KIND_COUNT;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = compare_name(name, event_kinds[middle].name);
        if (order == 0) {
            return (enum event_kind)middle;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return EVENT_CUSTOM;
}

struct slice event_kind_name(enum event_kind kind)
{
    assert(kind >= EVENT_CUSTOM && kind < EVENT_KIND_COUNT);
    return kind == EVENT_CUSTOM ? (struct slice){0} : slice_of(event_kinds[kind].name);
}

/* Sorted by name, a family stands together. */
bool event_kind_is_ask(enum event_kind kind)
{
    return kind >= EVENT_ASK_ANSWERED && kind <= EVENT_ASK_VOTED;
}

bool event_kind_is_of_agent(enum event_kind kind)
{
    return kind >= EVENT_AGENT_FILES_CHANGED && kind <= EVENT_AGENT_TOOL_RESULT;
}

bool event_kind_is_of_prompt(enum event_kind kind)
{
    return kind >= EVENT_PROMPT_EDITED && kind <= EVENT_PROMPT_WITHDRAWN;
}

bool event_kind_is_of_session(enum event_kind kind)
{
    return (kind >= EVENT_SESSION_ARCHIVED && kind <= EVENT_SESSION_WAITING_APPROVAL) ||
           (kind >= EVENT_INTROSPECTION_ENDED && kind <= EVENT_INTROSPECTION_TOOL_RESULT);
}

bool event_type_is_valid(struct slice name)
{
    if (name.len == 0 || name.len > EVENT_TYPE_BYTES_MAX || name.ptr[0] < 'a' || name.ptr[0] > 'z') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
            return false;
        }
    }
    return true;
}

/* The row of the name's prefix; the last one, without a prefix, when it is free. */
static const struct event_prefix *prefix_of(struct slice name)
{
    const struct event_prefix *row = event_prefixes;
    while (row->prefix && !slice_starts(name, slice_of(row->prefix))) {
        row++;
    }
    return row;
}

bool event_type_has_fixed_role(struct slice name)
{
    return slice_starts(name, SLICE("user.")) || slice_starts(name, SLICE("agent."));
}

enum event_writers event_type_writers(struct slice name)
{
    enum event_kind kind = event_kind_find(name);
    return kind != EVENT_CUSTOM ? event_kinds[kind].writers : prefix_of(name)->writers;
}

enum event_role event_type_role(struct slice name)
{
    enum event_kind kind = event_kind_find(name);
    return kind != EVENT_CUSTOM ? event_kinds[kind].role : prefix_of(name)->role;
}
