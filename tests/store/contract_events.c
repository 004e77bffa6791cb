#include "contract.h"

#include <stdio.h>

struct seen {
    char text[4000];
    int64_t count, stop_after;
    struct position last;
};

static bool note(void *owner, const struct event *event)
{
    struct seen *seen = owner;
    size_t at = strlen(seen->text);
    snprintf(seen->text + at, sizeof seen->text - at, "%lld:%.*s ", (long long)event->sequence,
             SLICE_ARG(event_type(event)));
    return ++seen->count != seen->stop_after;
}

static const char *read_events(struct fixture *f, struct seen *seen, struct event_filter filter)
{
    int64_t stop_after = seen->stop_after;
    *seen = (struct seen){.stop_after = stop_after};
    filter.limit = filter.limit ? filter.limit : 1000;
    must(store_event_read(f->db, &filter, note, seen, &f->failure));
    return seen->text;
}

struct field_check {
    struct fixture *f;
    const struct event *expected;
    bool called;
};

static bool compare_fields(void *owner, const struct event *event)
{
    struct field_check *check = owner;
    const struct event *in = check->expected;
    check->called = true;
    assert_int_equal(event->sequence, in->sequence);
    assert_int_equal(event->at_ms, in->at_ms);
    assert_int_equal(event->role, in->role);
    assert_true(slice_eq(event_type(event), event_type(in)));
    assert_true(slice_eq(event->content, in->content));
    assert_true(slice_eq(event->metadata, in->metadata));
    assert_true(slice_eq(event->actor, in->actor));
    assert_int_equal(slice_present(event->thread_id), slice_present(in->thread_id));
    assert_int_equal(slice_present(event->external_id), slice_present(in->external_id));
    return true;
}

static void gives_back_the_bytes(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct changes changes = {.count = 3};
    changes.events[0] = (struct event){.custom = SLICE("a"), .content = SLICE("[1, 2 ]"), .thread_id = SLICE("")};
    changes.events[1] = (struct event){.custom = SLICE("b"), .metadata = SLICE("{ }"), .external_id = SLICE("y")};
    changes.events[2] = (struct event){.custom = SLICE("c"),
                                       .role = ROLE_SYSTEM,
                                       .content = SLICE("[\"\\u0000 \xc3\xbc\"]"),
                                       .metadata = SLICE("{\"n\":1.50}")};
    fixture_begin(f);
    fixture_write(f, s, &changes);
    fixture_commit(f);
    for (int64_t i = 0; i < 3; i++) {
        struct field_check check = {f, &changes.events[i], false};
        struct event_filter one = {.tenant_key = f->tenant, .session_key = s->key, .after = i + 1, .limit = 1};
        must(store_event_read(f->db, &one, compare_fields, &check, &f->failure));
        assert_true(check.called);
    }
}

static void reads_ranges_and_filters(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct event_filter all = {.tenant_key = f->tenant, .session_key = s->key};
    struct event_filter filter;
    struct seen seen = {0};
    struct slice types[] = {SLICE("user.message"), SLICE("tool.*")};
    fixture_append(f, s, "user.message", "[]");
    fixture_append(f, s, "tool.field_changed", "[]");
    fixture_append(f, s, "toolbox", "[]");
    fixture_append(f, s, "agent.message", "[]");
    assert_string_equal(read_events(f, &seen, all), "1:session.created 2:user.message 3:tool.field_changed 4:toolbox "
                                                    "5:agent.message ");
    filter = all, filter.after = 1, filter.before = 4;
    assert_string_equal(read_events(f, &seen, filter), "2:user.message 3:tool.field_changed ");
    filter = all, filter.newest_first = true, filter.limit = 2;
    assert_string_equal(read_events(f, &seen, filter), "5:agent.message 4:toolbox ");
    filter = all, filter.newest_first = true, filter.before = 3;
    assert_string_equal(read_events(f, &seen, filter), "2:user.message 1:session.created ");
    filter = all, filter.types = types, filter.type_count = 2;
    assert_string_equal(read_events(f, &seen, filter), "2:user.message 3:tool.field_changed ");
    filter.newest_first = true;
    assert_string_equal(read_events(f, &seen, filter), "3:tool.field_changed 2:user.message ");
    filter = all, filter.types = types, filter.type_count = 1;
    assert_string_equal(read_events(f, &seen, filter), "2:user.message ");
    filter = all, filter.audit_only = true;
    assert_string_equal(read_events(f, &seen, filter), "1:session.created 2:user.message ");
    filter.types = types + 1, filter.type_count = 1;
    assert_string_equal(read_events(f, &seen, filter), "");
    filter = all, filter.thread_id = SLICE("none");
    assert_string_equal(read_events(f, &seen, filter), "");
    seen.stop_after = 2;
    assert_string_equal(read_events(f, &seen, all), "1:session.created 2:user.message ");
}

static void another_tenant_reads_nothing(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct event_filter filter = {.tenant_key = f->other, .session_key = s->key};
    struct slice types[] = {SLICE("*")};
    struct seen seen = {0};
    assert_string_equal(read_events(f, &seen, filter), "");
    filter.newest_first = true;
    assert_string_equal(read_events(f, &seen, filter), "");
    filter.types = types, filter.type_count = 1;
    assert_string_equal(read_events(f, &seen, filter), "");
}

struct density {
    int64_t next, step;
    int64_t count;
};

static bool check_density(void *owner, const struct event *event)
{
    struct density *density = owner;
    assert_int_equal(event->sequence, density->next);
    density->next += density->step;
    density->count++;
    return true;
}

/* Longer than any page or run an engine keeps events in, from every offset around their borders, in both directions. */
static void long_logs_have_no_gap(void **state)
{
    enum { EVENTS = 700 };
    struct fixture *f = *state;
    struct session *a = fixture_session(f, f->tenant, "a", "u1", NULL);
    struct session *b = fixture_session(f, f->tenant, "b", "u1", NULL);
    while (a->last_sequence < EVENTS) {
        struct changes changes = {.count = 1 + (size_t)(a->last_sequence % CHANGES_MAX)};
        for (size_t i = 0; i < changes.count; i++) {
            changes.events[i] = (struct event){.kind = EVENT_USER_MESSAGE, .content = SLICE("[]")};
        }
        fixture_begin(f);
        fixture_write(f, a, &changes);
        if (a->last_sequence % 3 == 0) {
            changes.count = 1;
            fixture_write(f, b, &changes);
            fixture_write(f, a, &changes);
        }
        fixture_commit(f);
    }
    const int64_t offsets[] = {0, 1, 63, 64, 126, 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 699};
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        struct event_filter filter = {
            .tenant_key = f->tenant, .session_key = a->key, .after = offsets[i], .limit = 9999};
        struct density forward = {offsets[i] + 1, 1, 0};
        must(store_event_read(f->db, &filter, check_density, &forward, &f->failure));
        assert_int_equal(forward.count, a->last_sequence - offsets[i]);
        struct event_filter back = {.tenant_key = f->tenant,
                                    .session_key = a->key,
                                    .before = offsets[i] + 1,
                                    .limit = 9999,
                                    .newest_first = true};
        struct density backward = {offsets[i], -1, 0};
        must(store_event_read(f->db, &back, check_density, &backward, &f->failure));
        assert_int_equal(backward.count, offsets[i]);
    }
}

/* Batches that end at their bytes instead of at their rows: of sizes around the border, filtered and in both
 * directions. */
static void large_events_have_no_gap(void **state)
{
    enum { EVENTS = 24, BYTES = 1 << 20 };
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct buffer content = {0};
    buffer_add_byte(&content, '"');
    for (size_t i = 0; i < 5 * BYTES; i++) {
        buffer_add_byte(&content, 'a');
    }
    while (s->last_sequence < EVENTS) {
        size_t len = (size_t)(s->last_sequence % 6) * BYTES;
        struct changes changes = {.count = 1};
        changes.events[0] = (struct event){.custom = SLICE("x"), .content = slice_from(content.ptr, 1 + len)};
        fixture_begin(f);
        fixture_write(f, s, &changes);
        fixture_commit(f);
    }
    const struct slice types[] = {SLICE("x"), SLICE("session.*")};
    for (size_t type_count = 0; type_count <= COUNT_OF(types); type_count += COUNT_OF(types)) {
        struct event_filter filter = {
            .tenant_key = f->tenant, .session_key = s->key, .types = types, .type_count = type_count, .limit = 9999};
        struct density forward = {1, 1, 0}, backward = {s->last_sequence, -1, 0};
        must(store_event_read(f->db, &filter, check_density, &forward, &f->failure));
        assert_int_equal(forward.count, s->last_sequence);
        filter.newest_first = true;
        must(store_event_read(f->db, &filter, check_density, &backward, &f->failure));
        assert_int_equal(backward.count, s->last_sequence);
    }
    buffer_release(&content);
}

/* A writer reads its own events before the commit. */
static void reads_inside_the_transaction(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct event event = {.sequence = 2, .at_ms = 1, .custom = SLICE("x"), .actor = SLICE("system")};
    struct event_filter filter = {.tenant_key = f->tenant, .session_key = s->key};
    struct seen seen = {0};
    fixture_begin(f);
    must(store_event_insert(f->db, f->tenant, s->key, &event, &f->failure));
    assert_string_equal(read_events(f, &seen, filter), "1:session.created 2:x ");
    db_rollback(f->db);
    assert_string_equal(read_events(f, &seen, filter), "1:session.created ");
}

static void finds_external_ids(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct session *t = fixture_session(f, f->tenant, "t", "u1", NULL);
    struct changes changes = {.count = 1};
    int64_t sequence = -1;
    changes.events[0] = (struct event){.custom = SLICE("x"), .external_id = SLICE("ext")};
    fixture_begin(f);
    fixture_write(f, s, &changes);
    fixture_commit(f);
    must(store_event_by_external_id(f->db, f->tenant, s->key, SLICE("ext"), &sequence, &f->failure));
    assert_int_equal(sequence, 2);
    must(store_event_by_external_id(f->db, f->tenant, s->key, SLICE("ext2"), &sequence, &f->failure));
    assert_int_equal(sequence, 0);
    must(store_event_by_external_id(f->db, f->tenant, t->key, SLICE("ext"), &sequence, &f->failure));
    assert_int_equal(sequence, 0);
    must(store_event_by_external_id(f->db, f->other, s->key, SLICE("ext"), &sequence, &f->failure));
    assert_int_equal(sequence, 0);
}

/* --- the firehose --- */

static bool note_position(void *owner, const struct firehose_row *row)
{
    struct seen *seen = owner;
    struct position at = row->at;
    size_t used = strlen(seen->text);
    bool deleted = slice_is(event_type(row->event), "session.deleted");
    assert_true(row->session_key > 0);
    assert_true(at.major > seen->last.major || (at.major == seen->last.major && at.minor > seen->last.minor));
    assert_int_equal(deleted, row->audience.len > 0);
    seen->last = at;
    snprintf(seen->text + used, sizeof seen->text - used, "%s%.*s/%lld ", deleted ? "-" : "",
             SLICE_ARG(row->session_id), (long long)row->event->sequence);
    return ++seen->count != seen->stop_after;
}

static const char *read_firehose(struct fixture *f, int64_t tenant_key, struct seen *seen, struct position after,
                                 int64_t limit)
{
    *seen = (struct seen){.last = after};
    int64_t horizon;
    must(store_firehose_horizon(f->db, &horizon, &f->failure));
    must(store_firehose_read(f->db, tenant_key, after, horizon, limit, note_position, seen, &f->failure));
    return seen->text;
}

static void firehose_is_one_order(void **state)
{
    struct fixture *f = *state;
    struct position start = {0, 0}, end = {-1, -1};
    struct seen seen;
    must(store_firehose_end(f->db, f->tenant, INT64_MAX, &end, &f->failure));
    assert_int_equal(end.major, 0);
    struct session *a = fixture_session(f, f->tenant, "a", "u1", NULL);
    struct session *b = fixture_session(f, f->tenant, "b", "u1", NULL);
    struct session *foreign = fixture_session(f, f->other, "foreign", "u1", NULL);
    fixture_append(f, b, "x", "[]");
    fixture_append(f, foreign, "x", "[]");
    fixture_append(f, a, "x", "[]");
    assert_string_equal(read_firehose(f, f->tenant, &seen, start, 100), "a/1 b/1 b/2 a/2 ");
    must(store_firehose_end(f->db, f->tenant, INT64_MAX, &end, &f->failure));
    assert_int_equal(end.major, seen.last.major);
    assert_int_equal(end.minor, seen.last.minor);
    assert_string_equal(read_firehose(f, f->tenant, &seen, start, 2), "a/1 b/1 ");
    assert_string_equal(read_firehose(f, f->tenant, &seen, seen.last, 100), "b/2 a/2 ");
    assert_string_equal(read_firehose(f, f->tenant, &seen, end, 100), "");
    assert_string_equal(read_firehose(f, f->other, &seen, start, 100), "foreign/1 foreign/2 ");
    fixture_append(f, a, "x", "[]");
    assert_string_equal(read_firehose(f, f->tenant, &seen, end, 100), "a/3 ");
}

/* What is deleted leaves the firehose, which says so, and what comes after it is still after every position given
 * before. */
static void firehose_positions_are_not_reused(void **state)
{
    struct fixture *f = *state;
    struct position end;
    struct seen seen;
    fixture_session(f, f->tenant, "a", "u1", NULL);
    struct session *b = fixture_session(f, f->tenant, "b", "u1", NULL);
    for (int i = 0; i < 10; i++) {
        fixture_append(f, b, "x", "[]");
    }
    must(store_firehose_end(f->db, f->tenant, INT64_MAX, &end, &f->failure));
    fixture_begin(f);
    must(store_session_delete(f->db, b, SLICE("x"), 1, &f->failure));
    fixture_commit(f);
    assert_string_equal(read_firehose(f, f->tenant, &seen, end, 100), "-b/12 ");
    must(store_firehose_end(f->db, f->tenant, INT64_MAX, &seen.last, &f->failure));
    assert_string_equal(read_firehose(f, f->tenant, &seen, seen.last, 100), "");
    db_close(f->db);
    must(db_open(&fixture_database, &f->db, &f->failure));
    struct session *c = fixture_session(f, f->tenant, "c", "u1", NULL);
    assert_int_not_equal(c->key, b->key);
    assert_string_equal(read_firehose(f, f->tenant, &seen, end, 100), "-b/12 c/1 ");
    assert_string_equal(read_firehose(f, f->tenant, &seen, (struct position){0, 0}, 100), "a/1 -b/12 c/1 ");
}

static void firehose_finds_rare_events(void **state)
{
    struct fixture *f = *state;
    struct session *noise = fixture_session(f, f->other, "noise", "u1", NULL);
    struct session *rare = fixture_session(f, f->tenant, "rare", "u1", NULL);
    struct position end;
    struct seen seen;
    for (int round = 0; round < 3; round++) {
        fixture_begin(f);
        for (int i = 0; i < 400; i++) {
            struct changes changes = {.count = CHANGES_MAX};
            for (size_t e = 0; e < changes.count; e++) {
                changes.events[e] = (struct event){.custom = SLICE("x")};
            }
            fixture_write(f, noise, &changes);
        }
        fixture_commit(f);
        fixture_append(f, rare, "y", "[]");
    }
    assert_string_equal(read_firehose(f, f->tenant, &seen, (struct position){0, 0}, 100),
                        "rare/1 rare/2 rare/3 rare/4 ");
    must(store_firehose_end(f->db, f->tenant, INT64_MAX, &end, &f->failure));
    assert_int_equal(end.major, seen.last.major);
    assert_string_equal(read_firehose(f, f->tenant, &seen, (struct position){0, 0}, 3), "rare/1 rare/2 rare/3 ");
    assert_string_equal(read_firehose(f, f->tenant, &seen, seen.last, 3), "rare/4 ");
}

static void partial_output_of_a_deleted_session_is_not_kept(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct partial late = {1, 2, SLICE("[1,2]"), 7}, out = {.count = 9};
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("user:u1"), 1, &f->failure));
    must(store_partial_save(f->db, f->tenant, s->key, &late, &f->failure));
    fixture_commit(f);
    must(store_partial_load(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.count, 0);
}

static void partial_output_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct session *s = fixture_session(f, f->tenant, "s", "u1", NULL);
    struct partial out = {.count = 9};
    must(store_partial_load(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.count, 0);
    struct partial first = {1, 2, SLICE("[1,2]"), 7}, second = {1, 3, SLICE("[1,2,3]"), 8};
    fixture_begin(f);
    must(store_partial_save(f->db, f->tenant, s->key, &first, &f->failure));
    must(store_partial_save(f->db, f->tenant, s->key, &second, &f->failure));
    fixture_commit(f);
    must(store_partial_load(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.sequence, 1);
    assert_int_equal(out.count, 3);
    assert_slice(out.body, "[1,2,3]");
    assert_int_equal(out.saved_at_ms, 8);
    must(store_partial_load(f->db, f->other, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.count, 0);
    fixture_begin(f);
    must(store_session_delete(f->db, s, SLICE("user:u1"), f->now_ms, &f->failure));
    fixture_commit(f);
    must(store_partial_load(f->db, f->tenant, s->key, &f->arena, &out, &f->failure));
    assert_int_equal(out.count, 0);
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(gives_back_the_bytes),
    CONTRACT_TEST(reads_ranges_and_filters),
    CONTRACT_TEST(another_tenant_reads_nothing),
    CONTRACT_TEST(long_logs_have_no_gap),
    CONTRACT_TEST(large_events_have_no_gap),
    CONTRACT_TEST(reads_inside_the_transaction),
    CONTRACT_TEST(finds_external_ids),
    CONTRACT_TEST(firehose_is_one_order),
    CONTRACT_TEST(firehose_positions_are_not_reused),
    CONTRACT_TEST(firehose_finds_rare_events),
    CONTRACT_TEST(partial_output_is_replaced),
    CONTRACT_TEST(partial_output_of_a_deleted_session_is_not_kept),
};
const struct contract_part contract_events = {"events", tests, COUNT_OF(tests)};
