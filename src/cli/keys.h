/* What a terminal sends, as keys: control characters, escape sequences, pasted text (bracketed paste). Pure: bytes in,
 * keys out. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include "base/buffer.h"

/* Pasted text beyond this is dropped. */
enum { PASTE_BYTES_MAX = 1024 * 1024 };

enum key_kind {
    KEY_UNKNOWN,
    KEY_TEXT,  /* a character */
    KEY_PASTE, /* text with line breaks */
    KEY_ENTER,
    KEY_NEWLINE,
    KEY_TAB,
    KEY_ESCAPE,
    KEY_BACKSPACE,
    KEY_DELETE,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_DELETE_WORD_BEFORE,
    KEY_DELETE_WORD_AFTER,
    KEY_DELETE_TO_START,
    KEY_DELETE_TO_END,
    KEY_YANK,
    KEY_SEARCH,
    KEY_PREVIOUS, /* of the history, from any line */
    KEY_NEXT,
    KEY_INTERRUPT,
    KEY_END_OF_INPUT,
    KEY_SUSPEND,
    KEY_REDRAW,
    KEY_CANCEL,
    KEY_KIND_COUNT
};

struct key {
    enum key_kind kind;
    struct slice text; /* of KEY_TEXT and KEY_PASTE; until the reader is used again */
};

/* A struct of zeroes is ready. */
struct key_reader {
    struct buffer bytes;
    size_t taken; /* of `bytes` */
    struct buffer paste;
    bool is_pasting;
};

void key_reader_release(struct key_reader *reader);
void key_reader_add(struct key_reader *reader, struct slice bytes);
/* The next key; false when more bytes are needed. `is_quiet`: nothing came for a while, so that an escape character
 * that could begin a sequence is the Escape key. */
bool key_reader_take(struct key_reader *reader, bool is_quiet, struct key *out);
/* Bytes of a key that is not complete. */
bool key_reader_is_waiting(const struct key_reader *reader);

#endif
