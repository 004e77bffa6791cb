/* The text being typed: keys in, text and cursor out. Pure: no input, no output, no clock. The text is UTF-8 without
 * control characters except line breaks and tabs. */
#ifndef CLI_EDITOR_H
#define CLI_EDITOR_H

#include "cli/history.h"
#include "cli/keys.h"

enum { EDITOR_BYTES_MAX = 4 * 1024 * 1024 };

/* A struct of zeroes is empty and ready; the history is optional and lives longer. */
struct editor {
    struct buffer text;
    size_t cursor; /* in bytes, between two characters */
    struct buffer killed;
    const struct history *history;
    size_t history_back; /* lines back from the draft; 0 = the draft */
    struct buffer draft; /* while history_back or a search shows something else */
    struct buffer query; /* of the search */
    size_t match;        /* the line found */
    bool is_searching;
    bool has_match;
};

/* What a key asks of the caller. */
enum editor_outcome {
    EDITOR_STAYS,    /* nothing but perhaps the text or the cursor changed */
    EDITOR_SUBMIT,   /* the text is complete; editor_clear takes it away */
    EDITOR_COMPLETE, /* Tab */
    EDITOR_ESCAPE,
    EDITOR_INTERRUPT, /* Ctrl-C */
    EDITOR_LEAVE,     /* Ctrl-D without text */
    EDITOR_SUSPEND,
    EDITOR_REDRAW,
};

void editor_release(struct editor *editor);
enum editor_outcome editor_key(struct editor *editor, const struct key *key);
struct slice editor_text(const struct editor *editor);
bool editor_is_empty(const struct editor *editor);
void editor_clear(struct editor *editor);
/* Replaces the text; the cursor stands at its end. */
void editor_set(struct editor *editor, struct slice text);
/* Replaces the bytes from `start` to the cursor. */
void editor_replace(struct editor *editor, size_t start, struct slice text);

#endif
