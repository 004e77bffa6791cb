#include "domain/change.h"
#include "domain_unit.h"

static struct session sample(void)
{
    struct session_input input = {.type = SLICE("agent"),
                                  .title = SLICE("Old"),
                                  .metadata = json_of("{\"a\":1,\"b\":2}"),
                                  .details = json_of("{\"repo_id\":\"r\"}"),
                                  .ttl_ms = -1};
    return create_with(input, "s1", "u1");
}

static enum status update(struct session *session, const char *patch, struct changes *out, struct failure *failure)
{
    return change_update(&test_arena, session, json_of(patch), &test_limits, START_MS + 100, out, failure);
}

static void what_differs_is_written(void **state)
{
    struct session session = sample();
    struct changes changes;
    (void)state;
    assert_status(update(&session,
                         "{\"title\":\"New\",\"metadata\":{\"b\":null,\"c\":\"x\"},\"visibility\":\"org_visible\","
                         "\"queue_mode\":\"steer\",\"details\":{\"branch_name\":\"main\"},\"ttl_ms\":1000}",
                         &changes, NULL),
                  STATUS_OK);
    assert_int_equal(changes.count, 1);
    assert_slice(event_type(&changes.events[0]), "session.updated");
    apply_changes(&session, &changes, START_MS + 100);
    assert_slice(session.title, "New");
    assert_slice(session.metadata, "{\"a\":1,\"c\":\"x\"}");
    assert_int_equal(session.visibility, VISIBILITY_ORG_VISIBLE);
    assert_int_equal(session.queue_mode, QUEUE_STEER);
    assert_slice(session.details, "{\"repo_id\":\"r\",\"branch_name\":\"main\"}");
    assert_int_equal(session.expires_at_ms, START_MS + 1100);
    assert_status(update(&session,
                         "{\"title\":null,\"ttl_ms\":null,\"details\":{\"repo_id\":null,\"branch_name\":null},"
                         "\"metadata\":{\"a\":null,\"c\":null}}",
                         &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS + 101);
    assert_absent(session.title);
    assert_absent(session.metadata);
    assert_absent(session.details);
    assert_int_equal(session.expires_at_ms, 0);
}

static void what_is_the_same_writes_nothing(void **state)
{
    static const char *const same[] = {
        "{}",
        "{\"title\":\"Old\"}",
        "{\"metadata\":{\"a\":1}}",
        "{\"metadata\":{\"zz\":null}}",
        "{\"visibility\":\"private\",\"queue_mode\":\"followup\"}",
        "{\"details\":{\"repo_id\":\"r\"}}",
        "{\"ttl_ms\":0}",
        "{\"metadata\":null,\"details\":null}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct session session = sample();
        struct changes changes;
        assert_row(same[i], update(&session, same[i], &changes, NULL) == STATUS_OK);
        assert_row(same[i], changes.count == 0);
    }
}

static void wrong_patches_are_refused(void **state)
{
    static const struct {
        const char *patch, *code;
    } rows[] = {
        {"[]", "invalid_patch"},
        {"{\"status\":\"completed\"}", "unknown_member"},
        {"{\"type\":\"tool\"}", "unknown_member"},
        {"{\"owner_id\":\"u2\"}", "unknown_member"},
        {"{\"title\":5}", "invalid_value"},
        {"{\"visibility\":\"public\"}", "invalid_value"},
        {"{\"visibility\":null}", "invalid_value"},
        {"{\"queue_mode\":3}", "invalid_value"},
        {"{\"metadata\":{\"a\":[]}}", "invalid_metadata"},
        {"{\"details\":{\"nope\":1}}", "unknown_detail"},
        {"{\"ttl_ms\":-1}", "invalid_ttl"},
        {"{\"ttl_ms\":1.5}", "invalid_ttl"},
        {"{\"ttl_ms\":\"1\"}", "invalid_ttl"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = sample();
        struct changes changes;
        struct failure failure = {0};
        assert_row(rows[i].patch, update(&session, rows[i].patch, &changes, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, rows[i].code);
        assert_int_equal(changes.count, 0);
    }
}

static void merged_metadata_is_limited(void **state)
{
    struct session session = sample();
    struct changes changes;
    char patch[400];
    (void)state;
    snprintf(patch, sizeof patch, "{\"metadata\":{\"c\":\"%0*d\"}}", 300, 0);
    assert_status(update(&session, patch, &changes, NULL), STATUS_OK);
    apply_changes(&session, &changes, START_MS);
    snprintf(patch, sizeof patch, "{\"metadata\":{\"d\":\"%0*d\"}}", 100, 0);
    assert_status(update(&session, patch, &changes, NULL), STATUS_TOO_LARGE);
}

/* --- open --- */

static enum status open(const struct session *session, const char *metadata, struct changes *out,
                        struct failure *failure)
{
    struct session_input input = {
        .metadata = metadata ? json_of(metadata) : NULL, .source = json_of("{\"kind\":\"cli\"}"), .ttl_ms = -1};
    return change_open(&test_arena, session, &input, &test_limits, out, failure);
}

static void opening_merges_metadata_and_keeps_the_source(void **state)
{
    struct session session = sample();
    struct changes changes;
    (void)state;
    assert_status(open(&session, "{\"b\":3,\"c\":4}", &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 1);
    apply_changes(&session, &changes, START_MS + 1);
    assert_slice(session.metadata, "{\"a\":1,\"b\":3,\"c\":4}");
    assert_slice(session.source_kind, "api");
    assert_status(open(&session, "{\"b\":3}", &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
    assert_status(open(&session, NULL, &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
}

static void opening_a_running_session_leaves_it_running(void **state)
{
    struct session session = create_in(TYPE_MIXED, "running");
    struct changes changes;
    (void)state;
    assert_status(open(&session, NULL, &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
    assert_int_equal(session.status, SESSION_RUNNING);
}

static void opening_wakes_what_was_ended_or_hidden(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = sample();
        struct changes changes;
        session.status = (enum session_status)work;
        session.completed_at_ms = session_status_is_ended((enum session_status)work) ? START_MS : 0;
        session.archived_at_ms = START_MS;
        assert_status(open(&session, "{\"n\":1}", &changes, NULL), STATUS_OK);
        assert_true(changes.count <= CHANGES_MAX);
        apply_changes(&session, &changes, START_MS + 5);
        assert_int_equal(session.archived_at_ms, 0);
        assert_int_equal(session.status, session_status_can_reopen((enum session_status)work)
                                             ? SESSION_IDLE
                                             : (enum session_status)work);
        assert_slice(session.metadata, "{\"a\":1,\"b\":2,\"n\":1}");
    }
}

static void the_type_never_changes(void **state)
{
    struct session session = sample();
    struct session_input input = {.type = SLICE("mixed"), .ttl_ms = -1};
    struct changes changes;
    struct failure failure;
    (void)state;
    assert_status(change_open(&test_arena, &session, &input, &test_limits, &changes, &failure), STATUS_CONFLICT);
    assert_string_equal(failure.code, "type_mismatch");
    input.type = SLICE("agent");
    assert_status(change_open(&test_arena, &session, &input, &test_limits, &changes, &failure), STATUS_OK);
    input.type = SLICE("robot");
    assert_status(change_open(&test_arena, &session, &input, &test_limits, &changes, &failure), STATUS_INVALID);
}

static void a_submitted_form_is_not_reopened_by_opening(void **state)
{
    struct session session = create_in(TYPE_RESPONSE, "draft");
    struct changes changes;
    (void)state;
    session.status = SESSION_COMPLETED;
    assert_status(open(&session, NULL, &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_written),
        cmocka_unit_test(what_is_the_same_writes_nothing),
        cmocka_unit_test(wrong_patches_are_refused),
        cmocka_unit_test(merged_metadata_is_limited),
        cmocka_unit_test(opening_merges_metadata_and_keeps_the_source),
        cmocka_unit_test(opening_a_running_session_leaves_it_running),
        cmocka_unit_test(opening_wakes_what_was_ended_or_hidden),
        cmocka_unit_test(the_type_never_changes),
        cmocka_unit_test(a_submitted_form_is_not_reopened_by_opening),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
