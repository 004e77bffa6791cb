#include <stdlib.h>

#include "service/turn/turn_run.h"
#include "service/turn/turn_host.h"

struct leaving {
    struct loop_message message;
    struct turn_host *host;
    int64_t tenant_key, session_key;
};

/* A turn that still runs learns it from the log, and ends its agent by itself. */
static bool has_turn(const struct turn_host *host, int64_t session_key)
{
    const struct turn *turn = host->turns;
    while (turn && turn->input.session_key != session_key) {
        turn = turn->next;
    }
    return turn != NULL;
}

static void on_leave(struct loop_message *message)
{
    struct leaving *leaving = (struct leaving *)message;
    const struct turn_host *host = leaving->host;
    for (size_t i = 0; i < DRIVER_COUNT && !has_turn(host, leaving->session_key); i++) {
        const struct driver *driver = host->options.drivers[i];
        if (driver && driver->release_session) {
            driver->release_session(driver->owner, leaving->tenant_key, leaving->session_key);
        }
    }
    free(leaving);
}

static bool is_over(const struct publication_entry *entry)
{
    if (entry->kind == PUBLISH_CLOSE) {
        return entry->session_key != 0 && slice_is(entry->reason, "deleted");
    }
    return entry->kind == PUBLISH_EVENTS && event_facts_end(&entry->event);
}

void turn_host_leave_if_over(struct turn_host *host, const struct publication_entry *entry)
{
    if (!is_over(entry)) {
        return;
    }
    struct leaving *leaving = memory_zeroed(sizeof *leaving);
    *leaving = (struct leaving){{.run = on_leave}, host, entry->tenant_key, entry->session_key};
    loop_post(host->options.loop, &leaving->message);
}
