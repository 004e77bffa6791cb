/* An event for people: one line, or a few rows of a terminal. */
#ifndef CLI_EVENT_LINE_H
#define CLI_EVENT_LINE_H

#include "base/json.h"
#include "cli/terminal.h"

struct event_line_style {
    size_t columns; /* 0 = no limit */
    bool has_colours;
    bool with_session; /* for streams of many sessions */
};

struct event_line_style event_line_style(FILE *file, bool with_session);
/* Sequence, local time, type and what it says, with a line end. On a terminal it is visibly cut when it is long. */
void event_line_write(const struct json *event, const struct event_line_style *style, struct buffer *out);
/* event_text.c: what an event says: what its type is about (a call with its arguments, what is asked, how a turn
 * ended), the texts of its content, else its metadata as name=value. Not yet plain. */
void event_text(const struct json *event, struct buffer *out);

#endif
