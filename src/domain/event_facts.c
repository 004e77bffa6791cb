#include "domain/event_facts.h"

struct event_facts event_facts_read(const struct event *event)
{
    struct event_facts facts = {.kind = event->kind};
    struct arena arena = {0};
    const struct json *metadata;
    if (event_facts_move(&facts) && json_parse(&arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        int from = enum_names_find(session_status_enum, json_text_of(metadata, "from"));
        int to = enum_names_find(session_status_enum, json_text_of(metadata, "to"));
        facts.from = from >= 0 ? (enum session_status)from : SESSION_IDLE;
        facts.to = to >= 0 ? (enum session_status)to : SESSION_IDLE;
    }
    arena_release(&arena);
    return facts;
}
