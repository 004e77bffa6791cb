/* Channels: where people talk with a session. Every conversation of a user has the channel "web"; a message that names
 * another (metadata channel_type, channel_id) binds it. A message from a channel that asks to be remembered and finds
 * no answer of the agent in time becomes one `channel.followup_due`. */
#ifndef SERVICE_CHANNEL_H
#define SERVICE_CHANNEL_H

#include "service/session/session.h"

struct channel_request {
    struct slice kind, address;
    int64_t followup_ms; /* -1 = the option's (0 for web) */
};

/* Writer. `kind` is a word; the same kind and address again change only what is told. */
MUST_CHECK enum status channel_bind(struct call *call, struct slice session_id, const struct channel_request *request,
                                    struct channel *out);
MUST_CHECK enum status channel_unbind(struct call *call, struct slice session_id, struct slice channel_id);
/* Steps of other commands, writer. The channel of a new session; */
MUST_CHECK enum status channel_bind_web(struct call *call, struct loaded_session *loaded);
/* a message was taken, whose metadata may name its channel; */
MUST_CHECK enum status channel_note_message(struct call *call, struct loaded_session *loaded, struct slice metadata);
/* the timer: tells what is due, and is put again for what is not. */
MUST_CHECK enum status channel_followup(struct call *call, struct loaded_session *loaded, bool *out_again);

/* Reader. The channels of a session. */
MUST_CHECK enum status channel_list(struct call *call, struct slice session_id, struct channel **out,
                                    size_t *out_count);

#endif
