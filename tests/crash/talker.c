#include "talker.h"

#include <stdlib.h>

struct talk {
    struct turn *turn;
    int64_t number;
    bool over;
};

static void say(struct talk *talk, const char *type, const char *content)
{
    struct arena arena = {0};
    struct event event = {.type = slice_of(type), .role = ROLE_AGENT, .metadata = SLICE("{}")};
    event.content = arena_format(&arena, content, (long long)talk->number);
    turn_event(talk->turn, &event);
    /* What is said behind live output is written after what was said before it. */
    turn_delta(talk->turn, DELTA_TEXT, (struct slice){0}, SLICE("."));
    arena_release(&arena);
}

static void ask(struct talk *talk)
{
    struct arena arena = {0};
    struct ask asked = {
        .kind = ASK_APPROVAL, .tool = SLICE("write"), .arguments = SLICE("{\"path\":\"a\"}"), .text = SLICE("Write a")};
    asked.id = arena_format(&arena, "ask-%lld", (long long)talk->number);
    asked.call_id = arena_format(&arena, "call-%lld", (long long)talk->number);
    turn_ask(talk->turn, &asked);
    arena_release(&arena);
}

static void *talker_start(void *owner, struct turn *turn, const struct turn_brief *brief)
{
    struct talk *talk = memory_zeroed(sizeof *talk);
    (void)owner;
    talk->turn = turn;
    talk->number = brief->number;
    say(talk, "agent.tool_call",
        "[{\"type\":\"tool_call\",\"tool_call_id\":\"call-%lld\",\"name\":\"write\",\"input\":{\"path\":\"a\"}}]");
    ask(talk);
    return talk;
}

static void end(struct talk *talk, enum turn_stop stop)
{
    talk->over = true;
    turn_end(talk->turn, &(struct turn_end){.stop = stop, .to = WORK_IDLE});
}

static void talker_answer(void *state, const struct ask *answered)
{
    struct talk *talk = state;
    if (talk->over || answered->state != ASK_ANSWERED) {
        return;
    }
    say(talk, "agent.tool_result",
        "[{\"type\":\"tool_result\",\"tool_call_id\":\"call-%lld\",\"output\":\"done\",\"is_error\":false}]");
    say(talk, "agent.message", "[{\"type\":\"text\",\"text\":\"turn %lld is done\"}]");
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
