/* One live agent: its process, what it said and what it was asked. The acp driver's own; on the loop of its turns.
 *
 *     INITIALIZING ─→ LOADING ──→ READY ─→ PROMPTING ─→ READY …
 *          │             │ refused  ▲          │ interrupt
 *          └──────────→ OPENING ────┘      CANCELLING ─→ READY
 *
 * Between turns it waits in READY, for as long as the agent's definition has it idle. A turn in another thread begins
 * with LOADING or OPENING, unless the agent has a session open for it.
 *
 * At most one request of ours is open, and the stage says which. Any wrong word, a missed deadline or the end of the
 * process ends the agent, and with an error the turn that runs on it. */
#ifndef RUNNER_ACP_AGENT_H
#define RUNNER_ACP_AGENT_H

#include "base/buffer.h"
#include "loop/timer.h"
#include "runner/acp/acp.h"
#include "runner/acp/acp_session.h"
#include "runner/sandbox/sandbox.h"
#include "wire/json_rpc.h"

enum acp_stage { ACP_INITIALIZING, ACP_LOADING, ACP_OPENING, ACP_READY, ACP_PROMPTING, ACP_CANCELLING };

struct acp_turn;
struct acp_file;
struct acp_look;

struct acp_agent {
    struct acp *acp;
    const struct acp_options *options;
    char key[48]; /* in the registry */
    struct loop *loop;
    struct sandbox *sandbox; /* it was started in; borrowed */
    struct process *process; /* NULL once it ended */
    struct acp_turn *turn;   /* the one that runs, or NULL */
    enum acp_stage stage;
    struct rpc_lines lines;
    struct arena arena;      /* of one message */
    int64_t last_id;         /* of our last request */
    struct buffer directory; /* as the agent sees it */
    bool can_load, can_image;
    bool is_reading, is_over;
    int64_t idle_ms; /* without a turn, after which it goes; 0 = never */
    bool has_deadline;
    struct loop_timer *deadline, *pause;
    struct buffer complaint;       /* the last line on standard error */
    struct buffer complaint_begun; /* and the one after it */
    struct buffer mode, commands;  /* JSON, as it told last */
    struct acp_file *files;        /* being read or written */
    struct acp_look *looks;        /* calls whose paths are being looked up */
    struct acp_session *sessions;  /* one for each thread, the last used first */
    struct acp_session *session;   /* that of the turn; of `sessions`, NULL before the first */
};

/* The way from the sandbox to the tools of the server. */
struct acp_access {
    struct slice url, token; /* absent = there is none */
};

/* Starts the process and opens a session in it for `turn`, whose brief says how. NULL with a failure when the process
 * can't be started. */
struct acp_agent *acp_agent_start(struct acp *acp, const struct acp_options *options, struct acp_turn *turn,
                                  const struct acp_access *access, struct failure *failure);
/* The session of the turn's thread, opened when it is not, then the prompt. */
void acp_agent_enter(struct acp_agent *agent);
/* Kills the process and forgets the agent; its turn must be detached. */
void acp_agent_end(struct acp_agent *agent);

/* Sends a request of ours and goes to the stage in which its answer is awaited. */
void acp_agent_call(struct acp_agent *agent, enum acp_stage stage, const char *method, struct slice params);
void acp_agent_notify(struct acp_agent *agent, const char *method, struct slice params);
/* Answers to requests of the agent. */
void acp_agent_reply(struct acp_agent *agent, struct slice id, struct slice result);
void acp_agent_refuse(struct acp_agent *agent, struct slice id, enum rpc_code code, struct slice message);
/* The time until the agent is given up, from now; 0 = none. */
void acp_agent_set_deadline(struct acp_agent *agent, int64_t after_ms);
/* The silence guard begins anew, or stops while people are asked. */
void acp_agent_guard_silence(struct acp_agent *agent);

/* --- launching (acp_launch.c) --- */

/* Where the agent works, as it sees it; INVALID when there is no place. */
MUST_CHECK enum status acp_launch_directory(const struct acp_options *options, const struct turn_input *brief,
                                            struct buffer *out, struct failure *failure);
MUST_CHECK enum status acp_launch(const struct acp_options *options, const struct turn_input *brief,
                                  const struct acp_access *access, const char *directory,
                                  const struct process_handler *handler, struct process **out, struct failure *failure);

/* --- the registry (acp.c) --- */

void acp_forget(struct acp *acp, struct acp_agent *agent);

#endif
