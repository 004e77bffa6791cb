#!/usr/bin/env python3
"""Writes src/cli/glyph_table.h: characters that do not simply take one column of a terminal, as ranges.

From Python's unicodedata (Unicode 14 when the table was last written).
"""
import sys
import unicodedata

# Reorder the text around them, or end a line.
STEERING = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
# Join or vary the character before; a terminal that does not know them shows nothing.
JOINING = {0x200C, 0x200D, *range(0xFE00, 0xFE10)}
# Take room or not as the font pleases, and show nothing.
HIDDEN = {0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x200B, *range(0x2060, 0x2066),
          *range(0x206A, 0x2070), 0x3164, 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFFC), *range(0xE0000, 0xE1000)}
IDEOGRAPHS = range(0x20000, 0x3FFFE)  # wide, assigned or not
LAST = 0xE0FFF

HEADER = """/* Written by tools/glyph_table.py from Unicode VERSION. Private to glyph.c. */
#ifndef CLI_GLYPH_TABLE_H
#define CLI_GLYPH_TABLE_H

#include "cli/glyph.h"

/* By first; a character in none of them is GLYPH_SHOWN and takes one column. */
/* clang-format off */
static const struct glyph_range {
    int32_t first, last;
    enum glyph_kind kind;
    unsigned char columns;
} glyph_ranges[] = {
ROWS};
/* clang-format on */

#endif
"""


def property_of(code):
    """(kind, columns), or None for a plain character."""
    category = unicodedata.category(chr(code))
    if category == "Cn" and code not in HIDDEN and code not in IDEOGRAPHS:
        return None
    if code in STEERING or category in ("Cc", "Zl", "Zp", "Cs"):
        return "GLYPH_STEERING", 0
    if code in JOINING:
        return "GLYPH_JOINING", 0
    if code in HIDDEN or category == "Cf":
        return "GLYPH_HIDDEN", 0
    if category in ("Mn", "Me"):
        return "GLYPH_MARK", 0
    if code in IDEOGRAPHS or unicodedata.east_asian_width(chr(code)) in ("W", "F"):
        return "GLYPH_SHOWN", 2
    return None


def header():
    """The text of the file."""
    found = []
    is_open = False  # nothing but unassigned codes since the last range
    for code in range(LAST + 1):
        kind = property_of(code)
        if kind and is_open and found[-1][2] == kind:
            found[-1][1] = code
        elif kind:
            found.append([code, code, kind])
        is_open = bool(kind) or (is_open and unicodedata.category(chr(code)) == "Cn")
    rows = "".join(f"    {{0x{first:X}, 0x{last:X}, {kind[0]}, {kind[1]}}},\n" for first, last, kind in found)
    version = unicodedata.unidata_version.split(".")[0]
    return HEADER.replace("VERSION", version).replace("ROWS", rows)


if __name__ == "__main__":
    sys.stdout.write(header())
