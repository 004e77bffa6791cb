#include "cli/table.h"

#include <assert.h>

enum { GAP = 2, SHRUNK_MIN = 6 };

void table_init(struct table *table, const struct table_column *columns, struct arena *arena)
{
    *table = (struct table){.columns = columns, .arena = arena};
    while (columns[table->column_count].title) {
        table->column_count++;
    }
    assert(table->column_count <= TABLE_COLUMNS_MAX);
}

static void make_room(struct table *table)
{
    size_t room = table->cell_room ? table->cell_room * 2 : 64;
    struct table_cell *cells = arena_array(table->arena, room, sizeof *cells);
    for (size_t i = 0; i < table->cell_count; i++) {
        cells[i] = table->cells[i];
    }
    table->cells = cells;
    table->cell_room = room;
}

void table_add_coloured(struct table *table, struct slice text, enum colour colour)
{
    struct buffer plain = {0};
    if (table->cell_count == table->cell_room) {
        make_room(table);
    }
    text_add_plain(&plain, text);
    table->cells[table->cell_count++] = (struct table_cell){arena_copy(table->arena, buffer_slice(&plain)), colour};
    buffer_release(&plain);
}

void table_add(struct table *table, struct slice text)
{
    table_add_coloured(table, text, COLOUR_NONE);
}

/* --- widths --- */

static void measure(const struct table *table, size_t *widths)
{
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = strlen(table->columns[i].title);
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t columns = text_columns(table->cells[i].text), *width = &widths[i % table->column_count];
        *width = columns > *width ? columns : *width;
    }
}

/* On a terminal a column without any value only takes room; 0 = it is not shown. */
static void drop_empty(const struct table *table, size_t *widths)
{
    bool has_value[TABLE_COLUMNS_MAX] = {false};
    for (size_t i = 0; i < table->cell_count; i++) {
        has_value[i % table->column_count] |= table->cells[i].text.len > 0;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = has_value[i] ? widths[i] : 0;
    }
}

static size_t total(const struct table *table, const size_t *widths)
{
    size_t sum = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        sum += widths[i] ? widths[i] + (sum ? GAP : 0) : 0;
    }
    return sum;
}

enum { RANK_ANY = TABLE_COLUMNS_MAX + 1 };

/* The widest column of the rank that can still shrink; of any rank only texts do. */
static size_t *find_widest(const struct table *table, size_t *widths, int rank)
{
    size_t *widest = NULL;
    for (size_t i = 0; i < table->column_count; i++) {
        bool is_of_rank = rank == RANK_ANY ? !table->columns[i].is_number : table->columns[i].gives_way == rank;
        bool may = is_of_rank && widths[i] > SHRUNK_MIN;
        if (may && (!widest || widths[i] > *widest)) {
            widest = &widths[i];
        }
    }
    return widest;
}

static void shrink(const struct table *table, size_t columns, size_t *widths)
{
    for (int rank = 1; rank <= RANK_ANY; rank++) {
        size_t *widest;
        while (total(table, widths) > columns && (widest = find_widest(table, widths, rank))) {
            --*widest;
        }
    }
}

/* --- writing --- */

static void add_spaces(struct buffer *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(out, ' ');
    }
}

static void end_line(struct buffer *out)
{
    while (out->len && out->ptr[out->len - 1] == ' ') {
        out->len--;
    }
    buffer_add_byte(out, '\n');
}

static void add_cell(struct buffer *out, struct slice text, size_t width, bool is_number, bool is_last,
                     enum colour colour)
{
    struct buffer fitted = {0};
    text_add_fitted(&fitted, text, width);
    size_t used = text_columns(buffer_slice(&fitted)), padding = width > used ? width - used : 0;
    if (is_number) {
        add_spaces(out, padding);
    }
    if (colour != COLOUR_NONE) {
        buffer_add(out, colour_code(colour));
    }
    buffer_add(out, buffer_slice(&fitted));
    if (colour != COLOUR_NONE) {
        buffer_add(out, colour_code(COLOUR_NONE));
    }
    if (!is_number && !is_last) {
        add_spaces(out, padding);
    }
    if (!is_last) {
        add_spaces(out, GAP);
    }
    buffer_release(&fitted);
}

void table_write(const struct table *table, size_t columns, bool has_colours, struct buffer *out)
{
    size_t widths[TABLE_COLUMNS_MAX], count = table->column_count;
    if (table->cell_count == 0) {
        return;
    }
    measure(table, widths);
    if (columns) {
        drop_empty(table, widths);
        shrink(table, columns, widths);
    }
    for (size_t i = 0; i < count; i++) {
        if (widths[i]) {
            add_cell(out, slice_of(table->columns[i].title), widths[i], table->columns[i].is_number, i + 1 == count,
                     has_colours ? COLOUR_BOLD : COLOUR_NONE);
        }
    }
    end_line(out);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % count;
        if (widths[column]) {
            add_cell(out, table->cells[i].text, widths[column], table->columns[column].is_number, column + 1 == count,
                     has_colours ? table->cells[i].colour : COLOUR_NONE);
        }
        if (column + 1 == count) {
            end_line(out);
        }
    }
}
