#include "base/hex.h"

char *hex_write(const unsigned char *bytes, size_t count, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

static bool is_lower_hex(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (hex_value(text.ptr[i]) < 0 || (text.ptr[i] >= 'A' && text.ptr[i] <= 'F')) {
            return false;
        }
    }
    return true;
}

bool hex_read(struct slice text, unsigned char *out, size_t count)
{
    if (text.len != 2 * count || !is_lower_hex(text)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = (unsigned char)(hex_value(text.ptr[2 * i]) << 4 | hex_value(text.ptr[2 * i + 1]));
    }
    return true;
}
