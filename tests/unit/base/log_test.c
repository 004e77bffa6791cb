#include "unit.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"

static int real_stderr;
static FILE *captured;

static int capture(void **state)
{
    (void)state;
    real_stderr = dup(STDERR_FILENO);
    captured = tmpfile();
    return real_stderr < 0 || !captured || dup2(fileno(captured), STDERR_FILENO) < 0;
}

static int restore(void **state)
{
    (void)state;
    log_configure(LOG_INFO, LOG_FORMAT_TEXT);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    return fclose(captured);
}

/* Everything logged so far in this test. */
static struct slice read_log(void)
{
    static char text[4096];
    ssize_t len = pread(fileno(captured), text, sizeof text - 1, 0);
    return slice_from(text, len > 0 ? (size_t)len : 0);
}

static void test_text_line(void **state)
{
    (void)state;
    log_configure(LOG_INFO, LOG_FORMAT_TEXT);
    log_info("listening", LOG_TEXT("address", SLICE("127.0.0.1")), LOG_NUM("port", 8080));
    struct slice line = slice_after(read_log(), 24);
    assert_slice(line, " info  listening address=127.0.0.1 port=8080\n");
}

static void test_text_is_quoted_when_it_must(void **state)
{
    (void)state;
    log_configure(LOG_INFO, LOG_FORMAT_TEXT);
    log_warn("odd", LOG_TEXT("a", SLICE("two words\n")), LOG_TEXT("b", SLICE("")), LOG_TEXT("c", SLICE("x=y")));
    assert_slice(slice_after(read_log(), 24), " warn  odd a=\"two words\\n\" b=\"\" c=\"x=y\"\n");
}

static void test_json_line(void **state)
{
    (void)state;
    log_configure(LOG_INFO, LOG_FORMAT_JSON);
    log_error("failed", LOG_TEXT("why", SLICE("disk \"a\"")), LOG_NUM("count", -3));
    struct arena arena = {0};
    const struct json *line = NULL;
    assert_status(json_parse(&arena, read_log(), &line, NULL), STATUS_OK);
    assert_slice(json_text_of(line, "level"), "error");
    assert_slice(json_text_of(line, "event"), "failed");
    assert_slice(json_text_of(line, "why"), "disk \"a\"");
    assert_int_equal(json_i64_of(line, "count"), -3);
    assert_int_equal(json_text_of(line, "time").len, 24);
    arena_release(&arena);
}

static void test_levels(void **state)
{
    (void)state;
    log_configure(LOG_WARN, LOG_FORMAT_TEXT);
    assert_false(log_enabled(LOG_INFO));
    assert_true(log_enabled(LOG_WARN));
    assert_true(log_enabled(LOG_ERROR));
    log_debug("no", LOG_NUM("n", 1));
    log_info("no", LOG_NUM("n", 1));
    assert_slice(read_log(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text_line, capture, restore),
        cmocka_unit_test_setup_teardown(test_text_is_quoted_when_it_must, capture, restore),
        cmocka_unit_test_setup_teardown(test_json_line, capture, restore),
        cmocka_unit_test_setup_teardown(test_levels, capture, restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
