#include "domain/preview.h"

#include <stdio.h>

#include "base/hex.h"
#include "base/json.h"
#include "base/utf8.h"
#include "domain/redact.h"

enum {
    LOOK_BYTES = 640,    /* of a message: four times what can be shown */
    PROMPT_BYTES = 2000, /* of a prompt */
    SNIPPET_LEAST = 10,  /* characters */
    ELLIPSIS_BYTES = 3,
};

/* --- one line, cut between words --- */

struct line {
    char *out;
    size_t room; /* for text, without ellipsis and zero byte */
    size_t len;
    size_t chars;
    size_t word_end;  /* bytes up to the last space, or 0 */
    size_t last_char; /* where the last character begins */
    bool full;
};

static struct line line_to(char *out, size_t room)
{
    return (struct line){.out = out, .room = room - ELLIPSIS_BYTES - 1};
}

/* One character of `count` bytes. */
static inline void line_put(struct line *line, const char *bytes, size_t count)
{
    if (*bytes == ' ') {
        line->word_end = line->len;
    }
    if (line->chars == PREVIEW_CHARS_MAX || line->len + count > line->room) {
        line->full = true;
        return;
    }
    line->last_char = line->len;
    for (size_t i = 0; i < count; i++) {
        line->out[line->len++] = bytes[i];
    }
    line->chars++;
}

static void line_close(struct line *line)
{
    if (line->full) {
        line->len = line->word_end ? line->word_end : line->last_char;
        memcpy(line->out + line->len, "…", ELLIPSIS_BYTES);
        line->len += ELLIPSIS_BYTES;
    }
    line->out[line->len] = '\0';
}

static inline size_t char_bytes(struct slice text, size_t at)
{
    unsigned char c = (unsigned char)text.ptr[at];
    if (c < 0x80) {
        return 1;
    }
    size_t count = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return count <= text.len - at ? count : text.len - at;
}

static void line_put_text(struct line *line, struct slice text)
{
    for (size_t i = 0; i < text.len && !line->full; i += char_bytes(text, i)) {
        line_put(line, text.ptr + i, char_bytes(text, i));
    }
}

/* A run of ASCII without spaces. */
static void line_put_word(struct line *line, const char *bytes, size_t count)
{
    size_t fits = PREVIEW_CHARS_MAX - line->chars;
    if (line->room - line->len < fits) {
        fits = line->room - line->len;
    }
    if (count > fits) {
        line->full = true;
        count = fits;
    }
    memcpy(line->out + line->len, bytes, count);
    line->len += count;
    line->chars += count;
    line->last_char = count ? line->len - 1 : line->last_char;
}

/* What begins with a word; the number of bytes used. */
static size_t line_put_masked(struct line *line, struct redact_scan *scan, size_t at)
{
    struct slice text = scan->text;
    struct redaction found = redact_at(scan, at);
    if (found.skip) {
        line_put_text(line, slice_from(text.ptr + at, found.keep));
        line_put_text(line, SLICE(REDACTED));
        return found.keep + found.skip;
    }
    line_put_word(line, text.ptr + at, found.word);
    return found.word;
}

/* U+202A to U+202E and U+2066 to U+2069 move what stands beside them: they are shown by name. */
static size_t line_put_moving(struct line *line, struct slice text)
{
    unsigned char second = text.len >= 3 && text.ptr[0] == '\xE2' ? (unsigned char)text.ptr[1] : 0;
    unsigned char third = second ? (unsigned char)text.ptr[2] : 0;
    bool moves =
        (second == 0x80 && third >= 0xAA && third <= 0xAE) || (second == 0x81 && third >= 0xA6 && third <= 0xA9);
    if (moves) {
        char name[16];
        snprintf(name, sizeof name, "⟨U+%04X⟩", 0x2000 | (unsigned)(second & 0x3F) << 6 | (third & 0x3F));
        line_put_text(line, slice_of(name));
    }
    return moves ? 3 : 0;
}

/* Copies the text into the line; returns when the line is full. */
static void line_fill(struct line *line, struct slice text)
{
    struct redact_scan scan = {.text = text};
    bool space = false;
    for (size_t i = 0; i < text.len && !line->full;) {
        if ((unsigned char)text.ptr[i] <= ' ') {
            space = line->len > 0;
            i++;
            continue;
        }
        if (space) {
            line_put(line, " ", 1);
            space = false;
        }
        size_t used = line_put_masked(line, &scan, i);
        used = used ? used : line_put_moving(line, slice_after(text, i));
        if (used == 0) {
            used = char_bytes(text, i);
            line_put(line, text.ptr + i, used);
        }
        i += used;
    }
}

void preview_of_text(struct slice text, char *out, size_t room)
{
    struct line line = line_to(out, room);
    line_fill(&line, text);
    line_close(&line);
}

/* --- the first text of a message, without building its tree --- */

struct scan {
    const char *at;
    const char *end;
};

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t')) {
        s->at++;
    }
}

/* At an opening quote; the text between the quotes, still escaped. */
static struct slice scan_string(struct scan *s)
{
    const char *first = ++s->at, *close = first;
    while ((close = memchr(close, '"', (size_t)(s->end - close)))) {
        const char *slash = close;
        while (slash > first && slash[-1] == '\\') {
            slash--;
        }
        if ((close - slash) % 2 == 0) {
            break; /* an even number of backslashes does not escape the quote */
        }
        close++;
    }
    s->at = close ? close + 1 : s->end;
    return slice_from(first, (size_t)((close ? close : s->end) - first));
}

static void skip_value(struct scan *s)
{
    int depth = 0;
    while (s->at < s->end) {
        char c = *s->at;
        if (c == '"') {
            scan_string(s);
        } else if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
            return;
        } else {
            depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
            s->at++;
        }
    }
}

static bool is_text_type(struct slice type)
{
    return !slice_present(type) || slice_is(type, "text") || slice_is(type, "input_text") ||
           slice_is(type, "output_text");
}

/* At the opening brace of one part; its text, or absent when it is no text part. */
static struct slice scan_part(struct scan *s)
{
    struct slice type = {NULL, 0}, text = {NULL, 0};
    s->at++;
    while (s->at < s->end && *s->at != '}') {
        skip_space(s);
        if (s->at >= s->end || *s->at != '"') {
            break;
        }
        struct slice key = scan_string(s);
        while (s->at < s->end &&
               (*s->at == ':' || *s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t')) {
            s->at++;
        }
        bool quoted = s->at < s->end && *s->at == '"';
        struct slice value = quoted ? scan_string(s) : (struct slice){NULL, 0};
        if (!quoted) {
            skip_value(s);
        } else if (slice_is(key, "text")) {
            text = value;
        } else if (slice_is(key, "type")) {
            type = value;
        }
        skip_space(s);
        if (s->at < s->end && *s->at == ',') {
            s->at++;
        }
    }
    s->at += s->at < s->end;
    return is_text_type(type) ? text : (struct slice){NULL, 0};
}

static struct slice first_text(struct slice content)
{
    struct scan s = {content.ptr, content.ptr + content.len};
    skip_space(&s);
    if (s.at >= s.end || *s.at != '[') {
        return (struct slice){NULL, 0};
    }
    s.at++;
    while (s.at < s.end && *s.at != ']') {
        skip_space(&s);
        struct slice text = {NULL, 0};
        if (s.at < s.end && *s.at == '"') {
            text = scan_string(&s);
        } else if (s.at < s.end && *s.at == '{') {
            text = scan_part(&s);
        } else {
            skip_value(&s);
        }
        if (slice_present(text)) {
            return text;
        }
        skip_space(&s);
        if (s.at < s.end && *s.at == ',') {
            s.at++;
        }
    }
    return (struct slice){NULL, 0};
}

static uint32_t hex4(const char *text)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        value = value << 4 | (uint32_t)hex_value(text[i]);
    }
    return value;
}

/* After a backslash. Advances *at; escapes were checked when the event was accepted. */
static size_t put_escape(char *to, const char **at, const char *end)
{
    char c = *(*at)++;
    if (c != 'u' || end - *at < 4) {
        *to = c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f' ? ' ' : c;
        return 1;
    }
    uint32_t code = hex4(*at);
    *at += 4;
    if (code >= 0xD800 && code <= 0xDBFF && end - *at >= 6) {
        code = 0x10000 + ((code - 0xD800) << 10) + (hex4(*at + 2) - 0xDC00);
        *at += 6;
    }
    return utf8_put(code & 0x1FFFFF, to);
}

/* Decodes what a preview can need; `out` has 4 bytes more than `room`. */
static size_t unescape(struct slice raw, char *out, size_t room)
{
    const char *at = raw.ptr, *end = raw.ptr + raw.len;
    size_t len = 0;
    while (at < end && len < room) {
        size_t plain = (size_t)(end - at) < room - len ? (size_t)(end - at) : room - len;
        const char *slash = memchr(at, '\\', plain);
        plain = slash ? (size_t)(slash - at) : plain;
        memcpy(out + len, at, plain);
        len += plain;
        at += plain;
        if (slash && ++at < end) {
            len += put_escape(out + len, &at, end);
        }
    }
    return at < end ? slice_utf8_prefix(slice_from(out, len), len).len : len;
}

bool preview_of_content(struct slice content, char *out, size_t room)
{
    struct slice raw = slice_present(content) ? first_text(content) : content;
    char text[LOOK_BYTES + 4];
    if (!slice_present(raw)) {
        return false;
    }
    preview_of_text(slice_from(text, unescape(raw, text, LOOK_BYTES)), out, room);
    return true;
}

/* --- the snippet of a prompt --- */

/* Prompts made by programs are often JSON with the real text in one of these. */
static struct slice prompt_message(struct arena *arena, struct slice prompt)
{
    static const char *const keys[] = {"message", "content", "body", "description", "prompt", "text"};
    struct slice text = slice_trim(prompt);
    const struct json *object = NULL;
    if (text.len == 0 || text.ptr[0] != '{' || json_parse(arena, text, &object, NULL) != STATUS_OK) {
        return prompt;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct slice found = json_text_of(object, keys[i]);
        if (slice_present(found)) {
            return found;
        }
    }
    return prompt;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (unsigned char)c >= 0x80;
}

/* Between words, where prose begins and ends what it marks. */
static bool is_outside(char c)
{
    return (unsigned char)c <= ' ' || (c && strchr("().,:;!?\"'", c));
}

static bool contains(struct slice text, const char *mark, struct slice name)
{
    size_t length = strlen(mark);
    for (size_t i = 0; i + length + name.len <= text.len; i++) {
        if (memcmp(text.ptr + i, mark, length) == 0 && memcmp(text.ptr + i + length, name.ptr, name.len) == 0) {
            return true;
        }
    }
    return false;
}

/* The length of a tag such as "<b>" or "</file path=…>" whose other half is there, too; 0 for every other "<". */
static size_t tag_bytes(struct slice text, size_t at)
{
    struct slice rest = slice_after(text, at);
    size_t first = rest.len > 1 && rest.ptr[1] == '/' ? 2 : 1, end = first;
    while (end < rest.len && (is_word(rest.ptr[end]) || rest.ptr[end] == '-' || rest.ptr[end] == '_')) {
        end++;
    }
    const char *close = end > first && end < rest.len ? memchr(rest.ptr, '>', rest.len) : NULL;
    struct slice name = slice_from(rest.ptr + first, end - first);
    bool is_whole = close && strchr(" \n>", rest.ptr[end]) &&
                    (first == 1 ? contains(slice_after(text, at + end), "</", name)
                                : contains(slice_from(text.ptr, at), "<", name));
    return is_whole ? (size_t)(close - rest.ptr) + 1 : 0;
}

/* "- ", "* ", "+ ", "1. ", "2) ", "> ", "## " at the beginning of a line. */
static size_t marker_bytes(struct slice line)
{
    size_t i = 0;
    while (i < line.len && (line.ptr[i] == ' ' || line.ptr[i] == '\t')) {
        i++;
    }
    size_t mark = i;
    while (i < line.len && line.ptr[i] == '#') {
        i++;
    }
    if (i == mark) {
        while (i < line.len && line.ptr[i] >= '0' && line.ptr[i] <= '9') {
            i++;
        }
        bool numbered = i > mark;
        if (i >= line.len || !strchr(numbered ? ".)" : "-*+>", line.ptr[i]) || !line.ptr[i]) {
            return mark;
        }
        i++;
    }
    return i < line.len && line.ptr[i] == ' ' ? i + 1 : mark;
}

/* What is marked: its words stay, without the marks on both sides. */
struct marked {
    size_t before, words, after; /* bytes; all 0 = nothing is marked here */
};

/* "`code`": whatever is between stays as it is. */
static struct marked code_at(struct slice text)
{
    const char *close = text.len > 2 ? memchr(text.ptr + 1, '`', text.len - 1) : NULL;
    size_t words = close ? (size_t)(close - text.ptr) - 1 : 0;
    return words > 0 && !memchr(text.ptr, '\n', words) ? (struct marked){1, words, 1} : (struct marked){0};
}

/* "*words*", "**words**": of whole words only, because a lone star belongs to what was said. */
static struct marked emphasis_at(struct slice text)
{
    size_t mark = text.len > 1 && text.ptr[1] == '*' ? 2 : 1, end = mark;
    while (end < text.len && text.ptr[end] != '*' && text.ptr[end] != '\n') {
        end++;
    }
    size_t after = end + mark;
    bool is_closed = after <= text.len && text.ptr[end] == '*' && text.ptr[after - 1] == '*';
    bool is_words = end > mark && is_word(text.ptr[mark]) && is_word(text.ptr[end - 1]);
    bool ends = is_closed && (after == text.len || is_outside(text.ptr[after]));
    return is_words && ends ? (struct marked){mark, end - mark, mark} : (struct marked){0};
}

/* "[words](address)", "![words](address)". */
static struct marked link_at(struct slice text)
{
    size_t first = *text.ptr == '!' ? 2 : 1;
    const char *close = text.len > first && text.ptr[first - 1] == '[' ? memchr(text.ptr, ']', text.len) : NULL;
    size_t end = close ? (size_t)(close - text.ptr) : 0;
    const char *over = close && end + 1 < text.len && close[1] == '(' ? memchr(close, ')', text.len - end) : NULL;
    return over && end > first ? (struct marked){first, end - first, (size_t)(over - close) + 1} : (struct marked){0};
}

/* Outside the beginning of a line. */
static struct marked marked_at(struct slice text, size_t at)
{
    struct slice rest = slice_after(text, at);
    bool begins = at == 0 || is_outside(text.ptr[at - 1]);
    switch (*rest.ptr) {
    case '<':
        return (struct marked){.after = tag_bytes(text, at)};
    case '`':
        return code_at(rest);
    case '*':
        return begins ? emphasis_at(rest) : (struct marked){0};
    case '!':
    case '[':
        return begins ? link_at(rest) : (struct marked){0};
    default:
        return (struct marked){0};
    }
}

/* Copies without tags and marks around words; every other character stays. `out` has room for all of it. */
static size_t strip_markup(struct slice text, char *out)
{
    size_t len = 0;
    bool line_begins = true;
    for (size_t i = 0; i < text.len;) {
        size_t marker = line_begins ? marker_bytes(slice_after(text, i)) : 0;
        struct marked marked = marker ? (struct marked){.before = marker} : marked_at(text, i);
        size_t used = marked.before + marked.words + marked.after;
        bool is_tag = used > 0 && text.ptr[i] == '<' && !marker;
        line_begins = text.ptr[i] == '\n';
        if (used == 0 || is_tag) {
            out[len++] = is_tag ? ' ' : text.ptr[i];
        }
        memcpy(out + len, text.ptr + i + marked.before, marked.words);
        len += marked.words;
        i += used ? used : 1;
    }
    return len;
}

bool preview_of_prompt(struct slice prompt, char out[SNIPPET_BYTES])
{
    struct arena scratch = {0};
    char plain[PROMPT_BYTES];
    struct slice text = slice_utf8_prefix(prompt_message(&scratch, prompt), PROMPT_BYTES);
    struct line line = line_to(out, SNIPPET_BYTES);
    line_fill(&line, slice_from(plain, strip_markup(text, plain)));
    arena_release(&scratch);
    bool enough = line.chars >= SNIPPET_LEAST;
    line_close(&line);
    if (!enough) {
        out[0] = '\0';
    }
    return enough;
}
