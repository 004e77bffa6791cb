#include "contract.h"

#include <stdio.h>

static struct ask ask_of(const char *id)
{
    return (struct ask){.id = slice_of(id),
                        .kind = ASK_APPROVAL,
                        .turn = 3,
                        .tool = SLICE("t"),
                        .text = SLICE("May it?"),
                        .role = ACCESS_COLLABORATOR,
                        .quorum = 1,
                        .created_at_ms = 10,
                        .expires_at_ms = 20};
}

static void insert(struct fixture *f, const struct session *s, const char *id)
{
    struct ask ask = ask_of(id);
    fixture_begin(f);
    must(store_ask_insert(f->db, s->tenant_key, s->key, &ask, &f->failure));
    fixture_commit(f);
}

static const char *ids(struct fixture *f, struct ask_filter filter)
{
    static char text[400];
    struct ask_with_access *asks;
    size_t count = 99;
    filter.limit = filter.limit ? filter.limit : 100;
    must(store_ask_list(f->db, &filter, &f->arena, &asks, &count, &f->failure));
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ", SLICE_ARG(asks[i].ask.id));
    }
    return text;
}

static void an_ask_is_found_as_it_was_stored(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct ask ask = ask_of("a"), out;
    ask.call_id = SLICE("c");
    ask.arguments = SLICE("{\"a\":1}");
    ask.editable = true;
    ask.options = SLICE("[\"x\"]");
    ask.schema = SLICE("{}");
    ask.details = SLICE("{\"risk\":\"low\"}");
    ask.fields = SLICE("{\"own\":1}");
    fixture_begin(f);
    must(store_ask_insert(f->db, f->tenant, s->key, &ask, &f->failure));
    fixture_commit(f);
    must(store_ask_by_id(f->db, f->tenant, s->key, SLICE("a"), &f->arena, &out, &f->failure));
    assert_true(ask_repeats(&f->arena, &out, &ask));
    assert_true(out.editable);
    assert_slice(out.details, "{\"risk\":\"low\"}");
    assert_slice(out.fields, "{\"own\":1}");
    assert_int_equal(out.role, ACCESS_COLLABORATOR);
    assert_int_equal(out.created_at_ms, 10);
    assert_int_equal(out.expires_at_ms, 20);
    assert_absent(out.answer);
    assert_absent(out.votes);
    assert_status(store_ask_by_id(f->db, f->other, s->key, SLICE("a"), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    assert_status(store_ask_by_id(f->db, f->tenant, s->key, SLICE("b"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
}

static enum status update(struct fixture *f, const struct session *s, const struct ask *ask)
{
    fixture_begin(f);
    enum status status = store_ask_update(f->db, s->tenant_key, s->key, ask, &f->failure);
    if (status != STATUS_OK) {
        db_rollback(f->db);
        return status;
    }
    return db_commit(f->db, &f->failure);
}

static void only_what_is_pending_changes(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct ask ask = ask_of("a"), out;
    insert(f, s, "a");
    ask.votes = SLICE("[{}]");
    assert_status(update(f, s, &ask), STATUS_OK);
    ask.state = ASK_ANSWERED;
    ask.decision = DECISION_ALWAYS;
    ask.answer = SLICE("1");
    ask.reason = SLICE("r");
    ask.answered_by = SLICE("user:u1");
    ask.answered_at_ms = 15;
    assert_status(update(f, s, &ask), STATUS_OK);
    must(store_ask_by_id(f->db, f->tenant, s->key, SLICE("a"), &f->arena, &out, &f->failure));
    assert_int_equal(out.state, ASK_ANSWERED);
    assert_int_equal(out.decision, DECISION_ALWAYS);
    assert_slice(out.answer, "1");
    assert_slice(out.reason, "r");
    assert_slice(out.answered_by, "user:u1");
    assert_int_equal(out.answered_at_ms, 15);
    assert_slice(out.votes, "[{}]");
    ask.state = ASK_CANCELLED;
    assert_status(update(f, s, &ask), STATUS_STALE);
    must(store_ask_by_id(f->db, f->tenant, s->key, SLICE("a"), &f->arena, &out, &f->failure));
    assert_int_equal(out.state, ASK_ANSWERED);
}

static void lists_show_the_newest_first(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session *child = fixture_session(f, f->tenant, "child", "u2", "{'parent_id':'s'}");
    struct session *below = fixture_session(f, f->tenant, "below", "u2", "{'parent_id':'child'}");
    struct session *elsewhere = fixture_session(f, f->other, "s", "u1", NULL);
    insert(f, s, "1");
    insert(f, s, "2");
    insert(f, child, "3");
    insert(f, below, "4");
    insert(f, elsewhere, "5");
    struct ask done = ask_of("2");
    done.state = ASK_EXPIRED;
    assert_status(update(f, s, &done), STATUS_OK);
    struct ask_filter here = {.tenant_key = f->tenant, .session_key = s->key, .state = ASK_PENDING};
    struct ask_filter all = here, below_it = here, inbox = {.tenant_key = f->tenant, .state = ASK_PENDING};
    assert_string_equal(ids(f, here), "1 ");
    all.state = -1;
    assert_string_equal(ids(f, all), "2 1 ");
    all.limit = 1;
    assert_string_equal(ids(f, all), "2 ");
    below_it.descendants = true;
    assert_string_equal(ids(f, below_it), "4 3 1 ");
    inbox.sees_all = true;
    assert_string_equal(ids(f, inbox), "4 3 1 ");
    inbox.sees_all = false;
    inbox.user_id = SLICE("u2");
    assert_string_equal(ids(f, inbox), "4 3 ");
    fixture_begin(f);
    must(store_participant_put(f->db, f->tenant, s->key, SLICE("u2"), ACCESS_VIEWER, 1, &f->failure));
    fixture_commit(f);
    assert_string_equal(ids(f, inbox), "4 3 1 ");
    int64_t pending = 0, asked = 0;
    must(store_ask_count_pending(f->db, f->tenant, s->key, &pending, &f->failure));
    assert_int_equal(pending, 1);
    must(store_ask_count_of_turn(f->db, f->tenant, s->key, 3, &asked, &f->failure));
    assert_int_equal(asked, 2);
    must(store_ask_count_of_turn(f->db, f->tenant, s->key, 4, &asked, &f->failure));
    assert_int_equal(asked, 0);
}

static void rules_stand_until_they_are_revoked(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct ask_rule always = {.id = SLICE("r1"),
                              .tenant_key = f->tenant,
                              .tool = SLICE("t"),
                              .user_id = SLICE("u1"),
                              .agent = SLICE("a"),
                              .arguments = SLICE("{}"),
                              .session_id = SLICE("s"),
                              .ask_id = SLICE("1"),
                              .created_by = SLICE("user:u1"),
                              .created_at_ms = 1};
    struct ask_rule here = always, any = always, *found, one;
    size_t count = 9;
    int64_t total = 0;
    bool deleted = false;
    here.id = SLICE("r2");
    here.session_key = s->key;
    here.created_at_ms = 2;
    here.subject =
        (struct ask_subject){.command = SLICE("git push *"), .path = SLICE("/w"), .host = SLICE("a.example")};
    any.id = SLICE("r0");
    any.tool = SLICE("");
    any.created_at_ms = 3;
    fixture_begin(f);
    must(store_ask_rule_insert(f->db, &always, &f->failure));
    must(store_ask_rule_insert(f->db, &here, &f->failure));
    must(store_ask_rule_insert(f->db, &any, &f->failure));
    fixture_commit(f);
    must(store_ask_rule_candidates(f->db, f->tenant, SLICE("u"), s->key, &f->arena, &found, &count, &f->failure));
    assert_int_equal(count, 1); /* of any tool */
    must(store_ask_rule_delete(f->db, f->tenant, SLICE("r0"), &deleted, &f->failure));
    must(store_ask_rule_by_id(f->db, f->tenant, SLICE("r2"), &f->arena, &one, &f->failure));
    assert_slice(one.subject.command, "git push *");
    assert_slice(one.subject.path, "/w");
    assert_slice(one.subject.host, "a.example");
    must(store_ask_rule_candidates(f->db, f->tenant, SLICE("t"), s->key, &f->arena, &found, &count, &f->failure));
    assert_int_equal(count, 2);
    must(store_ask_rule_candidates(f->db, f->tenant, SLICE("t"), s->key + 1, &f->arena, &found, &count, &f->failure));
    assert_int_equal(count, 1);
    assert_slice(found[0].id, "r1");
    assert_slice(found[0].arguments, "{}");
    assert_slice(found[0].agent, "a");
    must(store_ask_rule_candidates(f->db, f->other, SLICE("t"), s->key, &f->arena, &found, &count, &f->failure));
    assert_int_equal(count, 0);
    must(store_ask_rule_list(f->db, f->tenant, &f->arena, &found, &count, &f->failure));
    assert_int_equal(count, 2);
    assert_slice(found[0].id, "r2");
    fixture_begin(f);
    must(store_ask_rule_delete(f->db, f->other, SLICE("r1"), &deleted, &f->failure));
    assert_false(deleted);
    must(store_ask_rule_delete(f->db, f->tenant, SLICE("r1"), &deleted, &f->failure));
    assert_true(deleted);
    fixture_commit(f);
    assert_status(store_ask_rule_by_id(f->db, f->tenant, SLICE("r1"), &f->arena, &one, &f->failure), STATUS_NOT_FOUND);
    must(store_ask_rule_count(f->db, f->tenant, &total, &f->failure));
    assert_int_equal(total, 1);
}

static void deletion_takes_asks_and_rules_along(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct ask_rule rule = {.id = SLICE("r"),
                            .tenant_key = f->tenant,
                            .session_key = s->key,
                            .tool = SLICE("t"),
                            .session_id = SLICE("s"),
                            .ask_id = SLICE("1"),
                            .created_by = SLICE("user:u1")};
    int64_t rules = 9;
    insert(f, s, "1");
    fixture_begin(f);
    must(store_ask_rule_insert(f->db, &rule, &f->failure));
    must(store_session_delete(f->db, s, SLICE("user:u1"), f->now_ms, &f->failure));
    fixture_commit(f);
    assert_string_equal(ids(f, (struct ask_filter){.tenant_key = f->tenant, .session_key = s->key, .state = -1}), "");
    must(store_ask_rule_count(f->db, f->tenant, &rules, &f->failure));
    assert_int_equal(rules, 0);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(an_ask_is_found_as_it_was_stored),    CONTRACT_TEST(only_what_is_pending_changes),
    CONTRACT_TEST(lists_show_the_newest_first),         CONTRACT_TEST(rules_stand_until_they_are_revoked),
    CONTRACT_TEST(deletion_takes_asks_and_rules_along),
};
const struct contract_part contract_asks = {"asks", tests, COUNT_OF(tests)};
