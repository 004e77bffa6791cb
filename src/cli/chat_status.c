#include "cli/chat_terminal.h"
#include "domain/session_status.h"

/* What is said of a state; the others say their own name. */
static const char *const state_texts[SESSION_STATUS_COUNT] = {
    [SESSION_DRAFT] = "ready",     [SESSION_IDLE] = "ready",           [SESSION_PENDING] = "waiting",
    [SESSION_RUNNING] = "working", [SESSION_WAITING_HUMAN] = "asking", [SESSION_AWAITING_TOOL] = "needs approval",
};

static struct slice state_text(const struct chat *chat)
{
    if (chat->screen.is_thinking) {
        return SLICE("thinking");
    }
    int known = enum_names_find(session_status_enum, chat->state);
    if (known >= 0 && state_texts[known]) {
        return slice_of(state_texts[known]);
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
