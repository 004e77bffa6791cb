/* A session as people see it: a row of a list, or everything about one. */
#ifndef CLI_SESSION_VIEW_H
#define CLI_SESSION_VIEW_H

#include "base/json.h"
#include "cli/table.h"

extern const struct table_column session_columns[];

/* What names the session best: its title, or what was said. */
struct slice session_heading(const struct json *session);

void session_row_add(struct table *table, const struct json *session, int64_t now_ms);
void session_page_write(const struct json *session, int64_t now_ms, bool has_colours, struct buffer *out);

#endif
