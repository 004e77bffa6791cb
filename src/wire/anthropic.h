/* The Anthropic Messages format: requests and streamed answers. */
#ifndef WIRE_ANTHROPIC_H
#define WIRE_ANTHROPIC_H

#include "wire/model_stream.h"

extern const struct model_wire anthropic_wire;

/* The members of anthropic_wire. */
enum status anthropic_read(struct model_stream *stream, const struct json *event, struct model_sink sink,
                           struct failure *failure);
/* The system prompt and the last message are marked for caching. Reasoning without a signature is left out: the
 * provider refuses it. */
void anthropic_write(struct buffer *to, const struct model_request *request);

#endif
