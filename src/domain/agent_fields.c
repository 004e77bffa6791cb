#include "domain/agent_fields.h"

#include <assert.h>

static_assert(sizeof(enum agent_driver) == sizeof(int), "enums are read and written as int");

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
#define GIB (INT64_C(1) << 30)
#define DAY (INT64_C(24) * HOUR)
#define MICROCENTS_MAX INT64_C(1000000000000000)

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static const char *slug_problem(struct slice text)
{
    bool ok = text.len > 0 && text.ptr[0] != '-' && text.ptr[text.len - 1] != '-';
    for (size_t i = 0; ok && i < text.len; i++) {
        ok = is_lower_or_digit(text.ptr[i]) || (text.ptr[i] == '-' && text.ptr[i - 1] != '-');
    }
    return ok ? NULL : "written in kebab-case: a-z and 0-9 with single \"-\" between them";
}

static const char *host_problem(struct slice text)
{
    bool ok = true;
    for (size_t i = 0; ok && i < text.len; i++) {
        ok = is_lower_or_digit(text.ptr[i]) || text.ptr[i] == '-' || text.ptr[i] == '.';
    }
    return ok ? NULL : "the exact name of a host in lower case, without scheme, port, path or \"*\"";
}

static const char *name_problem(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7F) {
            return "a name without white space";
        }
    }
    return NULL;
}

static const char *variable_problem(struct slice text)
{
    return memchr(text.ptr, '=', text.len) ? "the name of a variable, without \"=\"" : name_problem(text);
}

static const char *url_problem(struct slice text)
{
    bool ok = slice_starts(text, SLICE("http://")) || slice_starts(text, SLICE("https://"));
    return ok ? NULL : "a URL that begins with http:// or https://";
}

/* Or git would take it for an option. */
static const char *operand_problem(struct slice text)
{
    return text.ptr[0] == '-' ? "a path, URL or name that does not begin with \"-\"" : name_problem(text);
}

static const char *const provider_names[] = {"anthropic", "openai"};
static const struct enum_names provider_enum = {provider_names, 2};

static const char *provider_problem(struct slice text)
{
    return enum_names_find(provider_enum, text) >= 0 ? NULL : "anthropic or openai";
}

static const char *const effort_names[] = {"off", "low", "medium", "high", "max"};
static const struct enum_names effort_enum = {effort_names, 5};

static const char *effort_problem(struct slice text)
{
    return enum_names_find(effort_enum, text) >= 0 ? NULL : "off, low, medium, high or max";
}

/* clang-format off */
#define OF(member) .offset = offsetof(struct agent, member)
#define LIST_OF(member, number) OF(member), .count_offset = offsetof(struct agent, number)

const struct agent_field permission_rule_fields[] = {
    {"tool", AGENT_TEXT, .offset = offsetof(struct permission_rule, tool), .min = 1, .max = 200, .problem = name_problem},
    {"argument", AGENT_TEXT, .offset = offsetof(struct permission_rule, argument), .min = 1, .max = 2000},
    {"command", AGENT_TEXT, .offset = offsetof(struct permission_rule, command), .min = 1, .max = 2000},
    {"path", AGENT_TEXT, .offset = offsetof(struct permission_rule, path), .min = 1, .max = 2000},
    {"host", AGENT_TEXT, .offset = offsetof(struct permission_rule, host), .min = 1, .max = 253},
    {"then", AGENT_WORD, .offset = offsetof(struct permission_rule, then), .required = true, .words = &permission_enum},
    {0},
};

static const struct agent_field model_choice_fields[] = {
    {"provider", AGENT_TEXT, .offset = offsetof(struct model_choice, provider), .required = true, .min = 1, .max = 64,
     .problem = provider_problem},
    {"model", AGENT_TEXT, .offset = offsetof(struct model_choice, model), .required = true, .min = 1, .max = 200,
     .problem = name_problem},
    {0},
};

static const struct agent_field price_fields[] = {
    {"model", AGENT_TEXT, .offset = offsetof(struct model_price, model), .required = true, .min = 1, .max = 200,
     .problem = name_problem},
    {"input_microcents_per_mtok", AGENT_NUMBER, .offset = offsetof(struct model_price, input_microcents_per_mtok),
     .max = MICROCENTS_MAX},
    {"output_microcents_per_mtok", AGENT_NUMBER, .offset = offsetof(struct model_price, output_microcents_per_mtok),
     .max = MICROCENTS_MAX},
    {"cache_read_microcents_per_mtok", AGENT_NUMBER,
     .offset = offsetof(struct model_price, cache_read_microcents_per_mtok), .max = MICROCENTS_MAX},
    {"cache_write_microcents_per_mtok", AGENT_NUMBER,
     .offset = offsetof(struct model_price, cache_write_microcents_per_mtok), .max = MICROCENTS_MAX},
    {0},
};

static const struct agent_field cap_fields[] = {
    {"turns_max", AGENT_NUMBER, OF(turns_max), .max = 1000000},
    {"tool_rounds_max", AGENT_NUMBER, OF(tool_rounds_max), .max = 10000},
    {"cost_microcents_max", AGENT_NUMBER, OF(cost_microcents_max), .max = MICROCENTS_MAX},
    {"on_exceed", AGENT_WORD, OF(on_exceed), .words = &on_exceed_enum},
    {0},
};

static const struct agent_field sandbox_fields[] = {
    {"kind", AGENT_WORD, OF(sandbox.kind), .words = &sandbox_kind_enum},
    {"url", AGENT_TEXT, OF(sandbox.url), .min = 8, .max = 2000, .problem = url_problem},
    {"network", AGENT_SWITCH, OF(sandbox.network)},
    {"memory_bytes_max", AGENT_NUMBER, OF(sandbox.memory_bytes_max), .min = 1 << 20, .max = 1024 * GIB, .unit = UNIT_BYTES},
    {"processes_max", AGENT_NUMBER, OF(sandbox.processes_max), .min = 1, .max = 100000},
    {"disk_bytes_max", AGENT_NUMBER, OF(sandbox.disk_bytes_max), .min = 1 << 20, .max = 1024 * GIB, .unit = UNIT_BYTES},
    {"command_ms_max", AGENT_NUMBER, OF(sandbox.command_ms_max), .min = 1, .max = DAY, .unit = UNIT_MS},
    {"repository", AGENT_TEXT, OF(sandbox.repository), .min = 1, .max = 2000, .problem = operand_problem},
    {"branch", AGENT_TEXT, OF(sandbox.branch), .min = 1, .max = 250, .problem = operand_problem},
    {0},
};

static const struct agent_field introspection_fields[] = {
    {"enabled", AGENT_SWITCH, OF(introspection.enabled)},
    {"turn_interval", AGENT_NUMBER, OF(introspection.turn_interval), .min = 1, .max = 1000000},
    {"passive_turn_interval", AGENT_NUMBER, OF(introspection.passive_turn_interval), .min = 1, .max = 1000000},
    {"idle_timeout_ms", AGENT_NUMBER, OF(introspection.idle_timeout_ms), .min = 1, .max = 365 * DAY, .unit = UNIT_MS},
    {"tool_calls_max", AGENT_NUMBER, OF(introspection.tool_calls_max), .min = 1, .max = 1000},
    {"model", AGENT_TEXT, OF(introspection.model), .min = 1, .max = 200, .problem = name_problem},
    {0},
};

static const struct agent_field narrow_sandbox_fields[] = {
    {"network", AGENT_SWITCH, OF(sandbox.network)},
    {0},
};

/* Flat where an agent has groups: a session says only what it takes away. */
const struct agent_field narrow_fields[] = {
    {"tools", AGENT_TEXTS, LIST_OF(tools, tool_count), .min = 1, .max = 200, .problem = name_problem},
    {"permissions", AGENT_ITEMS, LIST_OF(permissions, permission_count), .members = permission_rule_fields,
     .item_size = sizeof(struct permission_rule)},
    {"commands", AGENT_TEXTS, LIST_OF(commands, command_count), .min = 1, .max = 2000},
    {"hosts", AGENT_TEXTS, LIST_OF(hosts, host_count), .min = 1, .max = 253, .problem = host_problem},
    {"fs_scope", AGENT_WORD, OF(fs_scope), .words = &fs_scope_enum},
    {"turns_max", AGENT_NUMBER, OF(turns_max), .min = 1, .max = 1000000},
    {"tool_rounds_max", AGENT_NUMBER, OF(tool_rounds_max), .min = 1, .max = 10000},
    {"cost_microcents_max", AGENT_NUMBER, OF(cost_microcents_max), .min = 1, .max = MICROCENTS_MAX},
    {"ask_expiry_ms", AGENT_NUMBER, OF(ask_expiry_ms), .min = SECOND, .max = 365 * DAY, .unit = UNIT_MS},
    {"sandbox", AGENT_GROUP, .members = narrow_sandbox_fields},
    {0},
};

/* In the order in which a definition is shown. */
const struct agent_field agent_fields[] = {
    {"id", AGENT_TEXT, OF(id), .required = true, .min = 1, .max = 64, .problem = slug_problem},
    {"version", AGENT_GIVEN, OF(version)},
    {"name", AGENT_TEXT, OF(name), .min = 1, .max = 200},
    {"description", AGENT_TEXT, OF(description), .max = 4000},
    {"driver", AGENT_WORD, OF(driver), .words = &agent_driver_enum},
    {"provider", AGENT_TEXT, OF(model.provider), .min = 1, .max = 64, .problem = provider_problem},
    {"model", AGENT_TEXT, OF(model.model), .min = 1, .max = 200, .problem = name_problem},
    {"fallback_chain", AGENT_ITEMS, LIST_OF(fallbacks, fallback_count), .members = model_choice_fields,
     .item_size = sizeof(struct model_choice)},
    {"system_prompt", AGENT_TEXT, OF(system_prompt), .min = 1, .max = 500000},
    {"reasoning_effort", AGENT_TEXT, OF(reasoning_effort), .min = 1, .max = 64, .problem = effort_problem},
    {"tools", AGENT_TEXTS, LIST_OF(tools, tool_count), .min = 1, .max = 200, .problem = name_problem},
    {"permissions", AGENT_ITEMS, LIST_OF(permissions, permission_count), .members = permission_rule_fields,
     .item_size = sizeof(struct permission_rule)},
    {"commands", AGENT_TEXTS, LIST_OF(commands, command_count), .min = 1, .max = 2000},
    {"hosts", AGENT_TEXTS, LIST_OF(hosts, host_count), .min = 1, .max = 253, .problem = host_problem},
    {"fs_scope", AGENT_WORD, OF(fs_scope), .words = &fs_scope_enum},
    {"caps", AGENT_GROUP, .members = cap_fields},
    {"messages_max", AGENT_NUMBER, OF(messages_max), .min = 1, .max = 1000000},
    {"compact_threshold", AGENT_FRACTION, OF(compact_threshold)},
    {"context_tokens", AGENT_NUMBER, OF(context_tokens), .max = 1000000000},
    {"input_microcents_per_mtok", AGENT_NUMBER, OF(input_microcents_per_mtok), .max = MICROCENTS_MAX},
    {"output_microcents_per_mtok", AGENT_NUMBER, OF(output_microcents_per_mtok), .max = MICROCENTS_MAX},
    {"cache_read_microcents_per_mtok", AGENT_NUMBER, OF(cache_read_microcents_per_mtok), .max = MICROCENTS_MAX},
    {"cache_write_microcents_per_mtok", AGENT_NUMBER, OF(cache_write_microcents_per_mtok), .max = MICROCENTS_MAX},
    {"prices", AGENT_ITEMS, LIST_OF(prices, price_count), .members = price_fields,
     .item_size = sizeof(struct model_price)},
    {"sandbox", AGENT_GROUP, .members = sandbox_fields},
    {"command", AGENT_TEXTS, LIST_OF(command, command_length), .max = 4000},
    {"environment", AGENT_PAIRS, LIST_OF(environment, environment_count), .max = 4000, .problem = variable_problem},
    {"pass_environment", AGENT_TEXTS, LIST_OF(pass_environment, pass_environment_count), .min = 1, .max = 200,
     .problem = variable_problem},
    {"gateway_tools", AGENT_TEXTS, LIST_OF(gateway_tools, gateway_tool_count), .min = 1, .max = 200,
     .problem = name_problem},
    {"idle_timeout_ms", AGENT_NUMBER, OF(idle_timeout_ms), .min = SECOND, .max = 365 * DAY, .unit = UNIT_MS},
    {"ask_expiry_ms", AGENT_NUMBER, OF(ask_expiry_ms), .max = 365 * DAY, .unit = UNIT_MS},
    {"queue_mode", AGENT_WORD, OF(queue_mode), .words = &queue_mode_enum},
    {"resume", AGENT_WORD, OF(resume), .words = &resume_policy_enum},
    {"introspection", AGENT_GROUP, .members = introspection_fields},
    {0},
};
/* clang-format on */

const struct agent_field *agent_field_find(const struct agent_field *fields, struct slice name)
{
    for (const struct agent_field *field = fields; field->name; field++) {
        if (slice_is(name, field->name)) {
            return field;
        }
    }
    return NULL;
}

void agent_set_defaults(struct agent *agent)
{
    *agent = (struct agent){
        .driver = DRIVER_MODEL,
        .fs_scope = FS_SCOPE_SANDBOXED,
        .turns_max = AGENT_TURNS_MAX,
        .tool_rounds_max = AGENT_TOOL_ROUNDS_MAX,
        .on_exceed = EXCEED_FAIL,
        .messages_max = 200,
        .compact_threshold = 0.8,
        .sandbox =
            {
                .kind = SANDBOX_LOCAL,
                .memory_bytes_max = GIB,
                .processes_max = 256,
                .disk_bytes_max = 4 * GIB,
                .command_ms_max = 2 * MINUTE,
            },
        .idle_timeout_ms = 15 * MINUTE,
        .queue_mode = -1,
        .resume = RESUME_ASK,
        .introspection =
            {
                .enabled = true,
                .turn_interval = 5,
                .passive_turn_interval = 20,
                .idle_timeout_ms = 10 * MINUTE,
                .tool_calls_max = 10,
            },
    };
}

void agent_set_undefined(struct agent *agent, struct slice id)
{
    agent_set_defaults(agent);
    agent->driver = DRIVER_WORKER;
    agent->id = id;
}
