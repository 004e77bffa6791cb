#include "cli/tail.h"

#include <stdio.h>

#include "domain/turn.h"

/* --- printing --- */

static void take_code(struct tail *tail, int code)
{
    if (code != EXIT_DONE) {
        tail->is_over = true;
        tail->code = code;
    }
}

static void print(struct tail *tail, const struct buffer *text)
{
    take_code(tail, remote_print_drawn(buffer_slice(text)));
}

static void end_delta(struct tail *tail, struct buffer *out)
{
    if (tail->is_in_delta) {
        buffer_add_byte(out, '\n');
    }
    tail->is_in_delta = false;
}

/* JSON that a client wrote over several lines is still one value: its line breaks stand between tokens only. */
static void add_on_one_line(struct buffer *out, struct slice json)
{
    size_t before = out->len;
    buffer_add(out, json);
    for (size_t i = before; i < out->len; i++) {
        if (out->ptr[i] == '\n' || out->ptr[i] == '\r') {
            out->ptr[i] = ' ';
        }
    }
}

void tail_write_json(const struct sse_event *frame, struct buffer *line)
{
    if (slice_is(frame->event, "event")) {
        add_on_one_line(line, frame->data);
    } else {
        struct json_out out = json_out_to(line);
        json_begin_object(&out);
        json_put_text(&out, "frame", frame->event);
        json_key(&out, "data");
        add_on_one_line(line, frame->data.len ? frame->data : SLICE("null"));
        json_end_object(&out);
    }
    buffer_add_byte(line, '\n');
}

static void print_json(struct tail *tail, const struct sse_event *frame)
{
    struct buffer line = {0};
    tail_write_json(frame, &line);
    take_code(tail, remote_print(buffer_slice(&line)));
    buffer_release(&line);
}

static void print_note(struct tail *tail, const char *sentence)
{
    struct buffer line = {0};
    end_delta(tail, &line);
    if (tail->style.has_colours) {
        buffer_add(&line, colour_code(COLOUR_YELLOW));
    }
    text_add_plain(&line, slice_of(sentence));
    if (tail->style.has_colours) {
        buffer_add(&line, colour_code(COLOUR_NONE));
    }
    buffer_add_byte(&line, '\n');
    print(tail, &line);
    buffer_release(&line);
}

/* --- one function per frame: what people see --- */

static void show_event(struct tail *tail, const struct json *event)
{
    struct buffer line = {0};
    end_delta(tail, &line);
    event_line_write(event, &tail->style, &line);
    print(tail, &line);
    buffer_release(&line);
}

static void add_delta(struct tail *tail, const struct json *delta, struct buffer *out)
{
    struct slice kind = json_text_of(delta, "kind");
    if (!tail->is_in_delta) {
        buffer_format(out, "… %s", slice_is(kind, delta_kind_enum.names[DELTA_TEXT]) ? "" : "[live] ");
    }
    text_add_plain(out, json_text_of(delta, "text"));
    tail->is_in_delta = true;
}

static void show_delta(struct tail *tail, const struct json *delta)
{
    struct buffer text = {0};
    add_delta(tail, delta, &text);
    print(tail, &text);
    buffer_release(&text);
}

/* Live output from before this reader came, folded. */
static void show_snapshot(struct tail *tail, const struct json *snapshot)
{
    struct buffer text = {0};
    const struct json *partial = json_get(snapshot, "partial");
    end_delta(tail, &text);
    for (const struct json *delta = partial ? partial->child : NULL; delta; delta = delta->next) {
        add_delta(tail, delta, &text);
    }
    print(tail, &text);
    buffer_release(&text);
}

static void show_gap(struct tail *tail, const struct json *gap)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence, "gap: events %lld to %lld can't be shown (%.*s)",
             (long long)json_i64_of(gap, "from"), (long long)json_i64_of(gap, "to"),
             SLICE_ARG(slice_utf8_prefix(json_text_of(gap, "reason"), 80)));
    print_note(tail, sentence);
}

static void show_slow(struct tail *tail, const struct json *slow)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence,
             "slow: this reader fell behind; no event is lost, %lld pieces of live output are",
             (long long)json_i64_of(slow, "dropped_deltas"));
    print_note(tail, sentence);
}

static void show_closed(struct tail *tail, const struct json *closed)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence, "closed: %.*s",
             SLICE_ARG(slice_utf8_prefix(json_text_of(closed, "reason"), 80)));
    print_note(tail, sentence);
}

static void do_nothing(struct tail *tail, const struct json *data)
{
    (void)tail;
    (void)data;
}

/* --- one function per frame: what follows from it --- */

static void set_cursor(struct tail *tail, struct slice cursor)
{
    tail->cursor.len = 0;
    buffer_add(&tail->cursor, cursor);
}

static void begin_at(struct tail *tail, const struct json *ready)
{
    if (tail->cursor.len == 0) {
        set_cursor(tail, json_text_of(ready, "cursor"));
    }
}

static void jump_over(struct tail *tail, const struct json *gap)
{
    set_cursor(tail, json_text_of(gap, "cursor"));
}

/* Reasons that end the stream for good; after any other one a new connection goes on. */
static const struct {
    const char *reason;
    int code;
} endings[] = {{"deleted", EXIT_MISSING}, {"access_revoked", EXIT_DENIED}};

static void end_for(struct tail *tail, const struct json *closed)
{
    struct slice reason = json_text_of(closed, "reason");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (slice_is(reason, endings[i].reason)) {
            tail->is_over = true;
            tail->code = endings[i].code;
        }
    }
}

static const struct frame_kind {
    const char *name;
    bool moves_cursor;
    void (*show)(struct tail *tail, const struct json *data);
    void (*follow)(struct tail *tail, const struct json *data);
} frame_kinds[] = {
    {"event", true, show_event, do_nothing},
    {"delta", true, show_delta, do_nothing},
    {"snapshot", false, show_snapshot, do_nothing},
    {"ready", false, do_nothing, begin_at},
    {"gap", false, show_gap, jump_over},
    {"slow", false, show_slow, do_nothing},
    {"closed", false, show_closed, end_for},
};

static const struct frame_kind *find_kind(struct slice name)
{
    for (size_t i = 0; i < sizeof frame_kinds / sizeof frame_kinds[0]; i++) {
        if (slice_is(name, frame_kinds[i].name)) {
            return &frame_kinds[i];
        }
    }
    return NULL;
}

/* A kind this program does not know is passed on to programs and left out for people. */
static void take_frame(struct tail *tail, const struct sse_event *frame)
{
    struct arena arena = {0};
    struct failure failure;
    const struct json *data = NULL;
    const struct frame_kind *kind = find_kind(frame->event);
    bool is_json = json_parse(&arena, frame->data, &data, &failure) == STATUS_OK;
    tail->heard = tail->was_connected = true;
    if (tail->ear) {
        tail->ear->on_frame(tail->ear->owner, frame, is_json ? data : NULL);
    } else if (tail->remote.wants_json) {
        print_json(tail, frame);
    } else if (kind && is_json) {
        kind->show(tail, data);
    }
    if (kind && kind->moves_cursor) {
        set_cursor(tail, frame->id);
    }
    if (kind && is_json) {
        kind->follow(tail, data);
    }
    arena_release(&arena);
}

bool tail_take_bytes(void *owner, struct slice bytes)
{
    struct tail *tail = owner;
    struct sse_event frame;
    enum sse_step step;
    while (!tail->is_over && (step = sse_decode(&tail->decoder, &bytes, &frame)) != SSE_MORE) {
        if (step == SSE_TOO_LARGE) {
            fprintf(stderr, "sojourn: an event of the stream is larger than %d bytes\n", FRAME_BYTES_MAX);
            tail->is_over = true;
            tail->code = EXIT_REFUSED;
        } else {
            take_frame(tail, &frame);
        }
    }
    return !tail->is_over;
}
