#include <stdlib.h>

#include "service/writer_parts.h"

struct partial_job {
    struct write_job job;
    int64_t tenant_key, session_key;
    struct partial partial;
    struct arena arena;
};

static enum job_outcome partial_run(struct write_job *job, struct unit *unit)
{
    struct partial_job *own = (struct partial_job *)job;
    struct failure failure;
    enum status status = store_partial_save(unit->db, own->tenant_key, own->session_key, &own->partial, &failure);
    return status == STATUS_OK ? JOB_DONE : JOB_SPOILED;
}

/* Losing one is no harm: the next comes within a second. */
static void partial_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct partial_job *own = (struct partial_job *)job;
    (void)status;
    (void)failure;
    arena_release(&own->arena);
    free(own);
}

void writer_save_partial(void *writer, int64_t tenant_key, int64_t session_key, const struct partial *partial)
{
    struct partial_job *job = memory_zeroed(sizeof *job);
    job->job.run = partial_run;
    job->job.finish = partial_finish;
    job->tenant_key = tenant_key;
    job->session_key = session_key;
    job->partial = *partial;
    job->partial.body = arena_copy(&job->arena, partial->body);
    job->partial.saved_at_ms = clock_wall_ms(((struct writer *)writer)->options.service->clock);
    if (!writer_submit(writer, &job->job)) {
        partial_finish(&job->job, STATUS_UNAVAILABLE, NULL);
    }
}
