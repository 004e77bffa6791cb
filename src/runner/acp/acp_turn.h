/* One turn of an acp agent: what it says becomes deltas, events and asks. The acp driver's own; on the loop of the
 * turn.
 */
#ifndef RUNNER_ACP_TURN_H
#define RUNNER_ACP_TURN_H

#include "domain/call_subject.h"
#include "runner/acp/acp_agent.h"

enum {
    ACP_MESSAGE_BYTES_MAX = 256 * 1024, /* of one event of text; more goes on in the next */
    ACP_DELTA_BYTES_MAX = 32 * 1024,
    ACP_OUTPUT_BYTES_MAX = 50 * 1024, /* of a tool result, and of either side of a diff */
    ACP_INPUT_BYTES_MAX = 64 * 1024,  /* of a tool call */
    ACP_SMALL_BYTES_MAX = 16 * 1024,  /* of locations, commands, names */
    ACP_CALLS_MAX = 10000,            /* in one turn */
    ACP_ASKS_MAX = 64,                /* open at a time */
    ACP_ASK_CHANGES_MAX = 16,         /* of a call while it is asked about */
};

/* Error code of the protocol, and what a person can do about it. */
enum { ACP_AUTH_REQUIRED = -32000 };
#define ACP_AUTH_ADVICE                                                                                                \
    " (Give the agent its key: a name in its `pass_environment`, set in the server's environment or stored with: "     \
    "sojourn secrets set NAME)"

/* A tool call the agent told of. */
struct acp_call {
    struct acp_call *next;
    struct buffer id, name, title, kind, input, locations;
    struct buffer tool;     /* its programmatic name, which no model writes; empty = the agent tells none */
    struct buffer output;   /* text so far */
    struct buffer diffs;    /* JSON objects with commas */
    struct buffer evidence; /* hash of its content as the agent sent it last, in hexadecimal */
    struct buffer renamed;  /* another programmatic name, later; then it has none that allows */
    bool runs_command;      /* it was called so once */
    bool is_cut;            /* its input was too long to be kept */
    bool is_told;           /* agent.tool_call was written */
    bool is_done;           /* agent.tool_result was written */
};

/* A request of the agent that waits for a person. */
struct acp_ask {
    struct acp_ask *next;
    enum ask_kind kind;
    struct buffer id;         /* of the ask */
    struct buffer request;    /* of the agent's request, JSON */
    struct buffer arguments;  /* approval: as staged */
    struct buffer options[4]; /* approval: the agent's id of each kind of option, JSON; empty = not offered */
    struct buffer offered;    /* approval: the options, JSON */
    struct buffer call_id;    /* approval */
    struct buffer subject;    /* approval: what the call was when it was asked about */
    size_t changes;           /* approval: how often that changed */
};

/* A run of text or reasoning that is not yet an event. */
struct acp_said {
    enum delta_kind kind;
    struct buffer id;
    struct buffer text;
    struct buffer parts; /* what is no text: JSON objects with commas */
};

struct acp_gateway;

struct acp_turn {
    struct acp *acp;
    struct turn *turn; /* NULL once it ended */
    const struct turn_input *brief;
    struct acp_agent *agent;     /* NULL before and after it has one */
    struct acp_gateway *gateway; /* being prepared, before there is an agent; or NULL */
    struct acp_said said;
    struct acp_call *calls; /* newest first */
    size_t call_count;
    struct acp_ask *asks;
    size_t ask_count, asks_ever, messages_ever;
    int64_t cost_microcents_before; /* of the agent's session */
    struct buffer context;          /* usage_update: the context window, JSON members */
    bool is_interrupted;
    bool is_cut;   /* what it says now was broken off */
    bool has_news; /* something to keep changed */
};

/* The agent's session is open: its prompt goes out. */
void acp_turn_prompt(struct acp_turn *turn);
/* The prompt was answered. */
void acp_turn_answered(struct acp_turn *turn, const struct rpc_message *message);
/* Everything still open is closed and the turn ends; `agent` may live on. */
void acp_turn_end(struct acp_turn *turn, enum turn_stop_reason stop, enum turn_error error, struct slice message,
                  const struct json *usage);
/* Its process was killed: what was said stays said, what was asked stays asked, and the turn goes back to its host. */
void acp_turn_return(struct acp_turn *turn, struct slice why);
void acp_turn_keep(struct acp_turn *turn);
/* {"type":…} parts of an event of the agent; absent metadata. */
void acp_turn_say(struct acp_turn *turn, enum event_kind kind, struct slice content);

/* --- acp_update.c --- */

/* session/update while the turn runs. */
void acp_update(struct acp_turn *turn, const struct json *update);
/* What the agent tells of itself, at any time: mode, commands, usage. True when it was that. */
bool acp_update_agent(struct acp_agent *agent, const struct json *update);
/* What was said so far becomes an event. */
void acp_said_flush(struct acp_turn *turn);
void acp_said_release(struct acp_said *said);

/* --- acp_call.c --- */

/* tool_call and tool_call_update. NULL when it names none, or too many. */
struct acp_call *acp_call_take(struct acp_turn *turn, const struct json *update);
/* The call a permission is asked for: known as it is asked, also when a call of this id is done. */
struct acp_call *acp_call_take_asked(struct acp_turn *turn, const struct json *update);
/* NULL when there is none. */
struct acp_call *acp_call_find(struct acp_turn *turn, struct slice id);
/* The input was seen whole, and holds something. */
bool acp_call_is_seen(const struct acp_call *call);
/* Writes agent.tool_call unless that was done. */
void acp_call_tell(struct acp_turn *turn, struct acp_call *call);
/* Writes what is open and was not written. */
void acp_calls_tell(struct acp_turn *turn);
/* What is open gets a result that says so; then all are forgotten. */
void acp_calls_end(struct acp_turn *turn);

/* --- acp_facts.c --- */

/* What the rules and people are asked about: locations and diffs are paths of the call. In the agent's arena. */
void acp_call_facts(struct acp_turn *turn, const struct acp_call *call, struct call_facts *out);
/* Two calls with the same text are the same for rules and people. In the agent's arena. */
struct slice acp_call_subject(struct acp_turn *turn, const struct acp_call *call);
/* What is shown beside the arguments, compared and remembered: title, kind, locations, diffs, text, options. In the
 * agent's arena. */
struct slice acp_call_details(struct acp_turn *turn, const struct acp_call *call, const struct json *options);

/* --- acp_look.c --- */

/* A call that a permission is asked for. Slices are borrowed. */
struct acp_asked {
    struct acp_ask *ask; /* owned */
    struct call_facts facts;
    struct slice call_id, name, text, details;
};
/* Looks up where its paths lead, beside the loop, then acp_ask_decide. Takes the ask. */
void acp_look_start(struct acp_turn *turn, const struct acp_asked *asked);
void acp_look_withdraw(struct acp_agent *agent, struct slice request);
/* The agent is over. */
void acp_looks_end(struct acp_agent *agent);

/* --- acp_ask.c --- */

/* The rules decide, or people; `turn` NULL: the agent is told that nobody will. Takes the ask. */
void acp_ask_decide(struct acp_agent *agent, struct acp_turn *turn, const struct acp_asked *asked);
void acp_ask_drop(struct acp_ask *ask);
void acp_ask_permission(struct acp_turn *turn, const struct rpc_message *message);
/* The agent told more of a call. Where that makes it another one than is asked about, it is asked about anew. */
void acp_ask_follow(struct acp_turn *turn, const struct acp_call *call);
void acp_ask_form(struct acp_turn *turn, const struct rpc_message *message);
void acp_ask_answered(struct acp_turn *turn, const struct ask *answer);
/* The agent withdraws a request. */
void acp_ask_withdrawn(struct acp_turn *turn, struct slice request);
/* Nobody will answer any more: the agent is told so, and the people. */
void acp_asks_end(struct acp_turn *turn);

/* --- acp_file.c --- */

/* Can files of this place be served? */
bool acp_file_is_served(const struct turn_input *brief);
void acp_file_read(struct acp_turn *turn, const struct rpc_message *message);
void acp_file_write(struct acp_turn *turn, const struct rpc_message *message);
/* The agent is over: nobody waits for its files any more. */
void acp_files_end(struct acp_agent *agent);

/* --- acp_gateway.c --- */

/* Does the agent's definition name gateway tools? */
bool acp_gateway_is_wanted(const struct turn_input *brief);
/* Gets a token and writes the tools into the tree, then calls `then`; or ends the turn. `url` is the server's, as the
 * sandbox reaches it (NULL = it does not). */
void acp_gateway_start(struct acp_turn *turn, const char *url,
                       void (*then)(struct acp_turn *turn, const struct acp_access *access));
/* The turn does not wait any more. */
void acp_gateway_leave(struct acp_turn *turn);

/* --- acp_prompt.c --- */

/* The JSON array of content blocks for session/prompt. */
void acp_prompt_write(struct buffer *to, const struct acp_turn *turn);

#endif
