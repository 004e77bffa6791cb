/* One line about a text for lists: white space collapsed, secrets masked, cut between words. */
#ifndef DOMAIN_PREVIEW_H
#define DOMAIN_PREVIEW_H

#include "base/slice.h"

enum {
    PREVIEW_CHARS_MAX = 150, /* without the "…" that marks a cut */
    SNIPPET_BYTES = PREVIEW_CHARS_MAX * 4 + 4,
};

/* The first text part of `content`, a JSON array of message parts that was checked before. Writes at most `room` bytes
 * with the zero byte; false, with `out` untouched, when there is no text. No allocation: this runs for every message.
 */
bool preview_of_content(struct slice content, char *out, size_t room);
/* The same for plain text. */
void preview_of_text(struct slice text, char *out, size_t room);
/* What a list shows of a prompt: a JSON prompt's message, without markup. False (and nothing) below 10 characters. */
bool preview_of_prompt(struct slice prompt, char out[SNIPPET_BYTES]);

#endif
