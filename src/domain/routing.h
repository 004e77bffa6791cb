/* Which messages of a group make its agent run. In a group many people talk, and mostly not to the agent: its owner is
 * always heard, others when they name it. The same for every channel, and whether a turn is under way or not. */
#ifndef DOMAIN_ROUTING_H
#define DOMAIN_ROUTING_H

#include "domain/session.h"

enum routing {
    ROUTING_DIRECT,           /* not a group: every message starts a turn */
    ROUTING_OWNER,            /* the owner names the agent */
    ROUTING_OWNER_UNDIRECTED, /* the owner says something to others: the agent runs, and may stay silent */
    ROUTING_MENTIONED,        /* another participant mentions the agent */
    ROUTING_NOT_MENTIONED,    /* in the log only; no turn starts */
    ROUTING_COUNT
};

enum routing routing_of(const struct session *session, bool is_owner, bool is_mentioned);
bool routing_triggers(enum routing routing);
/* Is the sender whom a channel names the owner of the group, by the session's metadata (`CHANNEL_owner_id`)? */
bool routing_names_owner(const struct session *session, const struct json *sender);
/* A message in a group begins with who sent it: "[Name, owner] text", "[Name, member] text", "[Name, owner] [not
 * directed at you] text". Further lines and parts begin with "| ", so that only the server begins one with a bracket,
 * and the last word in the brackets is the server's, whatever the name. Content as it is when it is no group. */
struct slice routing_content(struct arena *arena, enum routing routing, struct slice name, struct slice content);
/* The metadata (a JSON object, or absent) with `routing`: {"rule","triggered"}; as it is when it is no group. */
struct slice routing_metadata(struct arena *arena, enum routing routing, struct slice metadata);

#endif
