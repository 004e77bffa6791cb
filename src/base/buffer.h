/* A growing run of bytes on the heap, owned by whoever initialised it. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "base/slice.h"

struct buffer {
    char *ptr;
    size_t len;
    size_t room;
};

/* A buffer of zeroes is empty and ready. */
void buffer_init(struct buffer *buffer);
void buffer_release(struct buffer *buffer);
void buffer_grow(struct buffer *buffer, size_t more);
void buffer_add_i64(struct buffer *buffer, int64_t value);
void buffer_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Drops the first `count` bytes. */
void buffer_consume(struct buffer *buffer, size_t count);
/* Hands the bytes over to the caller, who frees them; the buffer is empty afterwards. */
char *buffer_detach(struct buffer *buffer, size_t *out_len);

static inline void buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->room - buffer->len < more) {
        buffer_grow(buffer, more);
    }
}

static inline void buffer_add(struct buffer *buffer, struct slice s)
{
    if (s.len == 0) {
        return;
    }
    buffer_reserve(buffer, s.len);
    memcpy(buffer->ptr + buffer->len, s.ptr, s.len);
    buffer->len += s.len;
}

static inline void buffer_add_byte(struct buffer *buffer, char c)
{
    buffer_reserve(buffer, 1);
    buffer->ptr[buffer->len++] = c;
}

static inline struct slice buffer_slice(const struct buffer *buffer)
{
    return slice_from(buffer->ptr ? buffer->ptr : "", buffer->len);
}

#endif
