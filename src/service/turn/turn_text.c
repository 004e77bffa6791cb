/* What a turn has shown of a message that is no event yet. */
#include <assert.h>

#include "domain/change_turn.h"
#include "domain/prompt.h"
#include "service/turn/turn_run.h"

/* Escaped, a text grows; what an event can't hold was shown, but is not kept. */
enum { EVENT_SHARE = 4 };

static const struct {
    enum delta_kind kind;
    enum event_kind event;
} texts[TURN_TEXTS] = {{DELTA_REASONING, EVENT_AGENT_THINKING}, {DELTA_TEXT, EVENT_AGENT_MESSAGE}};

void turn_text_add(struct turn *turn, enum delta_kind kind, struct slice text)
{
    assert(loop_is_mine(turn->input.loop));
    size_t most = (size_t)turn->host->options.service->limits.event.bytes_max / EVENT_SHARE;
    for (size_t i = 0; i < TURN_TEXTS; i++) {
        struct buffer *open = &turn->open_texts[i];
        if (texts[i].kind == kind && open->len < most) {
            buffer_add(open, slice_utf8_prefix(text, most - open->len));
        }
    }
}

void turn_text_settle(struct turn *turn, enum event_kind kind)
{
    assert(loop_is_mine(turn->input.loop));
    for (size_t i = 0; i < TURN_TEXTS; i++) {
        if (kind == texts[i].event) {
            turn->open_texts[i].len = 0;
        }
    }
}

void turn_text_keep(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    for (size_t i = 0; i < TURN_TEXTS; i++) {
        struct arena arena = {0};
        struct slice text = buffer_slice(&turn->open_texts[i]);
        if (text.len > 0) {
            turn_event(turn, &(struct event){.kind = texts[i].event,
                                             .role = ROLE_AGENT,
                                             .content = prompt_content_of(&arena, text),
                                             .metadata = SLICE(PARTIAL_METADATA)});
        }
        arena_release(&arena);
    }
}

void turn_text_release(struct turn *turn)
{
    for (size_t i = 0; i < TURN_TEXTS; i++) {
        buffer_release(&turn->open_texts[i]);
    }
}
