/* The k-th call to the disk fails, for k = 1, 2, … until a flow passes without meeting it. Whatever fails says so
 * clearly and leaves everything as it was; whatever was acknowledged is there after a power cut; and the same flow
 * succeeds on the same connection once the disk works again.
 *
 * fault_test [flow] */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault_flows.h"
#include "sim_disk.h"

static const struct db_options options = {
    .engine = DB_SQLITE, .path = "db", .vfs = "sim", .cache_kib = 64, .checkpoint_pages = 1};

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
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(places[i], column) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t hash_row(sqlite3_stmt *row, uint64_t table)
{
    uint64_t hash = table;
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const void *bytes = sqlite3_column_blob(row, i);
        struct slice value = slice_from(bytes, bytes ? (size_t)sqlite3_column_bytes(row, i) : 0);
        if (!is_place(sqlite3_column_name(row, i))) {
            hash = hash * 1099511628211u + slice_hash(value) + (uint64_t)sqlite3_column_type(row, i);
        }
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
    while (sqlite3_step(rows) == SQLITE_ROW) {
        sum += hash_row(rows, slice_hash(slice_of(name)));
    }
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
    while (sqlite3_step(tables) == SQLITE_ROW) {
        sum += hash_table(handle, (const char *)sqlite3_column_text(tables, 0));
    }
    sqlite3_finalize(tables);
    sqlite3_close(handle);
    return sum;
}

static void must(const struct run *run, enum status status, const char *what, const struct failure *failure)
{
    if (status) {
        fail(run, what, failure->detail);
    }
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
        if (status != STATUS_NOT_FOUND) { /* one flow deletes */
            must(run, status, "a session cannot be read", &failure);
        }
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
    if (status) {
        return status;
    }
    status = run->flow->run(&run->state, failure);
    if (!status) {
        return db_commit(run->state.db, failure);
    }
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

static int64_t uncertain_commits;

static void check_failure(struct run *run, enum status status, const struct failure *failure)
{
    if (status == STATUS_UNCERTAIN) { /* only a sync can leave it open */
        uncertain_commits++;
        if (!(run->fault.calls & DISK_SYNC) || strcmp(failure->code, "commit_unknown") != 0) {
            fail(run, "uncertain without reason", failure->detail);
        }
        return;
    }
    if (status != STATUS_UNAVAILABLE) {
        fail(run, "the status is not `unavailable`", status_name(status));
    }
    if (strcmp(failure->code, run->fault.full ? "storage_full" : "storage_failed") != 0 &&
        strcmp(failure->code, "storage_failed") != 0) {
        fail(run, "an unexpected code", failure->code);
    }
    if (strlen(failure->detail) < 20) {
        fail(run, "no clear text", failure->detail);
    }
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
        if (!status && !happened) {
            break;
        }
        if (!status) { /* the fault was met where it does not matter, as in a checkpoint */
            unload(run);
            disk_restore();
            load(run);
            continue;
        }
        check_failure(run, status, &failure);
        if (digest() != run->before) {
            fail(run, "after the failure", "something of it is visible");
        }
    }
    if (digest() != run->after) {
        fail(run, "after the last try", "the rows are not what they should be");
    }
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
    if (found != run->after && (acknowledged || found != run->before)) {
        fail(run, "after a power cut", acknowledged ? "what was acknowledged is gone" : "half of it is there");
    }
    check_sound(run);
    return found == run->before;
}

static int64_t run_with_power_cuts(struct run *run, struct disk_fault fault)
{
    struct failure failure = {0};
    bool happened = true, unchanged = false;
    for (fault.at = 1; happened; fault.at++) {
        if (!unchanged) {
            if (run->state.db) {
                unload(run);
            }
            disk_restore();
            load(run);
        }
        run->fault = fault;
        disk_set_fault(fault);
        enum status status = attempt(run, &failure);
        happened = disk_fault_happened();
        if (status) {
            check_failure(run, status, &failure);
        }
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

static void make_disk(void)
{
    static const struct flow first = {"fill", fault_fill}, second = {"fill_more", fault_fill_more};
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
        if (status) {
            check_failure(&run, status, &failure);
        }
        disk_cut_power();
        if (!status) {
            db_close(run.state.db);
        }
        must(&run, db_open(&options, &run.state.db, &failure), "opening again", &failure);
        check_sound(&run);
        db_close(run.state.db);
        if (!happened) {
            return run.fault.at - 1;
        }
    }
}

int main(int argc, char **argv)
{
    struct run run = {0};
    int64_t faults = argc < 2 ? run_opening() : 0;
    make_disk();
    for (size_t i = 0; i < fault_flow_count; i++) {
        if (argc < 2 || strcmp(argv[1], fault_flows[i].name) == 0) {
            faults += run_flow(&run, &fault_flows[i]);
        }
    }
    if (uncertain_commits == 0 && argc < 2) {
        fail(&run, "all flows", "no commit whose sync failed was called uncertain");
    }
    printf("%zu flows, %lld faults: every failure was clear and whole\n", fault_flow_count + 1, (long long)faults);
    disk_reset(0);
    return 0;
}
