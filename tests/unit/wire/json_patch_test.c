#include "unit.h"

#include "base/budget.h"
#include "wire/json_patch.h"

static const struct json_patch_limits roomy = {.ops_max = 100, .result_bytes_max = 10000};
static struct arena arena;
static struct buffer result;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    buffer_release(&result);
    return 0;
}

static const struct json *parse(const char *text)
{
    const struct json *value = NULL;
    assert_status(json_parse(&arena, slice_of(text), &value, NULL), STATUS_OK);
    return value;
}

static enum status patch(const char *document, const char *ops, const struct json_patch_limits *limits,
                         struct failure *failure)
{
    struct json_patch parsed;
    result.len = 0;
    enum status status = json_patch_parse(&arena, parse(ops), limits, &parsed, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = json_patch_apply(&arena, parse(document), &parsed, limits, &result, failure);
    assert_true(status == STATUS_OK || result.len == 0);
    return status;
}

static void test_results(void **state)
{
    (void)state;
    static const struct {
        const char *document;
        const char *ops;
        const char *result;
    } rows[] = {
        {"{ \"a\" : 1 }", "[]", "{ \"a\" : 1 }"},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":[ 2 ]}]", "{\"a\":1,\"b\":[ 2 ]}"},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null,\"b\":2}"},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":0}]", "[0,1,2]"},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]", "[1,2,3]"},
        {"[1,2]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":3}]", "[1,2,3]"},
        {"[[1]]", "[{\"op\":\"add\",\"path\":\"/0/-\",\"value\":2}]", "[[1,2]]"},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[]}]", "[]"},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}"},
        {"[1,2,3]", "[{\"op\":\"remove\",\"path\":\"/1\"}]", "[1,3]"},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"x\":1}}]",
         "{\"a\":{\"x\":1},\"b\":2}"},
        {"1", "[{\"op\":\"replace\",\"path\":\"\",\"value\":2}]", "2"},
        {"{\"a\":1,\"b\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b/c\"}]", "{\"b\":{\"c\":1}}"},
        {"[1,2,3]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]", "[2,3,1]"},
        {"[1,2,3]", "[{\"op\":\"move\",\"from\":\"/1\",\"path\":\"/1\"}]", "[1,2,3]"},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"\"}]", "1"},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"\"}]", "{\"a\":1}"},
        {"{\"a\":[1]}",
         "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},{\"op\":\"add\",\"path\":\"/b/-\",\"value\":2}]",
         "{\"a\":[1],\"b\":[1,2]}"},
        {"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}]", "{\"a\":{\"a\":1}}"},
        {"{\"a\":[1,{\"b\":2}]}", "[{\"op\":\"test\",\"path\":\"/a/1\",\"value\":{\"b\":2.0}}]",
         "{\"a\":[1,{\"b\":2}]}"},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"test\",\"path\":\"\",\"value\":{}}]", "{}"},
        {"{\"a/b\":1,\"m~n\":2}", "[{\"op\":\"remove\",\"path\":\"/a~1b\"},{\"op\":\"remove\",\"path\":\"/m~0n\"}]",
         "{}"},
        {"{\"a\":{ \"untouched\" : 1.50 },\"b\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]",
         "{\"a\":{ \"untouched\" : 1.50 }}"},
        {"{\"q\\\"\":1,\"b\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", "{\"q\\\"\":1}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        assert_row(rows[i].ops, patch(rows[i].document, rows[i].ops, &roomy, &failure) == STATUS_OK);
        assert_slice(buffer_slice(&result), rows[i].result);
    }
}

static void test_malformed(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{}",
        "\"x\"",
        "[1]",
        "[{}]",
        "[{\"op\":\"spam\",\"path\":\"\"}]",
        "[{\"op\":1,\"path\":\"\"}]",
        "[{\"op\":\"remove\"}]",
        "[{\"op\":\"remove\",\"path\":1}]",
        "[{\"op\":\"remove\",\"path\":\"a\"}]",
        "[{\"op\":\"remove\",\"path\":\"/~2\"}]",
        "[{\"op\":\"remove\",\"path\":\"\"}]",
        "[{\"op\":\"add\",\"path\":\"/a\"}]",
        "[{\"op\":\"replace\",\"path\":\"/a\"}]",
        "[{\"op\":\"test\",\"path\":\"/a\"}]",
        "[{\"op\":\"move\",\"path\":\"/a\"}]",
        "[{\"op\":\"copy\",\"path\":\"/a\",\"from\":\"b\"}]",
        "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
        "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a\"}]",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        assert_row(rows[i], patch("{\"a\":1}", rows[i], &roomy, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_patch");
    }
}

static void test_conflicts(void **state)
{
    (void)state;
    static const struct {
        const char *ops;
        const char *code;
    } rows[] = {
        {"[{\"op\":\"remove\",\"path\":\"/x\"}]", "patch_path_missing"},
        {"[{\"op\":\"remove\",\"path\":\"/list/2\"}]", "patch_path_missing"},
        {"[{\"op\":\"remove\",\"path\":\"/list/-\"}]", "patch_path_missing"},
        {"[{\"op\":\"replace\",\"path\":\"/x\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"replace\",\"path\":\"/list/-\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"add\",\"path\":\"/list/3\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"add\",\"path\":\"/list/01\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"add\",\"path\":\"/list/x\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"add\",\"path\":\"/x/y\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"add\",\"path\":\"/n/y\",\"value\":1}]", "patch_path_missing"},
        {"[{\"op\":\"move\",\"from\":\"/x\",\"path\":\"/y\"}]", "patch_path_missing"},
        {"[{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/y\"}]", "patch_path_missing"},
        {"[{\"op\":\"test\",\"path\":\"/x\",\"value\":null}]", "patch_path_missing"},
        {"[{\"op\":\"test\",\"path\":\"/n\",\"value\":2}]", "patch_test_failed"},
        {"[{\"op\":\"test\",\"path\":\"/n\",\"value\":\"1\"}]", "patch_test_failed"},
        {"[{\"op\":\"remove\",\"path\":\"/n\"},{\"op\":\"remove\",\"path\":\"/n\"}]", "patch_path_missing"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        assert_row(rows[i].ops, patch("{\"n\":1,\"list\":[1,2]}", rows[i].ops, &roomy, &failure) == STATUS_CONFLICT);
        assert_string_equal(failure.code, rows[i].code);
    }
}

static void test_document_is_not_changed(void **state)
{
    (void)state;
    const struct json *document = parse("{\"a\":[1,2],\"b\":2}");
    struct json_patch parsed;
    const struct json *ops =
        parse("[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":0},{\"op\":\"remove\",\"path\":\"/b\"}]");
    assert_status(json_patch_parse(&arena, ops, &roomy, &parsed, NULL), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        result.len = 0;
        assert_status(json_patch_apply(&arena, document, &parsed, &roomy, &result, NULL), STATUS_OK);
        assert_slice(buffer_slice(&result), "{\"a\":[0,1,2]}");
    }
    assert_slice(document->raw, "{\"a\":[1,2],\"b\":2}");
    assert_int_equal(document->count, 2);
    assert_int_equal(document->child->count, 2);
}

static void test_limits(void **state)
{
    (void)state;
    struct failure failure;
    struct json_patch_limits tight = {.ops_max = 2, .result_bytes_max = 20};
    assert_status(patch("[]",
                        "[{\"op\":\"add\",\"path\":\"/-\",\"value\":1},{\"op\":\"add\",\"path\":\"/-\",\"value\":1}]",
                        &tight, &failure),
                  STATUS_OK);
    assert_status(patch("[]",
                        "[{\"op\":\"test\",\"path\":\"\",\"value\":[]},{\"op\":\"test\",\"path\":\"\",\"value\":[]},"
                        "{\"op\":\"test\",\"path\":\"\",\"value\":[]}]",
                        &tight, &failure),
                  STATUS_TOO_LARGE);
    assert_status(
        patch("[]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":\"12345678901234567890\"}]", &tight, &failure),
        STATUS_TOO_LARGE);
    assert_string_equal(failure.code, "patch_too_large");
}

/* Each copy doubles the document: without limits sixty of them would fill any memory. */
static void test_copies_cannot_explode(void **state)
{
    (void)state;
    struct buffer ops = {0};
    struct failure failure;
    for (int i = 0; i < 60; i++) {
        buffer_format(&ops, "%c{\"op\":\"copy\",\"from\":\"\",\"path\":\"/x%d\"}", i ? ',' : '[', i);
    }
    buffer_add(&ops, SLICE("]\0"));
    assert_status(patch("{\"a\":[1,2,3]}", ops.ptr, &roomy, &failure), STATUS_TOO_LARGE);
    /* Nor may they replace each other for ever. */
    ops.len = 0;
    for (int i = 0; i < 100; i++) {
        buffer_format(&ops, "%c{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}", i ? ',' : '[');
    }
    buffer_add(&ops, SLICE("]\0"));
    struct json_patch_limits limits = {.ops_max = 100, .result_bytes_max = 40};
    assert_status(patch("{\"a\":[1,2,3]}", ops.ptr, &limits, &failure), STATUS_TOO_LARGE);
    assert_status(patch("{\"a\":[1,2,3]}", ops.ptr, &roomy, &failure), STATUS_OK);
    assert_true(arena.used_bytes < 10u << 20);
    buffer_release(&ops);
}

static void test_depth(void **state)
{
    (void)state;
    struct buffer value = {0};
    struct failure failure;
    for (int depth = JSON_DEPTH_MAX - 3; depth < JSON_DEPTH_MAX; depth++) {
        value.len = 0;
        for (int i = 0; i < depth; i++) {
            buffer_add_byte(&value, '[');
        }
        for (int i = 0; i < depth; i++) {
            buffer_add_byte(&value, ']');
        }
        /* The document {"a":[]} with the value at /a/0 nests two containers more. */
        struct json_patch parsed;
        const struct json *deep = NULL;
        assert_status(json_parse(&arena, buffer_slice(&value), &deep, NULL), STATUS_OK);
        struct json_pointer path;
        assert_true(json_pointer_parse(&arena, SLICE("/a/0"), &path));
        struct json_patch_op add = {.kind = PATCH_ADD, .path = path, .path_text = SLICE("/a/0"), .value = deep};
        parsed = (struct json_patch){&add, 1};
        result.len = 0;
        enum status status = json_patch_apply(&arena, parse("{\"a\":[]}"), &parsed, &roomy, &result, &failure);
        assert_status(status, depth + 2 <= JSON_DEPTH_MAX ? STATUS_OK : STATUS_TOO_LARGE);
        const struct json *again;
        assert_true(status != STATUS_OK || json_parse(&arena, buffer_slice(&result), &again, NULL) == STATUS_OK);
    }
    buffer_release(&value);
}

static void test_the_budget_ends_a_patch(void **state)
{
    const struct budget_limits small = {
        .steps_max = 20000, .timeout_ms = 60000, .steps_option = "steps", .timeout_option = "time"};
    const struct json_patch_limits wide = {.ops_max = 1000, .result_bytes_max = 1000000};
    struct buffer document = {0}, ops = {0};
    struct failure failure = {0};
    (void)state;
    for (int i = 0; i < 500; i++) {
        buffer_format(&document, "%c%d", i ? ',' : '[', i);
        buffer_format(&ops, "%c{\"op\":\"move\",\"from\":\"/499\",\"path\":\"/250\"}", i ? ',' : '[');
    }
    buffer_add(&document, SLICE("]\0"));
    buffer_add(&ops, SLICE("]\0"));
    budget_begin(&small);
    enum status status = patch(document.ptr, ops.ptr, &wide, &failure);
    budget_end();
    assert_status(status, STATUS_TOO_COSTLY);
    assert_string_equal(failure.code, "too_many_steps");
    assert_status(patch(document.ptr, ops.ptr, &wide, &failure), STATUS_OK);
    buffer_release(&document);
    buffer_release(&ops);
}

/* What is looked up in the copy under change is found there, not in the document. */
static void test_large_objects_change(void **state)
{
    struct buffer document = {0};
    (void)state;
    for (int i = 0; i < 30; i++) {
        buffer_format(&document, "%c\"k%d\":%d", i ? ',' : '{', i, i);
    }
    buffer_add(&document, SLICE("}\0"));
    assert_status(patch(document.ptr,
                        "[{\"op\":\"replace\",\"path\":\"/k9\",\"value\":\"new\"},"
                        "{\"op\":\"test\",\"path\":\"/k9\",\"value\":\"new\"},"
                        "{\"op\":\"remove\",\"path\":\"/k8\"},{\"op\":\"add\",\"path\":\"/x\",\"value\":1},"
                        "{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/k7\"}]",
                        &roomy, NULL),
                  STATUS_OK);
    assert_status(patch(document.ptr,
                        "[{\"op\":\"remove\",\"path\":\"/k8\"},{\"op\":\"test\",\"path\":\"/k8\",\"value\":8}]", &roomy,
                        NULL),
                  STATUS_CONFLICT);
    buffer_release(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_document_is_not_changed),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_copies_cannot_explode),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_the_budget_ends_a_patch),
        cmocka_unit_test(test_large_objects_change),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
