#include "contract.h"

static void tenants(void **state)
{
    struct fixture *f = *state;
    struct tenant out, *list = NULL, same;
    size_t count = 0, found = 0;
    must(store_tenant_by_key(f->db, f->tenant, &f->arena, &out, &f->failure));
    assert_int_equal(out.key, f->tenant);
    same = (struct tenant){.id = out.id, .name = SLICE("again")};
    fixture_begin(f);
    assert_status(store_tenant_insert(f->db, &same, &f->failure), STATUS_CONFLICT);
    db_rollback(f->db);
    must(store_tenant_by_id(f->db, same.id, &f->arena, &out, &f->failure));
    assert_int_equal(out.key, f->tenant);
    assert_slice(out.name, "Test");
    assert_status(store_tenant_by_id(f->db, SLICE("no such"), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    assert_status(store_tenant_by_key(f->db, 1 << 30, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    must(store_tenant_list(f->db, &f->arena, &list, &count, &f->failure));
    for (size_t i = 0; i < count; i++) {
        found += list[i].key == f->tenant || list[i].key == f->other;
    }
    assert_int_equal(found, 2);
}

static struct user add_user(struct fixture *f, const char *name)
{
    struct user user = {.id = fixture_text(f, "%s-%s", name, f->mark),
                        .email = fixture_text(f, "%s-%s@Example.org", name, f->mark),
                        .name = slice_of(name),
                        .password_hash = SLICE("$argon2id$"),
                        .created_at_ms = 7,
                        .sessions_max = 3};
    fixture_begin(f);
    must(store_user_insert(f->db, &user, &f->failure));
    fixture_commit(f);
    return user;
}

static void users(void **state)
{
    struct fixture *f = *state;
    int64_t before = 0, after = 0;
    struct user out;
    must(store_user_count(f->db, &before, &f->failure));
    struct user ann = add_user(f, "ann");
    must(store_user_count(f->db, &after, &f->failure));
    assert_int_equal(after, before + 1);
    must(store_user_by_id(f->db, ann.id, &f->arena, &out, &f->failure));
    assert_slice(out.name, "ann");
    assert_slice(out.password_hash, "$argon2id$");
    assert_int_equal(out.sessions_max, 3);
    struct user taken = ann;
    fixture_begin(f);
    assert_status(store_user_insert(f->db, &taken, &f->failure), STATUS_CONFLICT);
    db_rollback(f->db);
    taken.id = fixture_text(f, "other-%s", f->mark);
    ann.name = SLICE("Ann B."), ann.disabled_at_ms = 99, ann.password_hash = (struct slice){0};
    fixture_begin(f);
    must(store_user_update(f->db, &ann, &f->failure));
    fixture_commit(f);
    must(store_user_by_id(f->db, ann.id, &f->arena, &out, &f->failure));
    assert_slice(out.name, "Ann B.");
    assert_int_equal(out.disabled_at_ms, 99);
    assert_absent(out.password_hash);
    fixture_begin(f);
    assert_status(store_user_update(f->db, &taken, &f->failure), STATUS_NOT_FOUND);
    db_rollback(f->db);
}

/* The same email in two tenants is two people who do not know of each other. */
static void emails(void **state)
{
    struct fixture *f = *state;
    struct user out, *accounts;
    size_t count = 0;
    struct user ann = add_user(f, "ann"), double_ann = ann;
    struct slice email = fixture_text(f, "ANN-%s@example.ORG", f->mark);
    double_ann.id = fixture_text(f, "double-%s", f->mark);
    assert_status(store_member_by_email(f->db, f->tenant, email, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    must(store_users_by_email(f->db, email, 8, &f->arena, &accounts, &count, &f->failure));
    assert_int_equal(count, 0); /* a member of nothing cannot sign in */
    fixture_begin(f);
    must(store_user_insert(f->db, &double_ann, &f->failure));
    must(store_membership_put(f->db, f->tenant, ann.id, MEMBER_MEMBER, &f->failure));
    must(store_membership_put(f->db, f->other, double_ann.id, MEMBER_MEMBER, &f->failure));
    fixture_commit(f);
    must(store_member_by_email(f->db, f->tenant, email, &f->arena, &out, &f->failure));
    assert_true(slice_eq(out.id, ann.id));
    must(store_member_by_email(f->db, f->other, email, &f->arena, &out, &f->failure));
    assert_true(slice_eq(out.id, double_ann.id));
    must(store_users_by_email(f->db, email, 8, &f->arena, &accounts, &count, &f->failure));
    assert_int_equal(count, 2);
    must(store_users_by_email(f->db, email, 1, &f->arena, &accounts, &count, &f->failure));
    assert_int_equal(count, 1);
    assert_status(store_member_by_email(f->db, f->tenant, SLICE("nobody@example.org"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
}

static void memberships(void **state)
{
    struct fixture *f = *state;
    struct user ann = add_user(f, "ann"), bob = add_user(f, "bob"), *list = NULL;
    struct tenant *own = NULL;
    enum member_role role = MEMBER_OWNER, *roles = NULL;
    size_t count = 0;
    fixture_begin(f);
    must(store_membership_put(f->db, f->other, ann.id, MEMBER_MEMBER, &f->failure));
    must(store_membership_put(f->db, f->tenant, ann.id, MEMBER_MEMBER, &f->failure));
    must(store_membership_put(f->db, f->tenant, bob.id, MEMBER_OWNER, &f->failure));
    must(store_membership_put(f->db, f->tenant, ann.id, MEMBER_ADMIN, &f->failure));
    fixture_commit(f);
    must(store_membership_get(f->db, f->tenant, ann.id, &role, &f->failure));
    assert_int_equal(role, MEMBER_ADMIN);
    must(store_membership_get(f->db, f->other, bob.id, &role, &f->failure));
    assert_int_equal(role, MEMBER_NONE);
    must(store_membership_list(f->db, ann.id, &f->arena, &own, &roles, &count, &f->failure));
    assert_int_equal(count, 2);
    assert_int_equal(own[0].key, f->other);
    assert_int_equal(roles[0], MEMBER_MEMBER);
    assert_int_equal(own[1].key, f->tenant);
    assert_int_equal(roles[1], MEMBER_ADMIN);
    must(store_user_list(f->db, f->tenant, &f->arena, &list, &roles, &count, &f->failure));
    assert_int_equal(count, 2);
    assert_true(slice_eq(list[0].id, ann.id));
    assert_int_equal(roles[1], MEMBER_OWNER);
    must(store_user_list(f->db, f->other, &f->arena, &list, &roles, &count, &f->failure));
    assert_int_equal(count, 1);
    fixture_begin(f);
    must(store_membership_put(f->db, f->tenant, ann.id, MEMBER_NONE, &f->failure));
    fixture_commit(f);
    must(store_membership_get(f->db, f->tenant, ann.id, &role, &f->failure));
    assert_int_equal(role, MEMBER_NONE);
    must(store_membership_get(f->db, f->other, ann.id, &role, &f->failure));
    assert_int_equal(role, MEMBER_MEMBER);
}

static void tokens(void **state)
{
    struct fixture *f = *state;
    struct token token = {.id = SLICE("tok"),
                          .name = SLICE("CI"),
                          .hash = fixture_hash(f, 1),
                          .user_id = SLICE("u1"),
                          .id_prefix = SLICE("telegram:"),
                          .tenant_key = f->tenant,
                          .kind = PRINCIPAL_WORKER,
                          .scopes = SCOPE_READ | SCOPE_CLAIM,
                          .created_at_ms = 5,
                          .expires_at_ms = 6};
    struct token out, *list = NULL;
    size_t count = 0;
    bool changed = false;
    fixture_begin(f);
    must(store_token_insert(f->db, &token, &f->failure));
    assert_status(store_token_insert(f->db, &token, &f->failure), STATUS_CONFLICT);
    fixture_commit(f);
    must(store_token_by_hash(f->db, token.hash, &f->arena, &out, &f->failure));
    assert_int_equal(out.tenant_key, f->tenant);
    assert_int_equal(out.kind, PRINCIPAL_WORKER);
    assert_int_equal(out.scopes, SCOPE_READ | SCOPE_CLAIM);
    assert_slice(out.id_prefix, "telegram:");
    assert_absent(out.session_id);
    assert_int_equal(out.expires_at_ms, 6);
    assert_status(store_token_by_hash(f->db, fixture_hash(f, 2), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    must(store_token_by_id(f->db, f->tenant, SLICE("tok"), &f->arena, &out, &f->failure));
    assert_true(slice_eq(out.hash, token.hash));
    assert_status(store_token_by_id(f->db, f->other, SLICE("tok"), &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    must(store_token_list(f->db, f->tenant, 0, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, 1);
    must(store_token_list(f->db, f->other, 0, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, 0);
    fixture_begin(f);
    must(store_token_revoke(f->db, f->other, SLICE("tok"), 50, &changed, &f->failure));
    assert_false(changed);
    must(store_token_revoke(f->db, f->tenant, SLICE("tok"), 50, &changed, &f->failure));
    assert_true(changed);
    must(store_token_revoke(f->db, f->tenant, SLICE("tok"), 51, &changed, &f->failure));
    assert_false(changed);
    fixture_commit(f);
    must(store_token_by_hash(f->db, token.hash, &f->arena, &out, &f->failure));
    assert_int_equal(out.revoked_at_ms, 50);
}

static void tokens_that_ended(void **state)
{
    struct fixture *f = *state;
    struct token *list;
    size_t count;
    /* until when it lasts, when it was revoked; listed at 100; there after what ended before 100 is gone */
    const struct {
        int64_t expires_at_ms, revoked_at_ms;
        bool listed, kept;
    } rows[] = {{0, 0, true, true},    {101, 0, true, true},  {100, 0, false, true},  {99, 0, false, false},
                {0, 100, false, true}, {0, 99, false, false}, {200, 99, false, false}};
    size_t listed = 0, kept = 0;
    fixture_begin(f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct token token = {.id = arena_format(&f->arena, "t%zu", i),
                              .hash = fixture_hash(f, (int)i + 1),
                              .tenant_key = f->tenant,
                              .expires_at_ms = rows[i].expires_at_ms,
                              .revoked_at_ms = rows[i].revoked_at_ms};
        must(store_token_insert(f->db, &token, &f->failure));
        listed += rows[i].listed;
        kept += rows[i].kept;
    }
    fixture_commit(f);
    must(store_token_list(f->db, f->tenant, 100, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, listed);
    fixture_begin(f);
    must(store_token_prune(f->db, 100, &f->failure));
    fixture_commit(f);
    must(store_token_list(f->db, f->tenant, 0, &f->arena, &list, &count, &f->failure));
    assert_int_equal(count, kept);
}

static void grants(void **state)
{
    struct fixture *f = *state;
    struct grant ticket = {.kind = GRANT_TICKET,
                           .hash = fixture_hash(f, 1),
                           .user_id = SLICE("u1"),
                           .token_id = SLICE("tok"),
                           .session_id = SLICE("s"),
                           .tenant_key = f->tenant,
                           .created_at_ms = 1,
                           .expires_at_ms = 100};
    struct grant cookie = ticket, out;
    cookie.kind = GRANT_COOKIE, cookie.hash = fixture_hash(f, 2), cookie.csrf = SLICE("c"), cookie.expires_at_ms = 200;
    fixture_begin(f);
    must(store_grant_insert(f->db, &ticket, &f->failure));
    must(store_grant_insert(f->db, &cookie, &f->failure));
    fixture_commit(f);
    must(store_grant_by_hash(f->db, GRANT_TICKET, ticket.hash, &f->arena, &out, &f->failure));
    assert_slice(out.session_id, "s");
    assert_slice(out.token_id, "tok");
    assert_absent(out.csrf);
    assert_int_equal(out.tenant_key, f->tenant);
    assert_int_equal(out.expires_at_ms, 100);
    assert_status(store_grant_by_hash(f->db, GRANT_COOKIE, ticket.hash, &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    fixture_begin(f);
    must(store_grant_delete(f->db, GRANT_TICKET, ticket.hash, &f->failure));
    assert_status(store_grant_delete(f->db, GRANT_TICKET, ticket.hash, &f->failure), STATUS_NOT_FOUND);
    must(store_grant_prune(f->db, 200, &f->failure));
    fixture_commit(f);
    must(store_grant_by_hash(f->db, GRANT_COOKIE, cookie.hash, &f->arena, &out, &f->failure));
    fixture_begin(f);
    must(store_grant_prune(f->db, 201, &f->failure));
    fixture_commit(f);
    assert_status(store_grant_by_hash(f->db, GRANT_COOKIE, cookie.hash, &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
}

static void idempotency(void **state)
{
    struct fixture *f = *state;
    struct idempotent_reply reply = {.fingerprint = fixture_hash(f, 1), .status = 201, .body = SLICE("{\"id\":1}")},
                            out;
    assert_status(store_idempotency_get(f->db, f->tenant, SLICE("u"), SLICE("k"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    fixture_begin(f);
    must(store_idempotency_put(f->db, f->tenant, SLICE("u"), SLICE("k"), &reply, 50, &f->failure));
    fixture_commit(f);
    must(store_idempotency_get(f->db, f->tenant, SLICE("u"), SLICE("k"), &f->arena, &out, &f->failure));
    assert_true(slice_eq(out.fingerprint, reply.fingerprint));
    assert_int_equal(out.status, 201);
    assert_slice(out.body, "{\"id\":1}");
    assert_status(store_idempotency_get(f->db, f->other, SLICE("u"), SLICE("k"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    assert_status(store_idempotency_get(f->db, f->tenant, SLICE("v"), SLICE("k"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
    fixture_begin(f);
    must(store_idempotency_prune(f->db, 50, &f->failure));
    fixture_commit(f);
    must(store_idempotency_get(f->db, f->tenant, SLICE("u"), SLICE("k"), &f->arena, &out, &f->failure));
    fixture_begin(f);
    must(store_idempotency_prune(f->db, 51, &f->failure));
    fixture_commit(f);
    assert_status(store_idempotency_get(f->db, f->tenant, SLICE("u"), SLICE("k"), &f->arena, &out, &f->failure),
                  STATUS_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(tenants),     CONTRACT_TEST(users),       CONTRACT_TEST(emails),
    CONTRACT_TEST(memberships), CONTRACT_TEST(tokens),      CONTRACT_TEST(tokens_that_ended),
    CONTRACT_TEST(grants),      CONTRACT_TEST(idempotency),
};
const struct contract_part contract_identity = {"identity", tests, COUNT_OF(tests)};
