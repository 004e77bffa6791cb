#include "talker.h"

#include <stdlib.h>

struct talk {
    struct turn *turn;
    int64_t number;
    bool over;
};

static void say(struct talk *talk, const char *type, struct slice content)
{
    turn_event(talk->turn, &(struct event){.kind = event_kind_find(slice_of(type)),
                                           .custom = slice_of(type),
                                           .role = ROLE_AGENT,
                                           .content = content,
                                           .metadata = SLICE("{}")});
}

/* A tool call that a person must approve. */
static void call_tool(struct talk *talk)
{
    struct arena arena = {0};
    long long number = talk->number;
    struct ask ask = {
        .kind = ASK_APPROVAL, .tool = SLICE("write"), .arguments = SLICE("{\"path\":\"a\"}"), .text = SLICE("Write a")};
    ask.id = arena_format(&arena, "ask-%lld", number);
    ask.call_id = arena_format(&arena, "call-%lld", number);
    say(talk, "agent.tool_call",
        arena_format(&arena,
                     "[{\"type\":\"tool_call\",\"tool_call_id\":\"call-%lld\",\"name\":\"write\","
                     "\"input\":{\"path\":\"a\"}}]",
                     number));
    turn_ask(talk->turn, &ask);
    arena_release(&arena);
}

static void say_result(struct talk *talk)
{
    struct arena arena = {0};
    say(talk, "agent.tool_result",
        arena_format(&arena,
                     "[{\"type\":\"tool_result\",\"tool_call_id\":\"call-%lld\",\"output\":\"done\","
                     "\"is_error\":false}]",
                     (long long)talk->number));
    say(talk, "agent.message", SLICE("[{\"type\":\"text\",\"text\":\"It is written.\"}]"));
    arena_release(&arena);
}

static void *talker_start(void *owner, struct turn *turn, const struct turn_input *brief)
{
    struct talk *talk = memory_zeroed(sizeof *talk);
    (void)owner;
    talk->turn = turn;
    talk->number = brief->number;
    call_tool(talk);
    return talk;
}

static void end(struct talk *talk, enum turn_stop_reason stop)
{
    talk->over = true;
    turn_end(talk->turn, &(struct turn_end){.stop = stop, .to = SESSION_IDLE});
}

static void talker_answer(void *state, const struct ask *answered)
{
    struct talk *talk = state;
    if (talk->over || answered->state != ASK_ANSWERED) {
        return;
    }
    say_result(talk);
    /* What follows live output is written after what was said before it: the end has a commit of its own. */
    turn_delta(talk->turn, DELTA_TEXT, (struct slice){0}, SLICE("."));
    end(talk, TURN_STOP);
}

static void talker_interrupt(void *state, bool gone)
{
    struct talk *talk = state;
    if (!gone && !talk->over) {
        end(talk, TURN_ABORTED);
    }
    talk->over = true;
}

const struct driver talker = {
    .kind = DRIVER_DEMO,
    .start = talker_start,
    .answer = talker_answer,
    .interrupt = talker_interrupt,
    .free = free,
};
