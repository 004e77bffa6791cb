/* Gateway tools: what code inside a session's sandbox asks of the server, over HTTP. A call is named by the caller
 * (call_id) and done once: a row says whether it runs, is done or failed, and a repeated call gets the same answer.
 *
 *     none ─→ done              a tool that is a command: row, effect and event in one transaction
 *     none ─→ running ─→ done   a tool that works outside the store: the row first, then the work, then its result
 *                │   └─→ failed
 *                └ the server died: nobody knows whether it was done; told as `ambiguous`, never done again */
#ifndef SERVICE_GATEWAY_H
#define SERVICE_GATEWAY_H

#include "service/session/session.h"
#include "service/core/writer.h"

/* What became of work outside; once, any thread. One of both is absent; `result` is JSON. */
struct gateway_done {
    void *owner;
    void (*done)(void *owner, struct slice result, struct slice error);
};

struct gateway_options {
    const struct service *service;
    struct writer *writer;
    void *read_owner;
    bool (*submit_read)(void *owner, struct read_job *job);
    struct gateway_limits limits;
    /* Takes a snapshot of the session's live sandbox: {"snapshot","bytes"}. NULL = there are no sandboxes. */
    void *snapshot_owner;
    void (*snapshot)(void *owner, int64_t tenant_key, int64_t session_key, struct gateway_done done);
};

struct gateway;

struct gateway *gateway_new(const struct gateway_options *options);
/* After the writer and the readers have stopped. */
void gateway_free(struct gateway *gateway);
int64_t gateway_timeout_ms(const struct gateway *gateway);

struct gateway_request {
    struct slice tool, call_id;
    const struct json *arguments; /* an object */
};
struct gateway_answer {
    bool waits; /* it runs: ask again when something was committed; nothing else is set then */
    bool success;
    struct slice result; /* JSON; of a failure, a text */
};
/* Writer, for whoever runs the session, and its owner. NOT_FOUND (`unknown_tool`) lists the names; CONFLICT
 * (`call_id_reused`) for other arguments, CONFLICT (`ambiguous`) when nobody knows whether it was done. */
MUST_CHECK enum status gateway_call(struct gateway *gateway, struct call *call, struct slice session_id,
                                    const struct gateway_request *request, struct gateway_answer *out);

#endif
