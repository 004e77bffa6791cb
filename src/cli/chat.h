/* A conversation with an agent. One thread: the stream of the session is the loop, the keyboard and Ctrl-C are watched
 * beside it, and every call to the server is made in between. What came from the stream is folded into this struct by
 * chat_frames.c; chat_tick decides what follows. */
#ifndef CLI_CHAT_H
#define CLI_CHAT_H

#include "cli/chat_screen.h"
#include "cli/tail.h"

enum { CHAT_ASKS_MAX = 128 };

/* On the command's stack. */
struct chat {
    struct tail tail;     /* hears */
    struct remote remote; /* speaks, while the tail stays connected */
    struct slice session_id;
    struct slice agent;
    struct chat_screen screen;

    /* as the log says */
    int64_t sequence;  /* of the last event heard */
    int64_t caught_up; /* what stands up to here in the log was before this chat; -1 = not yet known */
    bool is_busy;      /* a turn runs or waits */
    bool has_failed;   /* the last turn did */
    const struct json *asks[CHAT_ASKS_MAX]; /* pending, oldest first; in the remote's arena */
    size_t ask_count;
    struct slice asked; /* the id of the ask that was put to the person */
    const char *ask_prompt;
    struct slice told_prompt; /* of this chat, already on the screen */

    /* the person */
    struct buffer line; /* what was typed, or piped and not yet taken */
    bool input_ended;
    int64_t ctrl_c_at_ms; /* steady; 0 = never */
};

/* chat.c */
/* Ends the chat with this exit code. */
void chat_leave(struct chat *chat, int code);
/* After anything that happened: asks, prompts, or takes the next piped line. */
void chat_tick(struct chat *chat);
/* "/api/sessions/ID/…" */
struct slice chat_path(struct chat *chat, const char *tail);
/* A call whose refusal is said to the person; false then. */
bool chat_call(struct chat *chat, const char *method, struct slice target, struct slice body, const struct json **out);
void chat_interrupt(struct chat *chat);

/* chat_frames.c: struct tail_ear. */
void chat_on_frame(void *chat, const struct sse_event *frame, const struct json *data);
void chat_on_lost(void *chat);

/* chat_ask.c */
/* Remembers a pending ask, as JSON of the server; the same again is nothing. */
void chat_ask_add(struct chat *chat, const struct json *ask);
/* It needs nobody any more. */
void chat_ask_remove(struct chat *chat, struct slice id);
/* Puts the oldest ask to the person, once; the prompt for the answer. */
const char *chat_ask_show(struct chat *chat);
/* A line that answers it. */
void chat_ask_answer(struct chat *chat, struct slice line);
void chat_ask_deny(struct chat *chat, struct slice reason);

/* chat_line.c: a line of the person: a command, an answer or a message. */
void chat_take_line(struct chat *chat, struct slice line);

#endif
