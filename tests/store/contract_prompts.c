#include "contract.h"

#include <stdio.h>

static struct prompt prompt_of(int64_t position, const char *id)
{
    return (struct prompt){.id = slice_of(id),
                           .position = position,
                           .mode = QUEUE_FOLLOWUP,
                           .actor = SLICE("user:u1"),
                           .content = SLICE("[{\"type\":\"text\",\"text\":\"hi\"}]"),
                           .created_at_ms = 40 + position};
}

static void insert(struct fixture *f, const struct session *s, int64_t position, const char *id)
{
    struct prompt prompt = prompt_of(position, id);
    fixture_begin(f);
    must(store_prompt_insert(f->db, s->tenant_key, s->key, &prompt, &f->failure));
    fixture_commit(f);
}

static struct prompt find(struct fixture *f, const struct session *s, const char *id)
{
    struct prompt *prompts;
    size_t count = 0, at = 0;
    must(store_prompt_list(f->db, f->tenant, s->key, &f->arena, &prompts, &count, &f->failure));
    while (at < count && !slice_is(prompts[at].id, id)) {
        at++;
    }
    assert_true(at < count);
    return prompts[at];
}

static const char *ids(struct fixture *f, int64_t tenant_key, const struct session *s)
{
    static char text[400];
    struct prompt *prompts;
    size_t count = 99;
    must(store_prompt_list(f->db, tenant_key, s->key, &f->arena, &prompts, &count, &f->failure));
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ", SLICE_ARG(prompts[i].id));
    }
    return text;
}

static void prompts_keep_their_order(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session *t = fixture_session(f, f->tenant, "t", "u1", NULL);
    struct prompt_stats figures = {9, 9, 9, 9};
    struct prompt out;
    must(store_prompt_stats(f->db, f->tenant, s->key, &figures, &f->failure));
    assert_int_equal(figures.waiting, 0);
    assert_int_equal(figures.first, 0);
    assert_int_equal(figures.last, 0);
    assert_status(store_prompt_first(f->db, f->tenant, s->key, &f->arena, &out, &f->failure), STATUS_NOT_FOUND);
    insert(f, s, 7, "later");
    insert(f, s, 3, "sooner");
    insert(f, t, 1, "elsewhere");
    assert_string_equal(ids(f, f->tenant, s), "sooner later ");
    assert_string_equal(ids(f, f->other, s), "");
    must(store_prompt_stats(f->db, f->tenant, s->key, &figures, &f->failure));
    assert_int_equal(figures.waiting, 2);
    assert_int_equal(figures.first, 3);
    assert_int_equal(figures.last, 7);
    assert_int_equal(figures.lowest, 0);
    must(store_prompt_first(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_slice(out.id, "sooner");
    fixture_begin(f);
    must(store_prompt_delete(f->db, f->other, s->key, SLICE("sooner"), &f->failure));
    must(store_prompt_delete(f->db, f->tenant, s->key, SLICE("sooner"), &f->failure));
    fixture_commit(f);
    assert_string_equal(ids(f, f->tenant, s), "later ");
    assert_string_equal(ids(f, f->tenant, t), "elsewhere ");
}

static void a_prompt_is_found_as_it_was_stored(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct prompt prompt = prompt_of(1, "p"), out;
    prompt.mode = QUEUE_REJECT;
    prompt.metadata = SLICE("{\"a\":1}");
    prompt.thread_id = SLICE("thread");
    prompt.revision = 4;
    prompt.due_ms = 77;
    prompt.priority = -5;
    fixture_begin(f);
    must(store_prompt_insert(f->db, f->tenant, s->key, &prompt, &f->failure));
    fixture_commit(f);
    out = find(f, s, "p");
    assert_int_equal(out.position, 1);
    assert_int_equal(out.mode, QUEUE_REJECT);
    assert_slice(out.actor, "user:u1");
    assert_slice(out.content, "[{\"type\":\"text\",\"text\":\"hi\"}]");
    assert_slice(out.metadata, "{\"a\":1}");
    assert_slice(out.thread_id, "thread");
    assert_int_equal(out.priority, -5);
    struct prompt_stats figures;
    must(store_prompt_stats(f->db, f->tenant, s->key, &figures, &f->failure));
    assert_int_equal(figures.lowest, -5);
    assert_int_equal(out.created_at_ms, 41);
    assert_int_equal(out.revision, 4);
    assert_int_equal(out.due_ms, 77);
    assert_string_equal(ids(f, f->other, s), "");
    insert(f, s, 2, "plain");
    out = find(f, s, "plain");
    assert_absent(out.metadata);
    assert_absent(out.thread_id);
}

static void prompts_change_and_move(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session *t = fixture_session(f, f->tenant, "t", "u1", NULL);
    insert(f, s, -1, "a");
    insert(f, s, 1, "b");
    insert(f, s, 2, "c");
    insert(f, t, 2, "other");
    struct prompt moved = prompt_of(1, "c"), out;
    moved.content = SLICE("[1]");
    moved.metadata = SLICE("{}");
    moved.mode = QUEUE_COLLECT;
    moved.revision = 2;
    moved.due_ms = 9;
    fixture_begin(f);
    must(store_prompt_make_room(f->db, f->tenant, s->key, 1, &f->failure));
    must(store_prompt_update(f->db, f->other, s->key, &moved, &f->failure));
    must(store_prompt_update(f->db, f->tenant, s->key, &moved, &f->failure));
    fixture_commit(f);
    assert_string_equal(ids(f, f->tenant, s), "a c b ");
    out = find(f, s, "c");
    assert_slice(out.content, "[1]");
    assert_slice(out.metadata, "{}");
    assert_int_equal(out.mode, QUEUE_COLLECT);
    assert_int_equal(out.revision, 2);
    assert_int_equal(out.due_ms, 9);
    out = find(f, s, "b");
    assert_int_equal(out.position, 2);
    out = find(f, t, "other");
    assert_int_equal(out.position, 2);
}

static void deletion_takes_the_prompts_along(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session *t = fixture_session(f, f->tenant, "t", "u1", NULL);
    insert(f, s, 1, "gone");
    insert(f, t, 1, "stays");
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("user:u1"), f->now_ms, &f->failure));
    fixture_commit(f);
    assert_string_equal(ids(f, f->tenant, s), "");
    assert_string_equal(ids(f, f->tenant, t), "stays ");
}

static void count_problem(void *owner, const char *sentence)
{
    int *orphans = owner;
    *orphans += strstr(sentence, "a prompt of session") != NULL;
}

static void verify_finds_orphans(void **state)
{
    struct fixture *f = *state;
    struct session nobody = {.tenant_key = f->tenant, .key = 1 << 30};
    int orphans = 0;
    struct verify_report report = {.problem = count_problem, .owner = &orphans};
    insert(f, &nobody, 1, "orphan");
    must(store_verify(f->db, &report, &f->failure));
    assert_int_equal(orphans, 1);
    fixture_begin(f);
    must(store_prompt_delete(f->db, f->tenant, nobody.key, SLICE("orphan"), &f->failure));
    fixture_commit(f);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(prompts_keep_their_order), CONTRACT_TEST(a_prompt_is_found_as_it_was_stored),
    CONTRACT_TEST(prompts_change_and_move),  CONTRACT_TEST(deletion_takes_the_prompts_along),
    CONTRACT_TEST(verify_finds_orphans),
};
const struct contract_part contract_prompts = {"prompts", tests, COUNT_OF(tests)};
