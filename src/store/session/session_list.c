#include <stddef.h>
#include <stdlib.h>

#include "base/caseless.h"
#include "domain/vocabulary.h"
#include "store/session/session_row.h"
#include "store/statement.h"

/* A page is gathered from sources: statements that each give keys in list order, led by one index. One source is usual;
 * a group of states and "what this user may see" are several, merged here. */
struct source {
    enum sql sql;
    int work; /* for SQL_SESSION_LIST_WORK, else -1 */
};

enum { SOURCES_MAX = SESSION_STATUS_COUNT };

struct sources {
    struct source items[SOURCES_MAX];
    size_t count;
};

static void add_source(struct sources *sources, enum sql sql, int work)
{
    sources->items[sources->count++] = (struct source){sql, work};
}

/* Text filters with an index of their own, the most selective first. The others stand in pick_sources. */
static const struct {
    size_t offset;
    enum sql sql;
} selective_filters[] =
    {
        {offsetof(struct session_filter, parent_id), SQL_SESSION_LIST_PARENT},
        {offsetof(struct session_filter, task_id), SQL_SESSION_LIST_TASK},
        {offsetof(struct session_filter, entity_id), SQL_SESSION_LIST_ENTITY},
        {offsetof(struct session_filter, label_value), SQL_SESSION_LIST_LABEL},
        {offsetof(struct session_filter, participant), SQL_SESSION_LIST_PARTICIPANT},
        {offsetof(struct session_filter, owner), SQL_SESSION_LIST_OWNER},
        {offsetof(struct session_filter, workspace), SQL_SESSION_LIST_WORKSPACE},
        {offsetof(struct session_filter, agent), SQL_SESSION_LIST_AGENT},
},
  broad_filters[] = {
      {offsetof(struct session_filter, source_platform), SQL_SESSION_LIST_SOURCE_PLATFORM},
      {offsetof(struct session_filter, label_name), SQL_SESSION_LIST_LABEL_NAME},
      {offsetof(struct session_filter, source_kind), SQL_SESSION_LIST_SOURCE_KIND},
};

static bool is_given(const struct session_filter *filter, size_t offset)
{
    return slice_present(*(const struct slice *)((const char *)filter + offset));
}

static bool (*const group_tests[])(enum session_status state) = {NULL, session_status_is_active, session_status_is_live,
                                                                 session_status_is_failing};

static int64_t work_bits(int group)
{
    int64_t bits = 0;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        if (group_tests[group]((enum session_status)work)) {
            bits |= (int64_t)1 << work;
        }
    }
    return bits;
}

static void pick_broad(const struct session_filter *filter, struct sources *out)
{
    for (size_t i = 0; i < sizeof broad_filters / sizeof broad_filters[0]; i++) {
        if (is_given(filter, broad_filters[i].offset)) {
            add_source(out, broad_filters[i].sql, -1);
            return;
        }
    }
    if (filter->type >= 0) {
        add_source(out, SQL_SESSION_LIST_TYPE, -1);
    } else if (filter->archived >= 0) {
        add_source(out, filter->archived ? SQL_SESSION_LIST_ARCHIVED : SQL_SESSION_LIST_SHOWN, -1);
    } else {
        add_source(out, SQL_SESSION_LIST_ALL, -1);
    }
}

static void pick_states(const struct session_filter *filter, struct sources *out)
{
    int64_t bits = work_bits(filter->group);
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        if (bits >> work & 1) {
            add_source(out, SQL_SESSION_LIST_WORK, work);
        }
    }
}

/* Sessions in these states are few in any tenant: looking at all of them is cheaper than at all a user may see. */
static bool asks_for_few_states(const struct session_filter *filter)
{
    if (filter->work >= 0) {
        return session_status_is_live((enum session_status)filter->work) ||
               session_status_is_claimable((enum session_status)filter->work);
    }
    return filter->group > 0 && group_tests[filter->group] == session_status_is_live;
}

static void pick_sources(const struct session_filter *filter, struct sources *out)
{
    out->count = 0;
    for (size_t i = 0; i < sizeof selective_filters / sizeof selective_filters[0]; i++) {
        if (is_given(filter, selective_filters[i].offset)) {
            add_source(out, selective_filters[i].sql, -1);
            return;
        }
    }
    if (filter->shared_with_me) {
        add_source(out, SQL_SESSION_LIST_SHARED, -1);
    } else if (slice_present(filter->visible_to) && !asks_for_few_states(filter)) {
        add_source(out, SQL_SESSION_LIST_OWN, -1);
        add_source(out, SQL_SESSION_LIST_SHARED, -1);
        add_source(out, SQL_SESSION_LIST_ORGANISATION, -1);
    } else if (filter->work >= 0) {
        add_source(out, SQL_SESSION_LIST_WORK, filter->work);
    } else if (filter->group > 0) {
        pick_states(filter, out);
    } else if (filter->display >= 0) {
        add_source(out, SQL_SESSION_LIST_DISPLAY, -1);
    } else {
        pick_broad(filter, out);
    }
}

/* --- parameters --- */

/* %TEXT% for LIKE, folded, with its own signs escaped. */
static struct slice like_pattern(struct slice wanted, struct arena *arena)
{
    struct buffer folded = {0};
    if (!slice_present(wanted)) {
        return wanted;
    }
    caseless_write(&folded, wanted);
    char *out = arena_bytes(arena, 2 * folded.len + 2);
    size_t len = 0;
    out[len++] = '%';
    for (size_t i = 0; i < folded.len; i++) {
        if (strchr("%_\\", folded.ptr[i]) && folded.ptr[i]) {
            out[len++] = '\\';
        }
        out[len++] = folded.ptr[i];
    }
    out[len++] = '%';
    buffer_release(&folded);
    return slice_from(out, len);
}

/* listed_at_ms lags behind the last activity by less than a step, so it bounds the search. */
static int64_t least_listed_ms(const struct session_filter *filter)
{
    return filter->active_after_ms > SESSION_LISTED_STEP_MS ? filter->active_after_ms - SESSION_LISTED_STEP_MS : 0;
}

static int64_t first_listed_ms(const struct session_filter *filter)
{
    return filter->cursor_key ? filter->cursor_listed_ms : INT64_MAX;
}

/* Who was stopped by choice is in a failing state and displays as completed: domain's session_is_failing. */
static bool asks_for_failing(const struct session_filter *filter)
{
    return filter->group > 0 && group_tests[filter->group] == session_status_is_failing;
}

static void start_source(struct query *query, struct db *db, const struct session_filter *f,
                         const struct source *source, const struct id_range *ids, struct slice pattern)
{
    bool grouped = f->group > 0;
    int work = source->work >= 0 ? source->work : f->work;
    int display = f->display < 0 && asks_for_failing(f) ? DISPLAY_FAILED : f->display;
    query_start(query, db,
                sql_session_list(
                    source->sql, .tenant_key = f->tenant_key, .before_listed_ms = first_listed_ms(f),
                    .before_key = f->cursor_key ? f->cursor_key : INT64_MAX, .limit = f->limit + 1,
                    .least_listed_ms = least_listed_ms(f), .type = optional(f->type, f->type >= 0),
                    .states = optional(grouped ? work_bits(f->group) : 0, grouped),
                    .display = optional(display, display >= 0), .archived = optional(f->archived, f->archived >= 0),
                    .interactive = optional(f->interactive, f->interactive >= 0),
                    .visibility = optional(f->visibility, f->visibility >= 0), .source_kind = f->source_kind,
                    .source_platform = f->source_platform, .owner = f->owner, .parent_id = f->parent_id,
                    .task_id = f->task_id, .entity_id = f->entity_id, .workspace = f->workspace, .agent = f->agent,
                    .pattern = pattern, .created_from_ms = optional(f->created_after_ms, f->created_after_ms > 0),
                    .created_to_ms = optional(f->created_before_ms, f->created_before_ms > 0),
                    .active_from_ms = optional(f->active_after_ms, f->active_after_ms > 0),
                    .active_to_ms = optional(f->active_before_ms, f->active_before_ms > 0), .id_from = ids->from,
                    .id_to = ids->to, .visible_to = f->visible_to, .private_of = f->private_of,
                    .participant = f->participant, .shared_only = f->shared_with_me, .label_name = f->label_name,
                    .label_value = f->label_value, .work = optional(work, work >= 0),
                    .kind = optional(f->kind, f->kind > 0), .parents_only = f->parents_only));
}

/* --- gathering and merging keys --- */

struct place {
    int64_t listed_ms, key;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->listed_ms != b->listed_ms) {
        return a->listed_ms > b->listed_ms ? -1 : 1;
    }
    return a->key == b->key ? 0 : a->key > b->key ? -1 : 1;
}

static enum status gather(struct query *query, struct place *places, size_t *count, struct failure *failure)
{
    bool row = false;
    enum status status = query_step(query, &row, failure);
    while (status == STATUS_OK && row) {
        places[(*count)++] = (struct place){query_i64(query, SESSION_LIST_COLUMN_LISTED_AT_MS),
                                            query_i64(query, SESSION_LIST_COLUMN_KEY)};
        status = query_step(query, &row, failure);
    }
    return status;
}

static size_t merge_places(struct place *places, size_t count)
{
    size_t kept = 0;
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) {
        if (!kept || compare_places(&places[kept - 1], &places[i]) != 0) {
            places[kept++] = places[i];
        }
    }
    return kept;
}

static enum status gather_all(struct db *db, const struct session_filter *filter, struct arena *arena,
                              struct place **out, size_t *out_count, struct failure *failure)
{
    struct sources sources;
    struct id_range ids;
    struct query query;
    enum status status = STATUS_OK;
    size_t count = 0;
    pick_sources(filter, &sources);
    id_range_of(filter->id_prefix, &ids);
    struct slice pattern = like_pattern(filter->text, arena);
    *out = arena_array(arena, sources.count * (size_t)(filter->limit + 1), sizeof **out);
    for (size_t i = 0; status == STATUS_OK && i < sources.count; i++) {
        start_source(&query, db, filter, &sources.items[i], &ids, pattern);
        status = gather(&query, *out, &count, failure);
        query_end(&query);
    }
    *out_count = sources.count > 1 ? merge_places(*out, count) : count;
    return status;
}

/* --- loading the rows --- */

static struct slice keys_json(const struct place *places, size_t count, struct buffer *to)
{
    struct json_out out = json_out_to(to);
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++) {
        json_i64(&out, places[i].key);
    }
    json_end_array(&out);
    return buffer_slice(to);
}

static void read_session(struct query *query, struct arena *arena, void *item)
{
    session_read(query, arena, item);
}

static const struct session *find_key(const struct session *rows, size_t count, size_t hint, int64_t key)
{
    for (size_t i = 0; i < count; i++) {
        const struct session *row = &rows[(hint + i) % count];
        if (row->key == key) {
            return row;
        }
    }
    return NULL;
}

/* Between the two statements a session may have moved or gone. It stays where it was found, so that the cursor made of
 * the last row neither repeats nor skips. */
static void place_rows(const struct place *places, size_t count, const struct session *rows, size_t row_count,
                       struct arena *arena, struct session_page *out)
{
    out->sessions = arena_array(arena, count, sizeof *out->sessions);
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct session *row = find_key(rows, row_count, i, places[i].key);
        if (!row) {
            continue;
        }
        out->sessions[out->count] = *row;
        out->sessions[out->count++].listed_at_ms = places[i].listed_ms;
    }
}

enum status store_session_list(struct db *db, const struct session_filter *filter, struct arena *arena,
                               struct session_page *out, struct failure *failure)
{
    struct place *places = NULL;
    struct session *rows = NULL;
    struct buffer keys = {0};
    size_t count = 0, row_count = 0;
    *out = (struct session_page){0};
    enum status status = gather_all(db, filter, arena, &places, &count, failure);
    if (status != STATUS_OK || !count) {
        return status;
    }
    out->has_more = count > (size_t)filter->limit;
    if (out->has_more) {
        count = (size_t)filter->limit;
    }
    status = statement_rows(
        db, sql_session_by_keys(.tenant_key = filter->tenant_key, .keys = keys_json(places, count, &keys)),
        sizeof *rows, read_session, arena, &rows, &row_count, failure);
    buffer_release(&keys);
    if (status == STATUS_OK) {
        place_rows(places, count, rows, row_count, arena, out);
    }
    return status;
}
