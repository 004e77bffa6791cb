/* What a chat shows. On a terminal everything goes to it, around the line that is being typed: what comes while
 * somebody types is held until the line is done. Over pipes standard output gets what the agent says and nothing else,
 * standard error the rest. */
#ifndef CLI_CHAT_SCREEN_H
#define CLI_CHAT_SCREEN_H

#include "cli/line_editor.h"
#include "cli/terminal.h"

/* On the chat's stack. */
struct chat_screen {
    struct line_editor *editor; /* NULL = no terminal */
    bool has_colours;
    bool is_silent;       /* only notes for people; events go out as JSON */
    bool is_mid_line;     /* live text whose line has not ended */
    bool is_thinking;     /* a line that says so stands there and will be replaced */
    bool is_broken;       /* nobody reads any more */
    struct buffer spoken; /* of the message that comes live: what was shown */
    struct buffer held;
};

void chat_screen_release(struct chat_screen *screen);

/* Live text of the agent. */
void chat_screen_speak(struct chat_screen *screen, struct slice text);
/* The agent's message is complete: shows what was not shown live. */
void chat_screen_finish(struct chat_screen *screen, struct slice whole);
/* It thinks, said once until something else comes. */
void chat_screen_think(struct chat_screen *screen);
/* Something folded to one line: "· text". */
void chat_screen_fold(struct chat_screen *screen, const char *mark, struct slice text);
/* A paragraph: what a person said. */
void chat_screen_quote(struct chat_screen *screen, struct slice text);
/* A line for the person, not of the conversation. */
void chat_screen_note(struct chat_screen *screen, enum colour colour, struct slice text);
/* The caller, or the C library, writes to standard error next. */
void chat_screen_make_room(struct chat_screen *screen);
/* Shows what was held. */
void chat_screen_flush(struct chat_screen *screen);

#endif
