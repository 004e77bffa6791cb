#include "wire/yaml_write.h"

#include <stdlib.h>

enum {
    INDENT = 2,
    SIMPLE_NAME_BYTES = 512, /* libyaml reads `name:` only when the name has less than 1024 characters */
    PLAIN_BYTES = 200,
};

struct writer {
    struct buffer *to;
    struct arena *arena;
};

static void indent(struct writer *w, size_t depth)
{
    for (size_t i = 0; i < depth * INDENT; i++) {
        buffer_add_byte(w->to, ' ');
    }
}

/* --- text --- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_plain_byte(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
}

/* Words that some reader of YAML takes for something else than text. */
static bool is_reserved(struct slice text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_eq_nocase(text, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Needs no quotes: a word that begins with a letter. Everything else is quoted. */
static bool is_plain(struct slice text)
{
    bool plain = text.len > 0 && text.len <= PLAIN_BYTES && is_letter(text.ptr[0]) && !is_reserved(text);
    for (size_t i = 0; plain && i < text.len; i++) {
        plain = is_plain_byte(text.ptr[i]);
    }
    return plain;
}

/* How many bytes at `at` are no printable character of YAML, or break lines: 0 = it may stand as it is. */
static size_t special_length(struct slice text, size_t at)
{
    unsigned char a = (unsigned char)text.ptr[at];
    unsigned char b = at + 1 < text.len ? (unsigned char)text.ptr[at + 1] : 0;
    unsigned char c = at + 2 < text.len ? (unsigned char)text.ptr[at + 2] : 0;
    if (a < 0x20 || a == 0x7F) {
        return 1;
    }
    if (a == 0xC2 && b < 0xA0) {
        return 2; /* U+0080 to U+009F */
    }
    bool breaks = a == 0xE2 && b == 0x80 && (c == 0xA8 || c == 0xA9);
    bool marks = a == 0xEF && ((b == 0xBB && c == 0xBF) || (b == 0xBF && c >= 0xBE)); /* BOM, U+FFFE, U+FFFF */
    return breaks || marks ? 3 : 0;
}

static unsigned code_of(struct slice text, size_t at, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr + at;
    switch (length) {
    case 1:
        return bytes[0];
    case 2:
        return (bytes[0] & 0x1FU) << 6 | (bytes[1] & 0x3FU);
    }
    return (bytes[0] & 0x0FU) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
}

static void add_quoted(struct buffer *to, struct slice text)
{
    buffer_add_byte(to, '"');
    for (size_t i = 0; i < text.len;) {
        size_t special = special_length(text, i);
        char c = text.ptr[i];
        if (c == '\n') {
            buffer_add(to, SLICE("\\n"));
        } else if (special > 0) {
            buffer_format(to, "\\u%04X", code_of(text, i, special));
        } else {
            if (c == '"' || c == '\\') {
                buffer_add_byte(to, '\\');
            }
            buffer_add_byte(to, c);
        }
        i += special > 0 ? special : 1;
    }
    buffer_add_byte(to, '"');
}

/* Several lines that can stand as they are: the first does not begin with a space, none ends with one, and there is no
 * break at either end. */
static bool is_block(struct slice text)
{
    bool ok =
        memchr(text.ptr, '\n', text.len) && text.ptr[0] != ' ' && text.ptr[0] != '\n' && text.ptr[text.len - 1] != '\n';
    for (size_t i = 0; ok && i < text.len; i++) {
        bool ends_line = i + 1 == text.len || text.ptr[i + 1] == '\n';
        ok = text.ptr[i] == '\n' || (special_length(text, i) == 0 && !(text.ptr[i] == ' ' && ends_line));
    }
    return ok;
}

static void add_block(struct writer *w, struct slice text, size_t depth)
{
    buffer_add(w->to, SLICE("|-"));
    while (text.len > 0) {
        struct slice line, rest = {NULL, 0};
        slice_cut(text, '\n', &line, &rest);
        buffer_add_byte(w->to, '\n');
        if (line.len > 0) {
            indent(w, depth);
            buffer_add(w->to, line);
        }
        text = rest;
    }
}

static void add_text(struct writer *w, struct slice text, size_t depth)
{
    if (is_plain(text)) {
        buffer_add(w->to, text);
    } else if (depth > 0 && text.len > 0 && is_block(text)) {
        add_block(w, text, depth);
    } else {
        add_quoted(w->to, text);
    }
}

/* --- values --- */

/* Its lines begin at `depth`; the first is begun already. */
static void add_lines(struct writer *w, const struct json *value, size_t depth);

static bool has_lines(const struct json *value)
{
    return (value->kind == JSON_OBJECT || value->kind == JSON_ARRAY) && value->child;
}

/* What fits behind a name or a dash; a block of text goes on at `depth`. */
static void add_scalar(struct writer *w, const struct json *value, size_t depth)
{
    switch (value->kind) {
    case JSON_STRING:
        add_text(w, value->text, depth);
        break;
    case JSON_ARRAY:
        buffer_add(w->to, SLICE("[]"));
        break;
    case JSON_OBJECT:
        buffer_add(w->to, SLICE("{}"));
        break;
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
    case JSON_NUMBER:
        buffer_add(w->to, value->raw);
        break;
    }
    buffer_add_byte(w->to, '\n');
}

static void add_name(struct writer *w, struct slice name, size_t depth)
{
    bool is_long = name.len > SIMPLE_NAME_BYTES;
    buffer_add(w->to, is_long ? SLICE("? ") : SLICE(""));
    is_plain(name) ? buffer_add(w->to, name) : add_quoted(w->to, name);
    if (is_long) {
        buffer_add_byte(w->to, '\n');
        indent(w, depth);
    }
    buffer_add_byte(w->to, ':');
}

static void add_member(struct writer *w, const struct json *member, size_t depth)
{
    add_name(w, member->key, depth);
    if (has_lines(member)) {
        buffer_add_byte(w->to, '\n');
        indent(w, depth + 1);
        add_lines(w, member, depth + 1);
    } else {
        buffer_add_byte(w->to, ' ');
        add_scalar(w, member, depth + 1);
    }
}

static void add_item(struct writer *w, const struct json *item, size_t depth)
{
    buffer_add(w->to, SLICE("- "));
    has_lines(item) ? add_lines(w, item, depth + 1) : add_scalar(w, item, depth + 1);
}

static int compare_names(const void *a, const void *b)
{
    const struct json *const *first = a, *const *second = b;
    return slice_cmp((*first)->key, (*second)->key);
}

static const struct json **sorted_children(struct writer *w, const struct json *value)
{
    const struct json **children = arena_array(w->arena, value->count, sizeof *children);
    size_t count = 0;
    for (const struct json *child = value->child; child; child = child->next) {
        children[count++] = child;
    }
    if (value->kind == JSON_OBJECT) {
        qsort(children, count, sizeof *children, compare_names);
    }
    return children;
}

static void add_lines(struct writer *w, const struct json *value, size_t depth)
{
    const struct json **children = sorted_children(w, value);
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0) {
            indent(w, depth);
        }
        value->kind == JSON_OBJECT ? add_member(w, children[i], depth) : add_item(w, children[i], depth);
    }
}

void yaml_write(struct buffer *to, struct arena *arena, const struct json *value)
{
    struct writer w = {to, arena};
    has_lines(value) ? add_lines(&w, value, 0) : add_scalar(&w, value, 0);
}
