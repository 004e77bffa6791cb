#include "main/reload.h"

#include <stdlib.h>

#include "base/log.h"
#include "main/agent_check.h"
#include "main/agents.h"
#include "service/identity/secret.h"

struct reload {
    struct command command; /* first */
    const struct options *options;
};

static enum status reload_run(struct call *call, struct command *command)
{
    return agents_share(((struct reload *)command)->options, call);
}

static void reload_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct reload *reload = (struct reload *)command;
    if (status != STATUS_OK) {
        log_error("agents_not_reread", LOG_TEXT("code", slice_of(failure->code)),
                  LOG_TEXT("detail", slice_of(failure->detail)));
    } else {
        log_info("agents_reread", LOG_TEXT("signal", SLICE("HUP")));
        agents_warn(reload->options);
    }
    free(reload);
}

static const struct command_type reload_type = {"agents.reload", COMMAND_UNBOUNDED, reload_run, reload_finish};

void reload_agents(const struct options *options, struct writer *writer)
{
    struct reload *reload = memory_zeroed(sizeof *reload);
    reload->options = options;
    reload->command.type = &reload_type;
    if (!writer_submit(writer, &reload->command)) {
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
