#include <unistd.h>

#include "cli/chat.h"

enum { READ_BYTES = 64 * 1024, LINE_BYTES_MAX = 4 * 1024 * 1024 };

static bool is_free(const struct chat *chat)
{
    return chat_is_caught_up(chat) && (!chat->is_busy || chat->ask_count > 0);
}

/* The next whole line; at the end of the input also one without its end. */
static bool next_line(struct chat *chat, struct slice *out)
{
    char *end = chat->line.len ? memchr(chat->line.ptr, '\n', chat->line.len) : NULL;
    size_t length = end ? (size_t)(end - chat->line.ptr) : chat->line.len;
    if (!end && (!chat->input_ended || chat->line.len == 0)) {
        return false;
    }
    *out = arena_copy(chat->remote.arena, slice_from(chat->line.ptr, length));
    buffer_consume(&chat->line, length + (end ? 1 : 0));
    return true;
}

void chat_piped_tick(struct chat *chat)
{
    struct slice line;
    if (chat->ask_count && is_free(chat)) {
        (void)chat_ask_show(chat);
    }
    while (!chat->tail.is_over && is_free(chat) && next_line(chat, &line)) {
        (void)chat_take_line(chat, line, chat->ask_count ? LINE_ANSWER : LINE_MESSAGE);
    }
    if (!chat->tail.is_over && chat->input_ended && chat->line.len == 0 && is_free(chat)) {
        bool waits = chat->ask_count > 0;
        chat_leave(chat, waits || chat->has_failed ? EXIT_REFUSED : EXIT_DONE);
    }
    chat_set_timer(chat, chat_explain_after_ms(chat));
    chat->tail.watches[WATCH_INPUT].fd = chat->input_ended || !is_free(chat) ? -1 : STDIN_FILENO;
}

void chat_piped_read(struct chat *chat)
{
    buffer_reserve(&chat->line, READ_BYTES);
    ssize_t count = read(STDIN_FILENO, chat->line.ptr + chat->line.len, READ_BYTES);
    if (count > 0) {
        chat->line.len += (size_t)count;
    }
    chat->input_ended = count <= 0;
    if (chat->line.len > LINE_BYTES_MAX && !memchr(chat->line.ptr, '\n', chat->line.len)) {
        fprintf(stderr, "sojourn: a line has more than %d bytes\n", LINE_BYTES_MAX);
        chat_leave(chat, EXIT_REFUSED);
    }
}
