#include "domain/idle.h"

bool idle_may_hibernate(const struct idle_facts *facts)
{
    const bool conditions[] = {
        facts->http_tool_calls == 0, facts->running_tools == 0, facts->viewers == 0,
        facts->proxies == 0,         !facts->in_turn,           facts->idle_ms >= facts->grace_ms,
        facts->has_sandbox,
    };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        if (!conditions[i]) {
            return false;
        }
    }
    return true;
}

int64_t idle_grace_ms(bool interactive, int64_t interactive_ms, int64_t automated_ms, int64_t agent_ms)
{
    int64_t grace_ms = interactive ? interactive_ms : automated_ms;
    return agent_ms > 0 && agent_ms < grace_ms ? agent_ms : grace_ms;
}
