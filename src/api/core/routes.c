#include "api/core/handlers.h"

#define AGENTS "Agents, models, personas"
#define ASKS "Approvals, questions, forms"
#define CLAIMS "Claims"
#define FILES "Files and changes"
#define HEALTH "Health and metrics"
#define MEMBERS "People in a session"
#define MESSAGES "Messages"
#define PAGES "Pages of the dashboard"
#define PEOPLE "Users, tokens, tenants"
#define RUNTIME "Sandboxes, runners, tunnels"
#define SESSIONS "Sessions"
#define SIGNING_IN "Signing in"
#define STREAMS "Events and streams"
#define WORK "Tasks, entities, runs"

/* In the order of the documents. */
const struct route_table route_tables[] = {
    {HEALTH, system_routes},
    {SIGNING_IN, auth_routes},
    {PEOPLE, identity_routes},
    {SESSIONS, session_routes},
    {SESSIONS, session_list_routes},
    {SESSIONS, stop_routes},
    {SESSIONS, explain_routes},
    {SESSIONS, export_routes},
    {MESSAGES, prompt_routes},
    {MESSAGES, message_routes},
    {MESSAGES, prompt_queue_routes},
    {MESSAGES, channel_routes},
    {STREAMS, event_routes},
    {STREAMS, stream_routes},
    {ASKS, ask_routes},
    {ASKS, ask_link_routes},
    {CLAIMS, claim_routes},
    {MEMBERS, people_routes},
    {FILES, file_routes},
    {FILES, workspace_routes},
    {RUNTIME, runtime_routes},
    {RUNTIME, runner_routes},
    {RUNTIME, gateway_routes},
    {RUNTIME, tunnel_routes},
    {RUNTIME, proxy_routes},
    {AGENTS, agent_routes},
    {AGENTS, model_routes},
    {AGENTS, memory_routes},
    {AGENTS, persona_routes},
    {WORK, task_routes},
    {WORK, entity_routes},
    {WORK, run_routes},
    {PAGES, dashboard_routes},
    {NULL, NULL},
};
