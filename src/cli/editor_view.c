#include "cli/editor_view.h"

#include "cli/glyph.h"
#include "cli/terminal.h"
#include "cli/wrap.h"

enum { INDENT = 2, TAB_COLUMNS = 4 };

void editor_view_release(struct editor_view *view)
{
    buffer_release(&view->rows);
}

static void add_spaces(struct buffer *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(out, ' ');
    }
}

struct drawing {
    struct editor_view *view;
    size_t columns;
    size_t column;
};

static void next_row(struct drawing *drawing)
{
    buffer_add_byte(&drawing->view->rows, '\n');
    drawing->view->row_count++;
    add_spaces(&drawing->view->rows, INDENT);
    drawing->column = INDENT;
}

static void draw_glyph(struct drawing *drawing, const struct glyph *glyph)
{
    struct buffer *rows = &drawing->view->rows;
    size_t columns = glyph->code == '\t' ? TAB_COLUMNS : glyph->columns;
    if (glyph->code == '\n') {
        next_row(drawing);
        return;
    }
    if (drawing->column + columns > drawing->columns) {
        next_row(drawing);
    }
    if (glyph->code == '\t') {
        add_spaces(rows, TAB_COLUMNS);
    } else if (glyph->kind == GLYPH_SHOWN || glyph->kind == GLYPH_MARK) {
        buffer_add(rows, glyph->bytes);
    }
    drawing->column += columns;
}

static void mark_cursor(struct drawing *drawing)
{
    if (drawing->column >= drawing->columns) {
        next_row(drawing);
    }
    drawing->view->cursor_row = drawing->view->row_count;
    drawing->view->cursor_column = drawing->column;
}

static void draw_text(struct drawing *drawing, struct slice text, size_t cursor)
{
    struct slice rest = text;
    while (rest.len) {
        if (text.len - rest.len == cursor) {
            mark_cursor(drawing);
        }
        struct glyph glyph = glyph_take(&rest);
        draw_glyph(drawing, &glyph);
    }
    if (cursor == text.len) {
        mark_cursor(drawing);
    }
}

static void draw_prompt(struct drawing *drawing, struct slice prompt)
{
    size_t columns = text_columns(prompt);
    if (columns <= drawing->columns / 2) {
        buffer_add(&drawing->view->rows, prompt);
        drawing->column = columns;
        return;
    }
    struct wrap wrap = {.columns = drawing->columns};
    drawing->view->row_count += wrap_line(&wrap, slice_trim(prompt), &drawing->view->rows);
    buffer_add(&drawing->view->rows, SLICE("> "));
    drawing->column = INDENT;
}

/* Keeps `rows` rows, those around the cursor. */
static void crop(struct editor_view *view, size_t rows)
{
    if (view->row_count <= rows) {
        return;
    }
    size_t first = view->cursor_row + 1 > rows ? view->cursor_row + 1 - rows : 0;
    size_t row = 0, start = 0, at = 0;
    for (; row < first + rows; row++) {
        start = row == first ? at : start;
        at = (size_t)((char *)memchr(view->rows.ptr + at, '\n', view->rows.len - at) - view->rows.ptr) + 1;
    }
    view->rows.len = at;
    buffer_consume(&view->rows, start);
    view->row_count = rows;
    view->cursor_row -= first;
}

static struct slice search_prompt(const struct editor *editor, struct buffer *out)
{
    buffer_format(out, "(%s ", editor->has_match || editor->query.len == 0 ? "search" : "not found");
    text_add_plain(out, buffer_slice(&editor->query));
    buffer_add(out, SLICE("): "));
    return buffer_slice(out);
}

void editor_view_write(const struct editor *editor, struct slice prompt, struct view_size size, struct editor_view *out)
{
    struct drawing drawing = {.view = out, .columns = size.columns};
    struct buffer search = {0};
    *out = (struct editor_view){0};
    draw_prompt(&drawing, editor->is_searching ? search_prompt(editor, &search) : prompt);
    draw_text(&drawing, editor_text(editor), editor->cursor);
    buffer_add_byte(&out->rows, '\n');
    out->row_count++;
    crop(out, size.rows);
    buffer_release(&search);
}
