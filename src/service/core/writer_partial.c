#include <stdlib.h>

#include "service/core/writer_internal.h"

struct partial_save {
    struct command command; /* first */
    int64_t tenant_key, session_key;
    struct partial partial;
    struct arena arena;
};

static enum status partial_run(struct call *call, struct command *command)
{
    struct partial_save *save = (struct partial_save *)command;
    return store_partial_save(call->db, save->tenant_key, save->session_key, &save->partial, &call->failure);
}

/* Losing one is no harm: the next comes within a second. */
static void partial_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct partial_save *save = (struct partial_save *)command;
    (void)status;
    (void)failure;
    arena_release(&save->arena);
    free(save);
}

static const struct command_type partial_type = {"partial.save", 0, partial_run, partial_finish};

void writer_save_partial(void *writer, int64_t tenant_key, int64_t session_key, const struct partial *partial)
{
    struct partial_save *save = memory_zeroed(sizeof *save);
    save->command.type = &partial_type;
    save->tenant_key = tenant_key;
    save->session_key = session_key;
    save->partial = *partial;
    save->partial.body = arena_copy(&save->arena, partial->body);
    save->partial.saved_at_ms = clock_wall_ms(((struct writer *)writer)->options.service->clock);
    if (!writer_submit(writer, &save->command)) {
        partial_finish(&save->command, STATUS_UNAVAILABLE, NULL);
    }
}
