#include "domain/agent.h"

static const char *const driver_names[DRIVER_COUNT] = {
    [DRIVER_WORKER] = "worker", [DRIVER_DEMO] = "demo",     [DRIVER_ACP] = "acp",
    [DRIVER_MODEL] = "model",   [DRIVER_RUNNER] = "runner",
};
const struct enum_names agent_driver_enum = {driver_names, DRIVER_COUNT};

static const char *const permission_names[PERMISSION_COUNT] = {
    [PERMISSION_ALLOW] = "allow",
    [PERMISSION_ASK] = "ask",
    [PERMISSION_DENY] = "deny",
};
const struct enum_names permission_enum = {permission_names, PERMISSION_COUNT};

static const char *const on_exceed_names[EXCEED_COUNT] = {
    [EXCEED_FAIL] = "fail",
    [EXCEED_PAUSE] = "pause",
    [EXCEED_WARN] = "warn",
};
const struct enum_names on_exceed_enum = {on_exceed_names, EXCEED_COUNT};

static const char *const fs_scope_names[FS_SCOPE_COUNT] = {
    [FS_SCOPE_SANDBOXED] = "sandboxed",
    [FS_SCOPE_PROJECT] = "project",
    [FS_SCOPE_FULL] = "full",
};
const struct enum_names fs_scope_enum = {fs_scope_names, FS_SCOPE_COUNT};

static const char *const resume_names[RESUME_COUNT] = {
    [RESUME_ASK] = "ask",
    [RESUME_RETRY] = "retry",
    [RESUME_FAIL] = "fail",
};
const struct enum_names resume_policy_enum = {resume_names, RESUME_COUNT};

static const char *const sandbox_names[SANDBOX_KIND_COUNT] = {
    [SANDBOX_NONE] = "none",
    [SANDBOX_LOCAL] = "local",
    [SANDBOX_HTTP] = "http",
};
const struct enum_names sandbox_kind_enum = {sandbox_names, SANDBOX_KIND_COUNT};

/* What vendors usually take for cached input, in hundredths of the price of input. Where models of one vendor differ,
 * the highest: a cap is rather reached too early. */
static const struct {
    const char *provider;
    int64_t read, write;
} cache_parts[] = {
    {"anthropic", 10, 125},
    {"openai", 50, 100},
};

static int64_t part_of(int64_t price, int64_t hundredths)
{
    return price / 100 * hundredths + (price % 100 * hundredths + 99) / 100;
}

static struct model_price row_of(const struct agent *agent, struct slice model)
{
    for (size_t i = 0; i < agent->price_count; i++) {
        if (slice_eq(agent->prices[i].model, model)) {
            return agent->prices[i];
        }
    }
    return (struct model_price){model, agent->input_microcents_per_mtok, agent->output_microcents_per_mtok,
                                agent->cache_read_microcents_per_mtok, agent->cache_write_microcents_per_mtok};
}

struct model_price agent_price(const struct agent *agent, const struct model_choice *choice)
{
    struct model_price price = row_of(agent, choice->model);
    int64_t read = 100, write = 100;
    for (size_t i = 0; i < sizeof cache_parts / sizeof cache_parts[0]; i++) {
        if (slice_is(choice->provider, cache_parts[i].provider)) {
            read = cache_parts[i].read;
            write = cache_parts[i].write;
        }
    }
    if (price.cache_read_microcents_per_mtok == 0) {
        price.cache_read_microcents_per_mtok = part_of(price.input_microcents_per_mtok, read);
    }
    if (price.cache_write_microcents_per_mtok == 0) {
        price.cache_write_microcents_per_mtok = part_of(price.input_microcents_per_mtok, write);
    }
    return price;
}

static int64_t between(int64_t low, int64_t value, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

int64_t model_price_of(const struct model_price *price, int64_t input, int64_t cache_read, int64_t cache_write,
                       int64_t output)
{
    int64_t read = between(0, cache_read, input), written = between(0, cache_write, input - read);
    return (input - read - written) * price->input_microcents_per_mtok + read * price->cache_read_microcents_per_mtok +
           written * price->cache_write_microcents_per_mtok + output * price->output_microcents_per_mtok;
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
        {agent->fs_scope != FS_SCOPE_SANDBOXED, "fs_scope"},
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
