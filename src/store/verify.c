#include "domain/vocabulary.h"
#include "store/blob/blob.h"
#include "store/session/label.h"
#include "store/session/session_row.h"
#include "store/statement.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    SESSIONS_PER_PAGE = 256,
    EVENTS_PER_PAGE = 4096,
};

static void report_problem(struct verify_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void report_problem(struct verify_report *report, const char *format, ...)
{
    char sentence[600];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    report->problems++;
    if (report->problem) {
        report->problem(report->owner, sentence);
    }
}

/* --- one session: its log folded again --- */

struct stored_session {
    struct session session;
    int64_t display; /* what lists filter by, derived from the rest */
    int64_t labels;  /* how many rows */
};

struct fold {
    struct verify_report *report;
    const struct session *stored;
    struct session folded;
    struct arena arenas[2];
    int arena;
    int64_t page_events;
    bool broken; /* a gap was told; the rest would only repeat it */
};

/* Strings that were replaced stay in the arena, so a long log would fill it. */
static void move_to_fresh_arena(struct fold *fold)
{
    struct session copy;
    struct arena *fresh = &fold->arenas[!fold->arena];
    session_copy(&copy, &fold->folded, fresh);
    fold->folded = copy;
    arena_reset(&fold->arenas[fold->arena]);
    fold->arena = !fold->arena;
}

static bool fold_event(void *owner, const struct event *event)
{
    struct fold *fold = owner;
    fold->report->events++;
    fold->page_events++;
    if (event->sequence != fold->folded.last_sequence + 1) {
        report_problem(fold->report, "session %.*s: event %lld follows event %lld", SLICE_ARG(fold->stored->id),
                       (long long)event->sequence, (long long)fold->folded.last_sequence);
        fold->broken = true;
        return false;
    }
    session_apply(&fold->folded, event, &fold->arenas[fold->arena]);
    return true;
}

static void compare(struct fold *fold)
{
    const struct session *stored = fold->stored;
    if (fold->broken) {
        return;
    }
    if (fold->folded.last_sequence != stored->last_sequence) {
        report_problem(fold->report, "session %.*s: the row is at event %lld, the log ends at %lld",
                       SLICE_ARG(stored->id), (long long)stored->last_sequence, (long long)fold->folded.last_sequence);
        return;
    }
    const char *field = session_difference(stored, &fold->folded);
    if (field) {
        report_problem(fold->report, "session %.*s: %s is not what its log says", SLICE_ARG(stored->id), field);
    }
}

static enum status fold_page(struct db *db, struct fold *fold, struct failure *failure)
{
    struct event_filter page = {.tenant_key = fold->stored->tenant_key,
                                .session_key = fold->stored->key,
                                .after = fold->folded.last_sequence,
                                .limit = EVENTS_PER_PAGE};
    fold->page_events = 0;
    move_to_fresh_arena(fold);
    return store_event_read(db, &page, fold_event, fold, failure);
}

static enum status verify_session(struct db *db, const struct session *stored, struct fold *fold,
                                  struct failure *failure)
{
    enum status status = STATUS_OK;
    fold->stored = stored;
    fold->broken = false;
    fold->folded = (struct session){.key = stored->key, .tenant_key = stored->tenant_key};
    do {
        status = fold_page(db, fold, failure);
    } while (status == STATUS_OK && !fold->broken && fold->page_events == EVENTS_PER_PAGE);
    if (status == STATUS_OK) {
        compare(fold);
    }
    fold->report->sessions++;
    return status;
}

/* --- its files --- */

static enum status verify_files(struct db *db, const struct session *stored, struct verify_report *report,
                                struct failure *failure)
{
    struct arena arena = {0};
    struct blob *files, found;
    size_t count = 0;
    char handle[BLOB_HANDLE_BYTES];
    enum status status =
        store_blob_list(db, stored->tenant_key, stored->key, INT64_MAX, &arena, &files, &count, failure);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct arena scratch = {0};
        status = store_blob_read(db, report->blobs, stored->tenant_key, stored->key, &files[i].sha256, &scratch, &found,
                                 failure);
        arena_release(&scratch);
        if (status == STATUS_UNAVAILABLE || status == STATUS_NOT_FOUND) {
            blob_handle(&files[i].sha256, handle);
            report_problem(report, "session %.*s: the file %s is missing or damaged", SLICE_ARG(stored->id), handle);
            status = STATUS_OK;
        }
    }
    arena_release(&arena);
    return status;
}

/* --- all sessions --- */

static void read_stored(struct query *query, struct arena *arena, void *item)
{
    struct stored_session *out = item;
    session_read(query, arena, &out->session);
    out->display = query_i64(query, VERIFY_SESSIONS_COLUMN_DISPLAY);
    out->labels = query_i64(query, VERIFY_SESSIONS_COLUMN_LABELS);
}

/* What is repeated of a session for the sake of lists. */
static void check_copies(struct verify_report *report, const struct stored_session *stored)
{
    int64_t labels = labels_count(&stored->session);
    if (stored->labels != labels) {
        report_problem(report, "session %.*s: it has %lld labels, its metadata makes %lld",
                       SLICE_ARG(stored->session.id), (long long)stored->labels, (long long)labels);
    }
    if (stored->display != (int64_t)display_status(&stored->session)) {
        report_problem(report, "session %.*s: the display status that lists filter by is not that of its state",
                       SLICE_ARG(stored->session.id));
    }
}

static enum status verify_page(struct db *db, int64_t *after_key, struct fold *fold, size_t *out_count,
                               struct failure *failure)
{
    struct arena arena = {0};
    struct stored_session *sessions = NULL;
    enum status status = statement_rows(db, sql_verify_sessions(.after_key = *after_key, .limit = SESSIONS_PER_PAGE),
                                        sizeof *sessions, read_stored, &arena, &sessions, out_count, failure);
    for (size_t i = 0; status == STATUS_OK && i < *out_count; i++) {
        status = verify_session(db, &sessions[i].session, fold, failure);
        check_copies(fold->report, &sessions[i]);
        if (status == STATUS_OK && fold->report->blobs) {
            status = verify_files(db, &sessions[i].session, fold->report, failure);
        }
        *after_key = sessions[i].session.key;
    }
    arena_release(&arena);
    return status;
}

static enum status verify_sessions(struct db *db, int64_t total, struct verify_report *report, struct failure *failure)
{
    struct fold fold = {.report = report};
    int64_t after_key = 0;
    size_t count = 1;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && count) {
        status = verify_page(db, &after_key, &fold, &count, failure);
        if (status == STATUS_OK && report->progress) {
            report->progress(report->owner, report->sessions, total);
        }
    }
    arena_release(&fold.arenas[0]);
    arena_release(&fold.arenas[1]);
    return status;
}

/* --- what the engine can compare by itself: every row is a sentence --- */

static const struct {
    enum sql sql;
    bool only_sqlite;
} sentences[] = {
    {SQL_VERIFY_COUNTS, false}, {SQL_VERIFY_ORPHANS, false},     {SQL_VERIFY_ROWS_WITHOUT_ACTIVITY, false},
    {SQL_VERIFY_COPIES, false}, {SQL_VERIFY_EVENT_ROWS, false},  {SQL_VERIFY_TOMBSTONES, false},
    {SQL_VERIFY_RUNS, false},   {SQL_VERIFY_UNMADE_RUNS, false}, {SQL_VERIFY_STEPS, false},
    {SQL_VERIFY_BLOCKS, true},  {SQL_VERIFY_CHUNKS, true},       {SQL_VERIFY_SHARE_USES, false},
};

static enum status verify_sentences(struct db *db, enum sql sql, struct verify_report *report, struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, (struct sql_call){.sql = sql});
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        report_problem(report, "%.*s", SLICE_ARG(query_text(&query, 0)));
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    return status;
}

static enum status read_totals(struct db *db, int64_t *out_sessions, int64_t *out_events, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql_verify_totals(), failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out_sessions = query_i64(&query, VERIFY_TOTALS_COLUMN_SESSIONS);
    *out_events = query_i64(&query, VERIFY_TOTALS_COLUMN_EVENTS);
    query_end(&query);
    return STATUS_OK;
}

static enum status verify_all(struct db *db, struct verify_report *report, struct failure *failure)
{
    int64_t sessions = 0, events = 0;
    bool is_sqlite = db_engine(db) == DB_SQLITE;
    enum status status = is_sqlite ? verify_sentences(db, SQL_VERIFY_FILE, report, failure) : STATUS_OK;
    if (status != STATUS_OK || report->problems) {
        return status; /* what a damaged file says about anything else is worth nothing */
    }
    status = read_totals(db, &sessions, &events, failure);
    if (status == STATUS_OK) {
        status = verify_sessions(db, sessions, report, failure);
    }
    for (size_t i = 0; status == STATUS_OK && i < sizeof sentences / sizeof sentences[0]; i++) {
        if (is_sqlite || !sentences[i].only_sqlite) {
            status = verify_sentences(db, sentences[i].sql, report, failure);
        }
    }
    if (status == STATUS_OK && !report->problems && report->events != events) {
        report_problem(report, "the sessions have %lld events, the table of events %lld", (long long)report->events,
                       (long long)events);
    }
    return status;
}

enum status store_verify(struct db *db, struct verify_report *report, struct failure *failure)
{
    report->sessions = report->events = report->problems = 0;
    enum status status = db_begin_read(db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = verify_all(db, report, failure);
    enum status ended = db_end_read(db, failure);
    return status == STATUS_OK ? ended : status;
}
