#include "fanout/page.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"

enum { READY_ASKS_MAX = 100 }; /* a session that asks more than that is looked at through /asks */

/* The state of one run. */
struct reading {
    struct page *page;
    struct db *db;
    struct buffer json;
    int64_t horizon; /* of the firehose */
    int64_t rows;
    bool cut; /* the page is full: more may follow */
};

void page_free(struct page *page)
{
    if (!page->viewer) {
        free(page->filter);
        access_cache_free(page->access_cache);
    }
    while (page->taken < page->frame_count) {
        frame_unref(page->frames[page->taken++]);
    }
    free(page->frames);
    buffer_release(&page->bytes);
    buffer_release(&page->partial_bytes);
    byte_hold_release(&page->hold);
    free(page);
}

static bool page_is_full(const struct reading *reading)
{
    return reading->page->bytes.len + reading->page->frame_weight >= PAGE_BYTES_MAX;
}

static void keep_frame(struct page *page, const struct frame *facts)
{
    if (page->frame_count == page->frame_room) {
        page->frame_room = page->frame_room ? 2 * page->frame_room : 16;
        page->frames = memory_resize(page->frames, page->frame_room * sizeof(struct frame *));
    }
    struct frame *frame = frame_new(facts);
    page->frames[page->frame_count++] = frame;
    page->frame_weight += frame_weight(frame);
}

static void put_frame(struct page *page, const struct frame *facts)
{
    if (page->encoder) {
        page->encoder->encode(&page->bytes, facts);
    } else {
        keep_frame(page, facts);
    }
}

static void put_ready(struct page *page, struct cursor end, struct slice asks)
{
    put_frame(page,
              &(struct frame){.kind = FRAME_READY, .style = page->style, .at = page->after, .ready = {end, asks}});
}

/* The stream goes on after `at`. */
static void put_gap(struct page *page, int64_t from, int64_t until, struct cursor at, struct slice reason)
{
    put_frame(page, &(struct frame){.kind = FRAME_GAP, .style = page->style, .at = at, .gap = {from, until, reason}});
}

static void put_event(struct reading *reading, const struct event *event)
{
    struct page *page = reading->page;
    reading->json.len = 0;
    event_write(&reading->json, page->session_id, event);
    put_frame(page, &(struct frame){
                        .kind = FRAME_EVENT,
                        .style = page->style,
                        .at = page->reached,
                        .entry = {page->session_key, event->kind, event_type(event), event->thread_id,
                                  buffer_slice(&reading->json)},
                    });
}

static bool on_event(void *owner, const struct event *event)
{
    struct reading *reading = owner;
    struct page *page = reading->page;
    int64_t expected = page->reached.sequence + 1;
    page->reached = (struct cursor){event->sequence, 0};
    if (!page->filter && event->sequence > expected) {
        struct cursor before = {event->sequence - 1, 0};
        put_gap(page, expected, before.sequence, before, SLICE("erased"));
    }
    put_event(reading, event);
    reading->rows++;
    reading->cut = page_is_full(reading);
    return !reading->cut;
}

static bool on_newest(void *owner, const struct event *event)
{
    *(int64_t *)owner = event->sequence;
    return false;
}

static enum status log_end(struct reading *reading, int64_t *out_sequence, struct failure *failure)
{
    const struct page *page = reading->page;
    struct event_filter newest = {
        .tenant_key = page->tenant_key, .session_key = page->session_key, .newest_first = true, .limit = 1};
    *out_sequence = 0;
    enum status status = store_event_read(reading->db, &newest, on_newest, out_sequence, failure);
    if (status == STATUS_OK && *out_sequence == 0) {
        return failure_set(failure, STATUS_NOT_FOUND, "log_gone", "The session has no events any more.");
    }
    return status;
}

/* Read after the end of the log: what is asked later is told by an event behind it. */
static enum status read_asks(struct reading *reading, struct buffer *to, struct failure *failure)
{
    struct page *page = reading->page;
    struct arena arena = {0};
    struct ask *asks;
    size_t count = 0;
    struct json_out out = json_out_to(to);
    enum status status =
        store_ask_pending(reading->db, page->tenant_key, page->session_key, &arena, &asks, &count, failure);
    json_begin_array(&out);
    for (size_t i = 0; i < count && i < READY_ASKS_MAX && status == STATUS_OK; i++) {
        ask_write(&out, &asks[i]);
    }
    json_end_array(&out);
    page->has_no_asks = status == STATUS_OK && count == 0;
    arena_release(&arena);
    return status;
}

/* The first page says where it begins, and admits when the client's cursor lies behind the end of the log. */
static void begin_session(struct page *page, int64_t end, struct slice asks)
{
    struct cursor asked = page->after;
    if (page->from_end || asked.sequence > end) {
        page->after = (struct cursor){end, 0};
    }
    put_ready(page, (struct cursor){end, 0}, asks);
    if (!page->from_end && asked.sequence > end) {
        put_gap(page, end + 1, asked.sequence, page->after, SLICE("ahead"));
    }
}

static enum status read_partial(struct reading *reading, struct failure *failure)
{
    struct page *page = reading->page;
    struct arena arena = {0};
    enum status status =
        store_partial_load(reading->db, page->tenant_key, page->session_key, &arena, &page->partial, failure);
    if (status == STATUS_OK) {
        buffer_add(&page->partial_bytes, page->partial.body);
        page->partial.body = buffer_slice(&page->partial_bytes);
    }
    arena_release(&arena);
    return status;
}

static enum status read_events(struct reading *reading, struct failure *failure)
{
    struct page *page = reading->page;
    struct event_filter filter = {.tenant_key = page->tenant_key,
                                  .session_key = page->session_key,
                                  .after = page->after.sequence,
                                  .limit = page->events_max};
    if (page->filter) {
        filter.types = page->filter->types;
        filter.type_count = page->filter->type_count;
        filter.thread_id = page->filter->thread_id;
    }
    return store_event_read(reading->db, &filter, on_event, reading, failure);
}

static enum status read_session(struct reading *reading, struct failure *failure)
{
    struct page *page = reading->page;
    int64_t end = 0;
    bool needs_end = page->first || page->filter;
    enum status status = needs_end ? log_end(reading, &end, failure) : STATUS_OK;
    if (status == STATUS_OK && page->first) {
        struct buffer asks = {0};
        status = read_asks(reading, &asks, failure);
        begin_session(page, end, buffer_slice(&asks));
        buffer_release(&asks);
    }
    page->reached = (struct cursor){page->after.sequence, 0};
    if (status == STATUS_OK && !page->from_end) {
        status = read_events(reading, failure);
    }
    if (status == STATUS_OK && reading->rows == 0 && !needs_end) {
        status = log_end(reading, &end, failure);
    }
    page->at_end = !reading->cut && reading->rows < page->events_max;
    if (page->at_end && end > page->reached.sequence) {
        page->reached = (struct cursor){end, 0}; /* the rest was filtered out */
    }
    return status == STATUS_OK && page->at_end ? read_partial(reading, failure) : status;
}

/* A row of the firehose, kept until all rows are read: deciding access asks the store again. */
struct kept_row {
    struct cursor at;
    int64_t session_key;
    enum event_kind kind;
    size_t text_start; /* its texts, one behind the other */
    size_t json_len, type_len, thread_len;
    size_t audience_len; /* of a delete */
    bool wanted;
    bool renews_sight;
};

struct firehose_rows {
    struct reading *reading;
    struct kept_row *rows;
    size_t count;
};

static size_t keep_text(struct reading *reading, struct slice text)
{
    buffer_add(&reading->json, text);
    return text.len;
}

/* In the order in which they were kept. */
static struct slice next_text(const char **at, size_t len)
{
    struct slice text = slice_from(*at, len);
    *at += len;
    return text;
}

static bool on_firehose(void *owner, const struct firehose_row *told)
{
    struct firehose_rows *rows = owner;
    struct reading *reading = rows->reading;
    const struct event *event = told->event;
    struct kept_row *row = &rows->rows[rows->count++];
    *row = (struct kept_row){.at = cursor_of_position(told->at),
                             .session_key = told->session_key,
                             .kind = event->kind,
                             .text_start = reading->json.len,
                             .wanted = filter_passes_event(reading->page->filter, event_type(event), event->thread_id),
                             .renews_sight = access_cache_depends_on(event->kind)};
    if (row->wanted) {
        event_write(&reading->json, told->session_id, event);
        row->json_len = reading->json.len - row->text_start;
        row->type_len = keep_text(reading, event_type(event));
        row->thread_len = keep_text(reading, event->thread_id);
        row->audience_len = keep_text(reading, told->audience);
    }
    reading->cut = reading->json.len >= PAGE_BYTES_MAX || (int64_t)rows->count >= reading->page->events_max;
    return !reading->cut;
}

static enum status row_is_visible(struct reading *reading, const struct kept_row *row, bool *out_visible,
                                  struct failure *failure)
{
    struct access_cache *access_cache = reading->page->access_cache;
    *out_visible = row->wanted;
    if (!access_cache) {
        return STATUS_OK;
    }
    if (row->renews_sight) {
        access_cache_forget(access_cache, row->session_key);
    }
    if (row->wanted && row->audience_len > 0) {
        size_t before = row->json_len + row->type_len + row->thread_len;
        struct slice audience = slice_from(reading->json.ptr + row->text_start + before, row->audience_len);
        *out_visible = access_cache_had(access_cache, row->session_key, audience);
        return STATUS_OK;
    }
    return row->wanted ? access_cache_decide(access_cache, reading->db, row->session_key, out_visible, failure)
                       : STATUS_OK;
}

static void put_row(const struct firehose_rows *rows, const struct kept_row *row)
{
    struct page *page = rows->reading->page;
    const char *at = rows->reading->json.ptr + row->text_start;
    struct frame frame = {.kind = FRAME_EVENT, .style = page->style, .at = row->at};
    frame.entry.session_key = row->session_key;
    frame.entry.kind = row->kind;
    frame.entry.json = next_text(&at, row->json_len);
    frame.entry.type = next_text(&at, row->type_len);
    frame.entry.thread_id = next_text(&at, row->thread_len);
    put_frame(page, &frame);
}

static enum status write_rows(struct firehose_rows *rows, struct failure *failure)
{
    struct page *page = rows->reading->page;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
        const struct kept_row *row = &rows->rows[i];
        bool visible;
        status = row_is_visible(rows->reading, row, &visible, failure);
        if (status == STATUS_OK && visible) {
            put_row(rows, row);
        }
        page->reached = row->at;
    }
    return status;
}

static enum status read_firehose(struct reading *reading, struct failure *failure)
{
    struct page *page = reading->page;
    struct firehose_rows rows = {.reading = reading};
    struct position end = cursor_to_position(page->after);
    enum status status =
        page->from_end ? store_firehose_end(reading->db, page->tenant_key, reading->horizon, &end, failure) : STATUS_OK;
    page->after = page->reached = cursor_of_position(end);
    if (status == STATUS_OK && page->first) {
        put_ready(page, page->after, (struct slice){0});
    }
    if (status == STATUS_OK && !page->from_end) {
        rows.rows = memory_alloc((size_t)page->events_max * sizeof *rows.rows);
        status = store_firehose_read(reading->db, page->tenant_key, end, reading->horizon, page->events_max,
                                     on_firehose, &rows, failure);
    }
    if (status == STATUS_OK) {
        status = write_rows(&rows, failure);
    }
    page->at_end = !reading->cut;
    free(rows.rows);
    return status;
}

/* It may be long until the viewer has taken it. */
static enum status hold_page(struct page *page)
{
    struct failure failure;
    return byte_hold_take(&page->hold, (int64_t)(page->bytes.room + page->frame_weight + page->partial_bytes.room),
                          &failure);
}

static void page_ask(struct lookup *lookup, struct db *db)
{
    struct page *page = (struct page *)lookup;
    struct reading reading = {.page = page, .db = db};
    struct failure failure = {0};
    page->status = page->style == CURSOR_SESSION ? STATUS_OK : store_firehose_horizon(db, &reading.horizon, &failure);
    if (page->status == STATUS_OK) {
        page->status = db_begin_read(db, &failure);
    }
    if (page->status == STATUS_OK) {
        page->status =
            page->style == CURSOR_SESSION ? read_session(&reading, &failure) : read_firehose(&reading, &failure);
        enum status ended = db_end_read(db, &failure);
        page->status = ended == STATUS_OK ? page->status : ended;
    }
    if (page->status == STATUS_OK) {
        page->status = hold_page(page);
    }
    if (page->status != STATUS_OK && page->status != STATUS_NOT_FOUND && page->status != STATUS_LIMITED) {
        log_error("stream page not read", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
    buffer_release(&reading.json);
}

void page_start(struct page *page, struct hub *hub, struct slice session_id, void (*done)(struct lookup *lookup))
{
    page->session_id = lookup_keep_id(session_id, page->session_id_bytes);
    page->lookup.ask = page_ask;
    page->lookup.done = done;
    lookup_start(&page->lookup, hub);
}
