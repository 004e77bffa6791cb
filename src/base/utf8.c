#include "base/utf8.h"

size_t utf8_put(uint32_t code, char out[UTF8_BYTES_MAX])
{
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (char)(leads[count] | code);
    return count;
}
