#include "main/reload.h"

#include <stdlib.h>

#include "base/log.h"
#include "main/agent_check.h"
#include "main/agents.h"
#include "service/secret.h"

struct reload {
    struct write_job job; /* first: the job is the reload */
    const struct options *options;
    enum status status;
    struct failure failure;
};

static enum job_outcome reload_run(struct write_job *job, struct unit *unit)
{
    struct reload *reload = (struct reload *)job;
    struct arena arena = {0};
    int64_t writes_before = unit_writes(unit);
    struct call call = unit_call(unit, &arena, &server_principal);
    reload->status = agents_share(reload->options, &call);
    reload->failure = call.failure;
    arena_release(&arena);
    return reload->status != STATUS_OK && unit_writes(unit) != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void reload_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct reload *reload = (struct reload *)job;
    const struct failure *problem = status != STATUS_OK && failure ? failure : &reload->failure;
    if (status != STATUS_OK || reload->status != STATUS_OK) {
        log_error("agents_not_reread", LOG_TEXT("code", slice_of(problem->code)),
                  LOG_TEXT("detail", slice_of(problem->detail)));
    } else {
        log_info("agents_reread", LOG_TEXT("signal", SLICE("HUP")));
        agents_warn(reload->options);
    }
    free(reload);
}

void reload_agents(const struct options *options, struct writer *writer)
{
    struct reload *reload = memory_zeroed(sizeof *reload);
    reload->options = options;
    reload->job.run = reload_run;
    reload->job.finish = reload_finish;
    reload->job.unbounded = true;
    if (!writer_submit(writer, &reload->job)) {
        log_error("agents_not_reread", LOG_TEXT("detail", SLICE("too many commands are waiting")));
        free(reload);
    }
}

void reload_secrets(struct secrets *secrets)
{
    struct failure failure;
    if (secrets_reload(secrets, &failure) != STATUS_OK) {
        log_error("secrets_not_reread", LOG_TEXT("detail", slice_of(failure.detail)));
    }
}
