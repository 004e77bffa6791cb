/* Parts of a message that are no text, for a model: images as such, text files as text, and a sentence for the rest.
 * Private to the model driver. */
#ifndef RUNNER_MODEL_MEDIA_H
#define RUNNER_MODEL_MEDIA_H

#include "runner/driver.h"
#include "wire/model_message.h"

bool media_is_part(const struct json *part);
/* The slices live in the arena, the brief or the part. */
struct model_block media_block(struct arena *arena, const struct turn_input *brief, const struct json *part);

#endif
