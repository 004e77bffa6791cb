#include "domain/prompt.h"
#include "domain_unit.h"

static void extras_are_checked_and_joined(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *sender, *attachments, *mentioned, *message_id;
        const char *code; /* NULL = accepted */
        const char *out;  /* NULL = absent */
    } rows[] = {
        {NULL, NULL, NULL, NULL, NULL, NULL, NULL},
        {"{}", NULL, NULL, NULL, NULL, NULL, "{}"},
        {"{\"a\":1}", "{\"channel\":\"c\"}", "[{\"type\":\"x\",\"url\":\"u\"}]", "true", "m", NULL,
         "{\"a\":1,\"sender\":{\"channel\":\"c\"},\"attachments\":[{\"type\":\"x\",\"url\":\"u\"}],"
         "\"mentioned\":true,\"message_id\":\"m\"}"},
        {"{\"prompts\":1}", NULL, NULL, NULL, NULL, "invalid_metadata", NULL},
        {"{\"message_id\":1}", NULL, NULL, NULL, NULL, "invalid_metadata", NULL},
        {NULL, "{\"who\":\"c\"}", NULL, NULL, NULL, "invalid_sender", NULL},
        {NULL, "{\"channel\":5}", NULL, NULL, NULL, "invalid_sender", NULL},
        {NULL, "{\"channel\":\"\"}", NULL, NULL, NULL, "invalid_length", NULL},
        {NULL, NULL, "[{\"url\":\"u\"}]", NULL, NULL, "invalid_attachments", NULL},
        {NULL, NULL, "[{\"type\":\"x\"}]", NULL, NULL, "invalid_attachments", NULL},
        {NULL, NULL, "[{\"type\":\"x\",\"url\":\"u\",\"data\":\"d\"}]", NULL, NULL, "invalid_attachments", NULL},
        {NULL, NULL, "[[]]", NULL, NULL, "invalid_attachments", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prompt_extras extras = {
            .metadata = rows[i].metadata ? json_of(rows[i].metadata) : NULL,
            .sender = rows[i].sender ? json_of(rows[i].sender) : NULL,
            .attachments = rows[i].attachments ? json_of(rows[i].attachments) : NULL,
            .mentioned = rows[i].mentioned ? json_of(rows[i].mentioned) : NULL,
            .message_id = slice_of(rows[i].message_id),
        };
        struct slice out = {0};
        struct failure failure = {0};
        enum status status = prompt_metadata_of(&test_arena, &extras, &out, &failure);
        assert_int_equal(status, rows[i].code ? STATUS_INVALID : STATUS_OK);
        assert_string_equal(failure.code, rows[i].code ? rows[i].code : "");
        assert_true(rows[i].out ? slice_is(out, rows[i].out) : !slice_present(out));
    }
}

static int release(void **state)
{
    (void)state;
    arena_release(&test_arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(extras_are_checked_and_joined)};
    return cmocka_run_group_tests(tests, NULL, release);
}
