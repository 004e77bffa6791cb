#include "store/store.h"

#include "base/json.h"
#include "store/engine.h"
#include "store/event_row.h"
#include "store/seal.h"
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
    return statement_number(db, SQL_EVENT_BY_EXTERNAL_ID,
                            VALUES(number(tenant_key), number(session_key), text(external_id)), 0, out_sequence,
                            failure);
}

void event_read_row(struct query *query, int first, struct event *out)
{
    out->sequence = query_i64(query, first);
    out->at_ms = query_i64(query, first + 1);
    out->type = query_text(query, first + 2);
    out->role = (enum event_role)query_i64(query, first + 3);
    out->content = seal_slot_open(query->db, query_text(query, first + 4), 0);
    out->metadata = seal_slot_open(query->db, query_text(query, first + 5), 1);
    out->thread_id = query_text(query, first + 6);
    out->external_id = query_text(query, first + 7);
    out->actor = query_text(query, first + 8);
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
    for (const struct event_type *type = event_types; type->name; type++) {
        if (type->audit) {
            json_text(&out, slice_of(type->name));
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
    if (filter->type_count) {
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

static struct value maybe(const struct buffer *buffer)
{
    return buffer->len ? text(buffer_slice(buffer)) : null_value();
}

/* --- reading --- */

static enum sql read_statement(const struct event_filter *filter)
{
    bool filtered = filter->type_count || filter->audit_only || slice_present(filter->thread_id);
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
    statement_start(&query, db, read_statement(filter),
                    VALUES(number(filter->tenant_key), number(filter->session_key), number(filter->after),
                           number(filter->before ? filter->before : INT64_MAX), number(filter->limit),
                           maybe(&lists.whole), maybe(&lists.prefixes), maybe(&lists.audited),
                           text(filter->thread_id)));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row && out->more) {
        struct event event;
        event_read_row(&query, 0, &event);
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
    struct query query;
    enum status status = statement_first(&query, db, SQL_FIREHOSE_HORIZON, NULL, failure);
    if (status == STATUS_OK) {
        *out = query_i64(&query, 0);
    }
    query_end(&query);
    return status;
}

enum status store_firehose_end(struct db *db, int64_t tenant_key, int64_t horizon, struct position *out,
                               struct failure *failure)
{
    struct query query;
    bool row = false;
    statement_start(&query, db, SQL_FIREHOSE_END, VALUES(number(tenant_key), number(horizon)));
    enum status status = query_step(&query, &row, failure);
    if (status == STATUS_OK) {
        *out = row ? (struct position){query_i64(&query, 0), query_i64(&query, 1)} : (struct position){0, 0};
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
    statement_start(
        &query, db, SQL_FIREHOSE_READ,
        VALUES(number(tenant_key), number(after.major), number(after.minor), number(horizon), number(limit)));
    enum status status = query_step(&query, &found, failure);
    while (status == STATUS_OK && found && more) {
        struct event event;
        struct firehose_row row = {.at = {query_i64(&query, 0), query_i64(&query, 1)},
                                   .session_key = query_i64(&query, 2),
                                   .session_id = query_text(&query, 3),
                                   .audience = query_text(&query, 4),
                                   .event = &event};
        event_read_row(&query, 5, &event);
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
    return statement_run(db, SQL_PARTIAL_SAVE,
                         VALUES(number(tenant_key), number(session_key), number(partial->sequence),
                                number(partial->count), text(seal_text(db, tenant_key, session_key, partial->body)),
                                number(partial->saved_at_ms)),
                         NULL, failure);
}

enum status store_partial_load(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                               struct partial *out, struct failure *failure)
{
    struct query query;
    *out = (struct partial){0};
    enum status status =
        statement_first(&query, db, SQL_PARTIAL_LOAD, VALUES(number(tenant_key), number(session_key)), failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct partial){query_i64(&query, 0), query_i64(&query, 1), column_open(&query, 2, arena),
                            query_i64(&query, 3)};
    query_end(&query);
    return seal_check(db, failure);
}
