/* The k-th call to the disk fails, for k = 1, 2, … until a flow passes without meeting it. Whatever fails says so
 * clearly and leaves everything as it was; whatever was acknowledged is there after a power cut; and the same flow
 * succeeds on the same connection once the disk works again.
 *
 * fault_test [flow] */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/change.h"
#include "sim_disk.h"
#include "store/store.h"

static const struct db_options options = {
    .engine = DB_SQLITE, .path = "db", .vfs = "sim", .cache_kib = 64, .checkpoint_pages = 1};

enum { TENANT = 1, NOW_MS = 1700000000 };

struct flow_state {
    struct db *db;
    struct arena arena;
    struct session log, queued, running; /* as stored before the flow */
};

/* --- how the flows write --- */

static const struct session_limits limits = {
    .metadata_bytes_max = 16384, .title_chars_max = 500, .workspace_chars_max = 500, .prompt_chars_max = 100000};

static void stamp(struct event *event, const struct session *session)
{
    event->sequence = session->last_sequence + 1;
    event->at_ms = NOW_MS;
    event->actor = SLICE("system");
}

static enum status write_events(struct flow_state *s, struct session session, struct event *events, size_t count,
                                struct failure *failure)
{
    int64_t old_sequence = session.last_sequence;
    enum work old_work = session.work;
    enum status status = STATUS_OK;
    unsigned what = 0;
    for (size_t i = 0; !status && i < count; i++) {
        stamp(&events[i], &session);
        what |= session_apply(&session, &events[i], &s->arena);
        status = store_event_insert(s->db, TENANT, session.key, &events[i], failure);
    }
    return status ? status : store_session_update(s->db, &session, what, old_sequence, old_work, failure);
}

static enum status create(struct flow_state *s, const char *id, const char *metadata, struct failure *failure)
{
    struct session_input input = {
        .type = SLICE("agent"), .status = SLICE("pending"), .agent = SLICE("a"), .ttl_ms = -1};
    struct session session = {.tenant_key = TENANT};
    struct changes changes = {0};
    enum status status = json_parse(&s->arena, slice_of(metadata), &input.metadata, failure);
    if (!status)
        status = change_create(&s->arena, &input, &limits, slice_of(id), SLICE("u1"), NOW_MS, &changes, failure);
    if (status)
        return status;
    stamp(&changes.events[0], &session);
    session_apply(&session, &changes.events[0], &s->arena);
    status = store_session_insert(s->db, &session, failure);
    return status ? status : store_event_insert(s->db, TENANT, session.key, &changes.events[0], failure);
}

static enum status append(struct flow_state *s, size_t count, size_t bytes, struct failure *failure)
{
    struct event *events = arena_array(&s->arena, count, sizeof *events);
    char *text = arena_bytes(&s->arena, bytes + 1);
    memset(text, ' ', bytes);
    text[0] = '[';
    text[bytes - 1] = ']';
    for (size_t i = 0; i < count; i++)
        events[i] = (struct event){.type = SLICE("user.message"), .content = slice_from(text, bytes)};
    return write_events(s, s->log, events, count, failure);
}

/* --- the flows: each runs inside one transaction --- */

static enum status append_one(struct flow_state *s, struct failure *failure)
{
    return append(s, 1, 100, failure);
}

static enum status append_many(struct flow_state *s, struct failure *failure)
{
    return append(s, 300, 200, failure);
}

static enum status append_large(struct flow_state *s, struct failure *failure)
{
    return append(s, 2, 50000, failure);
}

static enum status append_with_external_id(struct flow_state *s, struct failure *failure)
{
    struct event event = {.type = SLICE("x"), .external_id = SLICE("e1"), .thread_id = SLICE("t")};
    return write_events(s, s->log, &event, 1, failure);
}

static enum status create_session(struct flow_state *s, struct failure *failure)
{
    return create(s, "new", "{}", failure);
}

static enum status create_with_labels(struct flow_state *s, struct failure *failure)
{
    return create(s, "new", "{\"a\":\"b\",\"c\":1,\"d\":true}", failure);
}

static enum status claim(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    struct lease lease = {TENANT, s->queued.key, SLICE("hash"), 1, SLICE("w"), 1000, 2000, 1, 1};
    struct timer timer = {TIMER_LEASE, TENANT, s->queued.key, 2000};
    enum status status = change_claim(&s->arena, &s->queued, SLICE("w"), &changes, failure);
    if (!status)
        status = write_events(s, s->queued, changes.events, changes.count, failure);
    if (!status)
        status = store_lease_put(s->db, &lease, failure);
    return status ? status : store_timer_put(s->db, &timer, failure);
}

static enum status heartbeat(struct flow_state *s, struct failure *failure)
{
    struct lease lease = {TENANT, s->running.key, SLICE("hash"), 1, SLICE("w"), 1000, 9000, 1, 8};
    struct timer timer = {TIMER_LEASE, TENANT, s->running.key, 9000};
    enum status status = store_lease_put(s->db, &lease, failure);
    return status ? status : store_timer_put(s->db, &timer, failure);
}

static enum status settle(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    struct settlement settlement = {.to = WORK_COMPLETED};
    enum status status = change_settle(&s->arena, &s->running, &settlement, &changes, failure);
    if (!status)
        status = write_events(s, s->running, changes.events, changes.count, failure);
    if (!status)
        status = store_lease_delete(s->db, TENANT, s->running.key, failure);
    return status ? status : store_timer_delete(s->db, TIMER_LEASE, s->running.key, failure);
}

static enum status release(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    enum status status = change_lease_over(&s->arena, &s->running, true, 5, &changes, failure);
    if (!status)
        status = write_events(s, s->running, changes.events, changes.count, failure);
    return status ? status : store_lease_delete(s->db, TENANT, s->running.key, failure);
}

static enum status erase(struct flow_state *s, struct failure *failure)
{
    return store_session_delete(s->db, &s->log, SLICE("user:u1"), NOW_MS, failure);
}

static enum status archive(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    struct session ended = s->queued;
    enum status status = change_status(&s->arena, &ended, WORK_ABANDONED, "x", STOP_NONE, &changes, failure);
    return status ? status : write_events(s, s->queued, changes.events, changes.count, failure);
}

static enum status rename_and_relabel(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    const struct json *patch = NULL;
    enum status status = json_parse(&s->arena, SLICE("{\"title\":\"T\",\"metadata\":{\"x\":\"y\"}}"), &patch, failure);
    if (!status)
        status = change_update(&s->arena, &s->log, patch, &limits, NOW_MS, &changes, failure);
    return status ? status : write_events(s, s->log, changes.events, changes.count, failure);
}

static enum status share(struct flow_state *s, struct failure *failure)
{
    struct share_link link = {.id = SLICE("l2"),
                              .tenant_key = TENANT,
                              .session_key = s->log.key,
                              .token_hash = SLICE("other"),
                              .role = ACCESS_VIEWER,
                              .active = true};
    enum status status = store_share_insert(s->db, &link, failure);
    return status ? status
                  : store_participant_put(s->db, TENANT, s->log.key, SLICE("u2"), ACCESS_VIEWER, NOW_MS, failure);
}

static enum status redeem(struct flow_state *s, struct failure *failure)
{
    struct share_link link = {.id = SLICE("l1"), .tenant_key = TENANT, .session_key = s->log.key, .max_uses = 1};
    bool first = false;
    return store_share_redeem(s->db, &link, SLICE("u3"), NOW_MS, &first, failure);
}

static enum status add_user(struct flow_state *s, struct failure *failure)
{
    struct user user = {.id = SLICE("u9"), .email = SLICE("a@b"), .name = SLICE("A")};
    enum status status = store_user_insert(s->db, &user, failure);
    return status ? status : store_membership_put(s->db, TENANT, user.id, MEMBER_ADMIN, failure);
}

static enum status add_token(struct flow_state *s, struct failure *failure)
{
    struct token token = {.id = SLICE("t"), .hash = SLICE("hash"), .tenant_key = TENANT, .kind = PRINCIPAL_USER};
    return store_token_insert(s->db, &token, failure);
}

static enum status sign_in(struct flow_state *s, struct failure *failure)
{
    struct grant grant = {.kind = GRANT_COOKIE, .hash = SLICE("cookie"), .tenant_key = TENANT};
    enum status status = store_grant_delete(s->db, GRANT_LINK, SLICE("link"), failure);
    return status ? status : store_grant_insert(s->db, &grant, failure);
}

static enum status remember_reply(struct flow_state *s, struct failure *failure)
{
    struct idempotent_reply reply = {SLICE("print"), 201, SLICE("{}")};
    enum status status = append(s, 3, 50, failure);
    return status ? status : store_idempotency_put(s->db, TENANT, SLICE("u1"), SLICE("k"), &reply, NOW_MS, failure);
}

static enum status save_partial(struct flow_state *s, struct failure *failure)
{
    struct partial partial = {1, 2, SLICE("[1,2]")};
    return store_partial_save(s->db, TENANT, s->running.key, &partial, failure);
}

static enum status renew_leases(struct flow_state *s, struct failure *failure)
{
    return store_lease_renew_all(s->db, 5000, failure);
}

static enum status prune(struct flow_state *s, struct failure *failure)
{
    enum status status = store_grant_prune(s->db, NOW_MS, failure);
    return status ? status : store_idempotency_prune(s->db, NOW_MS, failure);
}

static bool read_on(void *owner, const struct event *event)
{
    (void)event;
    ++*(int64_t *)owner;
    return true;
}

static enum status read_log(struct flow_state *s, struct failure *failure)
{
    struct event_filter all = {.tenant_key = TENANT, .session_key = s->log.key, .limit = INT64_MAX};
    int64_t count = 0;
    enum status status = store_event_read(s->db, &all, read_on, &count, failure);
    if (!status && count != s->log.last_sequence)
        return failure_set(failure, STATUS_INTERNAL, "short_read", "%lld events were read.", (long long)count);
    return status;
}

static enum status list_sessions(struct flow_state *s, struct failure *failure)
{
    struct session_filter filter = {.tenant_key = TENANT,
                                    .type = -1,
                                    .work = -1,
                                    .display = -1,
                                    .archived = -1,
                                    .interactive = -1,
                                    .visibility = -1,
                                    .group = -1,
                                    .limit = 10};
    struct session_page page;
    enum status status = store_session_list(s->db, &filter, &s->arena, &page, failure);
    if (!status && page.count != 3)
        return failure_set(failure, STATUS_INTERNAL, "short_list", "%zu sessions were listed.", page.count);
    return status;
}

static const struct flow {
    const char *name;
    enum status (*run)(struct flow_state *s, struct failure *failure);
} flows[] = {
    {"append_one", append_one},
    {"append_many", append_many},
    {"append_large", append_large},
    {"append_with_external_id", append_with_external_id},
    {"create_session", create_session},
    {"create_with_labels", create_with_labels},
    {"claim", claim},
    {"heartbeat", heartbeat},
    {"settle", settle},
    {"release", release},
    {"erase", erase},
    {"abandon", archive},
    {"rename_and_relabel", rename_and_relabel},
    {"share", share},
    {"redeem", redeem},
    {"add_user", add_user},
    {"add_token", add_token},
    {"sign_in", sign_in},
    {"remember_reply", remember_reply},
    {"save_partial", save_partial},
    {"renew_leases", renew_leases},
    {"prune", prune},
    {"read_log", read_log},
    {"list_sessions", list_sessions},
};

/* --- running one flow with one fault --- */

struct run {
    const struct flow *flow;
    struct disk_fault fault;
    struct flow_state state;
    uint64_t before, after; /* digests */
};

static void fail(const struct run *run, const char *what, const char *why)
{
    fprintf(stderr, "%s with call %lld failing (calls %u, %s, %s): %s: %s\nrun it alone: fault_test %s\n",
            run->flow ? run->flow->name : "setup", (long long)run->fault.at, run->fault.calls,
            run->fault.lasting ? "from then on" : "once", run->fault.full ? "full" : "broken", what, why,
            run->flow ? run->flow->name : "");
    exit(1);
}

/* Where events stand depends on how often a flow was tried; store_verify looks at these. */
static bool is_place(const char *column)
{
    static const char *const places[] = {"position", "positions", "tail", "block"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strcmp(places[i], column) == 0)
            return true;
    return false;
}

static uint64_t hash_row(sqlite3_stmt *row, uint64_t table)
{
    uint64_t hash = table;
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const void *bytes = sqlite3_column_blob(row, i);
        struct slice value = slice_from(bytes, bytes ? (size_t)sqlite3_column_bytes(row, i) : 0);
        if (!is_place(sqlite3_column_name(row, i)))
            hash = hash * 1099511628211u + slice_hash(value) + (uint64_t)sqlite3_column_type(row, i);
    }
    return hash;
}

static uint64_t hash_table(sqlite3 *handle, const char *name)
{
    char sql[200];
    sqlite3_stmt *rows = NULL;
    uint64_t sum = 0;
    snprintf(sql, sizeof sql, "SELECT * FROM %s%s", name,
             strcmp(name, "meta") == 0 ? " WHERE name <> 'event_position'" : "");
    sqlite3_prepare_v2(handle, sql, -1, &rows, NULL);
    while (sqlite3_step(rows) == SQLITE_ROW)
        sum += hash_row(rows, slice_hash(slice_of(name)));
    sqlite3_finalize(rows);
    return sum;
}

/* Of every row of every table, as another connection sees them. */
static uint64_t digest(void)
{
    sqlite3 *handle = NULL;
    sqlite3_stmt *tables = NULL;
    uint64_t sum = 0;
    sqlite3_open_v2(options.path, &handle, SQLITE_OPEN_READWRITE, options.vfs);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_prepare_v2(handle, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'tenant_blocks'", -1,
                       &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW)
        sum += hash_table(handle, (const char *)sqlite3_column_text(tables, 0));
    sqlite3_finalize(tables);
    sqlite3_close(handle);
    return sum;
}

static void must(const struct run *run, enum status status, const char *what, const struct failure *failure)
{
    if (status)
        fail(run, what, failure->detail);
}

static void load(struct run *run)
{
    struct failure failure = {0};
    struct flow_state *s = &run->state;
    const struct {
        const char *id;
        struct session *out;
    } rows[] = {{"log", &s->log}, {"queued", &s->queued}, {"running", &s->running}};
    must(run, db_open(&options, &s->db, &failure), "the database does not open", &failure);
    for (size_t i = 0; i < 3; i++) {
        enum status status = store_session_by_id(s->db, TENANT, slice_of(rows[i].id), &s->arena, rows[i].out, &failure);
        if (status != STATUS_NOT_FOUND) /* one flow deletes */
            must(run, status, "a session cannot be read", &failure);
    }
}

static void unload(struct run *run)
{
    db_close(run->state.db);
    arena_release(&run->state.arena);
    run->state = (struct flow_state){0};
}

static enum status attempt(struct run *run, struct failure *failure)
{
    enum status status = db_begin(run->state.db, failure);
    if (status)
        return status;
    status = run->flow->run(&run->state, failure);
    if (!status)
        return db_commit(run->state.db, failure);
    db_rollback(run->state.db);
    return status;
}

static void note_problem(void *owner, const char *sentence)
{
    fail(owner, "verify", sentence);
}

static void check_sound(struct run *run)
{
    struct failure failure = {0};
    struct verify_report report = {.problem = note_problem, .owner = run};
    must(run, store_verify(run->state.db, &report, &failure), "verify", &failure);
}

static void check_failure(struct run *run, enum status status, const struct failure *failure)
{
    if (status != STATUS_UNAVAILABLE)
        fail(run, "the status is not `unavailable`", status_name(status));
    if (strcmp(failure->code, run->fault.full ? "storage_full" : "storage_failed") != 0 &&
        strcmp(failure->code, "storage_failed") != 0)
        fail(run, "an unexpected code", failure->code);
    if (strlen(failure->detail) < 20)
        fail(run, "no clear text", failure->detail);
}

/* The same connection meets one fault after the other, nothing of a failed try is ever visible, and the first try that
 * meets none succeeds. */
static int64_t run_on_one_connection(struct run *run, struct disk_fault fault)
{
    struct failure failure = {0};
    enum status status = STATUS_OK;
    disk_restore();
    load(run);
    for (fault.at = 1;; fault.at++) {
        run->fault = fault;
        disk_set_fault(fault);
        status = attempt(run, &failure);
        bool happened = disk_fault_happened();
        disk_set_fault((struct disk_fault){0});
        if (!status && !happened)
            break;
        if (!status) { /* the fault was met where it does not matter, as in a checkpoint */
            unload(run);
            disk_restore();
            load(run);
            continue;
        }
        check_failure(run, status, &failure);
        if (digest() != run->before)
            fail(run, "after the failure", "something of it is visible");
    }
    if (digest() != run->after)
        fail(run, "after the last try", "the rows are not what they should be");
    check_sound(run);
    unload(run);
    return fault.at - 1;
}

/* True when the state after the cut is the one before the try. */
static bool check_after_cut(struct run *run, bool acknowledged)
{
    disk_cut_power();
    unload(run);
    load(run);
    uint64_t found = digest();
    if (found != run->after && (acknowledged || found != run->before))
        fail(run, "after a power cut", acknowledged ? "what was acknowledged is gone" : "half of it is there");
    check_sound(run);
    return found == run->before;
}

static int64_t run_with_power_cuts(struct run *run, struct disk_fault fault)
{
    struct failure failure = {0};
    bool happened = true, unchanged = false;
    for (fault.at = 1; happened; fault.at++) {
        if (!unchanged) {
            if (run->state.db)
                unload(run);
            disk_restore();
            load(run);
        }
        run->fault = fault;
        disk_set_fault(fault);
        enum status status = attempt(run, &failure);
        happened = disk_fault_happened();
        if (status)
            check_failure(run, status, &failure);
        unchanged = check_after_cut(run, !status);
    }
    unload(run);
    return fault.at - 2;
}

static int64_t run_flow(struct run *run, const struct flow *flow)
{
    enum { CHANGING = DISK_OPEN | DISK_WRITE | DISK_SYNC | DISK_TRUNCATE | DISK_DELETE };
    const struct disk_fault once = {.calls = CHANGING | DISK_READ};
    const struct disk_fault full = {.calls = CHANGING, .lasting = true, .full = true};
    struct failure failure = {0};
    run->flow = flow;
    disk_restore();
    load(run);
    run->before = digest();
    must(run, attempt(run, &failure), "the flow fails on a sound disk", &failure);
    run->after = digest();
    unload(run);
    return run_on_one_connection(run, once) + run_on_one_connection(run, full) + run_with_power_cuts(run, once);
}

/* --- the disk every flow begins with --- */

static enum status fill(struct flow_state *s, struct failure *failure)
{
    struct tenant tenant = {.id = SLICE("t"), .name = SLICE("T")};
    struct grant link = {.kind = GRANT_LINK, .hash = SLICE("link"), .tenant_key = TENANT, .expires_at_ms = 1};
    struct share_link share_link = {.id = SLICE("l1"),
                                    .tenant_key = TENANT,
                                    .session_key = 1,
                                    .token_hash = SLICE("h"),
                                    .max_uses = 1,
                                    .active = true};
    enum status status = store_tenant_insert(s->db, &tenant, failure);
    if (!status)
        status = create(s, "log", "{\"k\":\"v\"}", failure);
    if (!status)
        status = create(s, "queued", "{}", failure);
    if (!status)
        status = create(s, "running", "{}", failure);
    if (!status)
        status = store_grant_insert(s->db, &link, failure);
    return status ? status : store_share_insert(s->db, &share_link, failure);
}

static enum status fill_more(struct flow_state *s, struct failure *failure)
{
    struct session queued = s->queued;
    enum status status = append(s, 126, 60, failure); /* the next two complete a run of 128 */
    s->queued = s->running;
    if (!status)
        status = claim(s, failure);
    s->queued = queued;
    return status;
}

static void make_disk(void)
{
    static const struct flow first = {"fill", fill}, second = {"fill_more", fill_more};
    struct run run = {.flow = &first};
    struct failure failure = {0};
    disk_reset(1);
    must(&run, db_open(&options, &run.state.db, &failure), "open", &failure);
    must(&run, attempt(&run, &failure), "fill", &failure);
    unload(&run);
    run.flow = &second;
    load(&run);
    must(&run, attempt(&run, &failure), "fill", &failure);
    unload(&run);
    disk_save();
}

/* Opening an empty disk: fails clearly, and works afterwards whatever was left. */
static int64_t run_opening(void)
{
    static const struct flow opening = {"open", NULL};
    struct run run = {.flow = &opening, .fault = {.calls = DISK_OPEN | DISK_WRITE | DISK_SYNC | DISK_READ}};
    struct failure failure = {0};
    for (run.fault.at = 1;; run.fault.at++) {
        disk_reset((uint64_t)run.fault.at);
        disk_set_fault(run.fault);
        enum status status = db_open(&options, &run.state.db, &failure);
        bool happened = disk_fault_happened();
        if (status)
            check_failure(&run, status, &failure);
        disk_cut_power();
        if (!status)
            db_close(run.state.db);
        must(&run, db_open(&options, &run.state.db, &failure), "opening again", &failure);
        check_sound(&run);
        db_close(run.state.db);
        if (!happened)
            return run.fault.at - 1;
    }
}

int main(int argc, char **argv)
{
    struct run run = {0};
    int64_t faults = argc < 2 ? run_opening() : 0;
    size_t count = sizeof flows / sizeof flows[0];
    make_disk();
    for (size_t i = 0; i < count; i++)
        if (argc < 2 || strcmp(argv[1], flows[i].name) == 0)
            faults += run_flow(&run, &flows[i]);
    printf("%zu flows, %lld faults: every failure was clear and whole\n", count + 1, (long long)faults);
    disk_reset(0);
    return 0;
}
