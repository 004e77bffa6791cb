#include "cli/chat_screen.h"

enum { FOLDED_COLUMNS_MAX = 120, FOLDED_BYTES_MAX = 2000, RESULT_LINES_MAX = 12, RESULT_LINE_BYTES_MAX = 4000 };

void chat_screen_release(struct chat_screen *screen)
{
    buffer_release(&screen->spoken);
    buffer_release(&screen->live);
}

/* --- one line --- */

static void put(struct chat_screen *screen, FILE *file, struct slice text)
{
    screen->is_broken = !print_text(file, text) || screen->is_broken;
}

static void end_live_line(struct chat_screen *screen)
{
    if (screen->is_mid_line) {
        put(screen, stdout, SLICE("\n"));
    }
    screen->is_mid_line = false;
}

/* `line` may hold colours of ours. */
static void put_line(struct chat_screen *screen, struct wrap wrap, struct slice line)
{
    if (screen->console) {
        console_print(screen->console, wrap, line);
        return;
    }
    struct buffer out = {0};
    end_live_line(screen);
    buffer_add(&out, line);
    buffer_add_byte(&out, '\n');
    put(screen, stderr, buffer_slice(&out));
    buffer_release(&out);
}

static void put_coloured(struct chat_screen *screen, struct wrap wrap, enum colour colour, struct slice line)
{
    struct buffer out = {0};
    text_add_coloured(&out, screen->has_colours ? colour : COLOUR_NONE, line);
    put_line(screen, wrap, buffer_slice(&out));
    buffer_release(&out);
}

/* Each line of plain or exact text, with `prefix` before it. */
static void put_lines(struct chat_screen *screen, struct wrap wrap, enum colour colour, const char *prefix,
                      struct slice text)
{
    struct slice line, rest = text;
    for (bool more = true; more;) {
        struct buffer whole = {0};
        more = slice_cut(rest, '\n', &line, &rest);
        buffer_add(&whole, slice_of(prefix));
        buffer_add(&whole, line);
        put_coloured(screen, wrap, colour, buffer_slice(&whole));
        buffer_release(&whole);
    }
}

/* --- what the agent says --- */

static void put_live_line(struct chat_screen *screen, struct slice line)
{
    struct buffer coloured = {0};
    struct wrap wrap = {0};
    markdown_line(&screen->markdown, line, &coloured, &wrap);
    put_line(screen, wrap, screen->has_colours ? buffer_slice(&coloured) : line);
    buffer_release(&coloured);
}

static void put_live_on_console(struct chat_screen *screen, struct slice text)
{
    text_add_lines(&screen->live, text);
    for (char *end; screen->live.len && (end = memchr(screen->live.ptr, '\n', screen->live.len));) {
        size_t length = (size_t)(end - screen->live.ptr);
        put_live_line(screen, slice_from(screen->live.ptr, length));
        buffer_consume(&screen->live, length + 1);
    }
}

static void put_live(struct chat_screen *screen, struct slice text)
{
    struct buffer out = {0};
    if (screen->console) {
        put_live_on_console(screen, text);
        return;
    }
    text_add_lines(&out, text);
    screen->is_mid_line = text.len ? text.ptr[text.len - 1] != '\n' : screen->is_mid_line;
    put(screen, stdout, buffer_slice(&out));
    buffer_release(&out);
}

static bool is_mid_line(const struct chat_screen *screen)
{
    return screen->console ? screen->live.len > 0 : screen->is_mid_line;
}

void chat_screen_speak(struct chat_screen *screen, struct slice text)
{
    if (screen->is_silent || text.len == 0) {
        return;
    }
    screen->is_thinking = false;
    buffer_add(&screen->spoken, text);
    put_live(screen, text);
}

void chat_screen_finish(struct chat_screen *screen, struct slice whole)
{
    struct slice spoken = buffer_slice(&screen->spoken);
    screen->is_thinking = false;
    if (!screen->is_silent) {
        bool goes_on = slice_starts(whole, spoken);
        if (!goes_on && is_mid_line(screen)) {
            put_live(screen, SLICE("\n"));
        }
        put_live(screen, goes_on ? slice_after(whole, spoken.len) : whole);
        if (is_mid_line(screen)) {
            put_live(screen, SLICE("\n"));
        }
    }
    screen->spoken.len = 0;
    screen->markdown = (struct markdown){0};
}

/* --- the rest --- */

static size_t folded_columns(const struct chat_screen *screen)
{
    size_t columns = screen->console ? screen->console->columns : terminal_columns(stderr);
    return columns && columns < FOLDED_COLUMNS_MAX ? columns : FOLDED_COLUMNS_MAX;
}

static void put_folded(struct chat_screen *screen, enum colour colour, struct slice text)
{
    struct buffer line = {0};
    text_add_fitted(&line, text, folded_columns(screen));
    put_coloured(screen, (struct wrap){.kind = WRAP_EXACT}, colour, buffer_slice(&line));
    buffer_release(&line);
}

void chat_screen_fold(struct chat_screen *screen, const char *mark, struct slice text)
{
    struct buffer plain = {0};
    if (screen->is_silent) {
        return;
    }
    buffer_format(&plain, "%s ", mark);
    text_add_plain(&plain, slice_utf8_prefix(text, FOLDED_BYTES_MAX));
    put_folded(screen, COLOUR_DIM, buffer_slice(&plain));
    buffer_release(&plain);
}

void chat_screen_call(struct chat_screen *screen, struct slice tool, struct slice input)
{
    struct buffer line = {0};
    if (screen->is_silent) {
        return;
    }
    buffer_add(&line, SLICE("▸ "));
    text_add_exact_line(&line, tool);
    buffer_add_byte(&line, ' ');
    text_add_exact_line(&line, slice_utf8_prefix(input, FOLDED_BYTES_MAX));
    put_folded(screen, COLOUR_DIM, slice_trim(buffer_slice(&line)));
    buffer_release(&line);
}

static void put_result_line(struct chat_screen *screen, const char *prefix, bool is_diff, struct slice line)
{
    struct buffer exact = {0};
    enum colour colour = is_diff ? diff_colour(line) : COLOUR_DIM;
    buffer_add(&exact, slice_of(prefix));
    text_add_exact(&exact, slice_utf8_prefix(line, RESULT_LINE_BYTES_MAX));
    put_folded(screen, colour == COLOUR_NONE ? COLOUR_DIM : colour, buffer_slice(&exact));
    buffer_release(&exact);
}

static size_t count_lines(struct slice text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.len; i++) {
        count += text.ptr[i] == '\n';
    }
    return count;
}

void chat_screen_result(struct chat_screen *screen, bool is_error, struct slice output)
{
    struct slice line, rest = output;
    const char *prefix = is_error ? "  ✗ " : "  ✓ ";
    bool is_diff = text_is_diff(output), more = true;
    if (screen->is_silent) {
        return;
    }
    while (rest.len && rest.ptr[rest.len - 1] == '\n') {
        rest.len--;
    }
    for (size_t shown = 0; more; shown++, prefix = "    ") {
        if (shown == RESULT_LINES_MAX) {
            struct buffer cut = {0};
            buffer_format(&cut, "    … %zu more lines", count_lines(rest));
            put_coloured(screen, (struct wrap){0}, COLOUR_DIM, buffer_slice(&cut));
            buffer_release(&cut);
            return;
        }
        more = slice_cut(rest, '\n', &line, &rest);
        put_result_line(screen, prefix, is_diff, line);
    }
}

void chat_screen_quote(struct chat_screen *screen, struct slice text)
{
    struct buffer plain = {0};
    if (screen->is_silent) {
        return;
    }
    text_add_lines(&plain, text);
    struct slice first, rest = {0};
    bool has_more = slice_cut(buffer_slice(&plain), '\n', &first, &rest);
    put_lines(screen, (struct wrap){.hang = 2}, COLOUR_BOLD, "> ", first);
    if (has_more) {
        put_lines(screen, (struct wrap){.hang = 2}, COLOUR_BOLD, "  ", rest);
    }
    buffer_release(&plain);
}

void chat_screen_note(struct chat_screen *screen, enum colour colour, struct slice text)
{
    struct buffer plain = {0};
    text_add_lines(&plain, text);
    put_lines(screen, (struct wrap){.hang = 2}, colour, "", buffer_slice(&plain));
    buffer_release(&plain);
}

void chat_screen_value(struct chat_screen *screen, struct slice name, struct slice value)
{
    struct buffer exact = {0}, head = {0};
    struct wrap wrap = {.hang = 4, .kind = WRAP_EXACT};
    text_add_exact(&exact, value);
    buffer_add(&head, SLICE("  "));
    text_add_exact_line(&head, name);
    buffer_add_byte(&head, ':');
    if (memchr(exact.ptr ? exact.ptr : "", '\n', exact.len)) {
        /* The bar stands before every line, so that no line can look like one of ours. */
        put_coloured(screen, wrap, COLOUR_NONE, buffer_slice(&head));
        put_lines(screen, wrap, COLOUR_NONE, "  │ ", buffer_slice(&exact));
    } else {
        buffer_add_byte(&head, ' ');
        buffer_add(&head, buffer_slice(&exact));
        put_coloured(screen, wrap, COLOUR_NONE, buffer_slice(&head));
    }
    buffer_release(&exact);
    buffer_release(&head);
}
