#include "base/caseless.h"

#include "base/caseless_table.h"

enum { RANGE_COUNT = sizeof letter_ranges / sizeof *letter_ranges, BROKEN = 0x110000 };

static uint32_t other_form(uint32_t letter)
{
    size_t low = 0, high = RANGE_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (letter_ranges[middle].last < letter) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct letter_range *range = &letter_ranges[low];
    bool listed = low < RANGE_COUNT && letter >= range->first && (letter - range->first) % range->step == 0;
    return listed ? (uint32_t)((int32_t)letter + range->distance) : letter;
}

/* The letter at *at, folded, and moves on. A byte that begins none is itself, apart from all letters. */
static uint32_t take(struct slice text, size_t *at)
{
    static const unsigned char lengths[] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4};
    unsigned char first = (unsigned char)text.ptr[*at];
    size_t len = lengths[first >> 4];
    if (len == 1) {
        ++*at;
        return first >= 'A' && first <= 'Z' ? first + 32u : first;
    }
    uint32_t letter = len ? first & (0xFFu >> (len + 1)) : 0;
    bool whole = len > 0 && len <= text.len - *at;
    for (size_t i = 1; whole && i < len; i++) {
        unsigned char next = (unsigned char)text.ptr[*at + i];
        whole = (next & 0xC0) == 0x80;
        letter = letter << 6 | (next & 0x3Fu);
    }
    *at += whole ? len : 1;
    return whole ? other_form(letter) : (uint32_t)BROKEN + first;
}

static void put(struct buffer *out, uint32_t letter)
{
    if (letter < 0x80 || letter >= BROKEN) {
        buffer_add_byte(out, (char)(letter < 0x80 ? letter : letter - BROKEN));
        return;
    }
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t len = letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
    char bytes[4];
    for (size_t i = len; i-- > 1; letter >>= 6) {
        bytes[i] = (char)(0x80 | (letter & 0x3F));
    }
    bytes[0] = (char)(marks[len] | letter);
    buffer_add(out, slice_from(bytes, len));
}

void caseless_write(struct buffer *out, struct slice text)
{
    for (size_t at = 0; at < text.len;) {
        put(out, take(text, &at));
    }
}

static bool starts(struct slice text, size_t at, struct slice part)
{
    size_t of_part = 0;
    while (of_part < part.len && at < text.len) {
        if (take(text, &at) != take(part, &of_part)) {
            return false;
        }
    }
    return of_part == part.len;
}

bool caseless_has(struct slice text, struct slice part)
{
    size_t at = 0;
    bool found = starts(text, 0, part);
    while (!found && at < text.len) {
        (void)take(text, &at);
        found = starts(text, at, part);
    }
    return found;
}
