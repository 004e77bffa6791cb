#include <stdlib.h>

#include "api/core/handlers.h"
#include "loop/timer.h"

/* A look at the database that nobody waits for longer than he may: the request is answered by whichever comes first,
 * the database or the clock. On the loop of the request but for `look`. */
struct readiness {
    struct read_job job;
    struct loop_message message;
    struct loop *loop;
    struct loop_timer *timer;
    struct request *request; /* NULL once it is answered */
    bool answers;            /* the database did */
};

static void answer(struct readiness *readiness, bool answers)
{
    struct request *request = readiness->request;
    struct failure failure;
    readiness->request = NULL;
    if (!request) {
        return;
    }
    if (answers) {
        buffer_add(&request->exchange->body, SLICE("{\"status\":\"ready\"}"));
        request_reply(request);
        return;
    }
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "database_unavailable", "The database does not answer.");
    request_fail(request, &failure);
}

static void on_late(void *owner)
{
    answer(owner, false);
}

static void on_looked(struct loop_message *message)
{
    struct readiness *readiness = (struct readiness *)((char *)message - offsetof(struct readiness, message));
    answer(readiness, readiness->answers);
    loop_timer_free(readiness->timer);
    free(readiness);
}

static void look(struct read_job *job, struct db *db)
{
    struct readiness *readiness = (struct readiness *)job;
    readiness->answers = reader_answers(db);
    loop_post(readiness->loop, &readiness->message);
}

/* Also when every reader hangs at a database that does not answer, the clock does. */
static void begin(struct request *request)
{
    struct readiness *readiness = memory_zeroed(sizeof *readiness);
    readiness->job.run = look;
    readiness->message.run = on_looked;
    readiness->loop = request->exchange->loop;
    readiness->request = request;
    readiness->timer = loop_timer_new(readiness->loop, on_late, readiness);
    loop_timer_set(readiness->timer, request->api->limits.ready_timeout_ms);
    if (!readers_submit(request->api->readers, &readiness->job)) {
        on_looked(&readiness->message);
    }
}

enum status system_ready(struct request *request)
{
    if (request->api->stopping) {
        return failure_set(&request->call.failure, STATUS_UNAVAILABLE, "stopping", "The server is stopping.");
    }
    if (!request->api->ready) {
        return failure_set(&request->call.failure, STATUS_UNAVAILABLE, "starting", "The server is starting.");
    }
    request->defer = begin;
    return STATUS_OK;
}
