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
        sight_free(page->sight);
    }
    buffer_release(&page->bytes);
    buffer_release(&page->partial_bytes);
    byte_hold_release(&page->hold);
    free(page);
}

static bool page_is_full(const struct reading *reading)
{
    return reading->page->bytes.len >= PAGE_BYTES_MAX;
}

static void write_event(struct reading *reading, struct slice session_id, const struct event *event)
{
    char id[CURSOR_TEXT_BYTES];
    struct page *page = reading->page;
    reading->json.len = 0;
    event_write(&reading->json, session_id, event);
    frame_write(&page->bytes, page->framing, FRAME_EVENT, cursor_format(page->reached, page->style, id),
                buffer_slice(&reading->json));
}

static bool on_event(void *owner, const struct event *event)
{
    struct reading *reading = owner;
    struct page *page = reading->page;
    int64_t expected = page->reached.sequence + 1;
    page->reached = (struct cursor){event->sequence, 0};
    if (!page->filter && event->sequence > expected) {
        struct cursor before = {event->sequence - 1, 0};
        frame_write_gap(&page->bytes, page->framing, expected, before.sequence, before, "erased");
    }
    write_event(reading, page->session_id, event);
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
    page->is_unasked = status == STATUS_OK && count == 0;
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
    frame_write_ready(&page->bytes, page->framing, page->after, page->style, (struct cursor){end, 0}, asks);
    if (!page->from_end && asked.sequence > end) {
        frame_write_gap(&page->bytes, page->framing, end + 1, asked.sequence, page->after, "ahead");
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
    size_t json_start, json_len;
    size_t audience_start, audience_len; /* of a delete */
    bool wanted;
    bool renews_sight;
};

struct firehose_rows {
    struct reading *reading;
    struct kept_row *rows;
    size_t count;
};

static bool on_firehose(void *owner, const struct firehose_row *told)
{
    struct firehose_rows *rows = owner;
    struct reading *reading = rows->reading;
    const struct event *event = told->event;
    struct kept_row *row = &rows->rows[rows->count++];
    *row = (struct kept_row){.at = cursor_of_position(told->at),
                             .session_key = told->session_key,
                             .json_start = reading->json.len,
                             .wanted = filter_passes_event(reading->page->filter, event->type, event->thread_id),
                             .renews_sight = sight_depends_on(event->type)};
    if (row->wanted) {
        event_write(&reading->json, told->session_id, event);
        row->json_len = reading->json.len - row->json_start;
        row->audience_start = reading->json.len;
        row->audience_len = told->audience.len;
        buffer_add(&reading->json, told->audience);
    }
    reading->cut = reading->json.len >= PAGE_BYTES_MAX || (int64_t)rows->count >= reading->page->events_max;
    return !reading->cut;
}

static enum status row_is_visible(struct reading *reading, const struct kept_row *row, bool *out_visible,
                                  struct failure *failure)
{
    struct sight *sight = reading->page->sight;
    *out_visible = row->wanted;
    if (!sight) {
        return STATUS_OK;
    }
    if (row->renews_sight) {
        sight_forget(sight, row->session_key);
    }
    if (row->wanted && row->audience_len > 0) {
        struct slice audience = slice_from(reading->json.ptr + row->audience_start, row->audience_len);
        *out_visible = sight_had(sight, row->session_key, audience);
        return STATUS_OK;
    }
    return row->wanted ? sight_decide(sight, reading->db, row->session_key, out_visible, failure) : STATUS_OK;
}

static enum status write_rows(struct firehose_rows *rows, struct failure *failure)
{
    struct page *page = rows->reading->page;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
        const struct kept_row *row = &rows->rows[i];
        bool visible;
        char id[CURSOR_TEXT_BYTES];
        status = row_is_visible(rows->reading, row, &visible, failure);
        if (status == STATUS_OK && visible) {
            frame_write(&page->bytes, page->framing, FRAME_EVENT, cursor_format(row->at, page->style, id),
                        slice_from(rows->reading->json.ptr + row->json_start, row->json_len));
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
        frame_write_ready(&page->bytes, page->framing, page->after, page->style, page->after, (struct slice){0});
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
    return byte_hold_take(&page->hold, (int64_t)(page->bytes.room + page->partial_bytes.room), &failure);
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
