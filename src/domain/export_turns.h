/* Which events of a log are one turn of a conversation. Private to export*.c. */
#ifndef DOMAIN_EXPORT_TURNS_H
#define DOMAIN_EXPORT_TURNS_H

#include "domain/export.h"

struct export_turn {
    size_t first, end; /* indexes of events */
    bool is_answered;  /* with a final text */
};

enum export_role { EXPORT_USER, EXPORT_ASSISTANT, EXPORT_TOOL, EXPORT_SYSTEM, EXPORT_NO_MESSAGE, EXPORT_ROLE_COUNT };
extern const char *const export_role_names[EXPORT_ROLE_COUNT];

enum export_role export_role_of(enum event_kind kind);
/* Room for `count` turns; returns how many there are. */
size_t export_turns_of(struct arena *arena, const struct event *events, size_t count, struct export_turn *out);
/* The tool an agent.tool_call names; absent when it names none. */
struct slice export_tool_of(struct arena *arena, const struct event *event);

#endif
