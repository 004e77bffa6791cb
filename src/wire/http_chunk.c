#include "wire/http.h"

#include "base/hex.h"

/*  SIZE → (EXTENSION) → SIZE_LF → DATA → DATA_CR → DATA_LF → SIZE …
 *  a chunk of size 0: SIZE_LF → TRAILER → (TRAILER_NAME → TRAILER_VALUE → TRAILER_LF → TRAILER …) → END_LF → DONE */
enum chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER,
    CHUNK_TRAILER_NAME,
    CHUNK_TRAILER_VALUE,
    CHUNK_TRAILER_LF,
    CHUNK_END_LF,
    CHUNK_DONE
};

enum { SIZE_DIGITS_MAX = 15, LINE_BYTES_MAX = 256, TRAILER_BYTES_MAX = 4096 };

static void refuse(struct http_chunks *chunks, enum http_fault fault)
{
    chunks->fault = (uint8_t)fault;
}

static void expect(struct http_chunks *chunks, char byte, char wanted, enum chunk_state next)
{
    if (byte != wanted) {
        refuse(chunks, chunks->state >= CHUNK_TRAILER ? HTTP_FAULT_TRAILER : HTTP_FAULT_CHUNK);
        return;
    }
    chunks->state = (uint8_t)next;
}

static void take_size(struct http_chunks *chunks, char byte)
{
    if (http_byte_is(byte, HTTP_BYTE_HEX) && chunks->line_bytes < SIZE_DIGITS_MAX) {
        chunks->left = chunks->left * 16 + (uint64_t)hex_value(byte);
        chunks->line_bytes++;
    } else if (chunks->line_bytes > 0 && byte == '\r') {
        chunks->state = CHUNK_SIZE_LF;
    } else if (chunks->line_bytes > 0 && byte == ';') {
        chunks->state = CHUNK_EXTENSION;
    } else {
        refuse(chunks, HTTP_FAULT_CHUNK);
    }
}

static void take_extension(struct http_chunks *chunks, char byte)
{
    if (byte == '\r') {
        chunks->state = CHUNK_SIZE_LF;
    } else if (!http_byte_is(byte, HTTP_BYTE_VALUE) || ++chunks->line_bytes > LINE_BYTES_MAX) {
        refuse(chunks, HTTP_FAULT_CHUNK);
    }
}

static void take_trailer_begin(struct http_chunks *chunks, char byte)
{
    if (byte == '\r') {
        chunks->state = CHUNK_END_LF;
    } else if (http_byte_is(byte, HTTP_BYTE_TOKEN)) {
        chunks->state = CHUNK_TRAILER_NAME;
    } else {
        refuse(chunks, HTTP_FAULT_TRAILER);
    }
}

static void take_trailer_name(struct http_chunks *chunks, char byte)
{
    if (byte == ':') {
        chunks->state = CHUNK_TRAILER_VALUE;
    } else if (!http_byte_is(byte, HTTP_BYTE_TOKEN)) {
        refuse(chunks, HTTP_FAULT_TRAILER);
    }
}

static void take_trailer_value(struct http_chunks *chunks, char byte)
{
    if (byte == '\r') {
        chunks->state = CHUNK_TRAILER_LF;
    } else if (!http_byte_is(byte, HTTP_BYTE_VALUE)) {
        refuse(chunks, HTTP_FAULT_TRAILER);
    }
}

static void take_size_lf(struct http_chunks *chunks, char byte)
{
    expect(chunks, byte, '\n', chunks->left > 0 ? CHUNK_DATA : CHUNK_TRAILER);
    chunks->line_bytes = 0;
}

static void take_framing(struct http_chunks *chunks, char byte)
{
    if (chunks->state >= CHUNK_TRAILER && ++chunks->trailer_bytes > TRAILER_BYTES_MAX) {
        refuse(chunks, HTTP_FAULT_TRAILER);
        return;
    }
    switch ((enum chunk_state)chunks->state) {
    case CHUNK_SIZE:
        take_size(chunks, byte);
        break;
    case CHUNK_EXTENSION:
        take_extension(chunks, byte);
        break;
    case CHUNK_SIZE_LF:
        take_size_lf(chunks, byte);
        break;
    case CHUNK_DATA_CR:
        expect(chunks, byte, '\r', CHUNK_DATA_LF);
        break;
    case CHUNK_DATA_LF:
        expect(chunks, byte, '\n', CHUNK_SIZE);
        break;
    case CHUNK_TRAILER:
        take_trailer_begin(chunks, byte);
        break;
    case CHUNK_TRAILER_NAME:
        take_trailer_name(chunks, byte);
        break;
    case CHUNK_TRAILER_VALUE:
        take_trailer_value(chunks, byte);
        break;
    case CHUNK_TRAILER_LF:
        expect(chunks, byte, '\n', CHUNK_TRAILER);
        break;
    case CHUNK_END_LF:
        expect(chunks, byte, '\n', CHUNK_DONE);
        break;
    case CHUNK_DATA:
    case CHUNK_DONE:
        break;
    }
}

static struct slice take_data(struct http_chunks *chunks, struct slice bytes)
{
    struct slice data = {bytes.ptr, bytes.len < chunks->left ? bytes.len : (size_t)chunks->left};
    chunks->left -= data.len;
    if (chunks->left == 0) {
        chunks->state = CHUNK_DATA_CR;
    }
    return data;
}

enum http_progress http_chunks_take(struct http_chunks *chunks, struct slice bytes, size_t *out_used,
                                    struct slice *out_data)
{
    size_t at = 0;
    *out_data = slice_from(bytes.ptr, 0);
    while (at < bytes.len && chunks->state != CHUNK_DONE && chunks->fault == HTTP_FAULT_NONE) {
        if (chunks->state == CHUNK_DATA) {
            *out_data = take_data(chunks, slice_after(bytes, at));
            at += out_data->len;
            break;
        }
        take_framing(chunks, bytes.ptr[at++]);
    }
    *out_used = at;
    if (chunks->fault != HTTP_FAULT_NONE) {
        return HTTP_REFUSED;
    }
    return chunks->state == CHUNK_DONE ? HTTP_DONE : HTTP_MORE;
}
