/* What the fanout stands on, for tests: loops whose messages run when the test says so (or on a thread), a store in
 * memory, readers, and sockets that take as much as they are told to. Included by each test of the room. */
#ifndef FANOUT_FAKES_H
#define FANOUT_FAKES_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/arena.h"
#include "fanout/fanout.h"

#define UNUSED __attribute__((unused))

/* --- loops --- */

struct loop {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct loop_message *first, *last;
    uv_loop_t uv;
    pthread_t thread;
    bool stopping;
    int index;
};

struct loop *loop_new(int index)
{
    struct loop *loop = memory_zeroed(sizeof *loop);
    pthread_mutex_init(&loop->mutex, NULL);
    pthread_cond_init(&loop->filled, NULL);
    uv_loop_init(&loop->uv);
    loop->index = index;
    return loop;
}

void loop_free(struct loop *loop)
{
    uv_run(&loop->uv, UV_RUN_NOWAIT);
    assert_int_equal(uv_loop_close(&loop->uv), 0);
    free(loop);
}

void loop_post(struct loop *loop, struct loop_message *message)
{
    pthread_mutex_lock(&loop->mutex);
    message->next = NULL;
    if (loop->last) {
        loop->last->next = message;
    } else {
        loop->first = message;
    }
    loop->last = message;
    pthread_cond_signal(&loop->filled);
    pthread_mutex_unlock(&loop->mutex);
}

static struct loop_message *loop_take(struct loop *loop, bool wait)
{
    pthread_mutex_lock(&loop->mutex);
    while (wait && !loop->first && !loop->stopping) {
        pthread_cond_wait(&loop->filled, &loop->mutex);
    }
    struct loop_message *message = loop->first;
    if (message) {
        loop->first = message->next;
        loop->last = loop->first ? loop->last : NULL;
    }
    pthread_mutex_unlock(&loop->mutex);
    return message;
}

/* Runs what is there; true when there was something. */
static UNUSED bool loop_run_some(struct loop *loop)
{
    struct loop_message *message = loop_take(loop, false);
    if (message) {
        message->run(message);
    }
    return message;
}

static void *loop_main(void *loop)
{
    for (struct loop_message *message; (message = loop_take(loop, true));) {
        message->run(message);
    }
    return NULL;
}

void loop_start(struct loop *loop)
{
    pthread_create(&loop->thread, NULL, loop_main, loop);
}

void loop_stop(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->stopping = true;
    pthread_cond_signal(&loop->filled);
    pthread_mutex_unlock(&loop->mutex);
}

void loop_join(struct loop *loop)
{
    pthread_join(loop->thread, NULL);
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

int loop_index(const struct loop *loop)
{
    return loop->index;
}

bool loop_is_current(const struct loop *loop)
{
    (void)loop;
    return true;
}

bool loop_is_mine(const struct loop *loop)
{
    return loop_is_current(loop);
}

/* --- the store --- */

enum { FAKE_EVENTS_MAX = 40000, FAKE_SESSIONS = 64, FAKE_TENANT = 1 };

struct fake_event {
    int64_t session_key, sequence;
    const char *type;
    const char *thread_id;
    int64_t payload_bytes;
    bool erased;
};

/* One for all readers; a page reads a copy of the count, so that it sees a stable end. */
static struct fake_store {
    pthread_mutex_t mutex;
    struct fake_event events[FAKE_EVENTS_MAX]; /* of all sessions, in commit order: row i has position (i + 1, 0) */
    int64_t count;
    int64_t ends[FAKE_SESSIONS]; /* last sequence per session key */
    struct partial partials[FAKE_SESSIONS];
    enum access_role participants[FAKE_SESSIONS]; /* of the one restricted user */
    int64_t reads;
    int64_t decisions;
    bool broken;
    void (*meanwhile)(void); /* once: happens between the reader's view of the store and its answer */
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static UNUSED void fake_reset(void)
{
    for (size_t i = 0; i < FAKE_SESSIONS; i++) {
        free((char *)fake.partials[i].body.ptr);
    }
    memset(fake.ends, 0, sizeof fake.ends);
    memset(fake.partials, 0, sizeof fake.partials);
    memset(fake.participants, 0, sizeof fake.participants);
    fake.count = fake.reads = fake.decisions = 0;
    fake.broken = false;
}

static int64_t fake_append(int64_t session_key, const char *type, const char *thread_id, int64_t payload_bytes)
{
    pthread_mutex_lock(&fake.mutex);
    assert_true(fake.count < FAKE_EVENTS_MAX);
    int64_t sequence = ++fake.ends[session_key];
    fake.events[fake.count++] = (struct fake_event){session_key, sequence, type, thread_id, payload_bytes, false};
    pthread_mutex_unlock(&fake.mutex);
    return sequence;
}

/* Between begin and end of reading a thread sees the store as it was. */
static _Thread_local int64_t fake_view = -1;

static int64_t fake_snapshot(void)
{
    if (fake_view >= 0) {
        return fake_view;
    }
    pthread_mutex_lock(&fake.mutex);
    int64_t count = fake.count;
    fake.reads++;
    void (*meanwhile)(void) = fake.meanwhile;
    fake.meanwhile = NULL;
    pthread_mutex_unlock(&fake.mutex);
    if (meanwhile) {
        meanwhile();
    }
    return count;
}

enum { FAKE_PAYLOAD_MAX = 4096 };

/* The payload is the digit of the sequence, again and again. */
static void fake_fill(const struct fake_event *row, struct event *out, char payload[FAKE_PAYLOAD_MAX + 8])
{
    int len = 0;
    if (row->payload_bytes > 0) {
        len = snprintf(payload, 8, "[\"");
        memset(payload + len, (int)('0' + row->sequence % 10), (size_t)row->payload_bytes);
        len += (int)row->payload_bytes;
        len += snprintf(payload + len, 6, "\"]");
    }
    *out = (struct event){.sequence = row->sequence,
                          .at_ms = 1,
                          .kind = event_kind_find(slice_of(row->type)),
                          .custom = slice_of(row->type),
                          .role = ROLE_AGENT,
                          .content = len ? slice_from(payload, (size_t)len) : (struct slice){0},
                          .thread_id = slice_of(row->thread_id),
                          .actor = SLICE("system")};
}

/* The event as the service would publish it. */
static void fake_json(struct buffer *to, const struct fake_event *row)
{
    char payload[FAKE_PAYLOAD_MAX + 8], id[8];
    struct event event;
    fake_fill(row, &event, payload);
    snprintf(id, sizeof id, "s%d", (int)row->session_key);
    event_write(to, slice_of(id), &event);
}

static bool fake_type_passes(const struct event_filter *filter, const struct fake_event *row)
{
    bool passes = filter->type_count == 0;
    struct slice type = slice_of(row->type);
    for (size_t i = 0; i < filter->type_count; i++) {
        struct slice pattern = filter->types[i];
        bool prefix = pattern.len > 1 && pattern.ptr[pattern.len - 1] == '*';
        passes |= prefix ? slice_starts(type, slice_from(pattern.ptr, pattern.len - 1)) : slice_eq(type, pattern);
    }
    return passes && (!slice_present(filter->thread_id) || slice_is(filter->thread_id, row->thread_id));
}

enum status store_ask_pending(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                              struct ask **out, size_t *out_count, struct failure *failure)
{
    (void)db, (void)tenant_key, (void)session_key, (void)arena, (void)failure;
    *out = NULL;
    *out_count = 0;
    return STATUS_OK;
}

enum status db_begin_read(struct db *db, struct failure *failure)
{
    (void)db;
    if (fake.broken) {
        return failure_set(failure, STATUS_UNAVAILABLE, "broken", "broken");
    }
    fake_view = fake_snapshot();
    return STATUS_OK;
}

enum status db_end_read(struct db *db, struct failure *failure)
{
    (void)db;
    (void)failure;
    fake_view = -1;
    return STATUS_OK;
}

enum status store_event_read(struct db *db, const struct event_filter *filter,
                             bool (*each)(void *owner, const struct event *event), void *owner, struct failure *failure)
{
    (void)db, (void)failure;
    int64_t end = fake_snapshot(), given = 0;
    bool going = true;
    for (int64_t i = 0; i < end && going && given < filter->limit; i++) {
        const struct fake_event *row = &fake.events[filter->newest_first ? end - 1 - i : i];
        char payload[FAKE_PAYLOAD_MAX + 8];
        struct event event;
        if (row->session_key == filter->session_key && row->sequence > filter->after && !row->erased &&
            fake_type_passes(filter, row)) {
            fake_fill(row, &event, payload);
            given++;
            going = each(owner, &event);
        }
    }
    return STATUS_OK;
}

enum status store_firehose_horizon(struct db *db, int64_t *out, struct failure *failure)
{
    (void)db, (void)failure;
    *out = INT64_MAX;
    return STATUS_OK;
}

enum status store_firehose_end(struct db *db, int64_t tenant_key, int64_t horizon, struct position *out,
                               struct failure *failure)
{
    (void)db, (void)tenant_key, (void)horizon, (void)failure;
    *out = (struct position){fake_snapshot(), 0};
    return STATUS_OK;
}

enum status store_firehose_read(struct db *db, int64_t tenant_key, struct position after, int64_t horizon,
                                int64_t limit, bool (*each)(void *owner, const struct firehose_row *row), void *owner,
                                struct failure *failure)
{
    (void)db, (void)tenant_key, (void)horizon;
    if (fake.broken) {
        return failure_set(failure, STATUS_UNAVAILABLE, "broken", "broken");
    }
    int64_t end = fake_snapshot();
    bool going = true;
    for (int64_t i = after.major; i < end && going && i - after.major < limit; i++) {
        char payload[FAKE_PAYLOAD_MAX + 8], id[8];
        struct event event;
        fake_fill(&fake.events[i], &event, payload);
        snprintf(id, sizeof id, "s%d", (int)fake.events[i].session_key);
        struct firehose_row row = {
            .at = {i + 1, 0}, .session_key = fake.events[i].session_key, .session_id = slice_of(id), .event = &event};
        going = each(owner, &row);
    }
    return STATUS_OK;
}

enum status store_partial_load(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                               struct partial *out, struct failure *failure)
{
    (void)db, (void)tenant_key, (void)failure;
    pthread_mutex_lock(&fake.mutex);
    *out = fake.partials[session_key];
    out->body = arena_copy(arena, out->body);
    pthread_mutex_unlock(&fake.mutex);
    return STATUS_OK;
}

static enum status fake_may_see(struct db *db, const struct principal *who, int64_t session_key, bool *out_may,
                                struct failure *failure)
{
    (void)db, (void)who, (void)failure;
    pthread_mutex_lock(&fake.mutex);
    fake.decisions++;
    *out_may = fake.participants[session_key] != ACCESS_NONE;
    pthread_mutex_unlock(&fake.mutex);
    return STATUS_OK;
}

static bool fake_could_see(const struct principal *who, int64_t session_key, struct slice audience)
{
    (void)who, (void)session_key, (void)audience;
    return false;
}

/* A token is revoked when its hash is empty; everything else is valid. */
static enum status fake_is_revoked(struct db *db, const struct viewer_credential *shown, bool *out_revoked,
                                   struct failure *failure)
{
    static const struct hash empty;
    (void)db, (void)failure;
    *out_revoked = shown->credential.kind == CREDENTIAL_TOKEN &&
                   hash_equal(hash_slice(&shown->credential.hash), hash_slice(&empty));
    return STATUS_OK;
}

static UNUSED const struct viewer_rights fake_rights = {fake_may_see, fake_could_see, fake_is_revoked};

static UNUSED void fake_save_partial(void *owner, int64_t tenant_key, int64_t session_key,
                                     const struct partial *partial)
{
    (void)owner, (void)tenant_key;
    pthread_mutex_lock(&fake.mutex);
    struct partial *kept = &fake.partials[session_key];
    char *body = memory_alloc(partial->body.len + 1);
    memcpy(body, partial->body.ptr, partial->body.len);
    free((char *)kept->body.ptr);
    *kept = *partial;
    kept->body = slice_from(body, partial->body.len);
    pthread_mutex_unlock(&fake.mutex);
}

/* --- publishing --- */

/* As the writer would fill them. */
static struct event_facts fake_facts(const struct fake_event *row)
{
    char payload[FAKE_PAYLOAD_MAX + 8];
    struct event event;
    fake_fill(row, &event, payload);
    return event_facts_read(&event);
}

static UNUSED void publish_range(struct fanout *fanout, int64_t session_key, int64_t from, int64_t until)
{
    struct publication *publication = publication_new();
    pthread_mutex_lock(&fake.mutex);
    int64_t count = fake.count;
    pthread_mutex_unlock(&fake.mutex);
    for (int64_t i = 0; i < count; i++) {
        const struct fake_event *row = &fake.events[i];
        if (row->session_key == session_key && row->sequence >= from && row->sequence <= until) {
            struct buffer json = {0};
            fake_json(&json, row);
            publication_add(publication, &(struct publication_entry){.kind = PUBLISH_EVENTS,
                                                                     .tenant_key = FAKE_TENANT,
                                                                     .session_key = session_key,
                                                                     .session_id = SLICE("s"),
                                                                     .sequence = row->sequence,
                                                                     .event = fake_facts(row),
                                                                     .type = slice_of(row->type),
                                                                     .thread_id = slice_of(row->thread_id),
                                                                     .json = buffer_slice(&json)});
            buffer_release(&json);
        }
    }
    fanout_publish(fanout, publication);
}

static UNUSED void publish_delta(struct fanout *fanout, int64_t session_key, int64_t sequence, int64_t base,
                                 const char *json)
{
    struct publication *publication = publication_new();
    publication_add(publication, &(struct publication_entry){.kind = PUBLISH_DELTA,
                                                             .tenant_key = FAKE_TENANT,
                                                             .session_key = session_key,
                                                             .session_id = SLICE("s"),
                                                             .sequence = sequence,
                                                             .count_base = base,
                                                             .delta_kind = DELTA_TEXT,
                                                             .json = slice_of(json)});
    fanout_publish(fanout, publication);
}

static UNUSED void publish_close(struct fanout *fanout, int64_t session_key, const char *reason, const char *user)
{
    struct publication *publication = publication_new();
    publication_add(publication, &(struct publication_entry){.kind = PUBLISH_CLOSE,
                                                             .tenant_key = FAKE_TENANT,
                                                             .session_key = session_key,
                                                             .reason = slice_of(reason),
                                                             .only_user = slice_of(user)});
    fanout_publish(fanout, publication);
}

#endif
