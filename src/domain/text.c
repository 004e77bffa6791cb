#include "domain/text.h"

size_t text_chars(struct slice text)
{
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++) {
        chars += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    }
    return chars;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

bool text_is_uuid(struct slice text)
{
    if (text.len != 36) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : !is_hex(text.ptr[i])) {
            return false;
        }
    }
    return true;
}
