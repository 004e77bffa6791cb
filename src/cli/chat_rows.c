/* The last rows of the terminal: what the agent is saying, the line being typed, the status. */
#include "cli/chat_terminal.h"
#include "cli/editor_view.h"

/* The last rows of the line that the agent has not ended. */
static size_t draw_live(struct chat *chat, size_t rows_max, struct buffer *rows)
{
    struct buffer coloured = {0}, all = {0};
    struct markdown markdown = chat->screen.markdown;
    struct wrap wrap = {0};
    size_t count = 0, skip = 0;
    if (chat->screen.live.len) {
        markdown_line(&markdown, buffer_slice(&chat->screen.live), &coloured, &wrap);
        wrap.columns = console_area_columns(&chat->terminal->console);
        count = wrap_line(&wrap, chat->screen.has_colours ? buffer_slice(&coloured) : buffer_slice(&chat->screen.live),
                          &all);
    }
    struct slice rest = buffer_slice(&all);
    for (skip = count > rows_max ? count - rows_max : 0; skip; skip--, count--) {
        struct slice dropped;
        (void)slice_cut(rest, '\n', &dropped, &rest);
    }
    buffer_add(rows, rest);
    buffer_release(&coloured);
    buffer_release(&all);
    return count;
}

static void draw_status(struct chat *chat, struct buffer *rows)
{
    struct buffer status = {0}, fitted = {0};
    chat_status_write(chat, &status);
    text_add_fitted(&fitted, buffer_slice(&status), console_area_columns(&chat->terminal->console));
    text_add_coloured(rows, chat->screen.has_colours ? COLOUR_DIM : COLOUR_NONE, buffer_slice(&fitted));
    buffer_add_byte(rows, '\n');
    buffer_release(&status);
    buffer_release(&fitted);
}

static struct slice prompt_of(const struct chat *chat)
{
    bool answers = chat->terminal->purpose == LINE_ANSWER && chat->ask_prompt;
    return answers ? slice_of(chat->ask_prompt) : SLICE("> ");
}

void chat_rows_draw(struct chat *chat)
{
    struct console *console = &chat->terminal->console;
    struct buffer rows = {0};
    struct editor_view view;
    size_t half = (console->rows - 1) / 2;
    size_t live = draw_live(chat, half > 1 ? half - 1 : 1, &rows);
    struct view_size size = {console_area_columns(console), half ? half : 1};
    editor_view_write(&chat->terminal->editor, prompt_of(chat), size, &view);
    buffer_add(&rows, buffer_slice(&view.rows));
    draw_status(chat, &rows);
    console_set_area(console, buffer_slice(&rows), live + view.cursor_row, view.cursor_column);
    console_flush(console);
    chat->screen.is_broken = chat->screen.is_broken || console->is_broken;
    editor_view_release(&view);
    buffer_release(&rows);
}
