#include "cli/option.h"

#include <stdio.h>

const struct option *option_find(const struct option *table, struct slice name)
{
    for (const struct option *option = table; option->name; option++) {
        bool is_it = slice_is(name, option->name) || (option->alias && slice_is(name, option->alias));
        if (option->type != OPTION_SECTION && is_it) {
            return option;
        }
    }
    return NULL;
}

static void write_variable(const char *name, char *out, size_t room)
{
    snprintf(out, room, "SOJOURN_%s", name);
    for (char *c = out; *c; c++) {
        *c = *c == '-' ? '_' : (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    }
}

static void write_key(const char *name, char *out, size_t room)
{
    snprintf(out, room, "%s", name);
    for (char *c = out; *c; c++) {
        *c = *c == '-' ? '_' : *c;
    }
}

void option_environment_name(const struct option *option, char *out, size_t room)
{
    write_variable(option->name, out, room);
}

void option_environment_alias(const struct option *option, char *out, size_t room)
{
    write_variable(option->alias ? option->alias : option->name, out, room);
}

void option_file_key(const struct option *option, char *out, size_t room)
{
    write_key(option->name, out, room);
}

bool option_has_key(const struct option *option, struct slice key)
{
    char text[96];
    write_key(option->name, text, sizeof text);
    if (!slice_is(key, text) && option->alias) {
        write_key(option->alias, text, sizeof text);
    }
    return option->type != OPTION_SECTION && slice_is(key, text);
}

static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

enum { NAME_BYTES_MAX = 64 };

/* How many letters must be changed, added or left out. Names that are too long are far from everything. */
static size_t name_distance(struct slice a, struct slice b)
{
    size_t row[NAME_BYTES_MAX + 1];
    if (a.len > NAME_BYTES_MAX || b.len > NAME_BYTES_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t above = row[j];
            row[j] = least_of(above + 1, row[j - 1] + 1, diagonal + (a.ptr[i - 1] != b.ptr[j - 1]));
            diagonal = above;
        }
    }
    return row[b.len];
}

const char *closest_name(struct slice name, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t best_distance = name.len / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        struct slice candidate = slice_of(candidates[i]);
        size_t distance = name_distance(name, candidate);
        if (distance > 1 && name.len >= 3 && slice_starts(candidate, name)) {
            distance = 1;
        }
        if (distance < best_distance) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}

const struct option *option_closest(const struct option *table, struct slice name)
{
    const char *names[256];
    size_t count = 0;
    for (const struct option *option = table; option->name && count < 256; option++) {
        if (option->type != OPTION_SECTION) {
            names[count++] = option->name;
        }
    }
    const char *best = closest_name(name, names, count);
    return best ? option_find(table, slice_of(best)) : NULL;
}
