/* What Tab completes: which word of a line it is, and what its candidates have in common. Pure. */
#ifndef CLI_COMPLETING_H
#define CLI_COMPLETING_H

#include "base/buffer.h"

enum completes { COMPLETES_COMMAND, COMPLETES_FILE, COMPLETES_AGENT, COMPLETES_SESSION };

struct completing {
    enum completes kind;
    size_t start;       /* of what is replaced, in the text */
    struct slice typed; /* from there to the cursor */
};

/* "/hel" at the start of the text, the word after /resume and /new, and words that begin with @. False for others. */
bool completing_find(struct slice text, size_t cursor, struct completing *out);

struct candidate {
    char *text;      /* owned */
    const char *end; /* added when it is the only one: " ", or "/" for a folder */
};

/* A struct of zeroes is empty. */
struct candidates {
    struct candidate *items;
    size_t count, room;
};

void candidates_release(struct candidates *candidates);
/* Names with control or invisible characters are left out. */
void candidates_add(struct candidates *candidates, struct slice text, const char *end);
/* Only those that begin with what was typed, sorted, each once. */
void candidates_keep(struct candidates *candidates, struct slice typed);
/* Appends what all have in common; false when that is not more than what was typed. */
bool candidates_common(const struct candidates *candidates, struct slice typed, struct buffer *out);
/* Columns of names, at most so wide; the last folder only of paths. */
void candidates_list(const struct candidates *candidates, size_t columns, struct buffer *out);

#endif
