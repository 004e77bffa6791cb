#include "cli/chat_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/raw_terminal.h"

enum {
    READ_BYTES = 64 * 1024,
    KEY_MS = 50,    /* an escape character alone for this long is the Escape key */
    QUIET_MS = 600, /* without a key for this long, an ask may take the keyboard */
    AGAIN_MS = 1500,
    SECOND_MS = 1000,
    HISTORY_FILE_BYTES_MAX = 4 * 1024 * 1024,
};

/* --- history --- */

static void read_history(struct chat_terminal *terminal)
{
    struct buffer file = {0};
    int fd = terminal->history_path ? open(terminal->history_path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t count = 0;
    do {
        buffer_reserve(&file, READ_BYTES);
        count = fd >= 0 ? read(fd, file.ptr + file.len, READ_BYTES) : 0;
        file.len += count > 0 ? (size_t)count : 0;
    } while (count > 0 && file.len < HISTORY_FILE_BYTES_MAX);
    history_read(&terminal->history, buffer_slice(&file));
    buffer_release(&file);
    if (fd >= 0) {
        close(fd);
    }
}

static void write_history(const struct chat_terminal *terminal, struct slice text, int flags)
{
    if (!terminal->history_path) {
        return;
    }
    int fd = open(terminal->history_path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    if (fd >= 0) {
        ssize_t ignored = write(fd, text.ptr, text.len);
        (void)ignored;
        close(fd);
    }
}

/* What is older than the history keeps leaves the file. */
static void rewrite_history(const struct chat_terminal *terminal)
{
    struct buffer file = {0};
    for (size_t i = 0; i < terminal->history.count; i++) {
        history_write_line(&file, history_line(&terminal->history, i));
    }
    write_history(terminal, buffer_slice(&file), O_TRUNC);
    buffer_release(&file);
}

static void remember(struct chat_terminal *terminal, struct slice line)
{
    struct buffer written = {0};
    if (history_add(&terminal->history, line)) {
        history_write_line(&written, line);
        write_history(terminal, buffer_slice(&written), O_APPEND);
    }
    buffer_release(&written);
}

/* --- open and close --- */

void chat_terminal_open(struct chat *chat, const char *history_path)
{
    if (!raw_terminal_enter()) {
        return;
    }
    struct chat_terminal *terminal = memory_zeroed(sizeof *terminal);
    terminal->history_path = history_path;
    terminal->editor.history = &terminal->history;
    read_history(terminal);
    rewrite_history(terminal);
    console_resize(&terminal->console);
    chat->terminal = terminal;
    chat->screen.console = &terminal->console;
}

void chat_terminal_close(struct chat *chat)
{
    struct chat_terminal *terminal = chat->terminal;
    if (!terminal) {
        return;
    }
    console_hide(&terminal->console);
    raw_terminal_leave();
    key_reader_release(&terminal->keys);
    editor_release(&terminal->editor);
    history_release(&terminal->history);
    console_release(&terminal->console);
    free(terminal);
    chat->terminal = NULL;
    chat->screen.console = NULL;
}

void chat_terminal_resize(struct chat *chat)
{
    if (chat->terminal) {
        console_resize(&chat->terminal->console);
    }
}

void chat_terminal_continue(struct chat *chat)
{
    if (chat->terminal) {
        raw_terminal_leave();
        (void)raw_terminal_enter();
        console_resize(&chat->terminal->console);
        console_redraw(&chat->terminal->console);
    }
}

void chat_terminal_suspend(struct chat *chat)
{
    if (chat->terminal) {
        console_hide(&chat->terminal->console);
        raw_terminal_suspend();
        chat_terminal_continue(chat);
    }
}

/* --- keys --- */

static void submit(struct chat *chat)
{
    struct chat_terminal *terminal = chat->terminal;
    struct slice line = arena_copy(chat->remote.arena, slice_trim(editor_text(&terminal->editor)));
    enum line_purpose purpose = terminal->purpose;
    editor_clear(&terminal->editor);
    chat->ctrl_c_at_ms = 0;
    if (line.len == 0) {
        return;
    }
    if (purpose == LINE_MESSAGE) {
        remember(terminal, line);
    }
    console_set_area(&terminal->console, SLICE(""), 0, 0);
    if (!chat_take_line(chat, line, purpose) && purpose == LINE_MESSAGE) {
        editor_set(&terminal->editor, line);
    }
}

static void press_escape(struct chat *chat)
{
    struct chat_terminal *terminal = chat->terminal;
    int64_t now_ms = chat_steady_ms();
    bool is_second = terminal->escape_at_ms && now_ms - terminal->escape_at_ms <= AGAIN_MS;
    if (!chat->is_busy) {
        return;
    }
    /* With a line or an ask before them, somebody may have meant those. */
    if ((!editor_is_empty(&terminal->editor) || chat->ask_count) && !is_second) {
        terminal->escape_at_ms = now_ms;
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(Esc again interrupts)"));
        return;
    }
    terminal->escape_at_ms = 0;
    chat_interrupt(chat);
}

static void press_ctrl_c(struct chat *chat)
{
    struct editor *editor = &chat->terminal->editor;
    int64_t now_ms = chat_steady_ms(), before_ms = chat->ctrl_c_at_ms;
    chat->ctrl_c_at_ms = now_ms;
    if (before_ms && now_ms - before_ms <= AGAIN_MS) {
        chat_leave(chat, EXIT_DONE);
    } else if (!editor_is_empty(editor)) {
        editor_clear(editor);
        chat->ctrl_c_at_ms = 0; /* this one was for the line */
    } else if (chat->is_busy) {
        chat_interrupt(chat);
    } else {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(Ctrl-C again leaves)"));
    }
}

static void press(struct chat *chat, const struct key *key)
{
    struct chat_terminal *terminal = chat->terminal;
    terminal->key_at_ms = chat_steady_ms();
    enum editor_outcome outcome = editor_key(&terminal->editor, key);
    if (outcome != EDITOR_ESCAPE) {
        terminal->escape_at_ms = 0;
    }
    switch (outcome) {
    case EDITOR_STAYS:
        return;
    case EDITOR_SUBMIT:
        submit(chat);
        return;
    case EDITOR_COMPLETE:
        chat_complete(chat);
        return;
    case EDITOR_ESCAPE:
        press_escape(chat);
        return;
    case EDITOR_INTERRUPT:
        press_ctrl_c(chat);
        return;
    case EDITOR_LEAVE:
        chat_leave(chat, EXIT_DONE);
        return;
    case EDITOR_SUSPEND:
        chat_terminal_suspend(chat);
        return;
    case EDITOR_REDRAW:
        console_redraw(&terminal->console);
        return;
    }
}

static void press_all(struct chat *chat, bool is_quiet)
{
    struct key key;
    while (!chat->tail.is_over && key_reader_take(&chat->terminal->keys, is_quiet, &key)) {
        press(chat, &key);
    }
}

void chat_terminal_read(struct chat *chat)
{
    static char bytes[READ_BYTES];
    ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count <= 0 && errno != EINTR && errno != EAGAIN) {
        chat_leave(chat, EXIT_DONE); /* the terminal is gone */
    } else if (count > 0) {
        key_reader_add(&chat->terminal->keys, slice_from(bytes, (size_t)count));
        press_all(chat, false);
    }
}

void chat_terminal_wake(struct chat *chat)
{
    press_all(chat, true);
}

/* --- asks --- */

static bool has_unread_keys(const struct chat_terminal *terminal)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return key_reader_is_waiting(&terminal->keys) || poll(&input, 1, 0) != 0;
}

static void show_ask(struct chat *chat)
{
    struct slice before = chat->asked;
    if (chat->ask_count == 0) {
        return;
    }
    (void)chat_ask_show(chat);
    if (!slice_eq(before, chat->asked)) {
        chat->terminal->asked_at_ms = chat_steady_ms();
    }
}

/* How long nobody must press a key yet until the ask may take the keyboard: what is typed while an ask appears was
 * meant for something else. 0 = now; -1 = there is nothing to wait for. */
static int64_t quiet_left_ms(const struct chat *chat)
{
    const struct chat_terminal *terminal = chat->terminal;
    int64_t last = terminal->key_at_ms > terminal->asked_at_ms ? terminal->key_at_ms : terminal->asked_at_ms;
    int64_t left = last + QUIET_MS - chat_steady_ms();
    bool may_ask = terminal->purpose == LINE_MESSAGE && chat->ask_count && editor_is_empty(&terminal->editor);
    return !may_ask ? -1 : left > 0 ? left : 0;
}

static void begin_line(struct chat_terminal *terminal, enum line_purpose purpose, struct slice answering)
{
    terminal->purpose = purpose;
    terminal->answering = answering;
    /* Answers are not for the history: they may be secrets. */
    terminal->editor.history = purpose == LINE_MESSAGE ? &terminal->history : NULL;
    terminal->editor.history_back = 0;
}

static void choose_purpose(struct chat *chat)
{
    struct chat_terminal *terminal = chat->terminal;
    bool is_asked = chat->ask_count && slice_present(chat->asked) && slice_eq(chat->asked, terminal->answering);
    if (terminal->purpose == LINE_ANSWER && !is_asked) {
        if (!editor_is_empty(&terminal->editor)) {
            editor_clear(&terminal->editor);
            chat_screen_note(&chat->screen, COLOUR_YELLOW, SLICE("(no longer asked; your answer was dropped)"));
        }
        begin_line(terminal, LINE_MESSAGE, (struct slice){0});
    }
    if (quiet_left_ms(chat) == 0 && !has_unread_keys(terminal)) {
        begin_line(terminal, LINE_ANSWER, chat->asked);
    }
}

/* --- the timer --- */

static int64_t sooner(int64_t a_ms, int64_t b_ms)
{
    return a_ms == 0 || (b_ms > 0 && b_ms < a_ms) ? b_ms : a_ms;
}

static void set_timer(struct chat *chat)
{
    int64_t quiet_ms = quiet_left_ms(chat);
    int64_t after_ms = chat->is_busy ? SECOND_MS : 0;
    after_ms = sooner(after_ms, key_reader_is_waiting(&chat->terminal->keys) ? KEY_MS : 0);
    after_ms = sooner(after_ms, quiet_ms < 0 ? 0 : quiet_ms + 1);
    chat_set_timer(chat, sooner(after_ms, chat_explain_after_ms(chat)));
}

void chat_terminal_tick(struct chat *chat)
{
    if (chat_is_caught_up(chat)) {
        show_ask(chat);
        choose_purpose(chat);
        chat_rows_draw(chat);
    }
    set_timer(chat);
}
