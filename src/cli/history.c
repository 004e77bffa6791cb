#include "cli/history.h"

#include <string.h>

#define LIBEDIT_HEAD "_HiStOrY_V2_"

void history_release(struct history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        buffer_release(&history->lines[i]);
    }
    history->count = 0;
}

struct slice history_line(const struct history *history, size_t at)
{
    return buffer_slice(&history->lines[at]);
}

bool history_add(struct history *history, struct slice line)
{
    bool is_repeat = history->count && slice_eq(history_line(history, history->count - 1), line);
    if (line.len == 0 || is_repeat) {
        return false;
    }
    if (history->count == HISTORY_LINES_MAX) {
        buffer_release(&history->lines[0]);
        memmove(&history->lines[0], &history->lines[1], (HISTORY_LINES_MAX - 1) * sizeof history->lines[0]);
        history->count--;
    }
    history->lines[history->count] = (struct buffer){0};
    buffer_add(&history->lines[history->count++], line);
    return true;
}

bool history_find(const struct history *history, size_t before, struct slice text, size_t *out_at)
{
    for (size_t at = before; at-- > 0;) {
        struct slice line = history_line(history, at);
        if (text.len && line.len && memmem(line.ptr, line.len, text.ptr, text.len)) {
            *out_at = at;
            return true;
        }
    }
    return false;
}

/* --- the file --- */

static bool is_octal(struct slice text)
{
    for (size_t i = 0; i < 3; i++) {
        if (i >= text.len || text.ptr[i] < '0' || text.ptr[i] > (i ? '7' : '3')) {
            return false;
        }
    }
    return true;
}

/* What stands after a backslash; returns how many bytes it took. */
static size_t add_escaped(struct buffer *out, struct slice after)
{
    if (is_octal(after)) {
        buffer_add_byte(out, (char)((after.ptr[0] - '0') * 64 + (after.ptr[1] - '0') * 8 + (after.ptr[2] - '0')));
        return 3;
    }
    if (after.len == 0) {
        return 0;
    }
    buffer_add_byte(out, after.ptr[0] == 'n' ? '\n' : after.ptr[0]);
    return 1;
}

static void read_line(struct history *history, struct slice written)
{
    struct buffer line = {0};
    for (size_t i = 0; i < written.len; i++) {
        if (written.ptr[i] == '\\') {
            i += add_escaped(&line, slice_after(written, i + 1));
        } else {
            buffer_add_byte(&line, written.ptr[i]);
        }
    }
    if (slice_is_utf8(buffer_slice(&line))) {
        (void)history_add(history, buffer_slice(&line));
    }
    buffer_release(&line);
}

void history_read(struct history *history, struct slice file)
{
    while (file.len) {
        struct slice line, rest = {0};
        (void)slice_cut(file, '\n', &line, &rest);
        if (!slice_is(line, LIBEDIT_HEAD)) {
            read_line(history, line);
        }
        file = rest;
    }
}

void history_write_line(struct buffer *out, struct slice line)
{
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (c == '\n' || c == '\\') {
            buffer_add_byte(out, '\\');
        }
        buffer_add_byte(out, c == '\n' ? 'n' : c);
    }
    buffer_add_byte(out, '\n');
}
