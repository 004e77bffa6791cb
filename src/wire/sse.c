#include "wire/sse.h"

static bool is_line_break(char c)
{
    return c == '\n' || c == '\r';
}

/* The bytes before the first line break; all of them when there is none. Long lines are searched with memchr. */
static struct slice line_before_break(struct slice s)
{
    for (const char *mark = "\n\r"; *mark; mark++) {
        const char *found = s.len > 0 ? memchr(s.ptr, *mark, s.len) : NULL;
        s.len = found ? (size_t)(found - s.ptr) : s.len;
    }
    return s;
}

static void write_field(struct buffer *buffer, struct slice name, struct slice value)
{
    buffer_add(buffer, name);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        buffer_add_byte(buffer, is_line_break(c) || c == '\0' ? ' ' : c);
    }
    buffer_add_byte(buffer, '\n');
}

static void write_lines(struct buffer *buffer, struct slice name, struct slice text)
{
    for (;;) {
        struct slice line = line_before_break(text);
        buffer_add(buffer, name);
        buffer_add(buffer, line);
        buffer_add_byte(buffer, '\n');
        if (line.len == text.len) {
            return;
        }
        bool crlf = text.ptr[line.len] == '\r' && line.len + 1 < text.len && text.ptr[line.len + 1] == '\n';
        text = slice_after(text, line.len + (crlf ? 2 : 1));
    }
}

void sse_write(struct buffer *buffer, const struct sse_event *event)
{
    buffer_reserve(buffer, event->id.len + event->event.len + event->data.len + 24);
    if (slice_present(event->id)) {
        write_field(buffer, SLICE("id: "), event->id);
    }
    if (slice_present(event->event)) {
        write_field(buffer, SLICE("event: "), event->event);
    }
    if (slice_present(event->data)) {
        write_lines(buffer, SLICE("data: "), event->data);
    }
    buffer_add_byte(buffer, '\n');
}

void sse_write_comment(struct buffer *buffer, struct slice text)
{
    write_lines(buffer, SLICE(": "), text);
    buffer_add_byte(buffer, '\n');
}

void sse_decoder_init(struct sse_decoder *decoder, size_t event_bytes_max)
{
    *decoder = (struct sse_decoder){.event_bytes_max = event_bytes_max, .retry_ms = -1};
}

void sse_decoder_release(struct sse_decoder *decoder)
{
    buffer_release(&decoder->line);
    buffer_release(&decoder->data);
    buffer_release(&decoder->id);
    buffer_release(&decoder->event);
}

static void replace(struct buffer *buffer, struct slice value)
{
    buffer->len = 0;
    buffer_add(buffer, value);
}

static bool all_digits(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
    }
    return s.len > 0;
}

static void take_field(struct sse_decoder *decoder, struct slice name, struct slice value)
{
    if (slice_is(name, "data")) {
        buffer_add(&decoder->data, value);
        buffer_add_byte(&decoder->data, '\n');
        decoder->has_data = true;
    } else if (slice_is(name, "event")) {
        replace(&decoder->event, value);
    } else if (slice_is(name, "id")) {
        if (value.len == 0 || !memchr(value.ptr, '\0', value.len)) {
            replace(&decoder->id, value);
        }
    } else if (slice_is(name, "retry") && all_digits(value)) {
        int64_t retry_ms;
        if (slice_to_i64(value, &retry_ms)) {
            decoder->retry_ms = retry_ms;
        }
    }
}

/* An empty line ends the event; true when there is one to deliver. */
static bool end_event(struct sse_decoder *decoder, struct sse_event *out)
{
    if (!decoder->has_data) {
        decoder->event.len = 0;
        return false;
    }
    decoder->data.len--; /* the line feed after the last data line */
    *out = (struct sse_event){buffer_slice(&decoder->id), buffer_slice(&decoder->event), buffer_slice(&decoder->data)};
    decoder->delivered = true;
    return true;
}

static enum sse_step take_line(struct sse_decoder *decoder, struct slice line, struct sse_event *out)
{
    if (line.len == 0) {
        return end_event(decoder, out) ? SSE_EVENT : SSE_MORE;
    }
    if (line.len + decoder->data.len > decoder->event_bytes_max) {
        return SSE_TOO_LARGE;
    }
    struct slice name, value;
    slice_cut(line, ':', &name, &value);
    if (value.len > 0 && value.ptr[0] == ' ') {
        value = slice_after(value, 1);
    }
    take_field(decoder, name, value);
    return SSE_MORE;
}

/* A byte order mark is skipped at the very start, even when it arrives in pieces; a false start is an ordinary line. */
static void skip_bom(struct sse_decoder *decoder, struct slice *bytes)
{
    static const char bom[] = "\xEF\xBB\xBF";
    while (!decoder->started && bytes->len > 0) {
        if (bytes->ptr[0] == bom[decoder->bom_seen]) {
            *bytes = slice_after(*bytes, 1);
            decoder->started = ++decoder->bom_seen == 3;
        } else {
            buffer_add(&decoder->line, slice_from(bom, decoder->bom_seen));
            decoder->started = true;
        }
    }
}

static void begin_step(struct sse_decoder *decoder, struct slice *bytes)
{
    if (decoder->delivered) {
        decoder->delivered = decoder->has_data = false;
        decoder->data.len = decoder->event.len = 0;
    }
    skip_bom(decoder, bytes);
}

enum sse_step sse_decode(struct sse_decoder *decoder, struct slice *bytes, struct sse_event *out)
{
    begin_step(decoder, bytes);
    while (bytes->len > 0) {
        if (decoder->skip_lf && bytes->ptr[0] == '\n') {
            *bytes = slice_after(*bytes, 1);
        }
        decoder->skip_lf = false;
        struct slice line = line_before_break(*bytes);
        if (decoder->line.len + line.len > decoder->event_bytes_max) {
            return SSE_TOO_LARGE;
        }
        bool ended = line.len < bytes->len;
        decoder->skip_lf = ended && bytes->ptr[line.len] == '\r';
        *bytes = slice_after(*bytes, line.len + (ended ? 1 : 0));
        if (!ended || decoder->line.len > 0) {
            buffer_add(&decoder->line, line);
            line = buffer_slice(&decoder->line);
        }
        if (!ended) {
            return SSE_MORE;
        }
        decoder->line.len = 0;
        enum sse_step step = take_line(decoder, line, out);
        if (step != SSE_MORE) {
            return step;
        }
    }
    return SSE_MORE;
}
