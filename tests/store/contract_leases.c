#include "contract.h"

#include <stdio.h>

static const char *candidates_of(struct fixture *f, int64_t tenant_key, const char *agent, int type, bool hosted,
                                 const char *prefix, int64_t limit)
{
    int64_t keys[16], priorities[16], queued[16];
    size_t count = 99;
    static char text[400];
    struct claim_search search = {.tenant_key = tenant_key,
                                  .agent = slice_of(agent),
                                  .type = type,
                                  .id_prefix = slice_of(prefix),
                                  .limit = limit,
                                  .hosted = hosted,
                                  .node = SLICE("here"),
                                  .steady_ms = f->now_ms};
    must(store_claim_candidates(f->db, &search, keys, priorities, queued, &count, &f->failure));
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        struct session s;
        must(store_session_by_key(f->db, tenant_key, keys[i], &f->arena, &s, &f->failure));
        assert_int_equal(s.priority, priorities[i]);
        assert_int_equal(s.queued_at_ms, queued[i]);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ", SLICE_ARG(s.id));
    }
    return text;
}

static const char *candidates(struct fixture *f, int64_t tenant_key, const char *agent, int type, const char *prefix,
                              int64_t limit)
{
    return candidates_of(f, tenant_key, agent, type, false, prefix, limit);
}

static void workers_and_the_server_have_their_own_queues(void **state)
{
    struct fixture *f = *state;
    fixture_session(f, f->tenant, "w1", "u1", "{'agent':'a','status':'pending'}");
    fixture_session(f, f->tenant, "w2", "u1", "{'agent':'c','status':'pending','driver':'worker'}");
    fixture_session(f, f->tenant, "h1", "u1", "{'agent':'a','status':'pending','priority':9,'driver':'model'}");
    fixture_session(f, f->tenant, "h2", "u1", "{'agent':'b','status':'pending','priority':8,'driver':'demo'}");
    fixture_session(f, f->tenant, "h3", "u1", "{'agent':'b','status':'idle','driver':'demo'}");
    assert_string_equal(candidates(f, f->tenant, NULL, -1, NULL, 10), "w1 w2 ");
    assert_string_equal(candidates(f, f->tenant, NULL, -1, NULL, 1), "w1 ");
    assert_string_equal(candidates(f, f->tenant, "a", -1, NULL, 10), "w1 ");
    assert_string_equal(candidates_of(f, f->tenant, NULL, -1, true, NULL, 10), "h1 h2 ");
    assert_string_equal(candidates_of(f, f->tenant, NULL, -1, true, NULL, 1), "h1 ");
    assert_string_equal(candidates_of(f, f->tenant, "b", -1, true, NULL, 10), "h2 ");
    assert_string_equal(candidates_of(f, f->other, NULL, -1, true, NULL, 10), "");
}

static void host(struct fixture *f, const struct session *session, const char *node)
{
    fixture_begin(f);
    must(store_host_put(f->db, f->tenant, session->key, slice_of(node), &f->failure));
    fixture_commit(f);
}

static void a_session_is_claimed_where_its_sandbox_is(void **state)
{
    struct fixture *f = *state;
    struct sandbox_host found;
    struct session *s = fixture_session(f, f->tenant, "h1", "u1", "{'agent':'a','status':'pending','driver':'demo'}");
    struct node_row other = {SLICE("there"), SLICE("x"), 1, f->now_ms + 1000};
    fixture_begin(f);
    must(store_node_renew(f->db, &other, &f->failure));
    fixture_commit(f);
    host(f, s, "there");
    assert_string_equal(candidates_of(f, f->tenant, NULL, -1, true, NULL, 10), "");
    must(store_host_get(f->db, f->tenant, s->key, &f->arena, &found, &f->failure));
    assert_slice(found.node, "there");
    assert_int_equal(found.expires_at_ms, f->now_ms + 1000);
    host(f, s, "here");
    assert_string_equal(candidates_of(f, f->tenant, NULL, -1, true, NULL, 10), "h1 ");
    host(f, s, "there");
    f->now_ms += 1000;
    assert_string_equal(candidates_of(f, f->tenant, NULL, -1, true, NULL, 10), "h1 ");
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("x"), 1, &f->failure));
    must(store_node_prune(f->db, f->now_ms + 1, &f->failure));
    fixture_commit(f);
    must(store_host_get(f->db, f->tenant, s->key, &f->arena, &found, &f->failure));
    assert_false(slice_present(found.node));
}

static void candidates_by_priority_then_age(void **state)
{
    struct fixture *f = *state;
    fixture_session(f, f->tenant, "old", "u1", "{'agent':'a','status':'pending'}");
    f->now_ms += 5;
    fixture_session(f, f->tenant, "young", "u1", "{'agent':'a','status':'pending'}");
    fixture_session(f, f->tenant, "urgent", "u1", "{'agent':'b','status':'pending','priority':9}");
    fixture_session(f, f->tenant, "idle", "u1", "{'agent':'a','status':'idle'}");
    fixture_session(f, f->tenant, "nobody", "u1", "{'status':'pending','priority':-3}");
    fixture_session(f, f->other, "foreign", "u1", "{'agent':'a','status':'pending'}");
    assert_string_equal(candidates(f, f->tenant, NULL, -1, NULL, 10), "urgent old young nobody ");
    assert_string_equal(candidates(f, f->tenant, "a", -1, NULL, 10), "old young ");
    assert_string_equal(candidates(f, f->tenant, "a", -1, NULL, 1), "old ");
    assert_string_equal(candidates(f, f->tenant, "a", TYPE_TOOL, NULL, 10), "");
    assert_string_equal(candidates(f, f->tenant, "a", TYPE_AGENT, NULL, 10), "old young ");
    assert_string_equal(candidates(f, f->tenant, NULL, -1, "yo", 10), "young ");
    assert_string_equal(candidates(f, f->tenant, "c", -1, NULL, 10), "");
    assert_string_equal(candidates(f, f->other, NULL, -1, NULL, 10), "foreign ");
}

static void a_claimed_session_leaves_the_queue(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", "{'agent':'a','status':'pending'}");
    struct changes changes = {0};
    must(change_claim(&f->arena, s, SLICE("w"), &changes, &f->failure));
    fixture_begin(f);
    fixture_write(f, s, &changes);
    fixture_commit(f);
    assert_string_equal(candidates(f, f->tenant, "a", -1, NULL, 10), "");
    must(change_lease_over(&f->arena, s, true, 5, &changes, &f->failure));
    fixture_begin(f);
    fixture_write(f, s, &changes);
    fixture_commit(f);
    assert_string_equal(candidates(f, f->tenant, "a", -1, NULL, 10), "s ");
}

static struct lease lease_of(struct fixture *f, const struct session *s, int seed)
{
    return (struct lease){.tenant_key = s->tenant_key,
                          .session_key = s->key,
                          .token_hash = fixture_hash(f, seed),
                          .fence = seed,
                          .worker = SLICE("w1"),
                          .lease_ms = 1000 * seed,
                          .expires_at_ms = 500,
                          .claimed_at_ms = 40,
                          .heartbeat_at_ms = 41 + seed};
}

static void leases_are_replaced_and_deleted(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct lease first = lease_of(f, s, 1), second = lease_of(f, s, 2), out;
    assert_status(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    fixture_begin(f);
    must(store_lease_put(f->db, &first, &f->failure));
    must(store_lease_put(f->db, &second, &f->failure));
    fixture_commit(f);
    must(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_true(slice_eq(out.token_hash, second.token_hash));
    assert_int_equal(out.fence, 2);
    assert_slice(out.worker, "w1");
    assert_int_equal(out.lease_ms, 2000);
    assert_int_equal(out.expires_at_ms, 500);
    assert_int_equal(out.heartbeat_at_ms, 43);
    assert_status(store_lease_get(f->db, f->other, s->key, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    fixture_begin(f);
    must(store_lease_delete(f->db, f->other, s->key, &f->failure));
    fixture_commit(f);
    must(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    fixture_begin(f);
    must(store_lease_delete(f->db, f->tenant, s->key, &f->failure));
    fixture_commit(f);
    assert_status(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
}

static void a_lease_is_renewed_as_it_was_seen(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct lease lease = lease_of(f, s, 2), out;
    fixture_begin(f);
    must(store_lease_put(f->db, &lease, &f->failure));
    struct lease later = lease, foreign = lease, newer = lease;
    later.expires_at_ms = 700;
    later.heartbeat_at_ms = 99;
    foreign.tenant_key = f->other;
    newer.fence = 3;
    must(store_lease_renew(f->db, &later, 499, &f->failure));
    must(store_lease_renew(f->db, &foreign, 500, &f->failure));
    must(store_lease_renew(f->db, &newer, 500, &f->failure));
    fixture_commit(f);
    must(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.expires_at_ms, 500);
    fixture_begin(f);
    must(store_lease_renew(f->db, &later, 500, &f->failure));
    fixture_commit(f);
    must(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.expires_at_ms, 700);
    assert_int_equal(out.heartbeat_at_ms, 99);
    assert_int_equal(out.lease_ms, 2000);
}

static const struct timer *find_timer(const struct timer *timers, size_t count, enum timer_kind kind, int64_t key)
{
    for (size_t i = 0; i < count; i++) {
        if (timers[i].kind == kind && timers[i].session_key == key) {
            return &timers[i];
        }
    }
    return NULL;
}

static void a_restart_renews_leases_and_their_timers(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct lease lease = lease_of(f, s, 3), out;
    struct timer timers[64], expiry_timer = {TIMER_EXPIRY, f->tenant, s->key, 600};
    size_t count = 0;
    int64_t next = 0;
    fixture_begin(f);
    must(store_lease_put(f->db, &lease, &f->failure));
    must(store_timer_put(f->db, &expiry_timer, &f->failure));
    must(store_lease_renew_all(f->db, 10000, &f->failure));
    fixture_commit(f);
    must(store_lease_get(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.expires_at_ms, 13000);
    must(store_timer_due(f->db, 13000, 64, timers, &count, &next, &f->failure));
    assert_int_equal(find_timer(timers, count, TIMER_LEASE, s->key)->due_ms, 13000);
    assert_int_equal(find_timer(timers, count, TIMER_EXPIRY, s->key)->due_ms, 600);
    must(store_timer_due(f->db, 12999, 64, timers, &count, &next, &f->failure));
    assert_null(find_timer(timers, count, TIMER_LEASE, s->key));
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("x"), 1, &f->failure));
    fixture_commit(f);
}

static void timers_come_when_due(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct lease lease = lease_of(f, s, 3);
    struct timer timers[64], expiry = {TIMER_EXPIRY, f->tenant, s->key, 50};
    size_t count = 9;
    int64_t next = 0;
    fixture_begin(f);
    lease.expires_at_ms = 40;
    must(store_lease_put(f->db, &lease, &f->failure));
    lease.expires_at_ms = 30;
    must(store_lease_put(f->db, &lease, &f->failure));
    expiry.due_ms = 60;
    must(store_timer_put(f->db, &expiry, &f->failure));
    expiry.due_ms = 50;
    must(store_timer_put(f->db, &expiry, &f->failure));
    fixture_commit(f);
    must(store_timer_due(f->db, 29, 64, timers, &count, &next, &f->failure));
    assert_int_equal(count, 0);
    assert_int_equal(next, 30);
    must(store_timer_due(f->db, 30, 64, timers, &count, &next, &f->failure));
    assert_int_equal(count, 1);
    assert_int_equal(timers[0].kind, TIMER_LEASE);
    assert_int_equal(timers[0].tenant_key, f->tenant);
    assert_int_equal(timers[0].session_key, s->key);
    assert_int_equal(timers[0].due_ms, 30);
    assert_int_equal(next, 50);
    must(store_timer_due(f->db, 99, 1, timers, &count, &next, &f->failure));
    assert_int_equal(count, 1);
    assert_int_equal(next, 99); /* there is more */
    must(store_timer_due(f->db, 99, 64, timers, &count, &next, &f->failure));
    assert_int_equal(count, 2);
    fixture_begin(f);
    must(store_lease_delete(f->db, f->tenant, s->key, &f->failure));
    fixture_commit(f);
    must(store_timer_due(f->db, 99, 64, timers, &count, &next, &f->failure));
    assert_int_equal(count, 1);
    assert_int_equal(timers[0].kind, TIMER_EXPIRY);
    fixture_begin(f);
    must(store_timer_delete(f->db, TIMER_EXPIRY, s->key, &f->failure));
    fixture_commit(f);
}

static void a_timer_that_was_moved_is_not_taken_for_the_one_that_was_due(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct timer fired = {TIMER_EXPIRY, f->tenant, s->key, 50}, moved = {TIMER_EXPIRY, f->tenant, s->key, 80};
    bool due = true;
    must(store_timer_is_due(f->db, &fired, 50, &due, &f->failure));
    assert_false(due); /* there is none */
    fixture_begin(f);
    must(store_timer_put(f->db, &fired, &f->failure));
    fixture_commit(f);
    must(store_timer_is_due(f->db, &fired, 49, &due, &f->failure));
    assert_false(due);
    must(store_timer_is_due(f->db, &fired, 50, &due, &f->failure));
    assert_true(due);
    fixture_begin(f);
    must(store_timer_put(f->db, &moved, &f->failure));
    must(store_timer_delete_due(f->db, &fired, 50, &f->failure));
    fixture_commit(f);
    must(store_timer_is_due(f->db, &fired, 80, &due, &f->failure));
    assert_true(due);
    fixture_begin(f);
    must(store_timer_delete_due(f->db, &moved, 80, &f->failure));
    fixture_commit(f);
    must(store_timer_is_due(f->db, &moved, 99, &due, &f->failure));
    assert_false(due);
}

static void figures_per_agent_and_worker(void **state)
{
    struct fixture *f = *state;
    struct queue_stats *queues = NULL;
    struct worker_stats *workers = NULL;
    size_t count = 0;
    int64_t first_queued_ms = f->now_ms;
    fixture_session(f, f->tenant, "a1", "u1", "{'agent':'a','status':'pending'}");
    f->now_ms += 100;
    fixture_session(f, f->tenant, "a2", "u1", "{'agent':'a','status':'pending'}");
    struct session *b = fixture_session(f, f->tenant, "b1", "u1", "{'agent':'b','status':'pending'}");
    struct session *foreign = fixture_session(f, f->other, "f1", "u1", "{'agent':'a','status':'pending'}");
    fixture_move(f, b, SESSION_RUNNING);
    struct lease lease = lease_of(f, b, 1), other = lease_of(f, foreign, 2);
    fixture_begin(f);
    must(store_lease_put(f->db, &lease, &f->failure));
    must(store_lease_put(f->db, &other, &f->failure));
    fixture_commit(f);
    must(store_queue_stats(f->db, &(struct session_filter){.tenant_key = f->tenant}, &f->arena, &queues, &count,
                           &f->failure));
    assert_int_equal(count, 2);
    assert_slice(queues[0].agent, "a");
    assert_int_equal(queues[0].pending, 2);
    assert_int_equal(queues[0].oldest_queued_ms, first_queued_ms);
    assert_int_equal(queues[0].leased, 0);
    assert_slice(queues[1].agent, "b");
    assert_int_equal(queues[1].pending, 0);
    assert_int_equal(queues[1].leased, 1);
    must(store_worker_stats(f->db, &(struct session_filter){.tenant_key = f->tenant}, &f->arena, &workers, &count,
                            &f->failure));
    assert_int_equal(count, 1);
    assert_slice(workers[0].worker, "w1");
    assert_int_equal(workers[0].leases, 1);
    assert_int_equal(workers[0].last_heartbeat_ms, 42);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(candidates_by_priority_then_age),
    CONTRACT_TEST(workers_and_the_server_have_their_own_queues),
    CONTRACT_TEST(a_session_is_claimed_where_its_sandbox_is),
    CONTRACT_TEST(a_claimed_session_leaves_the_queue),
    CONTRACT_TEST(leases_are_replaced_and_deleted),
    CONTRACT_TEST(a_lease_is_renewed_as_it_was_seen),
    CONTRACT_TEST(a_restart_renews_leases_and_their_timers),
    CONTRACT_TEST(timers_come_when_due),
    CONTRACT_TEST(a_timer_that_was_moved_is_not_taken_for_the_one_that_was_due),
    CONTRACT_TEST(figures_per_agent_and_worker),
};
const struct contract_part contract_leases = {"leases", tests, COUNT_OF(tests)};
