#include "cli/chat_terminal.h"

static const struct {
    const char *state, *text;
} state_texts[] = {
    {"draft", "ready"},     {"idle", "ready"},           {"pending", "waiting"},
    {"running", "working"}, {"waiting_human", "asking"}, {"awaiting_tool", "needs approval"},
};

static struct slice state_text(const struct chat *chat)
{
    if (chat->screen.is_thinking) {
        return SLICE("thinking");
    }
    for (size_t i = 0; i < sizeof state_texts / sizeof state_texts[0]; i++) {
        if (slice_is(chat->state, state_texts[i].state)) {
            return slice_of(state_texts[i].text);
        }
    }
    return slice_present(chat->state) ? chat->state : SLICE("connecting");
}

static void add_time(struct buffer *out, int64_t seconds)
{
    if (seconds < 60) {
        buffer_format(out, " %lld s", (long long)seconds);
    } else {
        buffer_format(out, " %lld:%02lld min", (long long)(seconds / 60), (long long)(seconds % 60));
    }
}

static const char *hint(const struct chat *chat)
{
    const struct chat_terminal *terminal = chat->terminal;
    bool has_text = terminal && !editor_is_empty(&terminal->editor);
    if (chat->ask_count && has_text && terminal->purpose == LINE_MESSAGE) {
        return "send or clear your line, then answer above";
    }
    return chat_is_working(chat) ? "Esc interrupts" : "/help";
}

void chat_status_write(const struct chat *chat, struct buffer *out)
{
    text_add_plain(out, chat->agent);
    buffer_add(out, SLICE(" · "));
    text_add_plain(out, state_text(chat));
    if (chat->is_busy) {
        add_time(out, (chat_steady_ms() - chat->busy_since_ms) / 1000);
    }
    buffer_add(out, SLICE(" · "));
    usage_write(&chat->usage, out);
    buffer_format(out, " · %s", hint(chat));
}
