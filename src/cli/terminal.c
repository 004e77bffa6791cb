#include "cli/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

static size_t utf8_length(unsigned char first)
{
    return first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
}

/* The next character of *rest, or -1 for a byte that is no UTF-8; *rest moves behind it. */
static int32_t take_character(struct slice *rest, struct slice *out_bytes)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *bytes = (const unsigned char *)rest->ptr;
    size_t length = utf8_length(bytes[0]);
    bool is_whole = length <= rest->len && slice_is_utf8(slice_from(bytes, length));
    *out_bytes = slice_from(bytes, is_whole ? length : 1);
    *rest = slice_after(*rest, out_bytes->len);
    if (!is_whole) {
        return -1;
    }
    int32_t character = bytes[0] & masks[length];
    for (size_t i = 1; i < length; i++) {
        character = character << 6 | (bytes[i] & 0x3F);
    }
    return character;
}

/* Marks that take no room, and the wide letters of East Asia and emoji; the C library knows them in a UTF-8 locale
 * only, which the caller's environment need not have. */
static const struct {
    int32_t first, last;
    size_t columns;
} widths[] = {
    {0x0300, 0x036F, 0},   {0x200B, 0x200F, 0},   {0x202A, 0x202E, 0},   {0x2060, 0x206F, 0},   {0x20D0, 0x20FF, 0},
    {0xFE00, 0xFE0F, 0},   {0xFEFF, 0xFEFF, 0},   {0x1100, 0x115F, 2},   {0x231A, 0x231B, 2},   {0x23E9, 0x23F3, 2},
    {0x2614, 0x2615, 2},   {0x2705, 0x2705, 2},   {0x2728, 0x2728, 2},   {0x274C, 0x274E, 2},   {0x2753, 0x2757, 2},
    {0x2B50, 0x2B55, 2},   {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xA960, 0xA97C, 2},   {0xAC00, 0xD7A3, 2},
    {0xF900, 0xFAFF, 2},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2},
    {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1F9FF, 2}, {0x1FA70, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
};

static size_t character_columns(int32_t character)
{
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        if (character >= widths[i].first && character <= widths[i].last) {
            return widths[i].columns;
        }
    }
    return 1;
}

size_t text_columns(struct slice text)
{
    size_t columns = 0;
    struct slice bytes;
    while (text.len) {
        columns += character_columns(take_character(&text, &bytes));
    }
    return columns;
}

/* Bidirectional overrides can make a line read as something else. */
static bool is_control(int32_t character)
{
    return character < 0x20 || (character >= 0x7F && character < 0xA0) ||
           (character >= 0x202A && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069) ||
           character == 0x2028 || character == 0x2029;
}

void text_add_plain(struct buffer *out, struct slice text)
{
    struct slice bytes;
    while (text.len) {
        int32_t character = take_character(&text, &bytes);
        if (character == '\n' || character == '\t' || character == '\r') {
            buffer_add_byte(out, ' ');
        } else if (is_control(character)) {
            buffer_add(out, SLICE("\xEF\xBF\xBD"));
        } else {
            buffer_add(out, bytes);
        }
    }
}

void text_add_lines(struct buffer *out, struct slice text)
{
    struct slice line, rest = text;
    for (bool more = true; more;) {
        more = slice_cut(rest, '\n', &line, &rest);
        text_add_plain(out, line);
        if (more) {
            buffer_add_byte(out, '\n');
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
    struct slice bytes, rest = plain;
    while (rest.len) {
        used += character_columns(take_character(&rest, &bytes));
        if (used > columns) {
            break;
        }
        buffer_add(out, bytes);
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
