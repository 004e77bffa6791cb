/* What an approval is about: a tool call that was paused, or an output that was staged. One union, told apart by
 * `kind`; rows older than that word are of tools.
 *
 *     {"kind": "tool", "paused_tool_call": {"tool_call_id", "tool_name", "tool_input"}}
 *     {"kind": "output", "staged_output": {…}, "criteria_score": 3, "safety_flags": ["risk"]}
 *
 * Members may be written in camelCase as well. */
#ifndef DOMAIN_APPROVAL_H
#define DOMAIN_APPROVAL_H

#include "base/json.h"

enum approval_kind { APPROVAL_OF_TOOL, APPROVAL_OF_OUTPUT };

struct approval {
    enum approval_kind kind;
    struct slice tool_call_id, tool_name;
    const struct json *tool_input; /* an object, or NULL */
    const struct json *output;     /* as staged: an object */
    int64_t score;
    const struct json *flags; /* a list, or NULL */
};

/* False when it is no approval; *out is untouched then. */
bool approval_read(const struct json *metadata, struct approval *out);
/* The members of one of an output. */
void approval_write_output(struct json_out *out, struct slice staged, int64_t score, struct slice flags);

#endif
