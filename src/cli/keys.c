#include "cli/keys.h"

enum { ESCAPE = 0x1B, SEQUENCE_BYTES_MAX = 32 };

static const struct {
    char byte;
    enum key_kind kind;
} control_keys[] = {
    {'\r', KEY_ENTER},           {'\n', KEY_NEWLINE},       {'\t', KEY_TAB},    {0x7F, KEY_BACKSPACE},
    {0x08, KEY_BACKSPACE},       {0x01, KEY_HOME},          {0x05, KEY_END},    {0x02, KEY_LEFT},
    {0x06, KEY_RIGHT},           {0x10, KEY_PREVIOUS},      {0x0E, KEY_NEXT},   {0x03, KEY_INTERRUPT},
    {0x04, KEY_END_OF_INPUT},    {0x1A, KEY_SUSPEND},       {0x0C, KEY_REDRAW}, {0x12, KEY_SEARCH},
    {0x15, KEY_DELETE_TO_START}, {0x0B, KEY_DELETE_TO_END}, {0x19, KEY_YANK},   {0x17, KEY_DELETE_WORD_BEFORE},
    {0x07, KEY_CANCEL},
};

/* After the escape character. */
static const struct {
    const char *sequence;
    enum key_kind kind;
} sequences[] = {
    {"[A", KEY_UP},
    {"[B", KEY_DOWN},
    {"[C", KEY_RIGHT},
    {"[D", KEY_LEFT},
    {"OA", KEY_UP},
    {"OB", KEY_DOWN},
    {"OC", KEY_RIGHT},
    {"OD", KEY_LEFT},
    {"[H", KEY_HOME},
    {"[F", KEY_END},
    {"OH", KEY_HOME},
    {"OF", KEY_END},
    {"[1~", KEY_HOME},
    {"[4~", KEY_END},
    {"[7~", KEY_HOME},
    {"[8~", KEY_END},
    {"[3~", KEY_DELETE},
    {"[1;5C", KEY_WORD_RIGHT},
    {"[1;5D", KEY_WORD_LEFT},
    {"[1;3C", KEY_WORD_RIGHT},
    {"[1;3D", KEY_WORD_LEFT},
    {"[13;2u", KEY_NEWLINE},
    {"[13;3u", KEY_NEWLINE},
    {"[27;2;13~", KEY_NEWLINE},
    {"[27;3;13~", KEY_NEWLINE},
    {"f", KEY_WORD_RIGHT},
    {"b", KEY_WORD_LEFT},
    {"d", KEY_DELETE_WORD_AFTER},
    {"\r", KEY_NEWLINE},
    {"\n", KEY_NEWLINE},
    {"\x7F", KEY_DELETE_WORD_BEFORE},
    {"\b", KEY_DELETE_WORD_BEFORE},
};

#define PASTE_START "\033[200~"
#define PASTE_END "\033[201~"

void key_reader_release(struct key_reader *reader)
{
    buffer_release(&reader->bytes);
    buffer_release(&reader->paste);
}

void key_reader_add(struct key_reader *reader, struct slice bytes)
{
    buffer_consume(&reader->bytes, reader->taken);
    reader->taken = 0;
    buffer_add(&reader->bytes, bytes);
}

static struct slice rest_of(const struct key_reader *reader)
{
    return slice_after(buffer_slice(&reader->bytes), reader->taken);
}

bool key_reader_is_waiting(const struct key_reader *reader)
{
    return reader->taken < reader->bytes.len;
}

/* --- pasted text --- */

/* Terminals send a carriage return for each line break. */
static void normalise_paste(struct buffer *paste)
{
    size_t kept = 0;
    bool was_return = false;
    for (size_t i = 0; i < paste->len; i++) {
        char c = paste->ptr[i];
        if (c != '\n' || !was_return) {
            paste->ptr[kept++] = c == '\r' ? '\n' : c;
        }
        was_return = c == '\r';
    }
    paste->len = kept;
}

static void keep_pasted(struct key_reader *reader, struct slice text)
{
    size_t room = PASTE_BYTES_MAX - reader->paste.len;
    buffer_add(&reader->paste, slice_from(text.ptr, text.len < room ? text.len : room));
}

static bool take_pasted(struct key_reader *reader, struct key *out)
{
    struct slice rest = rest_of(reader);
    const char *end = rest.len ? memmem(rest.ptr, rest.len, PASTE_END, strlen(PASTE_END)) : NULL;
    size_t held = strlen(PASTE_END) - 1; /* the end mark may be cut in two */
    size_t length = end ? (size_t)(end - rest.ptr) : rest.len > held ? rest.len - held : 0;
    keep_pasted(reader, slice_from(rest.ptr, length));
    reader->taken += length + (end ? strlen(PASTE_END) : 0);
    if (!end) {
        return false;
    }
    normalise_paste(&reader->paste);
    reader->is_pasting = false;
    *out = (struct key){KEY_PASTE, buffer_slice(&reader->paste)};
    return true;
}

/* --- escape sequences --- */

static bool is_final(char c)
{
    return c >= 0x40 && c <= 0x7E;
}

/* The length of the sequence after the escape character; 0 = not complete. */
static size_t sequence_length(struct slice rest)
{
    if (rest.len == 0) {
        return 0;
    }
    if (rest.ptr[0] == 'O') {
        return rest.len >= 2 ? 2 : 0;
    }
    if (rest.ptr[0] != '[') {
        return 1;
    }
    for (size_t i = 1; i < rest.len; i++) {
        if (is_final(rest.ptr[i]) || i == SEQUENCE_BYTES_MAX) {
            return i + 1;
        }
    }
    return 0;
}

static enum key_kind find_sequence(struct slice sequence)
{
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        if (slice_is(sequence, sequences[i].sequence)) {
            return sequences[i].kind;
        }
    }
    return KEY_UNKNOWN;
}

static bool take_escape(struct key_reader *reader, bool is_quiet, struct key *out)
{
    struct slice rest = rest_of(reader);
    struct slice after = slice_after(rest, 1);
    size_t length = sequence_length(after);
    if (slice_starts(rest, SLICE(PASTE_START))) {
        reader->taken += strlen(PASTE_START);
        reader->is_pasting = true;
        reader->paste.len = 0;
        return take_pasted(reader, out);
    }
    bool is_twice = after.len && after.ptr[0] == ESCAPE;
    if (is_twice || (length == 0 && is_quiet)) {
        reader->taken += length == 0 && !is_twice ? rest.len : 1;
        *out = (struct key){.kind = KEY_ESCAPE};
        return true;
    }
    if (length == 0) {
        return false;
    }
    reader->taken += 1 + length;
    *out = (struct key){.kind = find_sequence(slice_from(after.ptr, length))};
    return true;
}

/* --- characters --- */

static size_t character_length(struct slice rest)
{
    unsigned char first = (unsigned char)rest.ptr[0];
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    return length;
}

static bool take_character(struct key_reader *reader, bool is_quiet, struct key *out)
{
    struct slice rest = rest_of(reader);
    size_t length = character_length(rest);
    if (length > rest.len && !is_quiet) {
        return false;
    }
    struct slice text = slice_from(rest.ptr, length > rest.len ? rest.len : length);
    bool is_sound = slice_is_utf8(text);
    reader->taken += is_sound ? text.len : 1;
    *out = is_sound ? (struct key){KEY_TEXT, text} : (struct key){.kind = KEY_UNKNOWN};
    return true;
}

static bool take_control(struct key_reader *reader, char byte, struct key *out)
{
    reader->taken++;
    *out = (struct key){.kind = KEY_UNKNOWN};
    for (size_t i = 0; i < sizeof control_keys / sizeof control_keys[0]; i++) {
        if (byte == control_keys[i].byte) {
            out->kind = control_keys[i].kind;
        }
    }
    return true;
}

bool key_reader_take(struct key_reader *reader, bool is_quiet, struct key *out)
{
    if (reader->is_pasting) {
        return take_pasted(reader, out);
    }
    if (!key_reader_is_waiting(reader)) {
        return false;
    }
    char first = reader->bytes.ptr[reader->taken];
    if (first == ESCAPE) {
        return take_escape(reader, is_quiet, out);
    }
    if ((unsigned char)first < 0x20 || first == 0x7F) {
        return take_control(reader, first, out);
    }
    return take_character(reader, is_quiet, out);
}
