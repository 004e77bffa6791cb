/* An event folded to one line for people. */
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
/* Sequence, local time, role, type and what it says, with a line end. */
void event_line_write(const struct json *event, const struct event_line_style *style, struct buffer *out);
/* What an event says: the texts of its content, else its metadata as name=value. Not yet plain. */
void event_text(const struct json *event, struct buffer *out);

#endif
