#include "unit.h"

#include "cli/forwarded_options.h"

static const char *const colour_names[] = {"red", "green"};
static const struct enum_names colour_enum = {colour_names, 2};
static const struct option table[] = {
    PASS_TEXT("thread-id", "THREAD", "A text."),     PASS_NUMBER("limit", 1, 10, "A number."),
    PASS_TIME("ttl-ms", 1000000, "A time."),         PASS_SWITCH("interactive", "A switch."),
    PASS_CHOICE("colour", colour_enum, "A word."),   PASS_WORDS("scopes", "SCOPES", "Words."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "Pairs."), {0},
};
static const struct option *const tables[] = {table, NULL};

static struct arena arena;
static struct arguments arguments;
static struct failure failure;

static void parse(int argc, const char *const *argv)
{
    arena_reset(&arena);
    failure = (struct failure){0};
    assert_status(arguments_parse(tables, argc, (char *const *)argv, &arena, &arguments, &failure), STATUS_OK);
}

#define PARSE(...) parse((int)COUNT_OF(((const char *const[]){__VA_ARGS__})), (const char *const[]){__VA_ARGS__})

static void expect_query(const char *expected)
{
    struct buffer query = {0};
    assert_status(forwarded_options_to_query(&arguments, table, &arena, &query, &failure), STATUS_OK);
    assert_slice(buffer_slice(&query), expected);
    buffer_release(&query);
}

static void expect_body(const char *expected)
{
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    json_begin_object(&out);
    assert_status(forwarded_options_to_body(&arguments, table, &arena, &out, &failure), STATUS_OK);
    json_end_object(&out);
    assert_slice(buffer_slice(&body), expected);
    buffer_release(&body);
}

static void expect_refused(const char *part)
{
    struct buffer query = {0};
    assert_status(forwarded_options_to_query(&arguments, table, &arena, &query, &failure), STATUS_INVALID);
    if (!strstr(failure.detail, part)) {
        fail_msg("\"%s\" does not say \"%s\"", failure.detail, part);
    }
    buffer_release(&query);
}

static void test_query(void **state)
{
    (void)state;
    PARSE("one");
    expect_query("");
    PARSE("--thread-id", "a b&c=d", "--limit", "7", "--no-interactive", "--colour=green", "--ttl-ms", "2s");
    expect_query("thread_id=a%20b%26c%3Dd&limit=7&ttl_ms=2000&interactive=false&colour=green");
    PARSE("--metadata", "a=b=c", "--metadata", "x y=");
    expect_query("metadata.a=b%3Dc&metadata.x%20y=");
    PARSE("--limit", "3", "--limit", "4");
    expect_query("limit=4");
}

static void test_body(void **state)
{
    (void)state;
    PARSE("one");
    expect_body("{}");
    PARSE("--thread-id", "say \"hi\"", "--limit", "7", "--interactive", "--colour=red", "--ttl-ms", "1m");
    expect_body(
        "{\"thread_id\":\"say \\\"hi\\\"\",\"limit\":7,\"ttl_ms\":60000,\"interactive\":true,\"colour\":\"red\"}");
    PARSE("--scopes", "read, write", "--scopes", "claim", "--metadata", "a=1", "--metadata", "b=");
    expect_body("{\"scopes\":[\"read\",\"write\",\"claim\"],\"metadata\":{\"a\":\"1\",\"b\":\"\"}}");
}

static void test_refused(void **state)
{
    (void)state;
    PARSE("--limit", "11");
    expect_refused("--limit: \"11\" is not accepted; give 1 to 10");
    PARSE("--colour", "mauve");
    expect_refused("give red or green");
    PARSE("--metadata", "novalue");
    expect_refused("give KEY=VALUE");
    PARSE("--metadata", "=value");
    expect_refused("give KEY=VALUE");
    PARSE("--thread-id", "");
    expect_refused("--thread-id");
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
