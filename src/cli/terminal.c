#include "cli/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/glyph.h"

enum { COLUMNS_MIN = 20 };

size_t terminal_columns(FILE *file)
{
    struct winsize size;
    if (!isatty(fileno(file))) {
        return 0;
    }
    if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col < COLUMNS_MIN ? COLUMNS_MIN : size.ws_col;
}

bool terminal_has_colours(FILE *file)
{
    const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(fileno(file)) && !(refused && *refused) && kind && *kind && strcmp(kind, "dumb") != 0;
}

struct slice colour_code(enum colour colour)
{
    static const char *const codes[] = {
        [COLOUR_NONE] = "\033[0m",    [COLOUR_DIM] = "\033[2m",  [COLOUR_BOLD] = "\033[1m", [COLOUR_GREEN] = "\033[32m",
        [COLOUR_YELLOW] = "\033[33m", [COLOUR_RED] = "\033[31m", [COLOUR_CYAN] = "\033[36m"};
    return slice_of(codes[colour]);
}

/* --- characters --- */

size_t text_columns(struct slice text)
{
    size_t columns = 0;
    while (text.len) {
        struct glyph glyph = glyph_take(&text);
        columns += glyph.kind == GLYPH_STEERING ? 1 : glyph.columns;
    }
    return columns;
}

static bool is_blank(const struct glyph *glyph)
{
    return glyph->code == '\n' || glyph->code == '\t' || glyph->code == '\r';
}

static void add_plain(struct buffer *out, const struct glyph *glyph)
{
    switch (glyph->kind) {
    case GLYPH_SHOWN:
    case GLYPH_MARK:
        buffer_add(out, glyph->bytes);
        return;
    case GLYPH_JOINING:
        return;
    case GLYPH_HIDDEN:
    case GLYPH_STEERING:
        buffer_add(out, SLICE("\xEF\xBF\xBD"));
        return;
    }
}

void text_add_plain(struct buffer *out, struct slice text)
{
    while (text.len) {
        struct glyph glyph = glyph_take(&text);
        if (is_blank(&glyph)) {
            buffer_add_byte(out, ' ');
        } else {
            add_plain(out, &glyph);
        }
    }
}

void text_add_lines(struct buffer *out, struct slice text)
{
    while (text.len) {
        struct glyph glyph = glyph_take(&text);
        if (glyph.code == '\n') {
            buffer_add_byte(out, '\n');
        } else if (glyph.code == '\t') {
            buffer_add(out, SLICE("    "));
        } else if (glyph.code != '\r' || !slice_starts(text, SLICE("\n"))) {
            add_plain(out, &glyph);
        }
    }
}

void text_add_exact(struct buffer *out, struct slice text)
{
    while (text.len) {
        struct glyph glyph = glyph_take(&text);
        if (glyph.code == '\n' || glyph.kind == GLYPH_SHOWN || glyph.kind == GLYPH_MARK) {
            buffer_add(out, glyph.bytes);
        } else if (glyph.code < 0) {
            buffer_format(out, "⟨%02X⟩", (unsigned char)glyph.bytes.ptr[0]);
        } else {
            buffer_format(out, "⟨U+%04X⟩", (unsigned)glyph.code);
        }
    }
}

void text_add_exact_line(struct buffer *out, struct slice text)
{
    struct slice line, rest = text;
    for (bool more = true; more;) {
        more = slice_cut(rest, '\n', &line, &rest);
        text_add_exact(out, line);
        if (more) {
            buffer_add(out, SLICE("⏎"));
        }
    }
}

void text_add_fitted(struct buffer *out, struct slice plain, size_t columns)
{
    if (columns == 0 || text_columns(plain) <= columns) {
        buffer_add(out, plain);
        return;
    }
    size_t used = 1; /* for the ellipsis */
    struct slice rest = plain;
    while (rest.len) {
        struct glyph glyph = glyph_take(&rest);
        used += glyph.columns;
        if (used > columns) {
            break;
        }
        buffer_add(out, glyph.bytes);
    }
    buffer_add(out, SLICE("…"));
}

/* --- asking and telling --- */

bool terminal_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool terminal_confirm(const char *question)
{
    char answer[16];
    fprintf(stderr, "%s [y/N] ", question);
    if (!fgets(answer, sizeof answer, stdin)) {
        fputc('\n', stderr);
        return false;
    }
    struct slice word = slice_trim(slice_of(answer));
    return slice_eq_nocase(word, SLICE("y")) || slice_eq_nocase(word, SLICE("yes"));
}

bool print_text(FILE *file, struct slice text)
{
    return fwrite(text.ptr, 1, text.len, file) == text.len && fflush(file) == 0;
}

void progress_show(struct progress *progress, int64_t done, int64_t total)
{
    int percent = total > 0 ? (int)(done * 100 / total) : 100;
    if (progress->shown_percent == percent + 1 || !isatty(STDERR_FILENO)) {
        return;
    }
    progress->shown_percent = percent + 1;
    fprintf(stderr, "\r%s %d %%", progress->what, percent);
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->shown_percent) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
    progress->shown_percent = 0;
}
