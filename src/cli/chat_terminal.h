/* A chat on a terminal: keys, the line being typed, and the rows around it. */
#ifndef CLI_CHAT_TERMINAL_H
#define CLI_CHAT_TERMINAL_H

#include "cli/chat.h"
#include "cli/editor.h"

struct chat_terminal {
    struct console console;
    struct key_reader keys;
    struct editor editor;
    struct history history;
    const char *history_path; /* NULL = nowhere */
    enum line_purpose purpose;
    struct slice answering; /* the ask, with LINE_ANSWER */
    int64_t key_at_ms;      /* steady: the last key */
    int64_t asked_at_ms;    /* steady: an ask was shown */
    int64_t escape_at_ms;   /* steady; 0 = the last key was another */
};

/* Takes the terminal. */
void chat_terminal_open(struct chat *chat, const char *history_path);
/* Gives it back. Without a terminal nothing. */
void chat_terminal_close(struct chat *chat);
void chat_terminal_read(struct chat *chat);
/* The timer went off: what waits for more bytes is a key. */
void chat_terminal_wake(struct chat *chat);
void chat_terminal_resize(struct chat *chat);
/* The process was stopped, perhaps, and continues. */
void chat_terminal_continue(struct chat *chat);
void chat_terminal_suspend(struct chat *chat);
void chat_terminal_tick(struct chat *chat);

/* chat_rows.c: draws the line, what stands above it and the status. */
void chat_rows_draw(struct chat *chat);

/* chat_complete.c: Tab. */
void chat_complete(struct chat *chat);

#endif
