/* The OpenAI chat completions format, as OpenAI and the many servers compatible with it speak it: requests and streamed
 * answers. */
#ifndef WIRE_OPENAI_H
#define WIRE_OPENAI_H

#include "wire/model_stream.h"

extern const struct model_wire openai_wire;

/* The members of openai_wire. */
enum status openai_read(struct model_stream *stream, const struct json *event, struct model_sink sink,
                        struct failure *failure);
void openai_write(struct buffer *to, const struct model_request *request);

#endif
