/* A conversation with an agent. One thread: the stream of the session is the loop; keyboard, signals and a timer are
 * watched beside it, and every call to the server is made in between. chat_frames.c folds the stream into this struct;
 * chat_tick decides what follows, on a terminal (chat_terminal.c) or over pipes (chat_piped.c). */
#ifndef CLI_CHAT_H
#define CLI_CHAT_H

#include "cli/chat_context.h"
#include "cli/chat_screen.h"
#include "cli/tail.h"
#include "cli/usage.h"

enum { CHAT_ASKS_MAX = 128 };

struct chat_options {
    const char *session;
    int64_t last;
    int64_t silence_ms;
    struct chat_context context;
};

/* What the calls of chat say besides their answers. */
struct chat_errors {
    FILE *file; /* struct remote writes here */
    char *text;
    size_t len;
};

struct chat_terminal;

/* On the heap of the command. */
struct chat {
    struct tail tail;     /* the stream */
    struct remote remote; /* calls, while the tail stays connected */
    const struct chat_options *options;
    struct chat_errors errors;
    struct slice session_id;
    struct slice agent;
    struct slice next_session; /* another session to go on with; absent = none */
    bool wants_new_session;
    struct chat_screen screen;
    struct chat_terminal *terminal; /* NULL = pipes */

    /* as the log says */
    int64_t sequence;       /* of the last event seen */
    int64_t caught_up;      /* events up to here were before this chat; -1 = not yet known */
    struct slice state;     /* of the session */
    bool is_busy;           /* a turn runs or waits */
    bool has_failed;        /* the last turn did */
    int64_t busy_since_ms;  /* steady */
    int64_t waits_since_ms; /* steady; a message waits for its turn; 0 = it does not, or its reason was shown */
    struct usage usage;
    int64_t usage_known_to;                 /* the sequence that `usage` covers */
    const struct json *asks[CHAT_ASKS_MAX]; /* pending, oldest first; in the remote's arena */
    size_t ask_count;
    struct slice asked; /* the id of the ask that was put to the person */
    const char *ask_prompt;
    struct slice told_prompt; /* of this chat, already on the screen */

    /* the person */
    struct buffer line; /* piped and not yet taken */
    bool input_ended;
    int64_t ctrl_c_at_ms; /* steady; 0 = never */
    int timer_fd;
};

/* chat.c */
/* Ends the chat with this exit code. */
void chat_leave(struct chat *chat, int code);
/* After anything that happened: asks, prompts, or takes the next piped line. */
void chat_tick(struct chat *chat);
/* "/api/sessions/ID/…" */
struct slice chat_path(struct chat *chat, const char *tail);
/* A call whose refusal is shown to the person; false then. */
bool chat_call(struct chat *chat, const char *method, struct slice target, struct slice body, const struct json **out);
void chat_interrupt(struct chat *chat);
/* The whole id of something that exists; false after the person was told that it does not, or that it is ambiguous. */
bool chat_resolve(struct chat *chat, const char *collection, struct slice given, struct slice *out);
/* The log was read to where it was when this chat began. */
bool chat_is_caught_up(const struct chat *chat);
/* A turn runs, and it does not wait for an answer. */
bool chat_is_working(const struct chat *chat);
int64_t chat_steady_ms(void);
/* Wakes the chat after this long; 0 = not. */
void chat_set_timer(struct chat *chat, int64_t after_ms);
/* Shows why a message still waits for its turn, once. */
void chat_explain_wait(struct chat *chat);
/* How long until that; 0 = not at all. */
int64_t chat_explain_after_ms(const struct chat *chat);

/* chat_watch.c: struct client_watch. */
enum { WATCH_INPUT, WATCH_SIGNALS, WATCH_TIMER, WATCH_COUNT };
bool chat_on_input(void *chat);
bool chat_on_signal(void *chat);
bool chat_on_timer(void *chat);

/* chat_begin.c */
/* Opens or creates the session of the options, or the next one; the exit code. */
int chat_begin(struct chat *chat);

/* chat_frames.c: struct tail_ear. */
void chat_on_frame(void *chat, const struct sse_event *frame, const struct json *data);
void chat_on_lost(void *chat);

/* chat_ask.c */
/* Remembers a pending ask, as JSON of the server; the same again is nothing. */
void chat_ask_add(struct chat *chat, const struct json *ask);
/* It is no longer pending. */
void chat_ask_remove(struct chat *chat, struct slice id);
/* Puts the oldest ask to the person, once; the prompt for the answer. */
const char *chat_ask_show(struct chat *chat);
/* A line that answers it. */
void chat_ask_answer(struct chat *chat, struct slice line);
void chat_ask_deny(struct chat *chat, struct slice reason);

/* What a line is for was settled when it was begun, not when it is sent. */
enum line_purpose { LINE_MESSAGE, LINE_ANSWER };

/* chat_line.c: a line of the person: a command, an answer or a message. False: nothing came of it, and a person may
 * want it back. */
bool chat_take_line(struct chat *chat, struct slice line, enum line_purpose purpose);

/* chat_commands.c: "/help" and the others. False: there is no such command, or it needs something else. */
bool chat_run_command(struct chat *chat, struct slice line);
/* The commands by number, without the slash; NULL ends. */
const char *chat_command_word(size_t at);

/* chat_piped.c */
void chat_piped_read(struct chat *chat);
void chat_piped_tick(struct chat *chat);

/* chat_status.c */
/* One line: agent, state, time, tokens, cost. Plain. */
void chat_status_write(const struct chat *chat, struct buffer *out);

#endif
