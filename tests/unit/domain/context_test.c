#include "domain/context.h"
#include "domain_unit.h"

static void every_key_is_checked(void **state)
{
    static const struct {
        const char *text, *code; /* code NULL = fine */
    } rows[] = {
        {"{}", NULL},
        {"{\"working_dir\":\"/w\",\"active_file\":\"a\",\"git_ref\":\"main\",\"fs_scope\":\"full\"}", NULL},
        {"{\"working_dir\":null}", NULL},
        {"{\"selection\":{\"file\":\"a\",\"start_line\":1,\"end_line\":1}}", NULL},
        {"{\"variables\":{\"ticket\":\"A-1\"}}", NULL},
        {"[]", "invalid_context"},
        {"{\"cwd\":\"/w\"}", "invalid_context"},
        {"{\"git_ref\":1}", "invalid_context"},
        {"{\"fs_scope\":\"half\"}", "invalid_context"},
        {"{\"selection\":\"a:1\"}", "invalid_context"},
        {"{\"selection\":{\"file\":\"a\",\"start_line\":0,\"end_line\":1}}", "invalid_context"},
        {"{\"selection\":{\"file\":\"a\",\"start_line\":2,\"end_line\":1}}", "invalid_context"},
        {"{\"selection\":{\"file\":\"a\",\"start_line\":1,\"end_line\":1,\"x\":1}}", "invalid_context"},
        {"{\"variables\":{\"n\":1}}", "invalid_context"},
        {"{\"variables\":{\"password\":\"hunter2hunter2\"}}", "secret_in_context"},
        {"{\"variables\":{\"x\":\"ghp_0123456789abcdefghijABCDEFGHIJ012345\"}}", "secret_in_context"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        enum status status = context_check(json_of(rows[i].text), &failure);
        assert_row(rows[i].text, (status == STATUS_OK) == !rows[i].code);
        assert_row(rows[i].text, !rows[i].code || strcmp(failure.code, rows[i].code) == 0);
        assert_row(rows[i].text, !strstr(failure.detail, "ghp_") && !strstr(failure.detail, "hunter2"));
    }
}

static void texts_have_a_limit(void **state)
{
    struct buffer text = {0};
    (void)state;
    buffer_add(&text, SLICE("{\"working_dir\":\""));
    for (int i = 0; i < 4097; i++) {
        buffer_add_byte(&text, 'x');
    }
    buffer_add(&text, SLICE("\"}"));
    buffer_add_byte(&text, '\0');
    assert_int_equal(context_check(json_of(text.ptr), NULL), STATUS_INVALID);
    buffer_release(&text);
}

static void the_scope_it_asks_for(void **state)
{
    struct session session = {0};
    (void)state;
    assert_int_equal(context_fs_scope(&session, FS_SCOPE_PROJECT), FS_SCOPE_PROJECT);
    session.details = SLICE("{\"context\":{\"git_ref\":\"x\"}}");
    assert_int_equal(context_fs_scope(&session, FS_SCOPE_PROJECT), FS_SCOPE_PROJECT);
    session.details = SLICE("{\"context\":{\"fs_scope\":\"sandboxed\"}}");
    assert_int_equal(context_fs_scope(&session, FS_SCOPE_PROJECT), FS_SCOPE_SANDBOXED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_checked),
        cmocka_unit_test(texts_have_a_limit),
        cmocka_unit_test(the_scope_it_asks_for),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
