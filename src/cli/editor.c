#include "cli/editor_internal.h"
#include "cli/glyph.h"

void editor_release(struct editor *editor)
{
    buffer_release(&editor->text);
    buffer_release(&editor->killed);
    buffer_release(&editor->draft);
    buffer_release(&editor->query);
}

struct slice editor_text(const struct editor *editor)
{
    return buffer_slice(&editor->text);
}

bool editor_is_empty(const struct editor *editor)
{
    return editor->text.len == 0 && !editor->is_searching;
}

void editor_store(struct buffer *buffer, struct slice text)
{
    buffer->len = 0;
    buffer_add(buffer, text);
}

void editor_set(struct editor *editor, struct slice text)
{
    editor_store(&editor->text, text);
    editor->cursor = text.len;
}

void editor_clear(struct editor *editor)
{
    editor->text.len = editor->cursor = editor->history_back = 0;
    editor->is_searching = false;
}

/* --- changing --- */

static void remove_range(struct editor *editor, size_t start, size_t end)
{
    if (start == end) {
        return;
    }
    memmove(editor->text.ptr + start, editor->text.ptr + end, editor->text.len - end);
    editor->text.len -= end - start;
    editor->cursor = start;
}

static void insert(struct editor *editor, struct slice text)
{
    if (text.len == 0 || editor->text.len + text.len > EDITOR_BYTES_MAX) {
        return;
    }
    buffer_reserve(&editor->text, text.len);
    char *at = editor->text.ptr + editor->cursor;
    memmove(at + text.len, at, editor->text.len - editor->cursor);
    memcpy(at, text.ptr, text.len);
    editor->text.len += text.len;
    editor->cursor += text.len;
}

/* What is typed or pasted can hold anything; control characters have no place in a message. */
static void insert_clean(struct editor *editor, struct slice text)
{
    struct buffer clean = {0};
    while (text.len) {
        struct glyph glyph = glyph_take(&text);
        if (glyph.kind != GLYPH_STEERING || glyph.code == '\n' || glyph.code == '\t') {
            buffer_add(&clean, glyph.bytes);
        }
    }
    insert(editor, buffer_slice(&clean));
    buffer_release(&clean);
}

void editor_replace(struct editor *editor, size_t start, struct slice text)
{
    remove_range(editor, start, editor->cursor);
    insert_clean(editor, text);
}

static void kill_range(struct editor *editor, size_t start, size_t end)
{
    if (start < end) {
        editor_store(&editor->killed, slice_from(editor->text.ptr + start, end - start));
        remove_range(editor, start, end);
    }
}

/* --- places --- */

static size_t line_start(const struct editor *editor, size_t at)
{
    while (at > 0 && editor->text.ptr[at - 1] != '\n') {
        at--;
    }
    return at;
}

static size_t line_end(const struct editor *editor, size_t at)
{
    while (at < editor->text.len && editor->text.ptr[at] != '\n') {
        at++;
    }
    return at;
}

static bool is_word_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (unsigned char)c >= 0x80;
}

static size_t word_before(const struct editor *editor)
{
    size_t at = editor->cursor;
    while (at > 0 && !is_word_byte(editor->text.ptr[at - 1])) {
        at--;
    }
    while (at > 0 && is_word_byte(editor->text.ptr[at - 1])) {
        at--;
    }
    return at;
}

static size_t word_after(const struct editor *editor)
{
    size_t at = editor->cursor;
    while (at < editor->text.len && !is_word_byte(editor->text.ptr[at])) {
        at++;
    }
    while (at < editor->text.len && is_word_byte(editor->text.ptr[at])) {
        at++;
    }
    return at;
}

/* --- one function per key --- */

static enum editor_outcome newline(struct editor *editor)
{
    insert(editor, SLICE("\n"));
    return EDITOR_STAYS;
}

static enum editor_outcome backspace(struct editor *editor)
{
    remove_range(editor, glyph_before(editor_text(editor), editor->cursor), editor->cursor);
    return EDITOR_STAYS;
}

static enum editor_outcome delete_here(struct editor *editor)
{
    remove_range(editor, editor->cursor, glyph_after(editor_text(editor), editor->cursor));
    return EDITOR_STAYS;
}

static enum editor_outcome left(struct editor *editor)
{
    editor->cursor = glyph_before(editor_text(editor), editor->cursor);
    return EDITOR_STAYS;
}

static enum editor_outcome right(struct editor *editor)
{
    editor->cursor = glyph_after(editor_text(editor), editor->cursor);
    return EDITOR_STAYS;
}

static enum editor_outcome home(struct editor *editor)
{
    editor->cursor = line_start(editor, editor->cursor);
    return EDITOR_STAYS;
}

static enum editor_outcome end(struct editor *editor)
{
    editor->cursor = line_end(editor, editor->cursor);
    return EDITOR_STAYS;
}

/* The same number of characters into another line, as far as it goes. */
static size_t place_in_line(const struct editor *editor, size_t start, size_t characters)
{
    size_t at = start, last = line_end(editor, start);
    while (characters-- > 0 && at < last) {
        at = glyph_after(editor_text(editor), at);
    }
    return at;
}

static size_t characters_into_line(const struct editor *editor)
{
    size_t count = 0;
    for (size_t at = line_start(editor, editor->cursor); at < editor->cursor; count++) {
        at = glyph_after(editor_text(editor), at);
    }
    return count;
}

static enum editor_outcome up(struct editor *editor)
{
    size_t start = line_start(editor, editor->cursor);
    if (start == 0) {
        return editor_history_back(editor);
    }
    editor->cursor = place_in_line(editor, line_start(editor, start - 1), characters_into_line(editor));
    return EDITOR_STAYS;
}

static enum editor_outcome down(struct editor *editor)
{
    size_t last = line_end(editor, editor->cursor);
    if (last == editor->text.len) {
        return editor_history_forth(editor);
    }
    editor->cursor = place_in_line(editor, last + 1, characters_into_line(editor));
    return EDITOR_STAYS;
}

static enum editor_outcome word_left(struct editor *editor)
{
    editor->cursor = word_before(editor);
    return EDITOR_STAYS;
}

static enum editor_outcome word_right(struct editor *editor)
{
    editor->cursor = word_after(editor);
    return EDITOR_STAYS;
}

static enum editor_outcome delete_word_before(struct editor *editor)
{
    kill_range(editor, word_before(editor), editor->cursor);
    return EDITOR_STAYS;
}

static enum editor_outcome delete_word_after(struct editor *editor)
{
    size_t start = editor->cursor;
    kill_range(editor, start, word_after(editor));
    return EDITOR_STAYS;
}

static enum editor_outcome delete_to_start(struct editor *editor)
{
    kill_range(editor, line_start(editor, editor->cursor), editor->cursor);
    return EDITOR_STAYS;
}

static enum editor_outcome delete_to_end(struct editor *editor)
{
    kill_range(editor, editor->cursor, line_end(editor, editor->cursor));
    return EDITOR_STAYS;
}

static enum editor_outcome yank(struct editor *editor)
{
    insert(editor, buffer_slice(&editor->killed));
    return EDITOR_STAYS;
}

static enum editor_outcome end_of_input(struct editor *editor)
{
    return editor->text.len ? delete_here(editor) : EDITOR_LEAVE;
}

/* Keys that only tell the caller something. */
static const enum editor_outcome told[KEY_KIND_COUNT] = {
    [KEY_ENTER] = EDITOR_SUBMIT,        [KEY_TAB] = EDITOR_COMPLETE,    [KEY_ESCAPE] = EDITOR_ESCAPE,
    [KEY_INTERRUPT] = EDITOR_INTERRUPT, [KEY_SUSPEND] = EDITOR_SUSPEND, [KEY_REDRAW] = EDITOR_REDRAW,
    [KEY_CANCEL] = EDITOR_ESCAPE,
};

static enum editor_outcome (*const done[KEY_KIND_COUNT])(struct editor *editor) = {
    [KEY_NEWLINE] = newline,
    [KEY_BACKSPACE] = backspace,
    [KEY_DELETE] = delete_here,
    [KEY_LEFT] = left,
    [KEY_RIGHT] = right,
    [KEY_UP] = up,
    [KEY_DOWN] = down,
    [KEY_HOME] = home,
    [KEY_END] = end,
    [KEY_WORD_LEFT] = word_left,
    [KEY_WORD_RIGHT] = word_right,
    [KEY_DELETE_WORD_BEFORE] = delete_word_before,
    [KEY_DELETE_WORD_AFTER] = delete_word_after,
    [KEY_DELETE_TO_START] = delete_to_start,
    [KEY_DELETE_TO_END] = delete_to_end,
    [KEY_YANK] = yank,
    [KEY_SEARCH] = editor_search_start,
    [KEY_PREVIOUS] = editor_history_back,
    [KEY_NEXT] = editor_history_forth,
    [KEY_END_OF_INPUT] = end_of_input,
};

enum editor_outcome editor_key(struct editor *editor, const struct key *key)
{
    if (editor->is_searching) {
        return editor_search_key(editor, key);
    }
    if (key->kind == KEY_TEXT || key->kind == KEY_PASTE) {
        insert_clean(editor, key->text);
        return EDITOR_STAYS;
    }
    return done[key->kind] ? done[key->kind](editor) : told[key->kind];
}
