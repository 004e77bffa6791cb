#include "store/store.h"

#include "base/json.h"
#include "store/engine.h"
#include "store/session/event_row.h"
#include "store/seal/seal.h"
#include "store/statement.h"

enum status store_event_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct event *event,
                               struct failure *failure)
{
    struct event stored = *event;
    stored.content = seal_text(db, tenant_key, session_key, event->content);
    stored.metadata = seal_text(db, tenant_key, session_key, event->metadata);
    return db->vtable->event_insert(db, tenant_key, session_key, &stored, failure);
}

enum status store_event_by_external_id(struct db *db, int64_t tenant_key, int64_t session_key, struct slice external_id,
                                       int64_t *out_sequence, struct failure *failure)
{
    return statement_number(
        db, sql_event_by_external_id(.tenant_key = tenant_key, .session_key = session_key, .external_id = external_id),
        0, out_sequence, failure);
}

void event_read_row(struct query *query, int first, struct event *out)
{
    out->sequence = query_i64(query, first + EVENT_COLUMN_SEQUENCE);
    out->at_ms = query_i64(query, first + EVENT_COLUMN_AT_MS);
    event_set_type(out, query_text(query, first + EVENT_COLUMN_TYPE));
    out->role = (enum event_role)query_i64(query, first + EVENT_COLUMN_ROLE);
    out->content = seal_slot_open(query->db, query_text(query, first + EVENT_COLUMN_CONTENT), 0);
    out->metadata = seal_slot_open(query->db, query_text(query, first + EVENT_COLUMN_METADATA), 1);
    out->thread_id = query_text(query, first + EVENT_COLUMN_THREAD_ID);
    out->external_id = query_text(query, first + EVENT_COLUMN_EXTERNAL_ID);
    out->actor = query_text(query, first + EVENT_COLUMN_ACTOR);
}

/* --- the filter on types, as JSON arrays --- */

static bool is_prefix(struct slice type)
{
    return type.len && type.ptr[type.len - 1] == '*';
}

static void write_types(struct buffer *to, const struct event_filter *filter, bool prefixes)
{
    struct json_out out = json_out_to(to);
    json_begin_array(&out);
    for (size_t i = 0; i < filter->kind_count && !prefixes; i++) {
        json_text(&out, event_kind_name(filter->kinds[i]));
    }
    for (size_t i = 0; i < filter->type_count; i++) {
        struct slice type = filter->types[i];
        if (is_prefix(type) == prefixes) {
            json_text(&out, slice_from(type.ptr, type.len - (prefixes ? 1 : 0)));
        }
    }
    json_end_array(&out);
}

static void write_audited(struct buffer *to)
{
    struct json_out out = json_out_to(to);
    json_begin_array(&out);
    for (enum event_kind kind = EVENT_CUSTOM + 1; kind < EVENT_KIND_COUNT; kind++) {
        if (event_kind_has(kind, AUDITED)) {
            json_text(&out, event_kind_name(kind));
        }
    }
    json_end_array(&out);
}

struct type_lists {
    struct buffer whole, prefixes, audited;
};

static void type_lists_init(struct type_lists *lists, const struct event_filter *filter)
{
    *lists = (struct type_lists){0};
    if (filter->type_count || filter->kind_count) {
        write_types(&lists->whole, filter, false);
        write_types(&lists->prefixes, filter, true);
    }
    if (filter->audit_only) {
        write_audited(&lists->audited);
    }
}

static void type_lists_release(struct type_lists *lists)
{
    buffer_release(&lists->whole);
    buffer_release(&lists->prefixes);
    buffer_release(&lists->audited);
}

static struct slice maybe(const struct buffer *buffer)
{
    return buffer->len ? buffer_slice(buffer) : (struct slice){0};
}

/* --- reading --- */

static enum sql read_statement(const struct event_filter *filter)
{
    bool filtered = filter->type_count || filter->kind_count || filter->audit_only || slice_present(filter->thread_id);
    if (filtered) {
        return filter->newest_first ? SQL_EVENT_READ_FILTERED_NEWEST : SQL_EVENT_READ_FILTERED;
    }
    return filter->newest_first ? SQL_EVENT_READ_NEWEST : SQL_EVENT_READ;
}

/* An engine may hold all rows of a statement in memory, and each may be large. A batch of more bytes may have been cut
 * (see event.sql, where they are counted as stored, so that this is far below). */
enum { BATCH_ROWS = 128, BATCH_BYTES = 1 << 20 };

/* Where a batch ended. */
struct batch {
    int64_t rows, last_sequence;
    size_t bytes;
    bool more; /* are wanted */
};

static enum status read_batch(struct db *db, const struct event_filter *filter,
                              bool (*each)(void *owner, const struct event *event), void *owner, struct batch *out,
                              struct failure *failure)
{
    struct type_lists lists;
    struct query query;
    bool row = false;
    *out = (struct batch){.more = true};
    type_lists_init(&lists, filter);
    query_start(&query, db,
                sql_event_read(read_statement(filter), .tenant_key = filter->tenant_key,
                               .session_key = filter->session_key, .after = filter->after,
                               .before = filter->before ? filter->before : INT64_MAX, .limit = filter->limit,
                               .types = maybe(&lists.whole), .prefixes = maybe(&lists.prefixes),
                               .audited = maybe(&lists.audited), .thread_id = filter->thread_id));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row && out->more) {
        struct event event;
        event_read_row(&query, EVENT_COLUMN_SEQUENCE, &event);
        out->rows++;
        out->bytes += event.content.len + event.metadata.len;
        out->last_sequence = event.sequence;
        status = seal_check(db, failure);
        out->more = status == STATUS_OK && each(owner, &event);
        if (out->more) {
            status = query_step(&query, &row, failure);
        }
    }
    query_end(&query);
    type_lists_release(&lists);
    return status;
}

enum status store_event_read(struct db *db, const struct event_filter *filter,
                             bool (*each)(void *owner, const struct event *event), void *owner, struct failure *failure)
{
    struct event_filter part = *filter;
    struct batch batch = {.more = true};
    enum status status = STATUS_OK;
    int64_t left = filter->limit;
    while (status == STATUS_OK && left > 0 && batch.more) {
        part.limit = left < BATCH_ROWS ? left : BATCH_ROWS;
        status = read_batch(db, &part, each, owner, &batch, failure);
        batch.more = batch.more && (batch.rows == part.limit || batch.bytes >= BATCH_BYTES);
        left -= batch.rows;
        *(filter->newest_first ? &part.before : &part.after) = batch.last_sequence;
    }
    return status;
}

/* --- the firehose --- */

enum status store_firehose_horizon(struct db *db, int64_t *out, struct failure *failure)
{
    return statement_number(db, sql_firehose_horizon(), 0, out, failure);
}

enum status store_firehose_end(struct db *db, int64_t tenant_key, int64_t horizon, struct position *out,
                               struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, sql_firehose_end(.tenant_key = tenant_key, .horizon = horizon));
    enum status status = query_step(&query, &row, failure);
    if (status == STATUS_OK) {
        *out =
            row ? (struct position){query_i64(&query, FIREHOSE_COLUMN_MAJOR), query_i64(&query, FIREHOSE_COLUMN_MINOR)}
                : (struct position){0, 0};
    }
    query_end(&query);
    return status;
}

enum status store_firehose_read(struct db *db, int64_t tenant_key, struct position after, int64_t horizon,
                                int64_t limit, bool (*each)(void *owner, const struct firehose_row *row), void *owner,
                                struct failure *failure)
{
    struct query query;
    bool found = false, more = true;
    query_start(&query, db,
                sql_firehose_read(.tenant_key = tenant_key, .after_major = after.major, .after_minor = after.minor,
                                  .horizon = horizon, .limit = limit));
    enum status status = query_step(&query, &found, failure);
    while (status == STATUS_OK && found && more) {
        struct event event;
        struct firehose_row row = {
            .at = {query_i64(&query, FIREHOSE_COLUMN_MAJOR), query_i64(&query, FIREHOSE_COLUMN_MINOR)},
            .session_key = query_i64(&query, FIREHOSE_COLUMN_SESSION_KEY),
            .session_id = query_text(&query, FIREHOSE_COLUMN_SESSION_ID),
            .audience = query_text(&query, FIREHOSE_COLUMN_AUDIENCE),
            .event = &event};
        event_read_row(&query, FIREHOSE_COLUMN_SEQUENCE, &event);
        status = seal_check(db, failure);
        more = status == STATUS_OK && each(owner, &row);
        if (more) {
            status = query_step(&query, &found, failure);
        }
    }
    query_end(&query);
    return status;
}

/* --- partial output --- */

enum status store_partial_save(struct db *db, int64_t tenant_key, int64_t session_key, const struct partial *partial,
                               struct failure *failure)
{
    return statement_run(db,
                         sql_partial_save(.tenant_key = tenant_key, .session_key = session_key,
                                          .sequence = partial->sequence, .deltas = partial->count,
                                          .body = seal_text(db, tenant_key, session_key, partial->body),
                                          .saved_at_ms = partial->saved_at_ms),
                         NULL, failure);
}

enum status store_partial_load(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                               struct partial *out, struct failure *failure)
{
    struct query query;
    *out = (struct partial){0};
    enum status status =
        statement_first(&query, db, sql_partial_load(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct partial){
        query_i64(&query, PARTIAL_LOAD_COLUMN_SEQUENCE), query_i64(&query, PARTIAL_LOAD_COLUMN_DELTAS),
        column_open(&query, PARTIAL_LOAD_COLUMN_BODY, arena), query_i64(&query, PARTIAL_LOAD_COLUMN_SAVED_AT_MS)};
    query_end(&query);
    return seal_check(db, failure);
}
