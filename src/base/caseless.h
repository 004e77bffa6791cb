/* Text without case, in all scripts that have it: what a search compares. Letter by letter; ß stays ß. */
#ifndef BASE_CASELESS_H
#define BASE_CASELESS_H

#include "base/buffer.h"

/* Appends `text` folded. What is no UTF-8 stays as it is. */
void caseless_write(struct buffer *out, struct slice text);
/* Is `part` somewhere in `text`, whatever the case of both? An empty part is in everything. */
bool caseless_has(struct slice text, struct slice part);

#endif
