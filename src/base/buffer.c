#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

void buffer_init(struct buffer *buffer)
{
    *buffer = (struct buffer){0};
}

void buffer_release(struct buffer *buffer)
{
    free(buffer->ptr);
    *buffer = (struct buffer){0};
}

void buffer_grow(struct buffer *buffer, size_t more)
{
    size_t room = buffer->room ? buffer->room : 256;
    while (room - buffer->len < more) {
        room *= 2;
    }
    buffer->ptr = memory_resize(buffer->ptr, room);
    buffer->room = room;
}

void buffer_add_i64(struct buffer *buffer, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) {
        digits[--at] = '-';
    }
    buffer_add(buffer, slice_from(digits + at, sizeof digits - at));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    buffer_reserve(buffer, (size_t)len + 1);
    vsnprintf(buffer->ptr + buffer->len, (size_t)len + 1, format, again);
    buffer->len += (size_t)len;
    va_end(again);
    va_end(args);
}

void buffer_consume(struct buffer *buffer, size_t count)
{
    if (count >= buffer->len) {
        buffer->len = 0;
        return;
    }
    memmove(buffer->ptr, buffer->ptr + count, buffer->len - count);
    buffer->len -= count;
}

char *buffer_detach(struct buffer *buffer, size_t *out_len)
{
    char *bytes = buffer->ptr;
    *out_len = buffer->len;
    *buffer = (struct buffer){0};
    return bytes;
}
