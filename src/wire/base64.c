#include "wire/base64.h"

static const char *const alphabets[] = {
    [BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

size_t base64_encode_to(char *out, struct slice bytes, enum base64_alphabet alphabet)
{
    const char *letters = alphabets[alphabet];
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    char *to = out;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t group = (uint32_t)from[i] << 16;
        group |= have > 1 ? (uint32_t)from[i + 1] << 8 : 0;
        group |= have > 2 ? from[i + 2] : 0;
        for (size_t k = 0; k <= have; k++) {
            *to++ = letters[group >> (18 - 6 * k) & 63];
        }
        for (size_t k = have; k < 3 && alphabet == BASE64_STANDARD; k++) {
            *to++ = '=';
        }
    }
    return (size_t)(to - out);
}

void base64_encode(struct buffer *buffer, struct slice bytes, enum base64_alphabet alphabet)
{
    if (bytes.len == 0) {
        return;
    }
    buffer_reserve(buffer, BASE64_ROOM(bytes.len));
    buffer->len += base64_encode_to(buffer->ptr + buffer->len, bytes, alphabet);
}

static int letter_value(char c, enum base64_alphabet alphabet)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == alphabets[alphabet][62]) {
        return 62;
    }
    return c == alphabets[alphabet][63] ? 63 : -1;
}

/* Removes the padding; false when it is not what the alphabet asks for. */
static bool strip_padding(struct slice *text, enum base64_alphabet alphabet)
{
    if (alphabet == BASE64_STANDARD) {
        if (text->len % 4 != 0) {
            return false;
        }
        for (int i = 0; i < 2 && text->len > 0 && text->ptr[text->len - 1] == '='; i++) {
            text->len--;
        }
    }
    return text->len % 4 != 1;
}

/* Two to four characters become one to three bytes; bits beyond the last byte must be zero. */
static bool decode_group(const char *from, size_t have, enum base64_alphabet alphabet, char *to)
{
    uint32_t group = 0;
    for (size_t k = 0; k < have; k++) {
        int value = letter_value(from[k], alphabet);
        if (value < 0) {
            return false;
        }
        group |= (uint32_t)value << (18 - 6 * k);
    }
    for (size_t k = 0; k + 1 < have; k++) {
        to[k] = (char)(group >> (16 - 8 * k) & 255);
    }
    return (group & (0xFFFFFFu >> (8 * (have - 1)))) == 0;
}

bool base64_decode(struct arena *arena, struct slice text, enum base64_alphabet alphabet, struct slice *out)
{
    if (!strip_padding(&text, alphabet)) {
        return false;
    }
    size_t len = text.len / 4 * 3 + (text.len % 4 ? text.len % 4 - 1 : 0);
    char *bytes = arena_bytes(arena, len + 1);
    for (size_t i = 0; i < text.len; i += 4) {
        size_t have = text.len - i < 4 ? text.len - i : 4;
        if (!decode_group(text.ptr + i, have, alphabet, bytes + i / 4 * 3)) {
            return false;
        }
    }
    bytes[len] = '\0';
    *out = slice_from(bytes, len);
    return true;
}
