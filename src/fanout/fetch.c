#include "fanout/fetch.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"

struct fetching {
    struct fetch *fetch;
    struct buffer json;
    size_t bytes;
    int64_t rows;
    bool cut;
};

void fetch_free(struct fetch *fetch)
{
    publication_unref(fetch->events);
    buffer_release(&fetch->partial_bytes);
    free(fetch);
}

static bool keep(struct fetching *fetching, struct cursor at, int64_t session_key, struct slice session_id,
                 const struct event *event)
{
    fetching->json.len = 0;
    event_write(&fetching->json, session_id, event);
    publication_add(fetching->fetch->events, &(struct publication_entry){.kind = PUBLISH_EVENTS,
                                                                         .tenant_key = fetching->fetch->tenant_key,
                                                                         .session_key = session_key,
                                                                         .sequence = at.sequence,
                                                                         .delta = at.delta,
                                                                         .event = event_facts_read(event),
                                                                         .type = event_type(event),
                                                                         .thread_id = event->thread_id,
                                                                         .json = buffer_slice(&fetching->json)});
    fetching->rows++;
    fetching->bytes += fetching->json.len;
    fetching->cut = fetching->bytes >= FETCH_BYTES_MAX || fetching->rows >= fetching->fetch->events_max;
    return !fetching->cut;
}

static bool on_event(void *owner, const struct event *event)
{
    struct fetching *fetching = owner;
    const struct fetch *fetch = fetching->fetch;
    return keep(fetching, (struct cursor){event->sequence, 0}, fetch->session_key, fetch->session_id, event);
}

static bool on_firehose(void *owner, const struct firehose_row *row)
{
    return keep(owner, cursor_of_position(row->at), row->session_key, row->session_id, row->event);
}

static enum status load_partial(struct fetch *fetch, struct db *db, struct failure *failure)
{
    struct arena arena = {0};
    enum status status =
        store_partial_load(db, fetch->tenant_key, fetch->session_key, &arena, &fetch->partial, failure);
    if (status == STATUS_OK) {
        buffer_add(&fetch->partial_bytes, fetch->partial.body);
        fetch->partial.body = buffer_slice(&fetch->partial_bytes);
    }
    arena_release(&arena);
    return status;
}

static enum status fetch_session(struct fetching *fetching, struct db *db, struct failure *failure)
{
    struct fetch *fetch = fetching->fetch;
    struct event_filter filter = {.tenant_key = fetch->tenant_key,
                                  .session_key = fetch->session_key,
                                  .after = fetch->after.sequence,
                                  .limit = fetch->events_max};
    enum status status = store_event_read(db, &filter, on_event, fetching, failure);
    return status == STATUS_OK && fetch->wants_partial ? load_partial(fetch, db, failure) : status;
}

static enum status fetch_firehose(struct fetching *fetching, struct db *db, int64_t horizon, struct failure *failure)
{
    struct fetch *fetch = fetching->fetch;
    return store_firehose_read(db, fetch->tenant_key, cursor_to_position(fetch->after), horizon, fetch->events_max,
                               on_firehose, fetching, failure);
}

static enum status fetch_events(struct fetching *fetching, struct db *db, struct failure *failure)
{
    int64_t horizon = 0;
    bool of_session = fetching->fetch->session_key != 0;
    enum status status = of_session ? STATUS_OK : store_firehose_horizon(db, &horizon, failure);
    status = status == STATUS_OK ? db_begin_read(db, failure) : status;
    if (status != STATUS_OK) {
        return status;
    }
    status = of_session ? fetch_session(fetching, db, failure) : fetch_firehose(fetching, db, horizon, failure);
    enum status ended = db_end_read(db, failure);
    return ended == STATUS_OK ? status : ended;
}

static void fetch_ask(struct lookup *lookup, struct db *db)
{
    struct fetch *fetch = (struct fetch *)lookup;
    struct fetching fetching = {.fetch = fetch};
    struct failure failure = {0};
    fetch->events = publication_new();
    fetch->status = fetch_events(&fetching, db, &failure);
    fetch->at_end = !fetching.cut;
    if (fetch->status != STATUS_OK) {
        log_error("stream events not read", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
    buffer_release(&fetching.json);
}

void fetch_start(struct fetch *fetch, struct hub *hub, struct slice session_id, void (*done)(struct lookup *lookup))
{
    fetch->session_id = lookup_keep_id(session_id, fetch->session_id_bytes);
    fetch->lookup.ask = fetch_ask;
    fetch->lookup.done = done;
    lookup_start(&fetch->lookup, hub);
}
