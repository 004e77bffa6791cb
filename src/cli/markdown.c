#include "cli/markdown.h"

enum { FENCE_MARKS_MIN = 3, HEADING_MARKS_MAX = 6 };

void text_add_coloured(struct buffer *out, enum colour colour, struct slice text)
{
    if (colour == COLOUR_NONE || text.len == 0) {
        buffer_add(out, text);
        return;
    }
    buffer_add(out, colour_code(colour));
    buffer_add(out, text);
    buffer_add(out, colour_code(COLOUR_NONE));
}

/* --- diffs --- */

static const struct {
    const char *start;
    enum colour colour;
} diff_lines[] = {
    {"+++", COLOUR_BOLD}, {"---", COLOUR_BOLD}, {"diff ", COLOUR_BOLD},
    {"@@", COLOUR_CYAN},  {"+", COLOUR_GREEN},  {"-", COLOUR_RED},
};

enum colour diff_colour(struct slice line)
{
    for (size_t i = 0; i < sizeof diff_lines / sizeof diff_lines[0]; i++) {
        if (slice_starts(line, slice_of(diff_lines[i].start))) {
            return diff_lines[i].colour;
        }
    }
    return COLOUR_NONE;
}

bool text_is_diff(struct slice text)
{
    struct slice first, rest = {0};
    bool has_more = slice_cut(text, '\n', &first, &rest);
    bool has_header = slice_starts(first, SLICE("diff --git ")) || slice_starts(first, SLICE("@@ -")) ||
                      (slice_starts(first, SLICE("--- ")) && slice_starts(rest, SLICE("+++ ")));
    bool is_change = slice_starts(first, SLICE("-")) && slice_starts(rest, SLICE("+"));
    return has_more && (has_header || is_change);
}

/* --- blocks --- */

static size_t count_marks(struct slice text, char mark)
{
    size_t count = 0;
    while (count < text.len && text.ptr[count] == mark) {
        count++;
    }
    return count;
}

static size_t count_spaces(struct slice line)
{
    return count_marks(line, ' ');
}

/* Marks that open or close a code block; 0 = the line does neither. */
static size_t fence_of(struct slice body, char *out_mark)
{
    *out_mark = body.len ? body.ptr[0] : '\0';
    size_t count = *out_mark == '`' || *out_mark == '~' ? count_marks(body, *out_mark) : 0;
    return count >= FENCE_MARKS_MIN ? count : 0;
}

static bool take_fence(struct markdown *markdown, struct slice body)
{
    char mark;
    size_t count = fence_of(body, &mark);
    struct slice label = slice_trim(slice_after(body, count));
    if (count == 0) {
        return false;
    }
    if (markdown->fence == 0) {
        *markdown = (struct markdown){count, mark, slice_is(label, "diff") || slice_is(label, "patch")};
        return true;
    }
    bool closes = mark == markdown->fence_mark && count >= markdown->fence && label.len == 0;
    if (closes) {
        *markdown = (struct markdown){0};
    }
    return closes;
}

/* The columns of "- ", "* ", "+ " or "12. " at the start of a line; 0 = it is not an item of a list. */
static size_t item_columns(struct slice body)
{
    size_t digits = 0;
    while (digits < body.len && digits < 9 && body.ptr[digits] >= '0' && body.ptr[digits] <= '9') {
        digits++;
    }
    struct slice mark = slice_after(body, digits);
    bool is_numbered = digits && (slice_starts(mark, SLICE(". ")) || slice_starts(mark, SLICE(") ")));
    bool is_bullet = !digits && mark.len >= 2 && strchr("-*+", mark.ptr[0]) && mark.ptr[1] == ' ';
    return is_numbered ? digits + 2 : is_bullet ? 2 : 0;
}

static bool is_heading(struct slice body)
{
    size_t count = count_marks(body, '#');
    return count && count <= HEADING_MARKS_MAX && count < body.len && body.ptr[count] == ' ';
}

/* --- inside a line --- */

static const struct {
    const char *mark;
    enum colour colour;
} spans[] = {{"`", COLOUR_CYAN}, {"**", COLOUR_BOLD}, {"__", COLOUR_BOLD}};

/* The length of a marked span at the start of `text`, both marks included; 0 = there is none. */
static size_t span_length(struct slice text, const char *mark)
{
    size_t length = strlen(mark);
    if (!slice_starts(text, slice_of(mark)) || text.len <= 2 * length || text.ptr[length] == ' ') {
        return 0;
    }
    const char *end = memmem(text.ptr + length + 1, text.len - length - 1, mark, length);
    return end ? (size_t)(end - text.ptr) + length : 0;
}

static size_t take_span(struct slice text, enum colour *out_colour)
{
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        size_t length = span_length(text, spans[i].mark);
        if (length) {
            *out_colour = spans[i].colour;
            return length;
        }
    }
    return 0;
}

static void add_inline(struct buffer *out, struct slice text)
{
    size_t plain = 0;
    enum colour colour;
    while (plain < text.len) {
        struct slice rest = slice_after(text, plain);
        size_t length = strchr("`*_", rest.ptr[0]) ? take_span(rest, &colour) : 0;
        if (length == 0) {
            plain++;
            continue;
        }
        buffer_add(out, slice_from(text.ptr, plain));
        text_add_coloured(out, colour, slice_from(rest.ptr, length));
        text = slice_after(rest, length);
        plain = 0;
    }
    buffer_add(out, text);
}

void markdown_line(struct markdown *markdown, struct slice line, struct buffer *out, struct wrap *out_wrap)
{
    size_t indent = count_spaces(line);
    struct slice body = slice_after(line, indent);
    bool was_code = markdown->fence > 0;
    out_wrap->kind = was_code ? WRAP_EXACT : WRAP_WORDS;
    out_wrap->hang = was_code ? 0 : indent + item_columns(body);
    if (take_fence(markdown, body)) {
        text_add_coloured(out, COLOUR_DIM, line);
    } else if (was_code) {
        text_add_coloured(out, markdown->is_diff ? diff_colour(line) : COLOUR_CYAN, line);
    } else if (is_heading(body)) {
        text_add_coloured(out, COLOUR_BOLD, line);
    } else if (body.len && body.ptr[0] == '>') {
        text_add_coloured(out, COLOUR_DIM, line);
    } else {
        add_inline(out, line);
    }
}
