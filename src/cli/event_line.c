#include "cli/event_line.h"

#include <time.h>

#include "base/clock.h"
#include "cli/wrap.h"
#include "domain/event_kind.h"

enum {
    SEQUENCE_COLUMNS = 6,
    ROLE_COLUMNS = 6,
    TYPE_COLUMNS = 24,
    SHORT_TYPE_COLUMNS = 21,
    SESSION_COLUMNS = 36,
    SHORT_SESSION_COLUMNS = 18,
    FITTED_ROWS_MAX = 4,
    HANG = 4,
};

struct event_line_style event_line_style(FILE *file, bool with_session)
{
    return (struct event_line_style){terminal_columns(file), terminal_has_colours(file), with_session};
}

/* --- the line --- */

static void add_column(struct buffer *line, struct slice text, size_t columns)
{
    size_t before = line->len;
    text_add_plain(line, text);
    size_t used = text_columns(slice_from(line->ptr + before, line->len - before));
    for (; used < columns; used++) {
        buffer_add_byte(line, ' ');
    }
    buffer_add(line, SLICE("  "));
}

static void add_time(struct buffer *line, struct slice created_at, const char *format, size_t columns)
{
    int64_t wall_ms;
    char text[32] = "";
    if (time_parse(created_at, &wall_ms)) {
        time_t seconds = (time_t)(wall_ms / 1000);
        struct tm local;
        localtime_r(&seconds, &local);
        strftime(text, sizeof text, format, &local);
    }
    add_column(line, slice_of(text), columns);
}

static enum colour role_colour(struct slice role)
{
    int known = enum_names_find(event_role_enum, role);
    return known == ROLE_USER ? COLOUR_CYAN : known == ROLE_AGENT ? COLOUR_GREEN : COLOUR_DIM;
}

/* For files and pipes: everything, on one line. */
static void write_wide_columns(const struct json *event, bool with_session, struct buffer *line)
{
    char sequence[32];
    snprintf(sequence, sizeof sequence, "%*lld", SEQUENCE_COLUMNS, (long long)json_i64_of(event, "sequence"));
    if (with_session) {
        add_column(line, json_text_of(event, "session_id"), SESSION_COLUMNS);
    }
    add_column(line, slice_of(sequence), 0);
    add_time(line, json_text_of(event, "created_at"), "%Y-%m-%d %H:%M:%S", 19);
    add_column(line, json_text_of(event, "role"), ROLE_COLUMNS);
    add_column(line, json_text_of(event, "type"), TYPE_COLUMNS);
}

/* For a terminal: the type says who it was, and a person knows the day. */
static void write_short_columns(const struct json *event, bool with_session, struct buffer *line)
{
    char sequence[32];
    snprintf(sequence, sizeof sequence, "%*lld", SEQUENCE_COLUMNS, (long long)json_i64_of(event, "sequence"));
    if (with_session) {
        struct buffer fitted = {0};
        text_add_fitted(&fitted, json_text_of(event, "session_id"), SHORT_SESSION_COLUMNS);
        add_column(line, buffer_slice(&fitted), SHORT_SESSION_COLUMNS);
        buffer_release(&fitted);
    }
    add_column(line, slice_of(sequence), 0);
    add_time(line, json_text_of(event, "created_at"), "%H:%M:%S", 8);
    add_column(line, json_text_of(event, "type"), SHORT_TYPE_COLUMNS);
}

static bool is_prose(const struct json *event)
{
    static const enum event_kind kinds[] = {EVENT_USER_MESSAGE, EVENT_AGENT_MESSAGE, EVENT_AGENT_THINKING,
                                            EVENT_SYSTEM_MESSAGE};
    enum event_kind kind = event_kind_find(json_text_of(event, "type"));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kind == kinds[i]) {
            return true;
        }
    }
    return false;
}

/* Only prose may be made plain; commands, arguments and results stay exact. */
static void add_text(const struct json *event, struct buffer *line)
{
    struct buffer text = {0};
    event_text(event, &text);
    if (is_prose(event)) {
        text_add_plain(line, buffer_slice(&text));
    } else {
        text_add_exact_line(line, buffer_slice(&text));
    }
    buffer_release(&text);
    while (line->len && line->ptr[line->len - 1] == ' ') {
        line->len--;
    }
}

/* The rows that a terminal has for it; the last says how much was cut, where that is more than it takes to say so. */
static void add_rows(struct slice line, size_t columns, enum wrap_kind kind, struct buffer *out)
{
    struct buffer rows = {0};
    struct wrap wrap = {.columns = columns, .hang = HANG, .kind = kind};
    size_t count = wrap_line(&wrap, line, &rows), at = 0;
    size_t shown = count <= FITTED_ROWS_MAX + 1 ? count : FITTED_ROWS_MAX;
    for (size_t row = 0; row < shown; row++) {
        at = (size_t)((char *)memchr(rows.ptr + at, '\n', rows.len - at) - rows.ptr) + 1;
    }
    buffer_add(out, slice_from(rows.ptr, at));
    if (count > shown) {
        size_t indents = (count - shown) * (HANG + 1);
        buffer_format(out, "    … %zu more bytes; --json shows all\n", rows.len - at - indents);
    }
    buffer_release(&rows);
}

void event_line_write(const struct json *event, const struct event_line_style *style, struct buffer *out)
{
    struct buffer line = {0};
    (style->columns ? write_short_columns : write_wide_columns)(event, style->with_session, &line);
    add_text(event, &line);
    if (style->has_colours) {
        buffer_add(out, colour_code(role_colour(json_text_of(event, "role"))));
    }
    if (style->columns) {
        add_rows(buffer_slice(&line), style->columns, is_prose(event) ? WRAP_WORDS : WRAP_EXACT, out);
        out->len--; /* the line end comes after the colour */
    } else {
        buffer_add(out, buffer_slice(&line));
    }
    if (style->has_colours) {
        buffer_add(out, colour_code(COLOUR_NONE));
    }
    buffer_add_byte(out, '\n');
    buffer_release(&line);
}
