/* The decoder hears the same events however the stream is cut, and what it heard can be written and heard again. The
 * first byte of the input sets the size of the pieces. */
#include "wire/sse.h"
#include "fuzz.h"

enum { EVENT_BYTES_MAX = 64 };

static void hear(struct buffer *heard, const struct sse_event *event)
{
    buffer_format(heard, "%zu %zu %zu\n", event->id.len, event->event.len, event->data.len);
    buffer_add(heard, event->id);
    for (size_t i = 0; i < event->event.len; i++) {
        buffer_add_byte(heard, event->event.ptr[i] ? event->event.ptr[i] : ' '); /* what the writer makes of it */
    }
    buffer_add(heard, event->data);
}

/* Writes what it heard to `heard`, and the events themselves to `rewritten` unless that is NULL. */
static enum sse_step decode(struct slice stream, size_t piece, size_t event_bytes_max, struct buffer *heard,
                            struct buffer *rewritten)
{
    struct sse_decoder decoder;
    struct sse_event event;
    enum sse_step step = SSE_MORE;
    sse_decoder_init(&decoder, event_bytes_max);
    while (stream.len > 0 && step != SSE_TOO_LARGE) {
        struct slice bytes = slice_from(stream.ptr, stream.len < piece ? stream.len : piece);
        stream = slice_after(stream, piece);
        while ((step = sse_decode(&decoder, &bytes, &event)) == SSE_EVENT) {
            hear(heard, &event);
            if (rewritten) {
                sse_write(rewritten, &event);
            }
        }
        CHECK(step == SSE_TOO_LARGE || bytes.len == 0);
    }
    CHECK(decoder.retry_ms >= -1);
    sse_decoder_release(&decoder);
    return step;
}

static bool same(const struct buffer *a, const struct buffer *b)
{
    return slice_eq(buffer_slice(a), buffer_slice(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct buffer whole = {0}, single = {0}, pieces = {0}, written = {0}, again = {0};
    struct slice stream = slice_from(data + 1, size - 1);
    enum sse_step step = decode(stream, size, EVENT_BYTES_MAX, &whole, &written);
    CHECK(decode(stream, 1, EVENT_BYTES_MAX, &single, NULL) == step);
    CHECK(decode(stream, (size_t)data[0] + 1, EVENT_BYTES_MAX, &pieces, NULL) == step);
    CHECK(same(&whole, &single) && same(&whole, &pieces));
    CHECK(decode(buffer_slice(&written), 7, 2 * EVENT_BYTES_MAX, &again, NULL) == SSE_MORE);
    CHECK(same(&whole, &again));
    buffer_release(&whole);
    buffer_release(&single);
    buffer_release(&pieces);
    buffer_release(&written);
    buffer_release(&again);
    return 0;
}
