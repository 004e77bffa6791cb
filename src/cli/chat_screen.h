/* What a chat shows. On a terminal everything goes above the line that is being typed. Over pipes standard output gets
 * what the agent says and nothing else, standard error the rest. */
#ifndef CLI_CHAT_SCREEN_H
#define CLI_CHAT_SCREEN_H

#include "cli/console.h"
#include "cli/markdown.h"
#include "cli/terminal.h"

/* Part of the chat. */
struct chat_screen {
    struct console *console; /* NULL = no terminal */
    bool has_colours;
    bool is_silent;       /* only notes for people; events go out as JSON */
    bool is_mid_line;     /* pipes: live text whose line has not ended */
    bool is_thinking;     /* the agent says what it thinks, not yet what it answers */
    bool is_broken;       /* nobody reads any more */
    struct buffer spoken; /* of the message that comes live: what was shown */
    struct buffer live;   /* terminal: its last line, which has not ended; plain */
    struct markdown markdown;
};

void chat_screen_release(struct chat_screen *screen);

/* Live text of the agent. */
void chat_screen_speak(struct chat_screen *screen, struct slice text);
/* The agent's message is complete: shows what was not shown live. */
void chat_screen_finish(struct chat_screen *screen, struct slice whole);
/* One line, visibly cut when it is long: "· text". */
void chat_screen_fold(struct chat_screen *screen, const char *mark, struct slice text);
/* A tool call with its arguments, exact and visibly cut. */
void chat_screen_call(struct chat_screen *screen, struct slice tool, struct slice input);
/* What a tool gave back: its first lines, a diff in colours. */
void chat_screen_result(struct chat_screen *screen, bool is_error, struct slice output);
/* A paragraph: what a person said. */
void chat_screen_quote(struct chat_screen *screen, struct slice text);
/* Lines for the person, not of the conversation. */
void chat_screen_note(struct chat_screen *screen, enum colour colour, struct slice text);
/* A named value that a decision depends on, complete and exact. */
void chat_screen_value(struct chat_screen *screen, struct slice name, struct slice value);

#endif
