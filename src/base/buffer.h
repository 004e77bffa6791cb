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
void buffer_reserve(struct buffer *buffer, size_t more);
void buffer_add(struct buffer *buffer, struct slice s);
void buffer_add_byte(struct buffer *buffer, char c);
void buffer_add_i64(struct buffer *buffer, int64_t value);
void buffer_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Drops the first `count` bytes. */
void buffer_consume(struct buffer *buffer, size_t count);
/* Hands the bytes over to the caller, who frees them; the buffer is empty afterwards. */
char *buffer_detach(struct buffer *buffer, size_t *out_len);

static inline struct slice buffer_slice(const struct buffer *buffer)
{
    return slice_from(buffer->ptr ? buffer->ptr : "", buffer->len);
}

#endif
