#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/chat_terminal.h"

enum { LEAVE_MS = 1000 };

bool chat_on_input(void *owner)
{
    struct chat *chat = owner;
    if (chat->terminal) {
        chat_terminal_read(chat);
    } else {
        chat_piped_read(chat);
    }
    chat_tick(chat);
    return !chat->tail.is_over;
}

bool chat_on_timer(void *owner)
{
    struct chat *chat = owner;
    uint64_t count;
    ssize_t ignored = read(chat->timer_fd, &count, sizeof count);
    (void)ignored;
    if (chat->terminal) {
        chat_terminal_wake(chat);
    }
    chat_tick(chat);
    return !chat->tail.is_over;
}

/* Sent from outside, or over pipes: the terminal's own Ctrl-C is a key. */
static void on_interrupt(struct chat *chat)
{
    int64_t now_ms = chat_steady_ms(), before_ms = chat->ctrl_c_at_ms;
    chat->ctrl_c_at_ms = now_ms;
    if (!chat->is_busy || (before_ms && now_ms - before_ms <= LEAVE_MS)) {
        chat_leave(chat, EXIT_DONE);
    } else {
        chat_interrupt(chat);
    }
}

static void take_signal(struct chat *chat, uint32_t number)
{
    switch (number) {
    case SIGINT:
        on_interrupt(chat);
        return;
    case SIGWINCH:
        chat_terminal_resize(chat);
        return;
    case SIGTSTP:
        chat_terminal_suspend(chat);
        return;
    case SIGCONT:
        chat_terminal_continue(chat);
        return;
    default:
        chat_leave(chat, EXIT_DONE);
    }
}

bool chat_on_signal(void *owner)
{
    struct chat *chat = owner;
    struct signalfd_siginfo info;
    if (read(chat->tail.watches[WATCH_SIGNALS].fd, &info, sizeof info) == (ssize_t)sizeof info) {
        take_signal(chat, info.ssi_signo);
    }
    chat_tick(chat);
    return !chat->tail.is_over;
}
