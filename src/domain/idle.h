/* When a sandbox may be put to sleep by itself: all seven conditions, or not at all. */
#ifndef DOMAIN_IDLE_H
#define DOMAIN_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idle_facts {
    int64_t http_tool_calls; /* of code inside the sandbox, not answered yet */
    int64_t running_tools;   /* other work in it: agents and their tools, snapshots */
    int64_t viewers;
    int64_t proxies; /* terminals and editors that are connected into it */
    bool in_turn;    /* a turn is running, waiting for a person, or about to start */
    int64_t idle_ms; /* since something last happened */
    int64_t grace_ms;
    bool has_sandbox;
};
bool idle_may_hibernate(const struct idle_facts *facts);
/* The grace: the source's (people get longer than machines), never longer than the agent's own (0 = it has none). */
int64_t idle_grace_ms(bool interactive, int64_t interactive_ms, int64_t automated_ms, int64_t agent_ms);

#endif
