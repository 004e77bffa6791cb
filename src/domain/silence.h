/* An agent in a channel that has nothing to say says so with a mark: `<NO_REPLY>`, or `<EMPTY_RESPONSE>` as it was once
 * called. The mark is never shown to anybody: it is taken out of what the agent says, and a message that was nothing
 * but the mark is no message: the log says that the agent kept silent. */
#ifndef DOMAIN_SILENCE_H
#define DOMAIN_SILENCE_H

#include "domain/session.h"

/* Appends the text without any mark, trimmed when there was one. Was there one? */
bool silence_strip(struct slice text, struct buffer *to);
/* Does the agent talk to a channel, where marks are taken out? */
bool silence_concerns(const struct session *session);
/* For live text: the first whole mark, and how much of the end of the text may be the beginning of one. */
bool silence_find(struct slice text, size_t *out_at, size_t *out_len);
size_t silence_begun(struct slice text);
/* An agent.message of a session that talks to a channel loses its marks, or becomes agent.silent {suppressed: true}.
 * Anything else stays as it is. New slices are in the arena. */
void silence_keep(struct arena *arena, const struct session *session, struct event *event);

#endif
