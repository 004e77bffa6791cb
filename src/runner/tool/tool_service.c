#include "runner/tool/tool_call.h"

#include <stdlib.h>

/* The service answers once, also after the call was cancelled: then nobody is told, and this goes. */
struct serving {
    struct tool_place place;
    struct arena arena;
    struct tool_call call;
    struct tool_done then;
    bool is_cancelled;
    bool is_answered;
    bool *out_over; /* while it starts: set when it is over already; NULL afterwards */
    void *giving;
};

static void serving_free(struct serving *serving)
{
    arena_release(&serving->arena);
    free(serving);
}

static void given(void *owner, const struct tool_result *result)
{
    struct serving *serving = owner;
    if (serving->out_over) {
        *serving->out_over = true;
    }
    serving->then.done(serving->then.owner, result);
    serving_free(serving);
}

static void served(void *owner, struct slice result, struct slice error)
{
    struct serving *serving = owner;
    bool failed = slice_present(error);
    struct buffer text = {0};
    if (serving->is_cancelled) {
        serving_free(serving);
        return;
    }
    serving->is_answered = true;
    buffer_add(&text, failed ? error : result);
    void *giving = tool_give(&serving->place, &serving->call, (struct tool_done){serving, given}, &text,
                             failed ? TURN_TOOL_FAILED : TURN_OK);
    if (giving) {
        serving->giving = giving;
    }
}

TOOL_RUN(service_run)
{
    if (!place->turn) {
        tool_refuse(then, TURN_TOOL_UNAVAILABLE, SLICE("This tool works within a turn only."));
        return NULL;
    }
    struct serving *serving = memory_zeroed(sizeof *serving);
    bool is_over = false;
    serving->place = *place;
    serving->then = then;
    serving->out_over = &is_over;
    serving->call = (struct tool_call){.id = arena_copy(&serving->arena, call->id),
                                       .name = arena_copy(&serving->arena, call->name)};
    turn_call_service(place->turn, serving->call.name, arena_copy(&serving->arena, call->arguments->raw),
                      (struct turn_served){serving, served});
    if (is_over) {
        return NULL;
    }
    serving->out_over = NULL;
    return serving;
}

void service_cancel(void *running)
{
    struct serving *serving = running;
    if (!serving->is_answered) {
        serving->is_cancelled = true;
        return;
    }
    if (serving->giving) {
        tool_job_cancel(serving->giving);
    }
    serving_free(serving);
}
