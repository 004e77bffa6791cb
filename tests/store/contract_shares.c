#include "contract.h"

static void participants_come_and_go(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct user user = {
        .id = fixture_text(f, "p-%s", f->mark), .email = fixture_text(f, "p-%s@x", f->mark), .name = SLICE("Pat")};
    enum access_role role = ACCESS_OWNER;
    struct participant *list = NULL;
    size_t count = 9;
    bool deleted = false;
    must(store_participant_role(f->db, f->tenant, s->key, user.id, &role, &f->failure));
    assert_int_equal(role, ACCESS_NONE);
    fixture_begin(f);
    must(store_user_insert(f->db, &user, &f->failure));
    must(store_participant_put(f->db, f->tenant, s->key, user.id, ACCESS_VIEWER, 5, &f->failure));
    must(store_participant_put(f->db, f->tenant, s->key, SLICE("ghost"), ACCESS_VIEWER, 6, &f->failure));
    must(store_participant_put(f->db, f->tenant, s->key, user.id, ACCESS_COLLABORATOR, 7, &f->failure));
    fixture_commit(f);
    must(store_participant_role(f->db, f->tenant, s->key, user.id, &role, &f->failure));
    assert_int_equal(role, ACCESS_COLLABORATOR);
    must(store_participant_role(f->db, f->other, s->key, user.id, &role, &f->failure));
    assert_int_equal(role, ACCESS_NONE);
    must(store_participant_list(f->db, f->tenant, s->key, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, 3);
    assert_int_equal(list[0].role, ACCESS_OWNER);
    assert_slice(list[1].name, "Pat");
    assert_int_equal(list[1].added_at_ms, 5);
    assert_slice(list[2].user_id, "ghost");
    assert_absent(list[2].name);
    must(store_participant_list(f->db, f->other, s->key, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, 0);
    fixture_begin(f);
    must(store_participant_delete(f->db, f->other, s->key, user.id, &deleted, &f->failure));
    assert_false(deleted);
    must(store_participant_delete(f->db, f->tenant, s->key, user.id, &deleted, &f->failure));
    assert_true(deleted);
    must(store_participant_delete(f->db, f->tenant, s->key, user.id, &deleted, &f->failure));
    assert_false(deleted);
    fixture_commit(f);
}

static void a_participant_needs_the_tenants_session(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    enum access_role role = ACCESS_OWNER;
    fixture_begin(f);
    must(store_participant_put(f->db, f->other, s->key, SLICE("spy"), ACCESS_OWNER, 1, &f->failure));
    fixture_commit(f);
    must(store_participant_role(f->db, f->other, s->key, SLICE("spy"), &role, &f->failure));
    assert_int_equal(role, ACCESS_NONE);
    must(store_participant_role(f->db, f->tenant, s->key, SLICE("spy"), &role, &f->failure));
    assert_int_equal(role, ACCESS_NONE);
}

static struct share_link add_link(struct fixture *f, struct session *s, int seed, int64_t max_uses)
{
    struct share_link link = {.id = fixture_text(f, "link%d", seed),
                              .tenant_key = s->tenant_key,
                              .session_key = s->key,
                              .token_hash = fixture_hash(f, seed),
                              .role = ACCESS_VIEWER,
                              .expires_at_ms = 77,
                              .max_uses = max_uses,
                              .active = true,
                              .created_by = SLICE("u1"),
                              .created_at_ms = 5 + seed};
    fixture_begin(f);
    must(store_share_insert(f->db, &link, &f->failure));
    fixture_commit(f);
    return link;
}

static void links_are_found_by_hash(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "shared", "u1", NULL);
    struct share_link link = add_link(f, s, 1, 3), out, *list = NULL;
    size_t count = 0;
    bool changed = false;
    add_link(f, s, 2, 0);
    must(store_share_by_hash(f->db, link.token_hash, &f->arena, &out, &f->failure));
    assert_slice(out.id, "link1");
    assert_slice(out.session_id, "shared");
    assert_int_equal(out.tenant_key, f->tenant);
    assert_int_equal(out.session_key, s->key);
    assert_true(slice_eq(out.token_hash, link.token_hash));
    assert_int_equal(out.expires_at_ms, 77);
    assert_int_equal(out.max_uses, 3);
    assert_true(out.active);
    assert_status(store_share_by_hash(f->db, fixture_hash(f, 9), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    must(store_share_list(f->db, f->tenant, s->key, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, 2);
    assert_slice(list[1].id, "link2");
    must(store_share_list(f->db, f->other, s->key, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, 0);
    fixture_begin(f);
    must(store_share_deactivate(f->db, f->other, s->key, SLICE("link1"), &changed, &f->failure));
    assert_false(changed);
    must(store_share_deactivate(f->db, f->tenant, s->key, SLICE("link1"), &changed, &f->failure));
    assert_true(changed);
    must(store_share_deactivate(f->db, f->tenant, s->key, SLICE("link1"), &changed, &f->failure));
    assert_false(changed);
    fixture_commit(f);
    must(store_share_by_hash(f->db, link.token_hash, &f->arena, &out, &f->failure));
    assert_false(out.active);
}

static void redeeming_twice_burns_one_use(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "shared", "u1", NULL);
    struct share_link link = add_link(f, s, 1, 2), out;
    const struct {
        const char *user;
        enum status status;
        bool first;
        int64_t use_count;
    } rows[] = {{"a", STATUS_OK, true, 1},       {"a", STATUS_OK, false, 1},      {"b", STATUS_OK, true, 2},
                {"c", STATUS_LIMITED, false, 2}, {"c", STATUS_LIMITED, false, 2}, /* the refused try left no trace */
                {"a", STATUS_OK, false, 2}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool first = false;
        fixture_begin(f);
        enum status status = store_share_redeem(f->db, &link, slice_of(rows[i].user), 1, &first, &f->failure);
        fixture_commit(f);
        assert_row(rows[i].user, status == rows[i].status);
        assert_row(rows[i].user, first == rows[i].first);
        must(store_share_by_hash(f->db, link.token_hash, &f->arena, &out, &f->failure));
        assert_row(rows[i].user, out.use_count == rows[i].use_count);
    }
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(participants_come_and_go),
    CONTRACT_TEST(a_participant_needs_the_tenants_session),
    CONTRACT_TEST(links_are_found_by_hash),
    CONTRACT_TEST(redeeming_twice_burns_one_use),
};
const struct contract_part contract_shares = {"shares", tests, COUNT_OF(tests)};
