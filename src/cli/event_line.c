#include "cli/event_line.h"

#include <time.h>

#include "base/clock.h"

enum { SEQUENCE_COLUMNS = 6, ROLE_COLUMNS = 6, TYPE_COLUMNS = 24, SESSION_COLUMNS = 36 };

struct event_line_style event_line_style(FILE *file, bool with_session)
{
    return (struct event_line_style){terminal_columns(file), terminal_has_colours(file), with_session};
}

/* --- what it says --- */

static void add_part(const struct json *part, struct buffer *out)
{
    struct slice text = json_text_of(part, "text"), name = json_text_of(part, "name");
    if (slice_present(text)) {
        buffer_add(out, text);
    } else {
        buffer_format(out, "[%.*s%s%.*s]", SLICE_ARG(json_text_of(part, "type")), name.len ? " " : "", SLICE_ARG(name));
    }
}

static void add_content(const struct json *content, struct buffer *out)
{
    for (const struct json *part = content->child; part; part = part->next) {
        if (part != content->child) {
            buffer_add_byte(out, ' ');
        }
        add_part(part, out);
    }
}

static void add_metadata(const struct json *metadata, struct buffer *out)
{
    for (const struct json *member = metadata->child; member; member = member->next) {
        buffer_format(out, "%s%.*s=", member == metadata->child ? "" : " ", SLICE_ARG(member->key));
        buffer_add(out, member->kind == JSON_STRING ? member->text : member->raw);
    }
}

void event_text(const struct json *event, struct buffer *out)
{
    const struct json *content = json_get_value(event, "content"), *metadata = json_get_value(event, "metadata");
    if (json_is(content, JSON_ARRAY) && content->count) {
        add_content(content, out);
    } else if (json_is(metadata, JSON_OBJECT)) {
        add_metadata(metadata, out);
    }
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

static void add_time(struct buffer *line, struct slice created_at)
{
    int64_t wall_ms;
    char text[32] = "";
    if (time_parse(created_at, &wall_ms)) {
        time_t seconds = (time_t)(wall_ms / 1000);
        struct tm local;
        localtime_r(&seconds, &local);
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    }
    add_column(line, slice_of(text), 19);
}

static enum colour role_colour(struct slice role)
{
    return slice_is(role, "user") ? COLOUR_CYAN : slice_is(role, "agent") ? COLOUR_GREEN : COLOUR_DIM;
}

static void write_plain(const struct json *event, const struct event_line_style *style, struct buffer *line)
{
    struct buffer text = {0};
    char sequence[32];
    snprintf(sequence, sizeof sequence, "%*lld", SEQUENCE_COLUMNS, (long long)json_i64_of(event, "sequence"));
    if (style->with_session) {
        add_column(line, json_text_of(event, "session_id"), SESSION_COLUMNS);
    }
    add_column(line, slice_of(sequence), 0);
    add_time(line, json_text_of(event, "created_at"));
    add_column(line, json_text_of(event, "role"), ROLE_COLUMNS);
    add_column(line, json_text_of(event, "type"), TYPE_COLUMNS);
    event_text(event, &text);
    text_add_plain(line, buffer_slice(&text));
    buffer_release(&text);
    while (line->len && line->ptr[line->len - 1] == ' ') {
        line->len--;
    }
}

void event_line_write(const struct json *event, const struct event_line_style *style, struct buffer *out)
{
    struct buffer line = {0};
    write_plain(event, style, &line);
    if (style->has_colours) {
        buffer_add(out, colour_code(role_colour(json_text_of(event, "role"))));
    }
    text_add_fitted(out, buffer_slice(&line), style->columns);
    if (style->has_colours) {
        buffer_add(out, colour_code(COLOUR_NONE));
    }
    buffer_add_byte(out, '\n');
    buffer_release(&line);
}
