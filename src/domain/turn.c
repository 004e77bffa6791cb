#include "domain/turn.h"

static const char *const turn_stop_names[TURN_STOP_COUNT] = {
    [TURN_STOP] = "stop",         [TURN_LENGTH] = "length",
    [TURN_TOOL_USE] = "tool_use", [TURN_CONTENT_FILTER] = "content_filter",
    [TURN_ERROR] = "error",       [TURN_ABORTED] = "aborted",
};
const struct enum_names turn_stop_enum = {turn_stop_names, TURN_STOP_COUNT};

static const char *const turn_error_names[TURN_ERROR_COUNT] = {
    [TURN_OK] = "",
    [TURN_VALIDATION] = "validation",
    [TURN_FILTERED] = "content_filter",
    [TURN_PROVIDER_AUTH] = "provider_auth",
    [TURN_PROVIDER_RATE_LIMIT] = "provider_rate_limit",
    [TURN_PROVIDER_UNAVAILABLE] = "provider_unavailable",
    [TURN_TOOL_DENIED] = "tool_denied",
    [TURN_TOOL_FAILED] = "tool_failed",
    [TURN_TOOL_UNAVAILABLE] = "tool_unavailable",
    [TURN_BUDGET_EXCEEDED] = "budget_exceeded",
    [TURN_TIMEOUT] = "run_timeout",
    [TURN_LIMIT] = "turn_limit",
    [TURN_CANCELLED] = "cancelled",
    [TURN_SANDBOX_ERROR] = "sandbox_error",
    [TURN_INTERNAL] = "internal",
};
const struct enum_names turn_error_enum = {turn_error_names, TURN_ERROR_COUNT};

static const char *const delta_kind_names[DELTA_COUNT] = {
    [DELTA_TEXT] = "text",
    [DELTA_REASONING] = "reasoning",
    [DELTA_TOOL_INPUT] = "tool_input",
    [DELTA_TOOL_OUTPUT] = "tool_output",
};
const struct enum_names delta_kind_enum = {delta_kind_names, DELTA_COUNT};

bool turn_stop_is_early(enum turn_stop_reason stop)
{
    static const bool early[TURN_STOP_COUNT] = {[TURN_ERROR] = true, [TURN_ABORTED] = true};
    return (unsigned)stop < TURN_STOP_COUNT && early[stop];
}

bool turn_error_is_retryable(enum turn_error error)
{
    static const bool retryable[TURN_ERROR_COUNT] = {
        [TURN_PROVIDER_RATE_LIMIT] = true,
        [TURN_PROVIDER_UNAVAILABLE] = true,
        [TURN_TOOL_FAILED] = true,
        [TURN_SANDBOX_ERROR] = true,
    };
    return (unsigned)error < TURN_ERROR_COUNT && retryable[error];
}

enum session_status turn_ends_step(enum turn_stop_reason stop)
{
    static const enum session_status ends[TURN_STOP_COUNT] = {
        [TURN_STOP] = SESSION_COMPLETED,        [TURN_LENGTH] = SESSION_FAILED, [TURN_TOOL_USE] = SESSION_IDLE,
        [TURN_CONTENT_FILTER] = SESSION_FAILED, [TURN_ERROR] = SESSION_FAILED,  [TURN_ABORTED] = SESSION_IDLE,
    };
    return ends[stop];
}
