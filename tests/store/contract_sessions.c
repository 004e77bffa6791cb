#include "contract.h"

static void keeps_every_field(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(
        f, f->tenant, "full", "u1",
        "{'agent':'coder','title':'A title','workspace':'/w','source':{'kind':'channel','platform':'telegram',"
        "'interactive':true,'trigger_id':'t9','type':'group'},'metadata':{'a':'b','n':12345678901,'ok':true},"
        "'parent_id':'p1','task_id':'t1','entity_id':'e1','visibility':'org_visible','prompt':'Do it.\\u00fc',"
        "'status':'pending','priority':7,'driver':'acp','agent_config':{'turns_max':3}}");
    fixture_check_stored(f, s);
    struct session by_id;
    must(store_session_by_id(f->db, f->tenant, SLICE("full"), &f->arena, &by_id, &f->failure));
    assert_null(session_difference(s, &by_id));
    assert_int_equal(by_id.key, s->key);
    assert_int_equal(by_id.priority, 7);
    assert_int_equal(by_id.agent_version, 1);
    assert_int_equal(by_id.driver, DRIVER_ACP);
    assert_slice(by_id.agent_config, "{\"turns_max\":3}");
}

static void absent_and_empty_differ(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "texts", NULL, "{'title':''}");
    struct session stored;
    must(store_session_by_key(f->db, f->tenant, s->key, &f->arena, &stored, &f->failure));
    assert_absent(stored.owner);
    assert_absent(stored.agent);
    assert_int_equal(slice_present(stored.title), slice_present(s->title));
}

static void another_tenant_sees_nothing(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "mine", "u1", NULL);
    struct session out;
    assert_status(store_session_by_id(f->db, f->other, SLICE("mine"), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    assert_status(store_session_by_key(f->db, f->other, s->key, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    assert_status(store_session_by_id(f->db, f->tenant, SLICE("mine2"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    struct session *same_id = fixture_session(f, f->other, "mine", "u1", NULL);
    assert_int_not_equal(same_id->key, s->key);
    int64_t count = -1;
    must(store_session_count_concurrent(f->db, f->other, SLICE("nobody"), &count, &f->failure));
    assert_int_equal(count, 0);
}

static void an_id_is_used_once(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "once", "u1", NULL);
    struct session again = *s;
    fixture_begin(f);
    assert_status(store_session_insert(f->db, &again, &f->failure), STATUS_CONFLICT);
    assert_string_equal(f->failure.code, "session_exists");
    db_rollback(f->db);
    fixture_check_stored(f, s);
}

/* Every kind of change writes exactly what the fold says: the narrow statements must not forget a column. */
static void every_change_reaches_the_row(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "life", "u1", "{'agent':'a','status':'pending'}");
    struct changes changes = {0};
    f->now_ms += 100;
    fixture_append(f, s, "user.message", "[{\"type\":\"text\",\"text\":\"Hello\"}]");
    fixture_check_stored(f, s);
    f->now_ms += 60000; /* the list's step */
    fixture_append(f, s, "agent.tool_call", "[]");
    fixture_check_stored(f, s);
    must(change_claim(&f->arena, s, SLICE("w1"), &changes, &f->failure));
    fixture_begin(f);
    fixture_write(f, s, &changes);
    fixture_commit(f);
    fixture_check_stored(f, s);
    f->now_ms += 60000;
    fixture_move(f, s, SESSION_COMPLETED);
    fixture_check_stored(f, s);
    must(change_archive(&f->arena, s, true, &changes, &f->failure));
    fixture_begin(f);
    fixture_write(f, s, &changes);
    fixture_commit(f);
    fixture_check_stored(f, s);
    assert_true(s->archived_at_ms > 0);
}

static void update_needs_the_old_sequence(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "guard", "u1", NULL);
    struct session seen = *s;
    fixture_append(f, s, "user.message", "[]");
    seen.last_sequence = 2;
    fixture_begin(f);
    enum status status = store_session_update(f->db, &seen, CHANGED_HOT, 1, seen.status, &f->failure);
    if (!status) {
        status = db_commit(f->db, &f->failure);
    } else {
        db_rollback(f->db);
    }
    assert_status(status, STATUS_STALE);
    fixture_check_stored(f, s);
}

static void update_of_another_tenant_is_stale(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "guard", "u1", NULL);
    struct session forged = *s;
    forged.tenant_key = f->other;
    forged.message_count = 99;
    fixture_begin(f);
    enum status status = store_session_update(f->db, &forged, CHANGED_HOT, 1, s->status, &f->failure);
    if (!status) {
        status = db_commit(f->db, &f->failure);
    } else {
        db_rollback(f->db);
    }
    assert_status(status, STATUS_STALE);
    fixture_check_stored(f, s);
}

static void rollback_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "kept", "u1", NULL);
    struct session before = *s;
    struct changes changes = {.count = 1};
    changes.events[0] = (struct event){.kind = EVENT_USER_MESSAGE, .content = SLICE("[]")};
    fixture_begin(f);
    fixture_write(f, s, &changes);
    db_rollback(f->db);
    fixture_check_stored(f, &before);
    /* and the connection works on as if nothing had been */
    *s = before;
    fixture_append(f, s, "user.message", "[]");
    fixture_check_stored(f, s);
}

static void delete_leaves_a_tombstone(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "gone", "u1", "{'metadata':{'k':'v'}}");
    struct lease lease = {.tenant_key = f->tenant, .session_key = s->key, .token_hash = fixture_hash(f, 1)};
    struct timer timer = {TIMER_EXPIRY, f->tenant, s->key, 5};
    struct partial partial = {1, 1, SLICE("[1]"), 0};
    struct idempotent_reply own = {.fingerprint = fixture_hash(f, 1),
                                   .status = 201,
                                   .body = SLICE("{}"),
                                   .session_key = s->key},
                            other = {.fingerprint = own.fingerprint};
    bool there = true;
    for (int i = 0; i < 300; i++) {
        fixture_append(f, s, "user.message", "[]");
    }
    fixture_begin(f);
    must(store_participant_put(f->db, f->tenant, s->key, SLICE("u2"), ACCESS_VIEWER, 1, &f->failure));
    must(store_lease_put(f->db, &lease, &f->failure));
    must(store_timer_put(f->db, &timer, &f->failure));
    must(store_partial_save(f->db, f->tenant, s->key, &partial, &f->failure));
    must(store_idempotency_put(f->db, f->tenant, SLICE("u"), SLICE("own"), &own, 1, &f->failure));
    must(store_idempotency_put(f->db, f->tenant, SLICE("u"), SLICE("other"), &other, 1, &f->failure));
    fixture_commit(f);
    must(store_tombstone_exists(f->db, f->tenant, SLICE("gone"), &there, &f->failure));
    assert_false(there);
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("user:u1"), f->now_ms, &f->failure));
    fixture_commit(f);
    must(store_tombstone_exists(f->db, f->tenant, SLICE("gone"), &there, &f->failure));
    assert_true(there);
    must(store_tombstone_exists(f->db, f->other, SLICE("gone"), &there, &f->failure));
    assert_false(there);
    struct session out;
    assert_status(store_session_by_id(f->db, f->tenant, SLICE("gone"), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    assert_status(store_lease_get(f->db, f->tenant, s->key, &f->arena, &lease, &f->failure), STATUS_NOT_FOUND);
    must(store_partial_load(f->db, f->tenant, s->key, &f->arena, &partial, &f->failure));
    assert_int_equal(partial.count, 0);
    assert_status(store_idempotency_get(f->db, f->tenant, SLICE("u"), SLICE("own"), &f->arena, &own, &f->failure),
                  STATUS_NOT_FOUND);
    must(store_idempotency_get(f->db, f->tenant, SLICE("u"), SLICE("other"), &f->arena, &other, &f->failure));
    fixture_begin(f);
    assert_status(store_session_delete(f->db, s, SLICE("user:u1"), 1, &f->failure), STATUS_NOT_FOUND);
    db_rollback(f->db);
}

static void delete_takes_no_log_that_went_on(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session old = *s;
    if (db_engine(f->db) != DB_POSTGRES) {
        return; /* nobody else writes */
    }
    fixture_append(f, s, "user.message", "[]");
    fixture_begin(f);
    assert_status(store_session_delete(f->db, &old, SLICE("u1"), 7, &f->failure), STATUS_STALE);
    db_rollback(f->db);
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("u1"), 7, &f->failure));
    fixture_commit(f);
}

static void delete_stays_in_its_tenant(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "safe", "u1", NULL);
    struct session forged = *s;
    forged.tenant_key = f->other;
    fixture_begin(f);
    assert_status(store_session_delete(f->db, &forged, SLICE("x"), 1, &f->failure), STATUS_NOT_FOUND);
    db_rollback(f->db);
    fixture_check_stored(f, s);
}

static void counts_follow_the_states(void **state)
{
    struct fixture *f = *state;
    int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT];
    struct session *a = fixture_session(f, f->tenant, "a", "u1", "{'status':'pending'}");
    fixture_session(f, f->tenant, "b", "u1", "{'status':'pending'}");
    fixture_session(f, f->tenant, "c", "u1", "{'type':'tool'}");
    fixture_session(f, f->other, "d", "u1", "{'status':'pending'}");
    must(store_counts(f->db, &(struct session_filter){.tenant_key = f->tenant}, counts, &f->failure));
    assert_int_equal(counts[TYPE_AGENT][SESSION_PENDING], 2);
    assert_int_equal(counts[TYPE_TOOL][SESSION_DRAFT], 1);
    fixture_move(f, a, SESSION_RUNNING);
    must(store_counts(f->db, &(struct session_filter){.tenant_key = f->tenant}, counts, &f->failure));
    assert_int_equal(counts[TYPE_AGENT][SESSION_PENDING], 1);
    assert_int_equal(counts[TYPE_AGENT][SESSION_RUNNING], 1);
    fixture_begin(f);
    must(store_session_delete(f->db, a, SLICE("x"), 1, &f->failure));
    fixture_commit(f);
    must(store_counts(f->db, &(struct session_filter){.tenant_key = f->tenant}, counts, &f->failure));
    assert_int_equal(counts[TYPE_AGENT][SESSION_RUNNING], 0);
    must(store_counts(f->db, &(struct session_filter){.tenant_key = f->other}, counts, &f->failure));
    assert_int_equal(counts[TYPE_AGENT][SESSION_PENDING], 1);
}

static void counts_concurrent_sessions_of_a_user(void **state)
{
    struct fixture *f = *state;
    int64_t count = -1;
    struct session *a = fixture_session(f, f->tenant, "a", "u1", "{'status':'pending'}");
    fixture_session(f, f->tenant, "b", "u1", "{'status':'pending','purpose':'orchestrator'}");
    fixture_session(f, f->tenant, "c", "u1", "{'status':'pending','parent_id':'orchestrator:x'}");
    fixture_session(f, f->tenant, "d", "u2", "{'status':'pending'}");
    fixture_session(f, f->other, "e", "u1", "{'status':'pending'}");
    fixture_move(f, a, SESSION_RUNNING);
    must(store_session_count_concurrent(f->db, f->tenant, SLICE("u1"), &count, &f->failure));
    assert_int_equal(count, 1);
    fixture_move(f, a, SESSION_COMPLETED);
    must(store_session_count_concurrent(f->db, f->tenant, SLICE("u1"), &count, &f->failure));
    assert_int_equal(count, 0);
}

static void counts_children(void **state)
{
    struct fixture *f = *state;
    int64_t count = -1;
    fixture_session(f, f->tenant, "a", "u1", "{'parent_id':'p'}");
    fixture_session(f, f->tenant, "b", "u1", "{'parent_id':'p'}");
    fixture_session(f, f->tenant, "c", "u1", "{'parent_id':'q'}");
    fixture_session(f, f->other, "d", "u1", "{'parent_id':'p'}");
    must(store_session_count_children(f->db, f->tenant, SLICE("p"), &count, &f->failure));
    assert_int_equal(count, 2);
    must(store_session_count_children(f->db, f->tenant, SLICE("r"), &count, &f->failure));
    assert_int_equal(count, 0);
}

static void finds_the_running_human_session(void **state)
{
    struct fixture *f = *state;
    struct session out;
    struct session *s =
        fixture_session(f, f->tenant, "h", "u1",
                        "{'type':'mixed','status':'running','task_id':'t1','source':{'kind':'human-session-bridge'}}");
    must(store_session_active_human(f->db, f->tenant, SLICE("u1"), &f->arena, &out, &f->failure));
    assert_int_equal(out.key, s->key);
    assert_status(store_session_active_human(f->db, f->tenant, SLICE("u2"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    assert_status(store_session_active_human(f->db, f->other, SLICE("u1"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    fixture_move(f, s, SESSION_COMPLETED);
    assert_status(store_session_active_human(f->db, f->tenant, SLICE("u1"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
}

static bool take_any(void *owner, const struct event *event)
{
    (void)owner, (void)event;
    return true;
}

/* What a writer goes by when it decides whether there is anything to commit, on the quick paths too. */
static void writes_are_counted(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "counted", "u1", NULL);
    struct session stored;
    fixture_begin(f);
    assert_int_equal(db_writes(f->db), 0);
    must(store_session_by_key(f->db, f->tenant, s->key, &f->arena, &stored, &f->failure));
    assert_int_equal(db_writes(f->db), 0);
    struct event event = {
        .sequence = s->last_sequence + 1, .at_ms = f->now_ms, .custom = SLICE("note.x"), .actor = SLICE("user:u1")};
    must(store_event_insert(f->db, f->tenant, s->key, &event, &f->failure));
    int64_t inserted = db_writes(f->db);
    assert_true(inserted > 0);
    struct session moved = *s;
    moved.last_sequence++;
    must(store_session_update(f->db, &moved, CHANGED_HOT, s->last_sequence, s->status, &f->failure));
    int64_t updated = db_writes(f->db);
    assert_true(updated > inserted);
    struct event_filter all = {.tenant_key = f->tenant, .session_key = s->key, .limit = 10};
    must(store_event_read(f->db, &all, take_any, NULL, &f->failure)); /* writes what it needs to find them */
    assert_int_equal(db_writes(f->db), updated);
    must(store_lease_delete(f->db, f->tenant, s->key, &f->failure)); /* finds nothing; who knows? */
    assert_int_equal(db_writes(f->db), updated + 1);
    must(store_session_delete(f->db, &moved, SLICE("user:u1"), f->now_ms, &f->failure));
    assert_true(db_writes(f->db) > updated + 1);
    db_rollback(f->db);
    fixture_begin(f);
    assert_int_equal(db_writes(f->db), 0);
    db_rollback(f->db);
    fixture_check_stored(f, s);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(keeps_every_field),
    CONTRACT_TEST(absent_and_empty_differ),
    CONTRACT_TEST(another_tenant_sees_nothing),
    CONTRACT_TEST(an_id_is_used_once),
    CONTRACT_TEST(every_change_reaches_the_row),
    CONTRACT_TEST(update_needs_the_old_sequence),
    CONTRACT_TEST(update_of_another_tenant_is_stale),
    CONTRACT_TEST(rollback_leaves_nothing),
    CONTRACT_TEST(delete_leaves_a_tombstone),
    CONTRACT_TEST(delete_takes_no_log_that_went_on),
    CONTRACT_TEST(delete_stays_in_its_tenant),
    CONTRACT_TEST(counts_follow_the_states),
    CONTRACT_TEST(counts_concurrent_sessions_of_a_user),
    CONTRACT_TEST(counts_children),
    CONTRACT_TEST(finds_the_running_human_session),
    CONTRACT_TEST(writes_are_counted),
};
const struct contract_part contract_sessions = {"sessions", tests, COUNT_OF(tests)};
