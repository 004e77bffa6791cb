/* Tokens and cost, of a turn or of several. */
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include "base/json.h"

struct usage {
    int64_t input_tokens, output_tokens, cost_microcents, turns;
};

/* One turn more; `numbers` is an object of the server, or NULL. */
void usage_add(struct usage *usage, const struct json *numbers);
/* "1200 in, 12.3k out, $0.0123" */
void usage_write(const struct usage *usage, struct buffer *out);

#endif
