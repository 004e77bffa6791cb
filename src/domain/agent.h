/* An agent: what runs the turns of a session, and what it may do. Written by people as `NAME.agent.yaml` or sent to
 * /api/agents; every version is kept, and a session refers to the one it was started with. */
#ifndef DOMAIN_AGENT_H
#define DOMAIN_AGENT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/enum_names.h"
#include "domain/session.h"

enum agent_driver { DRIVER_WORKER, DRIVER_DEMO, DRIVER_ACP, DRIVER_MODEL, DRIVER_RUNNER, DRIVER_COUNT };
enum permission { PERMISSION_ALLOW, PERMISSION_ASK, PERMISSION_DENY, PERMISSION_COUNT }; /* the later, the stricter */
enum on_exceed { EXCEED_FAIL, EXCEED_PAUSE, EXCEED_WARN, EXCEED_COUNT };
enum fs_scope { FS_SCOPE_SANDBOXED, FS_SCOPE_PROJECT, FS_SCOPE_FULL, FS_SCOPE_COUNT }; /* the later, the wider */
enum resume_policy { RESUME_ASK, RESUME_RETRY, RESUME_FAIL, RESUME_COUNT };
enum sandbox_kind { SANDBOX_NONE, SANDBOX_LOCAL, SANDBOX_HTTP, SANDBOX_KIND_COUNT };

extern const struct enum_names agent_driver_enum, permission_enum, on_exceed_enum, fs_scope_enum, resume_policy_enum,
    sandbox_kind_enum;

/* Matches a call when all that is given matches; `*` stands for any text. Absent = anything. A rule that tightens (ask,
 * deny) matches what the call may be about; one that allows, only what the server saw that it is about (decision 63).
 */
struct permission_rule {
    struct slice tool;
    struct slice
        argument; /* tightens: compact JSON, any string in it, any command. Allows: the JSON itself, or `command` */
    struct slice command; /* "git push *": one command of the line, or the line itself */
    struct slice path;    /* absolute, as the agent or as this machine calls it; or relative to the tree */
    struct slice host;    /* in lower case, without a port */
    enum permission then;
};
struct call_facts;

struct model_choice {
    struct slice provider; /* anthropic, openai */
    struct slice model;
};

/* Of a million tokens each. Input that the vendor read from its cache, or wrote into it, has a price of its own: 0 =
 * the vendor's usual part of the price of input. */
struct model_price {
    struct slice model;
    int64_t input_microcents_per_mtok, output_microcents_per_mtok;
    int64_t cache_read_microcents_per_mtok, cache_write_microcents_per_mtok;
};

struct sandbox_settings {
    enum sandbox_kind kind;
    struct slice url; /* http: the backend */
    bool network;
    int64_t memory_bytes_max, processes_max, disk_bytes_max;
    int64_t command_ms_max;          /* one command */
    struct slice repository, branch; /* cloned at the start; absent = an empty tree */
};

/* How the agent looks back at its chats: a turn of its own, with tools for its memory only (domain/introspection.h). */
struct introspection_settings {
    bool enabled;
    int64_t turn_interval;         /* after so many turns at once; 5 */
    int64_t passive_turn_interval; /* after this many unanswered messages of a group; 20 */
    int64_t idle_timeout_ms;       /* after so long a silence; 10 min */
    int64_t tool_calls_max;        /* of one look back; 10 */
    struct slice model;            /* of the agent's provider; absent = the agent's */
};

struct name_value {
    struct slice name, value;
};

/* Strings live in the arena given to agent_read. */
struct agent {
    struct slice id; /* kebab-case slug */
    int64_t version; /* from 1; 0 = not defined: a worker's */
    struct slice name, description;
    enum agent_driver driver;
    struct model_choice model;
    const struct model_choice *fallbacks; /* tried in order when the model fails */
    size_t fallback_count;
    struct slice system_prompt;
    struct slice reasoning_effort; /* off low medium high max; absent = the provider's own */
    const struct slice *tools;     /* names from the registry (runner/tool/tool.h) */
    size_t tool_count;
    const struct permission_rule *permissions;
    size_t permission_count;
    size_t narrower_count;        /* so many of them, at the end, are the session's: they only tighten */
    const struct slice *commands; /* run_command: exact command lines, or globs */
    size_t command_count;
    const struct slice *hosts; /* http_request: exact names */
    size_t host_count;
    enum fs_scope fs_scope;
    int64_t turns_max;           /* per session; 50 */
    int64_t tool_rounds_max;     /* per turn; 16 */
    int64_t cost_microcents_max; /* 0 = none */
    enum on_exceed on_exceed;
    int64_t messages_max;                                          /* kept in the context; 200 */
    double compact_threshold;                                      /* of the context window; 0.8 */
    int64_t context_tokens;                                        /* the model's window; 0 = unknown */
    int64_t input_microcents_per_mtok, output_microcents_per_mtok; /* price per million tokens; 0 = unpriced */
    int64_t cache_read_microcents_per_mtok, cache_write_microcents_per_mtok; /* 0 = the usual part of input's */
    const struct model_price *prices; /* of models that cost something else: of fallbacks, mostly */
    size_t price_count;
    struct sandbox_settings sandbox;
    const struct slice *command; /* acp: what to start, with arguments */
    size_t command_length;
    const struct name_value *environment; /* acp: given to the process; never a secret */
    size_t environment_count;
    const struct slice *pass_environment; /* acp: names taken from the server's own environment */
    size_t pass_environment_count;
    const struct slice
        *gateway_tools; /* acp: tools of the server, written into its tree (runner/tool/gateway_template.h) */
    size_t gateway_tool_count;
    int64_t idle_timeout_ms; /* 900 s */
    int64_t ask_expiry_ms;   /* of what it asks; 0 = as the server is configured */
    int queue_mode;          /* enum queue_mode; -1 = the session's */
    enum resume_policy resume;
    struct introspection_settings introspection;
};

/* Every member is checked, unknown ones are refused with the list of accepted ones. `where` (may be NULL) tells the
 * line of a value, for files. */
struct agent_source {
    const struct json *object;
    const char *file; /* NULL for the API */
    unsigned (*line_of)(const void *owner, const struct json *value);
    const void *owner;
};
MUST_CHECK enum status agent_read(struct arena *arena, const struct agent_source *source, struct agent *out,
                                  struct failure *failure);
/* What a session narrows: {"tools","permissions","commands","hosts","fs_scope","turns_max","tool_rounds_max",
 * "cost_microcents_max","sandbox":{"network"}}. Anything wider than the agent's is refused (`widens_agent`). */
MUST_CHECK enum status agent_narrow(struct arena *arena, const struct json *narrower, struct agent *agent,
                                    struct failure *failure);
/* Can each rule do what it says? For definitions that come in; what was kept stays readable. INVALID `invalid_agent`.
 */
MUST_CHECK enum status agent_check_rules(const struct agent *agent, struct failure *failure);
/* What the rules say of a call (domain/call_subject.h). The strictest rule that matches decides; without one,
 * `otherwise` of the tool. */
enum permission agent_permission(const struct agent *agent, const struct call_facts *facts, enum permission fallback);
/* An agent of its rules alone, in the arena: for what outlives the agent. */
const struct agent *agent_copy_rules(struct arena *arena, const struct agent *agent);
/* What a million tokens of this model cost: its own row, else what the agent says for all. No price is left open. */
struct model_price agent_price(const struct agent *agent, const struct model_choice *choice);
/* What so many tokens cost, in microcents times a million. `input` holds those read from a cache and written into it.
 */
int64_t model_price_of(const struct model_price *price, int64_t input, int64_t cache_read, int64_t cache_write,
                       int64_t output);
bool agent_has_tool(const struct agent *agent, struct slice tool);
/* Does the server itself run its turns (demo, acp, model)? */
bool agent_is_hosted(enum agent_driver driver);
/* Does the server make a sandbox for it? Whoever runs elsewhere, a runner or a worker, has his own. */
bool agent_has_sandbox(const struct agent *agent);
/* The first key by which it reaches the server's own machine or network (a program to start, variables of the server,
 * files outside the sandbox, another address), or NULL: not for everybody to define. */
const char *agent_reaches_host(const struct agent *agent);
/* An agent without a definition: a worker's, version 0, all defaults. `id` is borrowed. */
void agent_set_undefined(struct agent *agent, struct slice id);
/* {"id","version","name",…} as the API shows it. */
void agent_write(struct buffer *to, const struct agent *agent);

#endif
