#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "main/options.h"

static struct arena arena;
static struct options options;
static struct failure failure;
static enum option_origin *origins;

static enum status load(const char *const *environment, int argc, const char *const *argv)
{
    struct arguments arguments;
    arena_reset(&arena);
    memset(&options, 0, sizeof options);
    failure = (struct failure){0};
    origins = arena_array(&arena, option_table_count(server_options), sizeof *origins);
    assert_int_equal(arguments_parse(server_option_tables, argc, (char *const *)argv, &arena, &arguments, &failure),
                     STATUS_OK);
    struct invocation invocation = {
        .arguments = &arguments, .arena = &arena, .environment = (char *const *)environment};
    return options_load(&invocation, &options, origins, &failure);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__})
#define LOAD(environment, ...) load(environment, (int)COUNT_OF(TEXTS(__VA_ARGS__)), TEXTS(__VA_ARGS__))

static const char *const no_environment[] = {NULL};

static enum option_origin origin_of(const char *name)
{
    return origins[option_find(server_options, slice_of(name)) - server_options];
}

static void write_file(char path[], const char *text)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void expect_refused(enum status status, const char *part)
{
    assert_int_equal(status, STATUS_INVALID);
    if (!strstr(failure.detail, part)) {
        fail_msg("\"%s\" does not say \"%s\"", failure.detail, part);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(load(no_environment, 0, NULL), STATUS_OK);
    assert_string_equal(options.data, "data");
    assert_null(options.database);
    assert_int_equal(options.listen.count, 1);
    assert_string_equal(options.listen.items[0], "127.0.0.1:7070");
    assert_int_equal(options.log_level, LOG_INFO);
    assert_int_equal(options.log_format, LOG_FORMAT_TEXT);
    assert_int_equal(options.metrics, METRICS_PUBLIC);
    assert_int_equal(options.heartbeat_ms, 15000);
    assert_int_equal(options.api.events_page_default, 100);
    assert_int_equal(options.api.events_page_max, 1000);
    assert_int_equal(options.limits.sessions.per_user_max, 10);
    assert_int_equal(options.limits.sessions.bulk_delete_max, 100);
    assert_int_equal(options.limits.sessions.human_ms, 12 * 3600 * 1000);
    assert_int_equal(options.net.body_bytes_max, 4 << 20);
    assert_int_equal(options.limits.ask.role, ACCESS_COLLABORATOR);
    assert_int_equal(options.limits.ask.expiry_ms[ASK_QUESTION], 24 * 3600 * 1000);
    assert_int_equal(origin_of("data"), ORIGIN_DEFAULT);
}

/* On every layer. Of both names in the environment, the new one counts; in a file, the later. */
static void test_former_names_are_accepted(void **state)
{
    (void)state;
    char path[] = "options_test_XXXXXX";
    write_file(path, "turn_unled_ms: 7s\nnode_look_ms: 3s\nnode_heartbeat_ms: 2s\n");
    const char *const environment[] = {"SOJOURN_SAID_BYTES_MAX=8KiB", "SOJOURN_TURN_CUT_MS=5s",
                                       "SOJOURN_TURN_ABORT_MS=6s", NULL};
    assert_int_equal(LOAD(environment, "--config", path), STATUS_OK);
    assert_int_equal(options.limits.turns.said_bytes_max, 8192);
    assert_int_equal(options.limits.health.cut_ms, 6000);
    assert_int_equal(options.limits.health.error_ms, 7000);
    assert_int_equal(options.node_look_ms, 2000);
    assert_int_equal(origin_of("turn-queue-bytes-max"), ORIGIN_ENVIRONMENT);
    assert_int_equal(LOAD(environment, "--config", path, "--turn-cut-ms", "8s", "--ask-role", "owner"), STATUS_OK);
    unlink(path);
    assert_int_equal(options.limits.health.cut_ms, 8000);
    assert_int_equal(options.limits.ask.role, ACCESS_OWNER);
}

/* A name, former or not, means one option. */
static void test_names_are_unique(void **state)
{
    (void)state;
    for (const struct option *option = server_options; option->name; option++) {
        if (option->type != OPTION_SECTION) {
            assert_ptr_equal(option_find(server_options, slice_of(option->name)), option);
            assert_true(!option->alias || option_find(server_options, slice_of(option->alias)) == option);
        }
    }
}

static void test_layers(void **state)
{
    (void)state;
    char path[] = "options_test_XXXXXX";
    write_file(path, "log_level: debug\nloop_threads: 3\nheartbeat_ms: 1s\nlisten: [':1', ':2']\ndata: from-file\n"
                     "public_url: null\nmetrics: off\n");
    const char *const environment[] = {"SOJOURN_LOOP_THREADS=4",
                                       "SOJOURN_LISTEN=:3, :4,:5",
                                       "SOJOURN_DATA=",
                                       "SOJOURN_SERVICE_HOST=10.0.0.1",
                                       "OTHER=1",
                                       NULL};
    assert_int_equal(LOAD(environment, "--config", path, "--listen", ":6", "--heartbeat-ms", "20"), STATUS_OK);
    unlink(path);
    assert_int_equal(options.log_level, LOG_DEBUG);
    assert_int_equal(origin_of("log-level"), ORIGIN_FILE);
    assert_int_equal(options.metrics, METRICS_OFF);
    assert_int_equal(options.loop_threads, 4);
    assert_int_equal(origin_of("loop-threads"), ORIGIN_ENVIRONMENT);
    assert_int_equal(options.heartbeat_ms, 20);
    assert_int_equal(origin_of("heartbeat-ms"), ORIGIN_ARGUMENTS);
    assert_int_equal(options.listen.count, 1);
    assert_string_equal(options.listen.items[0], ":6");
    assert_string_equal(options.data, "from-file");
    assert_null(options.public_url);
}

static void test_the_environment_names_the_file_and_lists(void **state)
{
    (void)state;
    char path[] = "options_test_XXXXXX", variable[80];
    write_file(path, "listen: ':9'\ncors_origin:\n  - https://a\n  - https://b\n");
    snprintf(variable, sizeof variable, "SOJOURN_CONFIG=%s", path);
    const char *const environment[] = {variable, "SOJOURN_LISTEN=:3, :4", NULL};
    assert_int_equal(load(environment, 0, NULL), STATUS_OK);
    unlink(path);
    assert_int_equal(options.listen.count, 2);
    assert_string_equal(options.listen.items[1], ":4");
    assert_int_equal(options.cors_origin.count, 2);
    assert_string_equal(options.cors_origin.items[0], "https://a");
}

static void expect_file_refused(const char *text, const char *part)
{
    char path[] = "options_test_XXXXXX";
    write_file(path, text);
    enum status status = LOAD(no_environment, "--config", path);
    unlink(path);
    expect_refused(status, part);
}

static void test_files_refused(void **state)
{
    (void)state;
    expect_file_refused("log_level: info\nlog_levl: info\n", ":2: unknown option log_levl; did you mean log_level?");
    expect_file_refused("log-level: info\n", "did you mean log_level?");
    expect_file_refused("\nloop_threads: many\n", ":2: loop_threads: \"many\" is not accepted; give 1 to 64");
    expect_file_refused("data: {a: 1}\n", "give a plain value");
    expect_file_refused("listen: [[a]]\n", "give a plain value");
    expect_file_refused("- data\n", "name: value");
    expect_file_refused("data: [\n", "ine ");
    expect_file_refused("config: other.yaml\n", "can't name another file");
    expect_refused(LOAD(no_environment, "--config", "/nowhere/at/all"), "/nowhere/at/all can't be read");
}

static void test_an_empty_file_changes_nothing(void **state)
{
    (void)state;
    char path[] = "options_test_XXXXXX";
    write_file(path, "# nothing\n");
    assert_int_equal(LOAD(no_environment, "--config", path), STATUS_OK);
    unlink(path);
    assert_int_equal(options.listen.count, 1);
}

static void test_environment_refused(void **state)
{
    (void)state;
    expect_refused(load(TEXTS("SOJOURN_LOG_LEVEL=loud", NULL), 0, NULL), "SOJOURN_LOG_LEVEL: \"loud\"");
    expect_refused(load(TEXTS("SOJOURN_LISTEN=:1,,:2", NULL), 0, NULL), "SOJOURN_LISTEN: \"\"");
    expect_refused(load(TEXTS("SOJOURN_BOOTSTRAP_TOKEN=short", NULL), 0, NULL), "at least 32 characters");
}

static void test_what_belongs_together(void **state)
{
    (void)state;
    expect_refused(LOAD(no_environment, "--tls-cert", "c.pem"), "belong together");
    expect_refused(LOAD(no_environment, "--tls-key", "k.pem"), "belong together");
    assert_int_equal(LOAD(no_environment, "--tls-key", "k.pem", "--tls-cert", "c.pem"), STATUS_OK);
    expect_refused(LOAD(no_environment, "--database", "mysql://x"), "postgres://");
    assert_int_equal(LOAD(no_environment, "--database", "postgresql:///x"), STATUS_OK);
    expect_refused(LOAD(no_environment, "--public-url", "example.org"), "https://");
    expect_refused(LOAD(no_environment, "--lease-ms-min", "1m"), "--lease-ms-default");
    expect_refused(LOAD(no_environment, "--lease-ms-max", "2s"), "--lease-ms-max");
    expect_refused(LOAD(no_environment, "--events-page-max", "50"), "--events-page-default");
    expect_refused(LOAD(no_environment, "--sessions-page-max", "10"), "--sessions-page-default");
    expect_refused(LOAD(no_environment, "--body-bytes-max", "2KiB"), "--event-bytes-max");
}

static int compare_offsets(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Every row has its sentence, its own name and its own field. */
static void test_the_table_itself(void **state)
{
    (void)state;
    size_t offsets[256], count = 0;
    for (const struct option *option = server_options; option->name; option++) {
        if (option->type == OPTION_SECTION) {
            continue;
        }
        struct slice help = slice_of(option->help);
        check_row(help.len > 0 && help.ptr[help.len - 1] == '.', option->name, "help is a sentence", __FILE__,
                  __LINE__);
        check_row(help.ptr[0] >= 'A' && help.ptr[0] <= 'Z', option->name, "help begins large", __FILE__, __LINE__);
        check_row(option_find(server_options, slice_of(option->name)) == option, option->name, "the name is new",
                  __FILE__, __LINE__);
        check_row(option->type != OPTION_NUMBER || option->fallback, option->name, "numbers have a default", __FILE__,
                  __LINE__);
        offsets[count++] = option->offset;
    }
    assert_true(count > 50);
    qsort(offsets, count, sizeof offsets[0], compare_offsets);
    for (size_t i = 1; i < count; i++) {
        assert_int_not_equal(offsets[i - 1], offsets[i]);
    }
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
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_former_names_are_accepted),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_the_environment_names_the_file_and_lists),
        cmocka_unit_test(test_files_refused),
        cmocka_unit_test(test_an_empty_file_changes_nothing),
        cmocka_unit_test(test_environment_refused),
        cmocka_unit_test(test_what_belongs_together),
        cmocka_unit_test(test_the_table_itself),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
