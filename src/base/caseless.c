#include "base/caseless.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/caseless_table.h"

enum {
    RANGE_COUNT = sizeof letter_ranges / sizeof *letter_ranges,
    BROKEN = 0x110000,
    LETTER_BYTES_MAX = 4,
    FEW_LETTERS = 64,
};

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

/* A text that is looked for, as letters. After a letter that does not fit, `resume` of those that did tells how many of
 * them begin the text again, so that no letter is looked at twice. */
struct wanted {
    uint32_t *letters;
    uint32_t *resume;
    size_t count;
};

static void wanted_fill(struct wanted *wanted, struct slice part)
{
    for (size_t at = 0; at < part.len;) {
        wanted->letters[wanted->count++] = take(part, &at);
    }
    uint32_t begins = 0;
    wanted->resume[0] = 0;
    for (size_t i = 1; i < wanted->count; i++) {
        while (begins > 0 && wanted->letters[i] != wanted->letters[begins]) {
            begins = wanted->resume[begins - 1];
        }
        begins += wanted->letters[i] == wanted->letters[begins];
        wanted->resume[i] = begins;
    }
}

static bool is_found(struct slice text, const struct wanted *wanted)
{
    size_t fitting = 0;
    for (size_t at = 0; at < text.len && fitting < wanted->count;) {
        uint32_t letter = take(text, &at);
        while (fitting > 0 && letter != wanted->letters[fitting]) {
            fitting = wanted->resume[fitting - 1];
        }
        fitting += letter == wanted->letters[fitting];
    }
    return fitting == wanted->count;
}

bool caseless_has(struct slice text, struct slice part)
{
    uint32_t few[2 * FEW_LETTERS];
    if (part.len == 0 || part.len > text.len * LETTER_BYTES_MAX) {
        return part.len == 0;
    }
    uint32_t *room = part.len <= FEW_LETTERS ? few : memory_alloc(2 * part.len * sizeof *room);
    struct wanted wanted = {.letters = room, .resume = room + part.len};
    wanted_fill(&wanted, part);
    bool found = is_found(text, &wanted);
    if (room != few) {
        free(room);
    }
    return found;
}
