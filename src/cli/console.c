#include "cli/console.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MIN = 8, COLUMNS_UNKNOWN = 80, ROWS_UNKNOWN = 24, ROWS_MIN = 3 };

#define CLEAR_BELOW "\r\033[J"
#define CLEAR_SCREEN "\033[H\033[2J"

void console_release(struct console *console)
{
    for (size_t i = 0; i < CONSOLE_LINES_KEPT; i++) {
        buffer_release(&console->kept[i].text);
    }
    buffer_release(&console->out);
    buffer_release(&console->area);
}

size_t console_area_columns(const struct console *console)
{
    return console->columns - 1; /* a row that fills the terminal leaves the cursor between two rows */
}

/* --- writing --- */

/* A terminal that was set not to block by another program still gets everything. */
static bool write_all(struct slice text)
{
    while (text.len) {
        ssize_t count = write(STDOUT_FILENO, text.ptr, text.len);
        if (count >= 0) {
            text = slice_after(text, (size_t)count);
        } else if (errno == EAGAIN) {
            struct pollfd wait = {STDOUT_FILENO, POLLOUT, 0};
            (void)poll(&wait, 1, 1000);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static void erase_area(struct console *console)
{
    if (!console->is_drawn) {
        return;
    }
    if (console->drawn_cursor_row) {
        buffer_format(&console->out, "\033[%zuA", console->drawn_cursor_row);
    }
    buffer_add(&console->out, SLICE(CLEAR_BELOW));
    console->is_drawn = false;
    console->is_changed = true;
}

static size_t count_rows(struct slice rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows.len; i++) {
        count += rows.ptr[i] == '\n';
    }
    return count;
}

/* The line ends stand between rows: the last row of the area has none, so that the terminal does not scroll. */
static void draw_area(struct console *console)
{
    struct slice area = buffer_slice(&console->area);
    size_t last = count_rows(area) ? count_rows(area) - 1 : 0;
    for (size_t i = 0; i < area.len; i++) {
        if (area.ptr[i] != '\n') {
            buffer_add_byte(&console->out, area.ptr[i]);
        } else if (i + 1 < area.len) {
            buffer_add(&console->out, SLICE("\r\n"));
        }
    }
    if (last > console->area_cursor_row) {
        buffer_format(&console->out, "\033[%zuA", last - console->area_cursor_row);
    }
    buffer_add_byte(&console->out, '\r');
    if (console->area_cursor_column) {
        buffer_format(&console->out, "\033[%zuC", console->area_cursor_column);
    }
    console->drawn_cursor_row = console->area_cursor_row;
    console->is_drawn = area.len > 0;
    console->is_changed = false;
}

void console_flush(struct console *console)
{
    if (console->is_changed) {
        erase_area(console);
        draw_area(console);
    }
    if (console->out.len) {
        console->is_broken = !write_all(buffer_slice(&console->out)) || console->is_broken;
        console->out.len = 0;
    }
}

void console_hide(struct console *console)
{
    erase_area(console);
    console->is_changed = false;
    console_flush(console);
    console->is_changed = console->area.len > 0;
}

/* --- lines --- */

static void write_rows(struct console *console, const struct console_line *line)
{
    struct buffer rows = {0};
    struct wrap wrap = line->wrap;
    wrap.columns = console->columns;
    (void)wrap_line(&wrap, buffer_slice(&line->text), &rows);
    for (size_t i = 0; i < rows.len; i++) {
        if (rows.ptr[i] == '\n') {
            buffer_add_byte(&console->out, '\r');
        }
        buffer_add_byte(&console->out, rows.ptr[i]);
    }
    buffer_release(&rows);
}

void console_print(struct console *console, struct wrap wrap, struct slice line)
{
    struct console_line *kept = &console->kept[console->kept_count++ % CONSOLE_LINES_KEPT];
    kept->text.len = 0;
    buffer_add(&kept->text, line);
    kept->wrap = wrap;
    erase_area(console);
    write_rows(console, kept);
    console->is_changed = true;
}

void console_set_area(struct console *console, struct slice rows, size_t cursor_row, size_t cursor_column)
{
    bool is_same = console->is_drawn && slice_eq(buffer_slice(&console->area), rows) &&
                   cursor_row == console->area_cursor_row && cursor_column == console->area_cursor_column;
    if (is_same) {
        return;
    }
    console->area.len = 0;
    buffer_add(&console->area, rows);
    console->area_cursor_row = cursor_row;
    console->area_cursor_column = cursor_column;
    console->is_changed = true;
}

/* --- the size --- */

static size_t rows_of(const struct console *console, const struct console_line *line)
{
    struct buffer ignored = {0};
    struct wrap wrap = line->wrap;
    wrap.columns = console->columns;
    size_t rows = wrap_line(&wrap, buffer_slice(&line->text), &ignored);
    buffer_release(&ignored);
    return rows;
}

void console_redraw(struct console *console)
{
    size_t oldest = console->kept_count > CONSOLE_LINES_KEPT ? console->kept_count - CONSOLE_LINES_KEPT : 0;
    size_t first = console->kept_count, rows = 0;
    while (first > oldest && rows < console->rows) {
        rows += rows_of(console, &console->kept[--first % CONSOLE_LINES_KEPT]);
    }
    console->is_drawn = false;
    buffer_add(&console->out, SLICE(CLEAR_SCREEN));
    for (; first < console->kept_count; first++) {
        write_rows(console, &console->kept[first % CONSOLE_LINES_KEPT]);
    }
    console->is_changed = true;
}

void console_resize(struct console *console)
{
    struct winsize size = {0};
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    size_t columns = is_known ? size.ws_col : COLUMNS_UNKNOWN,
           rows = is_known && size.ws_row ? size.ws_row : ROWS_UNKNOWN;
    size_t before = console->columns, rows_before = console->rows;
    console->columns = columns < COLUMNS_MIN ? COLUMNS_MIN : columns;
    console->rows = rows < ROWS_MIN ? ROWS_MIN : rows;
    bool has_changed = before && (before != console->columns || rows_before != console->rows);
    if (has_changed && console->kept_count) {
        console_redraw(console);
    }
}
