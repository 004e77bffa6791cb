/* One turn of the model driver: shared by the files model*.c and by nobody else.
 *
 *     begin ─→ go ─(budget)→ (compact) ─→ attempt ─→ answer ─┬→ end
 *               ▲              │             │ ▲ back off    │
 *               │            ask             └─┴ fall back   │
 *               └───────────── tools, one after the other ←──┘
 */
#ifndef RUNNER_MODEL_TURN_H
#define RUNNER_MODEL_TURN_H

#include "loop/timer.h"
#include "runner/model/model.h"
#include "runner/tool/tool.h"

enum { MODEL_LOOPS_MAX = 64, CORRECTIONS_MAX = 3, FULL_PAUSE_MS = 20, TOOL_ROUNDS_DEFAULT = 16 };

struct model_driver {
    struct driver driver; /* first */
    struct model_options options;
    struct http_client *clients[MODEL_LOOPS_MAX]; /* by loop; each touched by its own loop's thread only */
};

enum model_stage {
    STAGE_BEGIN,      /* the timer is set */
    STAGE_TOOLS,      /* the timer is set: the next tool, or back to the model */
    STAGE_CALL,       /* a model answers */
    STAGE_BACK_OFF,   /* the timer is set: the next attempt */
    STAGE_COMPACT,    /* a model sums up */
    STAGE_TOOL,       /* a tool runs */
    STAGE_ASK_TOOL,   /* a person decides about a tool call */
    STAGE_ASK_BUDGET, /* a person decides about the cost */
    STAGE_ENDED,
};

/* What the model said in one call, block by block. */
struct answer_block {
    enum block_kind kind;
    int64_t index;      /* tool use: the vendor's number of it */
    struct buffer text; /* text, reasoning, or a tool's arguments */
    struct buffer signature;
    bool is_sealed;
    struct slice call_id, name; /* in the turn's arena */
};

struct model_answer {
    struct answer_block *blocks; /* heap */
    size_t count;
    bool has_stopped;
    enum model_stop stop;
    struct model_usage usage;
};

struct model_totals {
    int64_t calls;
    int64_t input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens;
    int64_t price; /* microcents times a million */
    bool is_estimated;
};

/* One call of a tool, as the model wants it. */
struct wanted_call {
    struct slice id, name;
    struct slice arguments;   /* a JSON object; replaced when a person edited it */
    const struct json *value; /* it, parsed; NULL = it is none */
    bool is_edited;           /* a person approved it with other arguments */
};

struct model_turn {
    struct model_driver *owner;
    struct turn *turn;
    const struct turn_input *brief;
    const struct agent *agent;
    struct arena arena; /* of the whole turn */
    struct model_context context;
    enum model_stage stage;
    struct loop_timer *timer, *pause_timer;
    /* the model */
    size_t choice; /* 0 = the agent's model, then its fallbacks */
    int64_t retries;
    int64_t rounds;          /* of tools, done */
    struct slice message_id; /* under which the deltas of the current answer go */
    struct provider_call *call;
    struct model_answer answer;
    struct buffer summary; /* while compacting */
    size_t fold_point;
    int64_t tokens_before;
    /* tools */
    struct wanted_call *wanted;
    size_t wanted_count, wanted_next;
    const struct tool *tool;
    struct slice files_dir; /* for large results; absent until it was needed */
    struct tool_run *run;   /* the tool that runs; NULL = none */
    int corrections;        /* wrong calls in a row */
    /* cost */
    struct model_totals totals;
    bool is_over_budget_allowed, is_over_budget_told;
    struct slice ask_id; /* of the ask that waits */
};

/* model.c: control flow */
void model_go(struct model_turn *turn);
void model_end(struct model_turn *turn, enum turn_stop_reason stop, enum turn_error error, struct slice message);
const struct model_choice *model_choice_of(const struct model_turn *turn);
struct http_client *model_client(struct model_turn *turn);

/* model_attempt.c */
void attempt_start(struct model_turn *turn);
void attempt_build(struct model_turn *turn, struct arena *arena, struct model_request *out);
size_t attempt_fixed_bytes(struct model_turn *turn); /* of system prompt and tools */

/* model_answer.c */
void answer_take(struct model_turn *turn, const struct model_part *part);
bool answer_is_empty(const struct model_answer *answer);
void answer_reset(struct model_answer *answer);
/* The answer is complete: its events, its place in the context, the calls it wants. */
void answer_record(struct model_turn *turn);
/* It was broken off: what there is of its text, marked as partial. */
void answer_record_partial(struct model_turn *turn);

/* model_compact.c: true when the turn goes on later */
bool compact_if_needed(struct model_turn *turn);

/* model_budget.c */
void budget_count(struct model_turn *turn, const struct model_usage *usage, size_t input_bytes, size_t output_bytes);
int64_t budget_cost(const struct model_turn *turn);
struct slice budget_usage(struct model_turn *turn); /* JSON */
/* False when the turn waits for a person or has ended. */
bool budget_allows(struct model_turn *turn);
void budget_answered(struct model_turn *turn, const struct ask *ask);

/* model_tools.c: the next call; after the last one, the model again */
void tools_begin(struct model_turn *turn);
void tools_answered(struct model_turn *turn, const struct ask *ask);
void tools_cancel(struct model_turn *turn, bool is_told);
/* All calls get the same error as their result. */
void tools_refuse_all(struct model_turn *turn, enum turn_error error, struct slice why);

/* model_event.c: what is written to the log */
void event_say(struct model_turn *turn, enum event_kind kind, struct slice text, const char *mark);
void event_call(struct model_turn *turn, const struct wanted_call *call);
void event_result(struct model_turn *turn, const struct wanted_call *call, const struct tool_result *result,
                  const char *mark);
/* The same model is asked again, after this time. */
void event_retrying(struct model_turn *turn, const struct provider_failure *why, int64_t after_ms);
/* agent.files_changed, when the result says what was written. */
void event_changed(struct model_turn *turn, const struct wanted_call *call, const struct tool_result *result);
void event_switched(struct model_turn *turn, const struct model_choice *from, const struct provider_failure *why);
void event_shortened(struct model_turn *turn, enum event_kind kind, const char *reason, size_t dropped, int64_t before,
                     int64_t after);
void event_budget_warning(struct model_turn *turn, int64_t cost);

#endif
