/* Any bytes as keys: the text stays sound, the cursor between two characters, what is drawn fits; and a line of an
 * agent gets colours and nothing else. */
#include "cli/editor_view.h"
#include "cli/glyph.h"
#include "cli/markdown.h"
#include "cli/terminal.h"
#include "fuzz.h"

static void check_text(const struct editor *editor)
{
    struct slice text = editor_text(editor), rest = text;
    CHECK(slice_is_utf8(text));
    CHECK(editor->cursor <= text.len);
    CHECK(slice_is_utf8(slice_from(text.ptr, editor->cursor)));
    while (rest.len) {
        struct glyph glyph = glyph_take(&rest);
        CHECK(glyph.kind != GLYPH_STEERING || glyph.code == '\n' || glyph.code == '\t');
    }
}

static void check_view(const struct editor *editor, struct view_size size)
{
    struct editor_view view;
    struct slice row, rest;
    size_t count = 0;
    editor_view_write(editor, SLICE("> "), size, &view);
    rest = buffer_slice(&view.rows);
    CHECK(view.row_count >= 1 && view.row_count <= size.rows);
    CHECK(view.cursor_row < view.row_count && view.cursor_column < size.columns);
    while (slice_cut(rest, '\n', &row, &rest)) {
        CHECK(text_columns(row) <= size.columns);
        count++;
    }
    CHECK(count == view.row_count && rest.len == 0);
    editor_view_release(&view);
}

/* Colours are all that is added. */
static void check_markdown(struct slice text)
{
    struct markdown markdown = {0};
    struct buffer plain = {0}, coloured = {0}, rows = {0};
    struct wrap wrap = {0};
    text_add_plain(&plain, text);
    markdown_line(&markdown, buffer_slice(&plain), &coloured, &wrap);
    size_t at = 0;
    for (size_t i = 0; i < coloured.len; i++) {
        if (coloured.ptr[i] == 033) {
            while (coloured.ptr[i] != 'm') {
                i++;
            }
        } else {
            CHECK(at < plain.len && plain.ptr[at] == coloured.ptr[i]);
            at++;
        }
    }
    CHECK(at == plain.len);
    wrap.columns = 1 + text.len % 50;
    CHECK(wrap_line(&wrap, buffer_slice(&coloured), &rows) >= 1);
    buffer_release(&plain);
    buffer_release(&coloured);
    buffer_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct history history;
    struct editor editor = {.history = &history};
    struct key_reader reader = {0};
    struct key key;
    history_read(&history, SLICE("one\ntwo\\nlines\n\u65e5\u672c\n"));
    for (size_t at = 0; at < size;) {
        size_t wanted = 1u + data[at] % 7u, piece = wanted < size - at ? wanted : size - at;
        key_reader_add(&reader, slice_from(data + at, piece));
        at += piece;
        while (key_reader_take(&reader, at == size, &key)) {
            (void)editor_key(&editor, &key);
            check_text(&editor);
        }
    }
    check_view(&editor, (struct view_size){8 + size % 40, 1 + size % 10});
    check_markdown(slice_from(data, size));
    key_reader_release(&reader);
    editor_release(&editor);
    history_release(&history);
    return 0;
}
