/* A table for people: aligned columns that shrink to the width of the terminal, empty ones left out, or all of them as
 * wide as they are when the output is not a terminal. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/terminal.h"

enum { TABLE_COLUMNS_MAX = 12 };

struct table_column {
    const char *title; /* NULL ends the columns */
    bool is_number;    /* to the right */
    int gives_way;     /* which columns shrink first when the terminal is narrow: 1 before 2; 0 = last */
};

struct table_cell {
    struct slice text; /* plain */
    enum colour colour;
};

/* Lives in the arena. */
struct table {
    const struct table_column *columns;
    size_t column_count;
    struct arena *arena;
    struct table_cell *cells; /* row by row */
    size_t cell_count, cell_room;
};

void table_init(struct table *table, const struct table_column *columns, struct arena *arena);
/* The next cell, row by row. The text is made plain and copied. */
void table_add(struct table *table, struct slice text);
void table_add_coloured(struct table *table, struct slice text, enum colour colour);
/* Writes head and rows; nothing when there is no row. `columns` 0 = no limit. */
void table_write(const struct table *table, size_t columns, bool has_colours, struct buffer *out);

#endif
