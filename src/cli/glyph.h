/* Characters as a terminal shows them: how many columns each takes, and which of them would steer the terminal or show
 * nothing. Pure. */
#ifndef CLI_GLYPH_H
#define CLI_GLYPH_H

#include "base/slice.h"

enum glyph_kind {
    GLYPH_SHOWN,
    GLYPH_MARK,     /* combines with the character before; no column */
    GLYPH_JOINING,  /* joins or varies characters; shows nothing */
    GLYPH_HIDDEN,   /* shows nothing */
    GLYPH_STEERING, /* control characters, directions, line separators, bytes that are not UTF-8 */
};

struct glyph {
    struct slice bytes;
    int32_t code; /* -1 = one byte that is not UTF-8 */
    enum glyph_kind kind;
    size_t columns;
};

/* The next character of *rest, which is not empty; *rest moves past it. */
struct glyph glyph_take(struct slice *rest);
/* The start of the character before `at`, and of the one after it, marks and joined characters included: where a cursor
 * can stand. */
size_t glyph_before(struct slice text, size_t at);
size_t glyph_after(struct slice text, size_t at);

#endif
