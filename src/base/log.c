#include "base/log.h"

#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json.h"

static const char *const level_names[LOG_LEVEL_COUNT] = {"debug", "info", "warn", "error"};
static enum log_level least_level = LOG_INFO;
static enum log_format line_format = LOG_FORMAT_TEXT;

void log_configure(enum log_level least, enum log_format format)
{
    least_level = least;
    line_format = format;
}

bool log_enabled(enum log_level level)
{
    return level >= least_level;
}

static void add_json_line(struct buffer *line, const char *time, enum log_level level, const char *event,
                          const struct log_field *fields)
{
    struct json_out out = json_out_to(line);
    json_begin_object(&out);
    json_put_text(&out, "time", slice_of(time));
    json_put_text(&out, "level", slice_of(level_names[level]));
    json_put_text(&out, "event", slice_of(event));
    for (const struct log_field *field = fields; field->key; field++) {
        if (field->is_number) {
            json_put_i64(&out, field->key, field->number);
        } else {
            json_put_text(&out, field->key, field->text);
        }
    }
    json_end_object(&out);
}

static bool needs_quotes(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7F) {
            return true;
        }
    }
    return text.len == 0;
}

static void add_text_line(struct buffer *line, const char *time, enum log_level level, const char *event,
                          const struct log_field *fields)
{
    buffer_format(line, "%s %-5s %s", time, level_names[level], event);
    for (const struct log_field *field = fields; field->key; field++) {
        buffer_format(line, " %s=", field->key);
        if (field->is_number) {
            buffer_add_i64(line, field->number);
        } else if (needs_quotes(field->text)) {
            struct json_out out = json_out_to(line);
            json_text(&out, slice_present(field->text) ? field->text : SLICE(""));
        } else {
            buffer_add(line, field->text);
        }
    }
}

void log_write(enum log_level level, const char *event, const struct log_field *fields)
{
    if (!log_enabled(level)) {
        return;
    }
    struct clock clock;
    clock_init_system(&clock);
    char time[TIME_TEXT_BYTES];
    time_format(clock_wall_ms(&clock), time);
    struct buffer line = {0};
    if (line_format == LOG_FORMAT_JSON) {
        add_json_line(&line, time, level, event, fields);
    } else {
        add_text_line(&line, time, level, event, fields);
    }
    buffer_add_byte(&line, '\n');
    ssize_t written = write(STDERR_FILENO, line.ptr, line.len);
    (void)written; /* nobody is left to tell */
    buffer_release(&line);
}
