#include "domain/agent.h"

static const char *const driver_names[DRIVER_COUNT] = {
    [DRIVER_WORKER] = "worker", [DRIVER_DEMO] = "demo",     [DRIVER_ACP] = "acp",
    [DRIVER_MODEL] = "model",   [DRIVER_RUNNER] = "runner",
};
const struct words agent_driver_words = {driver_names, DRIVER_COUNT};

static const char *const permission_names[PERMISSION_COUNT] = {
    [PERMISSION_ALLOW] = "allow",
    [PERMISSION_ASK] = "ask",
    [PERMISSION_DENY] = "deny",
};
const struct words permission_words = {permission_names, PERMISSION_COUNT};

static const char *const on_exceed_names[EXCEED_COUNT] = {
    [EXCEED_FAIL] = "fail",
    [EXCEED_PAUSE] = "pause",
    [EXCEED_WARN] = "warn",
};
const struct words on_exceed_words = {on_exceed_names, EXCEED_COUNT};

static const char *const fs_scope_names[FS_SCOPE_COUNT] = {
    [SCOPE_SANDBOXED] = "sandboxed",
    [SCOPE_PROJECT] = "project",
    [SCOPE_FULL] = "full",
};
const struct words fs_scope_words = {fs_scope_names, FS_SCOPE_COUNT};

static const char *const resume_names[RESUME_COUNT] = {
    [RESUME_ASK] = "ask",
    [RESUME_RETRY] = "retry",
    [RESUME_FAIL] = "fail",
};
const struct words resume_policy_words = {resume_names, RESUME_COUNT};

static const char *const sandbox_names[SANDBOX_KIND_COUNT] = {
    [SANDBOX_NONE] = "none",
    [SANDBOX_LOCAL] = "local",
    [SANDBOX_HTTP] = "http",
};
const struct words sandbox_kind_words = {sandbox_names, SANDBOX_KIND_COUNT};

struct model_price agent_price(const struct agent *agent, struct slice model)
{
    for (size_t i = 0; i < agent->price_count; i++) {
        if (slice_eq(agent->prices[i].model, model)) {
            return agent->prices[i];
        }
    }
    return (struct model_price){model, agent->input_microcents_per_mtok, agent->output_microcents_per_mtok};
}

bool agent_has_tool(const struct agent *agent, struct slice tool)
{
    for (size_t i = 0; i < agent->tool_count; i++) {
        if (slice_eq(agent->tools[i], tool)) {
            return true;
        }
    }
    return false;
}

bool agent_has_sandbox(const struct agent *agent)
{
    static const bool elsewhere[DRIVER_COUNT] = {[DRIVER_WORKER] = true, [DRIVER_RUNNER] = true};
    return agent->sandbox.kind != SANDBOX_NONE && !elsewhere[agent->driver];
}

bool agent_is_hosted(enum agent_driver driver)
{
    static const bool hosted[DRIVER_COUNT] = {
        [DRIVER_DEMO] = true,
        [DRIVER_ACP] = true,
        [DRIVER_MODEL] = true,
        [DRIVER_RUNNER] = true,
    };
    return driver >= 0 && driver < DRIVER_COUNT && hosted[driver];
}

const char *agent_reaches_host(const struct agent *agent)
{
    const struct {
        bool reaches;
        const char *key;
    } ways[] = {
        {agent->command_length > 0, "command"},
        {agent->pass_environment_count > 0, "pass_environment"},
        {agent->fs_scope != SCOPE_SANDBOXED, "fs_scope"},
        {slice_present(agent->sandbox.url), "sandbox.url"},
        {slice_present(agent->sandbox.repository), "sandbox.repository"},
        {agent->sandbox.network && agent->sandbox.kind == SANDBOX_LOCAL, "sandbox.network"}, /* the machine's own */
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways[i].reaches) {
            return ways[i].key;
        }
    }
    return NULL;
}
