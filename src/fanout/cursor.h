/* Arithmetic and text of cursors. A position of the firehose travels inside the fanout as a cursor too: major and minor
 * stand in `sequence` and `delta`. */
#ifndef FANOUT_CURSOR_H
#define FANOUT_CURSOR_H

#include "fanout/fanout.h"

enum { CURSOR_TEXT_BYTES = 48 };

enum cursor_style { CURSOR_SESSION, CURSOR_FIREHOSE }; /* "12", "12.3"; "812-4" */

static inline bool cursor_before(struct cursor a, struct cursor b)
{
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.delta < b.delta;
}

static inline struct cursor cursor_max(struct cursor a, struct cursor b)
{
    return cursor_before(a, b) ? b : a;
}

static inline struct cursor cursor_of_position(struct position position)
{
    return (struct cursor){position.major, position.minor};
}

static inline struct position cursor_to_position(struct cursor cursor)
{
    return (struct position){cursor.sequence, cursor.delta};
}

/* The text lives in `out`. */
struct slice cursor_format(struct cursor cursor, enum cursor_style style, char out[CURSOR_TEXT_BYTES]);

#endif
