/* Live text comes in pieces, and a secret, or a mark of silence (domain/silence.h), may stand across several. What may
 * be the beginning of one is held back until the next piece of its stream shows that it is none, or until the stream is
 * flushed. One owner at a time. */
#ifndef SERVICE_SECRET_STREAM_H
#define SERVICE_SECRET_STREAM_H

#include "base/buffer.h"
#include "base/map.h"

struct secrets;

/* Those with something held back, by key: zeroes are none. */
struct secret_streams {
    struct map map;
};
enum { SECRET_STREAMS_MAX = 4096 }; /* beyond it what is held back is forgotten: it is in the log later */

/* What may be shown of `text`, the next piece of the stream `key`: the text itself, or something in `scratch`. Another
 * `epoch` than before: what was held back was shown meanwhile (by an event) and is not shown again. `hides_marks`:
 * marks of silence are taken out, too. */
struct slice secret_streams_pass(struct secret_streams *streams, struct secrets *secrets, bool hides_marks,
                                 struct slice key, int64_t epoch, struct slice text, struct buffer *scratch);
/* Shows what is held back, and [secret] in place of what is too much of one. The streams may go on. */
void secret_streams_flush(struct secret_streams *streams,
                          void (*show)(void *owner, struct slice key, struct slice text), void *owner);
void secret_streams_release(struct secret_streams *streams);

#endif
