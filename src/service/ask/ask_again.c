#include "service/ask/ask.h"

#include "domain/prompt.h"
#include "service/ask/ask_internal.h"

/* The call that asked was told that nobody answered and is over, so there is nothing an answer could still reach: the
 * agent is told to ask anew, in a message of the person who wants it. */
static struct slice message_of(struct arena *arena, const struct ask *ask)
{
    return arena_format(arena,
                        "Nobody answered in time when you asked (%.*s, turn %lld): %.*s\n"
                        "If it is still needed, ask the same again now.",
                        SLICE_ARG(ask->id), (long long)ask->turn, SLICE_ARG(ask->text));
}

enum status ask_again(struct call *call, struct slice session_id, struct slice ask_id, struct prompt_receipt *out)
{
    struct session_access entry;
    struct ask ask;
    enum status status = session_authorize(call, session_id, ACTION_ANSWER, &entry);
    if (status == STATUS_OK) {
        status = ask_load(call, &entry.loaded->session, ask_id, &ask);
    }
    if (status == STATUS_OK && ask.state != ASK_EXPIRED) {
        return failure_set(&call->failure, STATUS_CONFLICT, "ask_not_expired",
                           "Only an expired ask can be asked again; this one is %s.", ask_state_enum.names[ask.state]);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct prompt_request request = {
        .mode = QUEUE_FOLLOWUP,
        .content = prompt_content_of(call->arena, message_of(call->arena, &ask)),
        .debounce_ms = -1,
    };
    return prompt_send(call, session_id, &request, out);
}
