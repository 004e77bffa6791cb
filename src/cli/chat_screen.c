#include "cli/chat_screen.h"

enum { FOLDED_COLUMNS_MAX = 120, FOLDED_BYTES_MAX = 2000 };

void chat_screen_release(struct chat_screen *screen)
{
    buffer_release(&screen->spoken);
    buffer_release(&screen->held);
}

static void put(struct chat_screen *screen, FILE *file, struct slice text)
{
    if (screen->editor && !line_editor_is_empty(screen->editor)) {
        buffer_add(&screen->held, text);
        return;
    }
    if (screen->editor) {
        line_editor_hide(screen->editor);
    }
    screen->is_broken = !print_text(file, text) || screen->is_broken;
}

void chat_screen_flush(struct chat_screen *screen)
{
    if (screen->held.len && line_editor_is_empty(screen->editor)) {
        line_editor_hide(screen->editor);
        screen->is_broken = !print_text(stdout, buffer_slice(&screen->held)) || screen->is_broken;
        screen->held.len = 0;
    }
}

static FILE *aside(const struct chat_screen *screen)
{
    return screen->editor ? stdout : stderr;
}

/* Removes the line that said that the agent thinks, ends the one of live text. */
static void end_line(struct chat_screen *screen, struct buffer *out)
{
    if (screen->is_thinking) {
        buffer_add(out, SLICE("\r\033[K"));
    }
    if (screen->is_mid_line) {
        buffer_add_byte(out, '\n');
    }
    screen->is_thinking = screen->is_mid_line = false;
}

static void put_line(struct chat_screen *screen, enum colour colour, struct slice text)
{
    struct buffer line = {0};
    FILE *file = aside(screen);
    if (screen->is_mid_line && file != stdout) {
        put(screen, stdout, SLICE("\n"));
        screen->is_mid_line = false;
    }
    end_line(screen, &line);
    if (screen->has_colours && colour != COLOUR_NONE) {
        buffer_add(&line, colour_code(colour));
    }
    buffer_add(&line, text);
    if (screen->has_colours && colour != COLOUR_NONE) {
        buffer_add(&line, colour_code(COLOUR_NONE));
    }
    buffer_add_byte(&line, '\n');
    put(screen, file, buffer_slice(&line));
    buffer_release(&line);
}

/* --- what the agent says --- */

static void put_live(struct chat_screen *screen, struct slice text)
{
    struct buffer out = {0};
    if (screen->is_thinking) {
        end_line(screen, &out);
    }
    text_add_lines(&out, text);
    screen->is_mid_line = text.len ? text.ptr[text.len - 1] != '\n' : screen->is_mid_line;
    put(screen, stdout, buffer_slice(&out));
    buffer_release(&out);
}

void chat_screen_speak(struct chat_screen *screen, struct slice text)
{
    if (screen->is_silent || text.len == 0) {
        return;
    }
    buffer_add(&screen->spoken, text);
    put_live(screen, text);
}

void chat_screen_finish(struct chat_screen *screen, struct slice whole)
{
    struct slice spoken = buffer_slice(&screen->spoken);
    if (!screen->is_silent) {
        bool goes_on = slice_starts(whole, spoken);
        if (!goes_on && screen->is_mid_line) {
            put_live(screen, SLICE("\n"));
        }
        put_live(screen, goes_on ? slice_after(whole, spoken.len) : whole);
        if (screen->is_mid_line) {
            put_live(screen, SLICE("\n"));
        }
    }
    screen->spoken.len = 0;
}

void chat_screen_think(struct chat_screen *screen)
{
    if (screen->is_silent || !screen->editor || screen->is_thinking) {
        return;
    }
    struct buffer line = {0};
    end_line(screen, &line);
    buffer_add(&line, SLICE("· thinking …"));
    put(screen, stdout, buffer_slice(&line));
    buffer_release(&line);
    screen->is_thinking = true;
}

void chat_screen_fold(struct chat_screen *screen, const char *mark, struct slice text)
{
    struct buffer line = {0}, plain = {0};
    size_t columns = terminal_columns(aside(screen));
    if (screen->is_silent) {
        return;
    }
    buffer_format(&plain, "%s ", mark);
    text_add_plain(&plain, slice_utf8_prefix(text, FOLDED_BYTES_MAX));
    text_add_fitted(&line, buffer_slice(&plain),
                    columns && columns < FOLDED_COLUMNS_MAX ? columns : FOLDED_COLUMNS_MAX);
    put_line(screen, COLOUR_DIM, buffer_slice(&line));
    buffer_release(&line);
    buffer_release(&plain);
}

void chat_screen_quote(struct chat_screen *screen, struct slice text)
{
    struct buffer plain = {0};
    if (screen->is_silent) {
        return;
    }
    buffer_add(&plain, SLICE("> "));
    text_add_lines(&plain, text);
    put_line(screen, COLOUR_BOLD, buffer_slice(&plain));
    buffer_release(&plain);
}

void chat_screen_note(struct chat_screen *screen, enum colour colour, struct slice text)
{
    struct buffer plain = {0};
    text_add_lines(&plain, text);
    put_line(screen, colour, buffer_slice(&plain));
    buffer_release(&plain);
}

void chat_screen_make_room(struct chat_screen *screen)
{
    struct buffer line = {0};
    end_line(screen, &line);
    put(screen, stdout, buffer_slice(&line));
    buffer_release(&line);
}
