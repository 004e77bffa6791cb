#!/usr/bin/env python3
"""Writes src/base/caseless_table.h: which letter is which without case, as ranges.

The letters are those of Python's unicodedata (Unicode 14 when the table was last written); a letter is its simple
lower case. Two are set apart: the sigma at the end of a word is a sigma, and the dotted capital I is an i. A test
compares the table with PostgreSQL's lower(), which the other engine searches with.
"""
import sys
import unicodedata

SPECIAL = {0x3C2: 0x3C3, 0x130: 0x69}

HEADER = """/* Written by tools/caseless_table.py from Unicode VERSION. Private to caseless.c. */
#ifndef BASE_CASELESS_TABLE_H
#define BASE_CASELESS_TABLE_H

#include <stdint.h>

/* Every step-th letter from first to last, and how far away its other form is; by first. */
/* clang-format off */
static const struct letter_range {
    uint32_t first, last, step;
    int32_t distance;
} letter_ranges[] = {
ROWS};
/* clang-format on */

#endif
"""


def letters():
    """(letter, its other form) for every letter that has one."""
    for code in range(0x80, sys.maxunicode + 1):
        lower = chr(code).lower()
        other = SPECIAL.get(code, ord(lower) if len(lower) == 1 else code)
        if other != code:
            yield code, other


def ranges(pairs):
    """[first, last, step, distance] of letters that follow each other by one or two at the same distance."""
    found = []
    for code, other in pairs:
        last = found[-1] if found else None
        if last and last[3] == other - code:
            step = code - last[1]
            if step == last[2] or (last[0] == last[1] and step in (1, 2)):
                last[1:3] = [code, step]
                continue
        found.append([code, code, 1, other - code])
    return found


def header():
    """The text of the file."""
    rows = "".join(f"    {{0x{first:X}, 0x{last:X}, {step}, {distance}}},\n"
                   for first, last, step, distance in ranges(letters()))
    version = unicodedata.unidata_version.split(".")[0]
    return HEADER.replace("VERSION", version).replace("ROWS", rows)


if __name__ == "__main__":
    sys.stdout.write(header())
