/* Text laid out in rows of a terminal. It may hold colours of ours (escape characters are never anything else here:
 * text of others went through cli/terminal.h before). Pure. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include "base/buffer.h"

enum wrap_kind {
    WRAP_WORDS, /* between words where it can; the spaces there are dropped */
    WRAP_EXACT, /* anywhere; nothing is dropped */
};

struct wrap {
    size_t columns; /* at least 1 */
    size_t hang;    /* spaces before every row but the first; fewer in a narrow terminal */
    enum wrap_kind kind;
};

/* Appends a line as rows, each with a line end. A colour that goes on is ended and begun anew in each row. Returns how
 * many rows there are: one for an empty line. */
size_t wrap_line(const struct wrap *wrap, struct slice line, struct buffer *out);

#endif
