#include <string.h>

#include "api/core/route.h"

#define HEALTH "Health and figures"
#define SIGNING_IN "Signing in"
#define PEOPLE "Users, tokens, tenants"
#define AGENTS "Agents, models, personas"
#define WORK "Tasks, entities, runs"
#define MEMBERS "People in a session"
#define CLAIMS "Claims"
#define STREAMS "Events and streams"
#define MESSAGES "Messages"
#define ASKS "Approvals, questions, forms"
#define FILES "Files and changes"
#define RUNTIME "Sandboxes, runners, tunnels"
#define SESSIONS "Sessions"
#define PAGES "Pages of the dashboard"

/* The first beginning of a path that fits. */
static const struct {
    const char *start, *tag;
} tags[] = {
    {"/healthz", HEALTH},
    {"/readyz", HEALTH},
    {"/metrics", HEALTH},
    {"/api/openapi.json", HEALTH},
    {"/api/auth/", SIGNING_IN},
    {"/api/me/memories", AGENTS},
    {"/api/me", SIGNING_IN},
    {"/api/tickets", SIGNING_IN},
    {"/api/users", PEOPLE},
    {"/api/tokens", PEOPLE},
    {"/api/tenants", PEOPLE},
    {"/api/agents", AGENTS},
    {"/api/models", AGENTS},
    {"/api/personas", AGENTS},
    {"/api/memories", AGENTS},
    {"/api/tasks", WORK},
    {"/api/entities", WORK},
    {"/api/runs", WORK},
    {"/api/claims", CLAIMS},
    {"/api/queue", CLAIMS},
    {"/api/stream", STREAMS},
    {"/api/asks", ASKS},
    {"/api/rules", ASKS},
    {"/asks/", ASKS},
    {"/api/sessions/join/", MEMBERS},
    {"/api/sessions/{id}/participants", MEMBERS},
    {"/api/sessions/{id}/share-link", MEMBERS},
    {"/api/sessions/{id}/lease", CLAIMS},
    {"/api/sessions/{id}/settle", CLAIMS},
    {"/api/sessions/{id}/release", CLAIMS},
    {"/api/sessions/{id}/events", STREAMS},
    {"/api/sessions/{id}/deltas", STREAMS},
    {"/api/sessions/{id}/ws", STREAMS},
    {"/api/sessions/{id}/audit-log", STREAMS},
    {"/api/sessions/{id}/messages", MESSAGES},
    {"/api/sessions/{id}/system-messages", MESSAGES},
    {"/api/sessions/{id}/queue", MESSAGES},
    {"/api/sessions/{id}/clear-queue", MESSAGES},
    {"/api/sessions/{id}/interrupt", MESSAGES},
    {"/api/sessions/{id}/resume", MESSAGES},
    {"/api/sessions/{id}/channels", MESSAGES},
    {"/api/sessions/{id}/asks", ASKS},
    {"/api/sessions/{id}/approve", ASKS},
    {"/api/sessions/{id}/elicitation-reply", ASKS},
    {"/api/sessions/{id}/files", FILES},
    {"/api/sessions/{id}/evidence", FILES},
    {"/api/sessions/{id}/git-state", FILES},
    {"/api/sessions/{id}/pause", RUNTIME},
    {"/api/sessions/{id}/unpause", RUNTIME},
    {"/api/sessions/{id}/hibernate", RUNTIME},
    {"/api/sessions/{id}/wake", RUNTIME},
    {"/api/sessions/{id}/runner-token", RUNTIME},
    {"/api/sessions/{id}/sandbox-token", RUNTIME},
    {"/api/sessions/{id}/tools", RUNTIME},
    {"/api/sessions/{id}/tunnels", RUNTIME},
    {"/api/sessions/{id}/proxy", RUNTIME},
    {"/api/sessions/{id}/runner", RUNTIME},
    {"/api/", SESSIONS},
    {"/", PAGES},
};

const char *route_tag(const struct route *route)
{
    size_t at = 0;
    while (strncmp(route->path, tags[at].start, strlen(tags[at].start)) != 0) {
        at++;
    }
    return tags[at].tag;
}
