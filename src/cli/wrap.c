#include "cli/wrap.h"

#include "cli/glyph.h"

#define RESET "\033[0m"

struct layout {
    const struct wrap *wrap;
    struct buffer *out;
    size_t hang;
    size_t column;      /* of the row, hang included */
    size_t rows;        /* ended ones */
    bool has_text;      /* the row has more than its hang */
    size_t spaces;      /* not yet written */
    struct buffer word; /* not yet written */
    size_t word_columns;
    struct buffer style; /* colours since the last reset */
};

/* The length of a colour at the start of `text`; 0 = there is none. */
static size_t colour_length(struct slice text)
{
    if (!slice_starts(text, SLICE("\033["))) {
        return 0;
    }
    for (size_t i = 2; i < text.len; i++) {
        if (text.ptr[i] == 'm') {
            return i + 1;
        }
    }
    return text.len;
}

static void add_spaces(struct buffer *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(out, ' ');
    }
}

static void put_colour(struct layout *layout, struct slice colour)
{
    if (slice_is(colour, RESET)) {
        layout->style.len = 0;
    } else {
        buffer_add(&layout->style, colour);
    }
    buffer_add(layout->out, colour);
}

static void end_row(struct layout *layout)
{
    if (layout->style.len) {
        buffer_add(layout->out, SLICE(RESET));
    }
    buffer_add_byte(layout->out, '\n');
    layout->rows++;
}

static void next_row(struct layout *layout)
{
    end_row(layout);
    add_spaces(layout->out, layout->hang);
    buffer_add(layout->out, buffer_slice(&layout->style));
    layout->column = layout->hang;
    layout->has_text = false;
}

static void put_glyph(struct layout *layout, const struct glyph *glyph)
{
    if (layout->has_text && layout->column + glyph->columns > layout->wrap->columns) {
        next_row(layout);
    }
    buffer_add(layout->out, glyph->bytes);
    layout->column += glyph->columns;
    layout->has_text = true;
}

/* Text that goes where there is room, glyph by glyph. */
static void put_text(struct layout *layout, struct slice text)
{
    while (text.len) {
        size_t length = colour_length(text);
        if (length) {
            put_colour(layout, slice_from(text.ptr, length));
            text = slice_after(text, length);
        } else {
            struct glyph glyph = glyph_take(&text);
            put_glyph(layout, &glyph);
        }
    }
}

static void flush_spaces(struct layout *layout)
{
    for (; layout->spaces; layout->spaces--) {
        put_text(layout, SLICE(" "));
    }
}

static void flush_word(struct layout *layout)
{
    bool fits = layout->column + layout->spaces + layout->word_columns <= layout->wrap->columns;
    if (layout->word_columns && layout->has_text && !fits) {
        next_row(layout);
        layout->spaces = 0;
    }
    if (layout->word_columns) {
        flush_spaces(layout);
    }
    put_text(layout, buffer_slice(&layout->word));
    layout->word.len = 0;
    layout->word_columns = 0;
}

static void take_words(struct layout *layout, struct slice line)
{
    while (line.len) {
        size_t length = colour_length(line);
        if (length) {
            buffer_add(&layout->word, slice_from(line.ptr, length));
            line = slice_after(line, length);
            continue;
        }
        struct glyph glyph = glyph_take(&line);
        if (glyph.code == ' ') {
            flush_word(layout);
            layout->spaces++;
        } else {
            buffer_add(&layout->word, glyph.bytes);
            layout->word_columns += glyph.columns;
        }
        if (glyph.columns == 2) { /* scripts without spaces break anywhere */
            flush_word(layout);
        }
    }
    flush_word(layout);
}

size_t wrap_line(const struct wrap *wrap, struct slice line, struct buffer *out)
{
    struct layout layout = {.wrap = wrap, .out = out};
    layout.hang = wrap->hang * 2 <= wrap->columns ? wrap->hang : wrap->columns / 4;
    if (wrap->kind == WRAP_WORDS) {
        take_words(&layout, line);
    } else {
        put_text(&layout, line);
    }
    end_row(&layout);
    buffer_release(&layout.word);
    buffer_release(&layout.style);
    return layout.rows;
}
