/* How a turn ends. One closed list of reasons, one of error codes; every turn that began has exactly one turn.ended. */
#ifndef DOMAIN_TURN_H
#define DOMAIN_TURN_H

#include "base/slice.h"
#include "base/enum_names.h"
#include "domain/session_status.h"

enum turn_stop_reason {
    TURN_STOP,           /* the agent said all it had to say */
    TURN_LENGTH,         /* the model's output limit */
    TURN_TOOL_USE,       /* it waits for a tool that runs elsewhere */
    TURN_CONTENT_FILTER, /* the provider refused */
    TURN_ERROR,
    TURN_ABORTED, /* interrupted by a person, or cut by a crash */
    TURN_STOP_COUNT
};
extern const struct enum_names turn_stop_enum; /* stop length tool_use content_filter error aborted */
/* Did it end in the middle of what it did? */
bool turn_stop_is_early(enum turn_stop_reason stop);

enum turn_error {
    TURN_OK,
    TURN_VALIDATION,
    TURN_FILTERED,
    TURN_PROVIDER_AUTH,
    TURN_PROVIDER_RATE_LIMIT,
    TURN_PROVIDER_UNAVAILABLE,
    TURN_TOOL_DENIED,
    TURN_TOOL_FAILED,
    TURN_TOOL_UNAVAILABLE,
    TURN_BUDGET_EXCEEDED,
    TURN_TIMEOUT,
    TURN_LIMIT,
    TURN_CANCELLED,
    TURN_SANDBOX_ERROR,
    TURN_INTERNAL,
    TURN_ERROR_COUNT
};
extern const struct enum_names turn_error_enum; /* "" validation content_filter provider_auth … internal */
/* What the end of a turn makes of a step of a task: all is said with the turn, unless it was cut. */
enum session_status turn_ends_step(enum turn_stop_reason stop);
bool turn_error_is_retryable(enum turn_error error);

/* Live output of a turn. */
enum delta_kind { DELTA_TEXT, DELTA_REASONING, DELTA_TOOL_INPUT, DELTA_TOOL_OUTPUT, DELTA_COUNT };
extern const struct enum_names delta_kind_enum; /* text reasoning tool_input tool_output */

struct turn_end {
    enum turn_stop_reason stop;
    enum turn_error error;
    struct slice error_message;
    struct slice usage;     /* JSON object of totals: input_tokens, output_tokens, cost_microcents …; absent = none */
    struct slice result;    /* JSON, or absent */
    enum session_status to; /* WORK_IDLE, or an end */
    struct slice reason;    /* one line, or absent */
};

#endif
