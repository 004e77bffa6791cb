#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

static const struct session_limits limits = {
    .metadata_bytes_max = 16384, .title_chars_max = 500, .workspace_chars_max = 500, .prompt_chars_max = 100000};

void workload_init(struct workload *workload, uint64_t (*random)(void))
{
    memset(workload, 0, sizeof *workload);
    workload->random = random;
    workload->now_ms = 1700000000000;
}

void workload_release(struct workload *workload)
{
    for (int i = 0; i < WORKLOAD_SESSIONS_MAX; i++) {
        arena_release(&workload->sessions[i].arena);
    }
}

enum status workload_start(struct workload *workload, struct db *db, struct failure *failure)
{
    struct arena arena = {0};
    struct tenant tenant = {.id = SLICE("t"), .name = SLICE("T"), .created_at_ms = 1};
    workload->db = db;
    enum status status = store_tenant_by_id(db, tenant.id, &arena, &tenant, failure);
    if (status == STATUS_NOT_FOUND) {
        status = db_begin(db, failure);
        if (!status && !(status = store_tenant_insert(db, &tenant, failure))) {
            status = db_commit(db, failure);
        }
        if (status) {
            db_rollback(db);
        }
    }
    workload->tenant = tenant.key;
    arena_release(&arena);
    return status;
}

/* --- one group --- */

static uint64_t below(struct workload *workload, uint64_t limit)
{
    return workload->random() % limit;
}

/* Long content now and then, so that a row spreads over several pages. */
static struct slice random_content(struct workload *workload, struct arena *arena)
{
    size_t len = 2 + below(workload, below(workload, 8) ? 200 : 9000);
    char *text = arena_bytes(arena, len);
    memset(text, 'a' + (int)below(workload, 26), len);
    text[0] = '"';
    text[len - 1] = '"';
    return arena_format(arena, "[%.*s,%llu]", (int)len, text, (unsigned long long)workload->random());
}

static void stamp(struct workload *workload, struct workload_session *session, struct event *event)
{
    event->sequence = session->row.last_sequence + 1;
    event->at_ms = workload->now_ms;
    event->actor = SLICE("user:u1");
    session->hashes[event->sequence - 1] = slice_hash(event->content);
}

static enum status write_events(struct workload *workload, struct workload_session *session, struct event *events,
                                size_t count, struct failure *failure)
{
    enum status status = STATUS_OK;
    unsigned what = 0;
    int64_t old_sequence = session->row.last_sequence;
    enum session_status old_work = session->row.status;
    for (size_t i = 0; !status && i < count; i++) {
        stamp(workload, session, &events[i]);
        what |= session_apply(&session->row, &events[i], &session->arena);
        status = store_event_insert(workload->db, workload->tenant, session->row.key, &events[i], failure);
    }
    if (!status) {
        status = store_session_update(workload->db, &session->row, what, old_sequence, old_work, failure);
    }
    return status;
}

static enum status append(struct workload *workload, int at, struct arena *arena, struct failure *failure)
{
    struct workload_session *session = &workload->sessions[at];
    struct event events[40];
    size_t count = 1 + below(workload, below(workload, 6) ? 4 : 40);
    if (session->row.last_sequence + (int64_t)count > WORKLOAD_EVENTS_MAX) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct event){.kind = EVENT_USER_MESSAGE, .content = random_content(workload, arena)};
    }
    workload->attempted[at].events += (int64_t)count;
    return write_events(workload, session, events, count, failure);
}

static enum status create(struct workload *workload, int at, struct arena *arena, struct failure *failure)
{
    struct workload_session *session = &workload->sessions[at];
    struct session_input input = {
        .type = SLICE("agent"), .status = SLICE("pending"), .agent = SLICE("a"), .ttl_ms = -1};
    struct changes changes = {0};
    const struct json *metadata = NULL;
    snprintf(session->id, sizeof session->id, "s%d", at);
    enum status status = json_parse(arena, SLICE("{\"team\":\"red\"}"), &metadata, failure);
    input.metadata = metadata;
    if (!status) {
        status = change_create(arena, &input, &limits, slice_of(session->id), SLICE("u1"), workload->now_ms, &changes,
                               failure);
    }
    if (status) {
        return status;
    }
    arena_reset(&session->arena);
    session->row = (struct session){.tenant_key = workload->tenant};
    stamp(workload, session, &changes.events[0]);
    session_apply(&session->row, &changes.events[0], &session->arena);
    workload->attempted[at] = (struct model_session){true, false, 1};
    status = store_session_insert(workload->db, &session->row, failure);
    return status ? status
                  : store_event_insert(workload->db, workload->tenant, session->row.key, &changes.events[0], failure);
}

static enum status claim(struct workload *workload, int at, struct arena *arena, struct failure *failure)
{
    struct workload_session *session = &workload->sessions[at];
    struct changes changes = {0};
    if (session->row.status != SESSION_PENDING || session->row.last_sequence + 4 > WORKLOAD_EVENTS_MAX) {
        return STATUS_OK;
    }
    enum status status = change_claim(arena, &session->row, SLICE("w"), &changes, failure);
    if (status) {
        return status;
    }
    struct lease lease = {workload->tenant, session->row.key, SLICE("h"), 1, SLICE("w"), 1000, 2000, 1, 1};
    workload->attempted[at].events += (int64_t)changes.count;
    status = write_events(workload, session, changes.events, changes.count, failure);
    return status ? status : store_lease_put(workload->db, &lease, failure);
}

static enum status erase(struct workload *workload, int at, struct failure *failure)
{
    workload->attempted[at] = (struct model_session){false, true, 0};
    return store_session_delete(workload->db, &workload->sessions[at].row, SLICE("user:u1"), workload->now_ms, failure);
}

static enum status one_change(struct workload *workload, struct arena *arena, struct failure *failure)
{
    int at = (int)below(workload, WORKLOAD_SESSIONS_MAX);
    if (workload->attempted[at].deleted) {
        return STATUS_OK;
    }
    if (!workload->attempted[at].exists) {
        return create(workload, at, arena, failure);
    }
    switch (below(workload, 40)) {
    case 0:
        return erase(workload, at, failure);
    case 1:
    case 2:
        return claim(workload, at, arena, failure);
    default:
        return append(workload, at, arena, failure);
    }
}

enum status workload_group(struct workload *workload, bool leave_open, struct failure *failure)
{
    struct arena arena = {0};
    size_t changes = 1 + below(workload, 12);
    memcpy(workload->attempted, workload->acknowledged, sizeof workload->attempted);
    workload->now_ms += (int64_t)below(workload, 6000);
    enum status status = db_begin(workload->db, failure);
    for (size_t i = 0; !status && i < changes; i++) {
        status = one_change(workload, &arena, failure);
    }
    if (!status && leave_open) {
        arena_release(&arena);
        return STATUS_OK;
    }
    if (!status) {
        status = db_commit(workload->db, failure);
    } else {
        db_rollback(workload->db);
    }
    if (!status) {
        memcpy(workload->acknowledged, workload->attempted, sizeof workload->acknowledged);
    }
    workload->groups++;
    arena_release(&arena);
    return status;
}

/* --- the check --- */

struct check {
    struct workload *workload;
    struct workload_session *session;
    int64_t next;
    char problem[300];
};

static bool check_event(void *owner, const struct event *event)
{
    struct check *check = owner;
    if (event->sequence != check->next) {
        snprintf(check->problem, sizeof check->problem, "session %s: event %lld where %lld should be",
                 check->session->id, (long long)event->sequence, (long long)check->next);
    } else if (slice_hash(event->content) != check->session->hashes[event->sequence - 1]) {
        snprintf(check->problem, sizeof check->problem, "session %s: event %lld is not what was written",
                 check->session->id, (long long)event->sequence);
    }
    check->next++;
    check->workload->events++;
    return !*check->problem;
}

static void load_session(struct check *check, struct db *db, int at, struct model_session *out)
{
    struct workload_session *session = &check->workload->sessions[at];
    struct failure failure = {0};
    *out = (struct model_session){0};
    check->session = session;
    check->next = 1;
    arena_reset(&session->arena);
    enum status status = store_session_by_id(db, check->workload->tenant, slice_of(session->id), &session->arena,
                                             &session->row, &failure);
    if (status == STATUS_NOT_FOUND) {
        status = store_tombstone_exists(db, check->workload->tenant, slice_of(session->id), &out->deleted, &failure);
    } else if (!status) {
        struct event_filter all = {
            .tenant_key = check->workload->tenant, .session_key = session->row.key, .limit = INT64_MAX};
        out->exists = true;
        status = store_event_read(db, &all, check_event, check, &failure);
        out->events = check->next - 1;
    }
    if (status && !*check->problem) {
        snprintf(check->problem, sizeof check->problem, "session %s cannot be read: %.200s", session->id,
                 failure.detail);
    }
}

static bool same(const struct model_session *a, const struct model_session *b)
{
    for (int i = 0; i < WORKLOAD_SESSIONS_MAX; i++) {
        if (a[i].exists != b[i].exists || a[i].deleted != b[i].deleted || a[i].events != b[i].events) {
            return false;
        }
    }
    return true;
}

static void describe_difference(struct check *check, const struct model_session *found)
{
    const struct model_session *expected = check->workload->acknowledged;
    for (int i = 0; i < WORKLOAD_SESSIONS_MAX && !*check->problem; i++) {
        if (found[i].exists != expected[i].exists || found[i].events != expected[i].events ||
            found[i].deleted != expected[i].deleted) {
            snprintf(check->problem, sizeof check->problem, "session s%d has %lld events, %lld were acknowledged%s", i,
                     (long long)found[i].events, (long long)expected[i].events,
                     found[i].deleted != expected[i].deleted ? " (deletion differs)" : "");
        }
    }
}

static void keep_first_problem(void *owner, const char *sentence)
{
    struct check *check = owner;
    if (!*check->problem) {
        snprintf(check->problem, sizeof check->problem, "verify: %s", sentence);
    }
}

const char *workload_check(struct workload *workload, struct db *db, bool in_flight)
{
    static struct check check;
    struct model_session found[WORKLOAD_SESSIONS_MAX];
    struct failure failure = {0};
    check = (struct check){.workload = workload};
    workload->events = 0;
    for (int i = 0; i < WORKLOAD_SESSIONS_MAX && !*check.problem; i++) {
        snprintf(workload->sessions[i].id, sizeof workload->sessions[i].id, "s%d", i);
        load_session(&check, db, i, &found[i]);
    }
    if (!*check.problem && !same(found, workload->acknowledged) && !(in_flight && same(found, workload->attempted))) {
        describe_difference(&check, found);
    }
    workload->kept_in_flight = in_flight && !same(found, workload->acknowledged);
    memcpy(workload->acknowledged, found, sizeof found);
    struct verify_report report = {.problem = keep_first_problem, .owner = &check};
    if (!*check.problem && store_verify(db, &report, &failure)) {
        snprintf(check.problem, sizeof check.problem, "verify failed: %.200s", failure.detail);
    }
    return *check.problem ? check.problem : NULL;
}
