#include "domain/text.h"

#include "base/hex.h"

size_t text_chars(struct slice text)
{
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++) {
        chars += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    }
    return chars;
}

bool text_is_uuid(struct slice text)
{
    if (text.len != 36) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : hex_value(text.ptr[i]) < 0) {
            return false;
        }
    }
    return true;
}
