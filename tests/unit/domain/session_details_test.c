#include "domain/session_details.h"
#include "domain_unit.h"

static enum status merge(const char *old, const char *patch, struct slice *out, struct failure *failure)
{
    return session_details_merge(&test_arena, slice_of(old), patch ? json_of(patch) : NULL, out, failure);
}

/* A value of the right kind for each row of the table. */
static const char *good_value(const struct detail *detail)
{
    switch (detail->kind) {
    case DETAIL_TEXT:
        return "\"x\"";
    case DETAIL_WORD:
        return arena_format(&test_arena, "\"%.*s\"", (int)strcspn(detail->accepted, " "), detail->accepted).ptr;
    case DETAIL_COUNT:
        return "3";
    case DETAIL_TIME:
        return "\"2026-11-15T07:49:07Z\"";
    case DETAIL_OBJECT:
        return "{\"a\":[1]}";
    case DETAIL_CONTEXT:
        return "{\"working_dir\":\"/w\"}";
    case DETAIL_GIT:
        return "{\"branch\":\"main\"}";
    }
    return "";
}

static void every_key_accepts_its_kind_and_nothing_else(void **state)
{
    static const char *const values[] = {"true", "[]", "-1", "1.5", "\"\\u00e9 strange\""};
    (void)state;
    for (const struct detail *detail = session_details; detail->name; detail++) {
        struct slice out = {NULL, 0};
        struct slice good = arena_format(&test_arena, "{\"%s\":%s}", detail->name, good_value(detail));
        assert_row(detail->name, merge(NULL, good.ptr, &out, NULL) == STATUS_OK);
        assert_slice(out, good.ptr);
        for (size_t i = 0; i < COUNT_OF(values); i++) {
            struct slice bad = arena_format(&test_arena, "{\"%s\":%s}", detail->name, values[i]);
            struct failure failure = {0};
            bool is_text = detail->kind == DETAIL_TEXT && values[i][0] == '"';
            assert_row(detail->name, (merge(NULL, bad.ptr, &out, &failure) == STATUS_OK) == is_text);
            assert_row(detail->name, is_text || strcmp(failure.code, "invalid_detail") == 0);
        }
        struct slice removed = {NULL, 0};
        struct slice null = arena_format(&test_arena, "{\"%s\":null}", detail->name);
        assert_status(merge(good.ptr, null.ptr, &removed, NULL), STATUS_OK);
        assert_absent(removed);
    }
}

static void unknown_keys_are_refused_with_the_whole_list(void **state)
{
    struct failure failure = {0};
    struct slice out = {NULL, 0};
    (void)state;
    assert_status(merge(NULL, "{\"sandbox\":1}", &out, &failure), STATUS_INVALID);
    assert_string_equal(failure.code, "unknown_detail");
    for (const struct detail *detail = session_details; detail->name; detail++) {
        assert_row(detail->name, strstr(failure.detail, detail->name) != NULL);
    }
    assert_status(merge(NULL, "[]", &out, &failure), STATUS_INVALID);
    assert_status(merge("{\"repo_id\":\"r\"}", NULL, &out, &failure), STATUS_OK);
    assert_slice(out, "{\"repo_id\":\"r\"}");
}

static void size_is_limited(void **state)
{
    struct buffer text = {0};
    struct slice out = {NULL, 0};
    (void)state;
    buffer_add(&text, SLICE("{\"system_prompt\":\""));
    for (int i = 0; i < DETAILS_BYTES_MAX; i++) {
        buffer_add_byte(&text, 'x');
    }
    buffer_add(&text, SLICE("\"}"));
    buffer_add_byte(&text, '\0');
    assert_status(merge(NULL, arena_copy(&test_arena, buffer_slice(&text)).ptr, &out, NULL), STATUS_TOO_LARGE);
    buffer_release(&text);
}

static void readers_see_defaults(void **state)
{
    static const struct {
        const char *key, *expected;
    } rows[] = {
        {"idle_timeout_minutes", "30"},
        {"auto_delete_days", "7"},
        {"billing_token_version", "1"},
        {"alive_check_failures", "0"},
        {"sandbox_provider", "\"local\""},
        {"session_kind", "\"coding\""},
        {"origin", "\"web\""},
        {"tunnel_urls", "{}"},
        {"snapshot_id", "null"},
        {"repo_id", "\"r\""},
    };
    struct session session = {.details = SLICE("{\"repo_id\":\"r\"}")};
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    (void)state;
    session_details_write(&out, &session);
    buffer_add_byte(&buffer, '\0');
    const struct json *object = json_of(buffer.ptr);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_slice(json_get(object, rows[i].key)->raw, rows[i].expected);
    }
    buffer_release(&buffer);
}

static void a_key_is_there_only_as_a_key(void **state)
{
    struct session session = {.details = SLICE("{\"repo_id\":\"snapshot_id\"}")};
    (void)state;
    assert_false(session_details_has(&session, "snapshot_id"));
    session.details = SLICE("{\"snapshot_id\":null}");
    assert_false(session_details_has(&session, "snapshot_id"));
    session.details = SLICE("{\"snapshot_id\":\"im-1\"}");
    assert_true(session_details_has(&session, "snapshot_id"));
    session.details = (struct slice){NULL, 0};
    assert_false(session_details_has(&session, "snapshot_id"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_accepts_its_kind_and_nothing_else),
        cmocka_unit_test(unknown_keys_are_refused_with_the_whole_list),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(readers_see_defaults),
        cmocka_unit_test(a_key_is_there_only_as_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
