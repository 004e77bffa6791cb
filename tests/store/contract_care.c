#include "contract.h"

#include <stdio.h>
#include <unistd.h>

/* Runs last: everything the other parts left behind must be sound. */

static void print_problem(void *owner, const char *sentence)
{
    (void)owner;
    print_error("%s\n", sentence);
}

static int64_t verify(struct fixture *f, struct db *db)
{
    struct verify_report report = {.problem = print_problem};
    must(store_verify(db, &report, &f->failure));
    return report.problems;
}

static void everything_is_sound(void **state)
{
    struct fixture *f = *state;
    struct verify_report report = {.problem = print_problem};
    struct session *s = fixture_session(f, f->tenant, "s", "u1", "{'metadata':{'a':'b'}}");
    f->now_ms += 60000;
    fixture_append(f, s, "user.message", "[]");
    must(store_verify(f->db, &report, &f->failure));
    assert_int_equal(report.problems, 0);
    assert_true(report.sessions >= 1);
    assert_true(report.events >= 2);
}

static void count_problem(void *owner, const char *sentence)
{
    assert_true(strlen(sentence) > 10);
    ++*(int64_t *)owner;
}

/* Each kind of damage is made on purpose, found, and undone. */
static int64_t problems_now(struct fixture *f)
{
    int64_t told = 0;
    struct verify_report report = {.problem = count_problem, .owner = &told};
    must(store_verify(f->db, &report, &f->failure));
    assert_int_equal(told, report.problems);
    return report.problems;
}

static void finds_a_row_that_is_not_its_fold(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session wrong = *s;
    wrong.message_count = 5;
    fixture_begin(f);
    must(store_session_update(f->db, &wrong, CHANGED_HOT, 1, s->status, &f->failure));
    fixture_commit(f);
    assert_int_equal(problems_now(f), 1);
    fixture_begin(f);
    must(store_session_update(f->db, s, CHANGED_HOT, 1, s->status, &f->failure));
    fixture_commit(f);
    assert_int_equal(problems_now(f), 0);
}

static void finds_a_log_longer_than_the_row(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct event extra = {.sequence = 2, .at_ms = f->now_ms, .custom = SLICE("x"), .actor = SLICE("system")};
    fixture_begin(f);
    must(store_event_insert(f->db, f->tenant, s->key, &extra, &f->failure));
    fixture_commit(f);
    assert_int_equal(problems_now(f), 1);
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("x"), 1, &f->failure));
    fixture_commit(f);
    assert_int_equal(problems_now(f), 0);
}

static void finds_wrong_counts_and_orphans(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", "{'status':'pending'}");
    struct timer orphan = {TIMER_HUMAN, f->tenant, 1 << 30, 5};
    fixture_begin(f);
    must(store_session_update(f->db, s, CHANGED_HOT, 1, SESSION_IDLE, &f->failure)); /* a lie about the state before */
    fixture_commit(f);
    assert_int_equal(problems_now(f), 2); /* idle -1, pending 2 */
    struct session *t = fixture_session(f, f->tenant, "t", "u1", "{'status':'idle'}");
    fixture_begin(f);
    struct session lie = *t;
    lie.status = SESSION_IDLE;
    must(store_session_update(f->db, &lie, CHANGED_HOT, 1, SESSION_PENDING, &f->failure));
    must(store_timer_put(f->db, &orphan, &f->failure));
    fixture_commit(f);
    assert_int_equal(problems_now(f), 1);
    fixture_begin(f);
    must(store_timer_delete(f->db, TIMER_HUMAN, 1 << 30, &f->failure));
    fixture_commit(f);
    assert_int_equal(problems_now(f), 0);
}

/* Readers see whole groups, and see them as they were when the read began. */
static void readers_see_whole_groups(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct db_options options = fixture_database;
    struct db *reader = NULL;
    struct session seen;
    options.read_only = true;
    must(db_open(&options, &reader, &f->failure));
    must(db_begin_read(reader, &f->failure));
    must(store_session_by_key(reader, f->tenant, s->key, &f->arena, &seen, &f->failure));
    assert_int_equal(seen.last_sequence, 1);
    fixture_append(f, s, "user.message", "[]");
    must(store_session_by_key(reader, f->tenant, s->key, &f->arena, &seen, &f->failure));
    assert_int_equal(seen.last_sequence, 1);
    must(db_end_read(reader, &f->failure));
    must(store_session_by_key(reader, f->tenant, s->key, &f->arena, &seen, &f->failure));
    assert_int_equal(seen.last_sequence, 2);
    assert_int_equal(verify(f, reader), 0);
    db_close(reader);
}

static void backup_is_a_sound_copy(void **state)
{
    struct fixture *f = *state;
    char path[4096];
    struct db_options copy = fixture_database;
    struct db *db = NULL;
    if (fixture_database.engine != DB_SQLITE) {
        assert_status(store_backup(&fixture_database, "unused", NULL, NULL, &f->failure), STATUS_UNSUPPORTED);
        return;
    }
    snprintf(path, sizeof path, "%s.%s.backup", fixture_database.path, f->mark);
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    fixture_begin(f); /* a group in the middle of its work */
    struct changes changes = {.count = 1};
    changes.events[0] = (struct event){.custom = SLICE("x")};
    fixture_write(f, s, &changes);
    must(store_backup(&fixture_database, path, NULL, NULL, &f->failure));
    fixture_commit(f);
    assert_status(store_backup(&fixture_database, path, NULL, NULL, &f->failure), STATUS_CONFLICT);
    copy.path = path;
    must(db_open(&copy, &db, &f->failure));
    struct session found;
    must(store_session_by_key(db, f->tenant, s->key, &f->arena, &found, &f->failure));
    assert_int_equal(found.last_sequence, 1);
    assert_int_equal(verify(f, db), 0);
    db_close(db);
    unlink(path);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(everything_is_sound),
    CONTRACT_TEST(finds_a_row_that_is_not_its_fold),
    CONTRACT_TEST(finds_a_log_longer_than_the_row),
    CONTRACT_TEST(finds_wrong_counts_and_orphans),
    CONTRACT_TEST(readers_see_whole_groups),
    CONTRACT_TEST(backup_is_a_sound_copy),
};
const struct contract_part contract_care = {"care", tests, COUNT_OF(tests)};
