#include "cli/chat.h"

static void show_sent(struct chat *chat, const struct json *receipt, struct slice text)
{
    int64_t position = json_i64_of(receipt, "position");
    chat->is_busy = true;
    chat->busy_since_ms = chat_steady_ms();
    if (position > 0) {
        chat_screen_note(&chat->screen, COLOUR_DIM,
                         arena_format(chat->remote.arena, "(waits, at place %lld)", (long long)position));
        chat_screen_fold(&chat->screen, "  ·", text);
    } else if (chat->terminal) {
        chat_screen_quote(&chat->screen, text);
        chat->told_prompt = json_text_of(receipt, "prompt_id");
    }
}

static bool send_message(struct chat *chat, struct slice text)
{
    const struct json *receipt;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    bool was_busy = chat->is_busy;
    int64_t since_ms = chat->busy_since_ms;
    json_begin_object(&out);
    json_put_text(&out, "text", text);
    json_end_object(&out);
    bool is_sent = chat_call(chat, "POST", chat_path(chat, "/messages"), buffer_slice(&body), &receipt);
    buffer_release(&body);
    if (is_sent) {
        show_sent(chat, receipt, text);
        chat->busy_since_ms = was_busy ? since_ms : chat->busy_since_ms;
    } else if (!chat->terminal) {
        chat_leave(chat, EXIT_REFUSED); /* a script must not go on as if it had been sent */
    }
    return is_sent;
}

static bool is_command(struct slice line)
{
    return line.ptr[0] == '/' && !slice_starts(line, SLICE("//")) && !memchr(line.ptr, '\n', line.len);
}

bool chat_take_line(struct chat *chat, struct slice raw, enum line_purpose purpose)
{
    struct slice line = arena_copy(chat->remote.arena, slice_trim(raw));
    if (line.len == 0) {
        return true;
    }
    if (is_command(line)) {
        return chat_run_command(chat, line);
    }
    if (purpose == LINE_ANSWER && chat->ask_count) {
        chat_ask_answer(chat, line);
        return true;
    }
    return send_message(chat, slice_after(line, slice_starts(line, SLICE("//")) ? 1 : 0));
}
