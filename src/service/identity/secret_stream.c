#include "service/identity/secret_stream.h"

#include <stdlib.h>

#include "base/arena.h"
#include "domain/silence.h"
#include "service/identity/secret.h"

struct stream {
    struct buffer key;
    struct buffer tail; /* the beginning of a secret, perhaps */
    size_t shown;       /* of the tail */
    int64_t epoch;
};

static void stream_free(struct stream *stream)
{
    buffer_release(&stream->key);
    buffer_release(&stream->tail);
    free(stream);
}

void secret_streams_release(struct secret_streams *streams)
{
    struct stream *stream;
    for (size_t cursor = 0; (stream = map_next(&streams->map, &cursor));) {
        stream_free(stream);
    }
    map_release(&streams->map);
    streams->map = (struct map){0};
}

static void forget(struct secret_streams *streams, struct stream *stream)
{
    if (stream) {
        map_remove(&streams->map, buffer_slice(&stream->key));
        stream_free(stream);
    }
}

static struct stream *stream_new(struct secret_streams *streams, struct slice key)
{
    struct stream *stream = memory_zeroed(sizeof *stream);
    if (streams->map.count >= SECRET_STREAMS_MAX) {
        secret_streams_release(streams);
    }
    buffer_add(&stream->key, key);
    map_put(&streams->map, buffer_slice(&stream->key), stream);
    return stream;
}

/* --- what is hidden --- */

struct hidden {
    struct secrets *secrets;
    bool marks;
};

/* The first secret or mark, and what stands in its place. */
static bool hidden_find(const struct hidden *hidden, struct slice text, size_t *out_at, size_t *out_len,
                        struct slice *out_mask)
{
    size_t at, len;
    bool found = secrets_any(hidden->secrets) && secrets_find(hidden->secrets, text, out_at, out_len);
    *out_mask = SLICE(SECRET_MASK);
    if (hidden->marks && silence_find(text, &at, &len) && (!found || at < *out_at)) {
        *out_at = at;
        *out_len = len;
        *out_mask = SLICE("");
        found = true;
    }
    return found;
}

static size_t hidden_begun(const struct hidden *hidden, struct slice text)
{
    size_t secret = secrets_any(hidden->secrets) ? secrets_begun(hidden->secrets, text) : 0;
    size_t mark = hidden->marks ? silence_begun(text) : 0;
    return secret > mark ? secret : mark;
}

/* --- one piece --- */

static void show_from(struct buffer *out, struct slice text, size_t from, size_t to)
{
    if (from < to) {
        buffer_add(out, slice_from(text.ptr + from, to - from));
    }
}

/* Masks what is whole, without what was shown before; returns where the rest begins. */
static size_t mask_whole(const struct hidden *hidden, struct slice text, size_t shown, struct buffer *out)
{
    size_t from = 0, at, len;
    struct slice mask;
    while (hidden_find(hidden, slice_after(text, from), &at, &len, &mask)) {
        show_from(out, text, from > shown ? from : shown, from + at);
        buffer_add(out, mask);
        from += at + len;
    }
    return from;
}

static void hold(struct stream *stream, struct slice text, size_t from, size_t shown, int64_t epoch)
{
    stream->tail.len = 0;
    buffer_add(&stream->tail, slice_after(text, from));
    stream->shown = shown > from ? shown - from : 0;
    stream->epoch = epoch;
}

static struct slice pass_slowly(struct secret_streams *streams, const struct hidden *hidden, struct slice key,
                                int64_t epoch, struct slice text, struct stream *stream, struct buffer *scratch)
{
    struct buffer whole = {0};
    size_t shown = 0;
    if (stream) {
        buffer_add(&whole, buffer_slice(&stream->tail));
        shown = stream->epoch == epoch ? stream->shown : stream->tail.len;
    }
    buffer_add(&whole, text);
    struct slice all = buffer_slice(&whole);
    scratch->len = 0;
    size_t from = mask_whole(hidden, all, shown, scratch);
    size_t kept = all.len - hidden_begun(hidden, slice_after(all, from));
    show_from(scratch, all, from > shown ? from : shown, kept);
    if (kept < all.len) {
        hold(stream ? stream : stream_new(streams, key), all, kept, shown, epoch);
    } else {
        forget(streams, stream);
    }
    buffer_release(&whole);
    return buffer_slice(scratch);
}

struct slice secret_streams_pass(struct secret_streams *streams, struct secrets *secrets, bool hides_marks,
                                 struct slice key, int64_t epoch, struct slice text, struct buffer *scratch)
{
    size_t at, len;
    struct slice mask;
    struct hidden hidden = {secrets, hides_marks};
    if (!hides_marks && !secrets_any(secrets)) {
        return text;
    }
    struct stream *stream = streams->map.count > 0 ? map_get(&streams->map, key) : NULL;
    bool is_plain = !stream && !hidden_find(&hidden, text, &at, &len, &mask) && hidden_begun(&hidden, text) == 0;
    return is_plain ? text : pass_slowly(streams, &hidden, key, epoch, text, stream, scratch);
}

/* --- all of them --- */

void secret_streams_flush(struct secret_streams *streams,
                          void (*show)(void *owner, struct slice key, struct slice text), void *owner)
{
    struct stream *stream;
    for (size_t cursor = 0; (stream = map_next(&streams->map, &cursor));) {
        struct slice rest = slice_after(buffer_slice(&stream->tail), stream->shown);
        if (rest.len > 0) {
            stream->shown = stream->tail.len;
            bool is_harmless = stream->tail.len < SECRET_BYTES_MIN || silence_begun(buffer_slice(&stream->tail)) ==
                                                                          stream->tail.len; /* and no mark after all */
            show(owner, buffer_slice(&stream->key), is_harmless ? rest : SLICE(SECRET_MASK));
        }
    }
}
