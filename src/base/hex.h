/* Hexadecimal digits. Written in lower case. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include "base/slice.h"

/* What a digit of either case is worth, or -1. */
static inline int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Two digits a byte and no zero byte behind them; returns what follows the last digit. */
char *hex_write(const unsigned char *bytes, size_t count, char *out);
/* Exactly two digits a byte, in lower case as hex_write writes them: one value has one form. False, with *out
 * untouched, for anything else. */
bool hex_read(struct slice text, unsigned char *out, size_t count);

#endif
