#include "cli/session_view.h"

#include "cli/relative_time.h"
#include "cli/wrap.h"
#include "domain/vocabulary.h"

enum { LABEL_COLUMNS = 16 };

const struct table_column session_columns[] = {
    {"SESSION", false, 3}, {"TYPE", false, 0},  {"STATUS", false, 0}, {"AGENT", false, 2},
    {"TITLE", false, 1},   {"EVENTS", true, 0}, {"ACTIVE", true, 0},  {0},
};

/* One colour per display status. */
static const enum colour status_colours[DISPLAY_COUNT] = {
    [DISPLAY_ACTIVE] = COLOUR_GREEN,   [DISPLAY_IDLE] = COLOUR_NONE,         [DISPLAY_PAUSED] = COLOUR_YELLOW,
    [DISPLAY_BLOCKED] = COLOUR_YELLOW, [DISPLAY_RECOVERING] = COLOUR_YELLOW, [DISPLAY_FAILED] = COLOUR_RED,
    [DISPLAY_COMPLETED] = COLOUR_DIM,
};

static enum colour status_colour(const struct json *session)
{
    int status = enum_names_find(display_status_enum, json_text_of(session, "display_status"));
    return status >= 0 ? status_colours[status] : COLOUR_NONE;
}

struct slice session_heading(const struct json *session)
{
    static const char *const keys[] = {"title", "prompt_snippet", "preview"};
    struct slice text = {0};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !text.len; i++) {
        text = json_text_of(session, keys[i]);
    }
    return text;
}

void session_row_add(struct table *table, const struct json *session, int64_t now_ms)
{
    char moment[RELATIVE_TIME_BYTES];
    table_add(table, json_text_of(session, "id"));
    table_add(table, json_text_of(session, "type"));
    table_add_coloured(table, json_text_of(session, "status"), status_colour(session));
    table_add(table, json_text_of(session, "agent"));
    table_add(table, session_heading(session));
    table_add(table, json_raw_of(session, "last_sequence"));
    table_add(table, relative_time_of_text(json_text_of(session, "last_active_at"), now_ms, moment));
}

/* --- everything about one --- */

enum view_kind { VIEW_VALUE, VIEW_MOMENT, VIEW_COUNT };

static const struct {
    const char *label;
    const char *key;
    enum view_kind kind;
} lines[] = {
    {"title", "title", VIEW_VALUE},
    {"type", "type", VIEW_VALUE},
    {"agent", "agent", VIEW_VALUE},
    {"purpose", "purpose", VIEW_VALUE},
    {"runtime", "runtime", VIEW_VALUE},
    {"pause reason", "pause_reason", VIEW_VALUE},
    {"stop reason", "stop_reason", VIEW_VALUE},
    {"reason", "status_reason", VIEW_VALUE},
    {"workspace", "workspace", VIEW_VALUE},
    {"owner", "owner_id", VIEW_VALUE},
    {"visibility", "visibility", VIEW_VALUE},
    {"parent", "parent_id", VIEW_VALUE},
    {"task", "task_id", VIEW_VALUE},
    {"entity", "entity_id", VIEW_VALUE},
    {"retry of", "retry_of", VIEW_VALUE},
    {"priority", "priority", VIEW_COUNT},
    {"queue mode", "queue_mode", VIEW_VALUE},
    {"metadata", "metadata", VIEW_VALUE},
    {"prompt", "initial_prompt", VIEW_VALUE},
    {"preview", "preview", VIEW_VALUE},
    {"result", "result", VIEW_VALUE},
    {"error", "error", VIEW_VALUE},
    {"usage", "usage", VIEW_VALUE},
    {"events", "last_sequence", VIEW_COUNT},
    {"messages", "message_count", VIEW_COUNT},
    {"tool calls", "tool_call_count", VIEW_COUNT},
    {"claims", "fence", VIEW_COUNT},
    {"created", "created_at", VIEW_MOMENT},
    {"started", "started_at", VIEW_MOMENT},
    {"active", "last_active_at", VIEW_MOMENT},
    {"completed", "completed_at", VIEW_MOMENT},
    {"archived", "archived_at", VIEW_MOMENT},
    {"expires", "expires_at", VIEW_MOMENT},
};

/* Values are exact; a long one goes on below itself. */
static void add_line(struct buffer *out, const char *label, struct slice text)
{
    struct buffer line = {0};
    struct wrap wrap = {.columns = terminal_columns(stdout), .hang = LABEL_COLUMNS};
    buffer_format(&line, "  %-13s ", label);
    text_add_exact_line(&line, text);
    if (wrap.columns) {
        (void)wrap_line(&wrap, buffer_slice(&line), out);
    } else {
        buffer_add(out, buffer_slice(&line));
        buffer_add_byte(out, '\n');
    }
    buffer_release(&line);
}

static bool is_empty(const struct json *value)
{
    return !value || (value->kind == JSON_OBJECT && value->count == 0) ||
           (value->kind == JSON_STRING && value->text.len == 0);
}

static void add_value(struct buffer *out, const char *label, const struct json *value, enum view_kind kind,
                      int64_t now_ms)
{
    char moment[RELATIVE_TIME_BYTES], both[RELATIVE_TIME_BYTES + 48];
    struct slice text = value->kind == JSON_STRING ? value->text : value->raw;
    if (kind == VIEW_MOMENT) {
        snprintf(both, sizeof both, "%.*s (%.*s)", (int)(text.len > 30 ? 30 : text.len), text.ptr,
                 SLICE_ARG(relative_time_of_text(text, now_ms, moment)));
        text = slice_of(both);
    }
    if (kind != VIEW_COUNT || !slice_is(text, "0")) {
        add_line(out, label, text);
    }
}

static void add_status(struct buffer *out, const struct json *session, bool has_colours)
{
    struct slice reason = json_text_of(session, "display_reason");
    enum colour colour = has_colours ? status_colour(session) : COLOUR_NONE;
    buffer_format(out, "  %-13s ", "status");
    if (colour != COLOUR_NONE) {
        buffer_add(out, colour_code(colour));
    }
    text_add_plain(out, json_text_of(session, "status"));
    if (colour != COLOUR_NONE) {
        buffer_add(out, colour_code(COLOUR_NONE));
    }
    if (reason.len) {
        buffer_add(out, SLICE(", "));
        text_add_plain(out, reason);
    }
    buffer_add_byte(out, '\n');
}

void session_page_write(const struct json *session, int64_t now_ms, bool has_colours, struct buffer *out)
{
    text_add_plain(out, json_text_of(session, "id"));
    buffer_add_byte(out, '\n');
    add_status(out, session, has_colours);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct json *value = json_get_value(session, lines[i].key);
        if (!is_empty(value)) {
            add_value(out, lines[i].label, value, lines[i].kind, now_ms);
        }
    }
}
