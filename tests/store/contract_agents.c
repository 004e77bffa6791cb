#include "contract.h"

#include <stdio.h>

static int64_t push(struct fixture *f, int64_t tenant_key, const char *slug, const char *definition)
{
    struct agent_row row = {.tenant_key = tenant_key,
                            .slug = slice_of(slug),
                            .definition = slice_of(definition),
                            .source = tenant_key ? AGENT_OF_API : AGENT_OF_FILE,
                            .created_at_ms = 40,
                            .created_by = SLICE("user:u1")};
    fixture_begin(f);
    must(store_agent_insert(f->db, &row, &f->failure));
    fixture_commit(f);
    return row.version;
}

static bool remove_agent(struct fixture *f, int64_t tenant_key, const char *slug)
{
    bool removed = false;
    fixture_begin(f);
    must(store_agent_remove(f->db, tenant_key, slice_of(slug), 99, &removed, &f->failure));
    fixture_commit(f);
    return removed;
}

static struct agent_row newest(struct fixture *f, int64_t tenant_key, const char *slug)
{
    struct agent_row row = {.version = -1};
    enum status status = store_agent_newest(f->db, tenant_key, slice_of(slug), &f->arena, &row, &f->failure);
    assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
    return row;
}

static const char *listing(struct fixture *f, int64_t tenant_key, const char *after, int64_t limit)
{
    static char text[400];
    struct agent_row *rows;
    size_t count = 99;
    must(store_agent_list(f->db, tenant_key, slice_of(after), limit, &f->arena, &rows, &count, &f->failure));
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s/%lld ", SLICE_ARG(rows[i].slug),
                 (long long)rows[i].version);
    }
    return text;
}

static void versions_are_kept(void **state)
{
    struct fixture *f = *state;
    struct agent_row row, *rows;
    size_t count = 0;
    assert_int_equal(push(f, f->tenant, "a", "{\"n\":1}"), 1);
    assert_int_equal(push(f, f->tenant, "a", "{\"n\":2}"), 2);
    assert_int_equal(push(f, f->tenant, "b", "{\"n\":3}"), 1);
    assert_int_equal(push(f, f->other, "a", "{\"n\":4}"), 1);
    row = newest(f, f->tenant, "a");
    assert_int_equal(row.version, 2);
    assert_slice(row.definition, "{\"n\":2}");
    assert_int_equal(row.source, AGENT_OF_API);
    assert_int_equal(row.created_at_ms, 40);
    assert_slice(row.created_by, "user:u1");
    must(store_agent_by_version(f->db, f->tenant, SLICE("a"), 1, &f->arena, &row, &f->failure));
    assert_slice(row.definition, "{\"n\":1}");
    assert_status(store_agent_by_version(f->db, f->tenant, SLICE("a"), 3, &f->arena, &row, &f->failure),
                  STATUS_NOT_FOUND);
    must(store_agent_versions(f->db, f->tenant, SLICE("a"), 0, 10, &f->arena, &rows, &count, &f->failure));
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].version, 2);
    must(store_agent_versions(f->db, f->tenant, SLICE("a"), 2, 10, &f->arena, &rows, &count, &f->failure));
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].version, 1);
}

static void tenants_do_not_see_each_other(void **state)
{
    struct fixture *f = *state;
    push(f, f->tenant, "mine", "{}");
    assert_int_equal(newest(f, f->other, "mine").version, -1);
    assert_string_equal(listing(f, f->other, NULL, 10), "");
    assert_false(remove_agent(f, f->other, "mine"));
    assert_int_equal(newest(f, f->tenant, "mine").version, 1);
}

/* Tenant 0 is the same in every run: its slugs are new ones, and gone when the test is over. */
static void those_of_all_tenants_stand_behind_their_own(void **state)
{
    struct fixture *f = *state;
    const char *demo = arena_format(&f->arena, "demo-%lld", (long long)f->tenant).ptr;
    const char *last = arena_format(&f->arena, "last-%lld", (long long)f->tenant).ptr;
    char own[200], shared[200];
    assert_int_equal(push(f, 0, demo, "{\"n\":1}"), 1);
    assert_int_equal(push(f, f->tenant, demo, "{\"n\":2}"), 2);
    assert_int_equal(push(f, 0, demo, "{\"n\":3}"), 3);
    assert_int_equal(newest(f, f->tenant, demo).version, 2);
    assert_int_equal(newest(f, f->other, demo).version, 3);
    push(f, 0, last, "{}");
    snprintf(own, sizeof own, "%s/2 %s/1 ", demo, last);
    snprintf(shared, sizeof shared, "%s/3 %s/1 ", demo, last);
    assert_string_equal(listing(f, f->tenant, NULL, 10), own);
    assert_string_equal(listing(f, f->other, NULL, 10), shared);
    *strchr(shared, ' ') = '\0';
    assert_int_equal(strlen(listing(f, f->other, NULL, 1)), strlen(shared) + 1);
    assert_string_equal(listing(f, f->other, demo, 10), strchr(own, ' ') + 1);
    assert_true(remove_agent(f, f->tenant, demo));
    assert_int_equal(newest(f, f->tenant, demo).version, 3);
    assert_true(remove_agent(f, 0, demo));
    assert_true(remove_agent(f, 0, last));
    assert_string_equal(listing(f, f->tenant, NULL, 10), "");
}

static void what_was_removed_is_found_by_its_number(void **state)
{
    struct fixture *f = *state;
    struct agent_row row;
    push(f, f->tenant, "a", "{}");
    assert_true(remove_agent(f, f->tenant, "a"));
    assert_false(remove_agent(f, f->tenant, "a"));
    assert_int_equal(newest(f, f->tenant, "a").version, -1);
    assert_string_equal(listing(f, f->tenant, NULL, 10), "");
    must(store_agent_by_version(f->db, f->tenant, SLICE("a"), 1, &f->arena, &row, &f->failure));
    assert_int_equal(row.removed_at_ms, 99);
    assert_int_equal(push(f, f->tenant, "a", "{}"), 2);
    assert_int_equal(newest(f, f->tenant, "a").version, 2);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(versions_are_kept),
    CONTRACT_TEST(tenants_do_not_see_each_other),
    CONTRACT_TEST(those_of_all_tenants_stand_behind_their_own),
    CONTRACT_TEST(what_was_removed_is_found_by_its_number),
};
const struct contract_part contract_agents = {"agents", tests, COUNT_OF(tests)};
