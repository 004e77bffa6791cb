#include "domain/agent.h"
#include "domain_unit.h"

static struct failure failure;

static unsigned fixed_line(const void *owner, const struct json *value)
{
    (void)owner;
    return (unsigned)value->key.len + 100; /* tells which value was asked for */
}

static enum status read(const char *text, struct agent *out)
{
    struct agent_source source = {.object = json_of(text)};
    failure = (struct failure){0};
    return agent_read(&test_arena, &source, out, &failure);
}

static struct agent good(const char *text)
{
    struct agent agent;
    if (read(text, &agent) != STATUS_OK) {
        print_error("%s: %s\n", text, failure.detail);
        fail();
    }
    return agent;
}

static void refused(const char *text, const char *part)
{
    struct agent agent = {.version = 77};
    assert_row(text, read(text, &agent) == STATUS_INVALID);
    assert_string_equal(failure.code, "invalid_agent");
    assert_int_equal(agent.version, 77);
    if (!strstr(failure.detail, part)) {
        print_error("%s: \"%s\" does not say \"%s\"\n", text, failure.detail, part);
        fail();
    }
}

#define MODEL "\"id\":\"a\",\"provider\":\"openai\",\"model\":\"m\",\"system_prompt\":\"s\""

static void defaults(void **state)
{
    struct agent agent = good("{" MODEL "}");
    (void)state;
    assert_int_equal(agent.driver, DRIVER_MODEL);
    assert_int_equal(agent.turns_max, 50);
    assert_int_equal(agent.tool_rounds_max, 16);
    assert_int_equal(agent.cost_microcents_max, 0);
    assert_int_equal(agent.on_exceed, EXCEED_FAIL);
    assert_int_equal(agent.messages_max, 200);
    assert_true(agent.compact_threshold > 0.79 && agent.compact_threshold < 0.81);
    assert_int_equal(agent.idle_timeout_ms, 900000);
    assert_int_equal(agent.queue_mode, -1);
    assert_int_equal(agent.resume, RESUME_ASK);
    assert_int_equal(agent.fs_scope, FS_SCOPE_SANDBOXED);
    assert_int_equal(agent.sandbox.kind, SANDBOX_LOCAL);
    assert_false(agent.sandbox.network);
    assert_int_equal(agent.tool_count + agent.permission_count + agent.command_count + agent.host_count, 0);
    assert_false(slice_present(agent.reasoning_effort));
}

static void zero_caps_are_the_default(void **state)
{
    struct agent agent = good("{" MODEL ",\"caps\":{\"turns_max\":0,\"tool_rounds_max\":0}}");
    (void)state;
    assert_int_equal(agent.turns_max, 50);
    assert_int_equal(agent.tool_rounds_max, 16);
}

static const char *const everything =
    "{\"id\":\"code-reviewer\",\"version\":9,\"name\":\"N\",\"description\":\"D\",\"driver\":\"acp\",\"provider\":"
    "\"anthropic\",\"model\":\"m\",\"fallback_chain\":[{\"provider\":\"openai\",\"model\":\"b\"}],\"system_prompt\":"
    "\"s\",\"reasoning_effort\":\"high\",\"tools\":[\"read_file\",\"run_command\"],\"permissions\":[{\"tool\":\"run_*"
    "\","
    "\"argument\":\"git *\",\"path\":\"/w/*\",\"then\":\"deny\"}],\"commands\":[\"git *\"],\"hosts\":[\"a.example\"],"
    "\"fs_scope\":\"project\",\"caps\":{\"turns_max\":5,\"tool_rounds_max\":6,\"cost_microcents_max\":7,\"on_exceed\":"
    "\"pause\"},\"messages_max\":8,\"compact_threshold\":0.5,\"context_tokens\":9,\"input_microcents_per_mtok\":10,"
    "\"output_microcents_per_mtok\":11,\"prices\":[{\"model\":\"b\",\"input_microcents_per_mtok\":3,\"output_"
    "microcents_per_mtok\":4}],\"sandbox\":{\"kind\":\"http\",\"url\":\"http://x\",\"network\":true,"
    "\"memory_bytes_max\":\"512MiB\",\"processes_max\":12,\"disk_bytes_max\":\"1GiB\",\"command_ms_max\":\"2m\","
    "\"repository\":\"/srv/"
    "x.git\",\"branch\":\"main\"},\"command\":[\"opencode\",\"acp\"],\"environment\":{\"A\":\"b\"},"
    "\"pass_environment\":[\"HOME\"],\"idle_timeout_ms\":\"15m\",\"queue_mode\":\"steer\",\"resume\":\"retry\"}";

static void cached_input_has_its_price(void **state)
{
    static const struct {
        const char *provider;
        int64_t read_given, write_given, read, write;
    } rows[] = {
        {"anthropic", 0, 0, 101, 1255},
        {"anthropic", 7, 8, 7, 8},
        {"openai", 0, 0, 502, 1004},
        {"", 0, 9, 1004, 9},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct agent agent = {.input_microcents_per_mtok = 1004,
                              .cache_read_microcents_per_mtok = rows[i].read_given,
                              .cache_write_microcents_per_mtok = rows[i].write_given};
        struct model_choice choice = {slice_of(rows[i].provider), SLICE("m")};
        struct model_price price = agent_price(&agent, &choice);
        assert_row(rows[i].provider, price.cache_read_microcents_per_mtok == rows[i].read);
        assert_row(rows[i].provider, price.cache_write_microcents_per_mtok == rows[i].write);
    }
    struct model_price price = {.input_microcents_per_mtok = 10,
                                .output_microcents_per_mtok = 1000,
                                .cache_read_microcents_per_mtok = 1,
                                .cache_write_microcents_per_mtok = 12};
    assert_int_equal(model_price_of(&price, 100, 60, 30, 2), 10 * 10 + 60 * 1 + 30 * 12 + 2 * 1000);
    assert_int_equal(model_price_of(&price, 100, -1, -1, 0), 1000);
    assert_int_equal(model_price_of(&price, 100, 500, 500, 0), 100); /* more than there was */
}

static void every_key(void **state)
{
    struct agent agent = good(everything);
    (void)state;
    assert_slice(agent.id, "code-reviewer");
    assert_int_equal(agent.version, 0); /* the server gives it */
    assert_int_equal(agent.driver, DRIVER_ACP);
    assert_slice(agent.fallbacks[0].model, "b");
    assert_slice(agent.tools[1], "run_command");
    assert_int_equal(agent_price(&agent, &(struct model_choice){.model = SLICE("b")}).output_microcents_per_mtok, 4);
    assert_int_equal(agent_price(&agent, &(struct model_choice){.model = SLICE("m")}).output_microcents_per_mtok, 11);
    assert_slice(agent.permissions[0].argument, "git *");
    assert_int_equal(agent.permissions[0].then, PERMISSION_DENY);
    assert_int_equal(agent.fs_scope, FS_SCOPE_PROJECT);
    assert_int_equal(agent.on_exceed, EXCEED_PAUSE);
    assert_int_equal(agent.sandbox.memory_bytes_max, 512 << 20);
    assert_int_equal(agent.sandbox.command_ms_max, 120000);
    assert_slice(agent.command[1], "acp");
    assert_slice(agent.environment[0].name, "A");
    assert_slice(agent.environment[0].value, "b");
    assert_slice(agent.pass_environment[0], "HOME");
    assert_int_equal(agent.idle_timeout_ms, 900000);
    assert_int_equal(agent.queue_mode, QUEUE_STEER);
    assert_int_equal(agent.resume, RESUME_RETRY);
}

static void written_and_read_again_is_the_same(void **state)
{
    const char *const texts[] = {everything, "{" MODEL "}"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct buffer first = {0}, second = {0};
        struct agent agent = good(texts[i]);
        agent_write(&first, &agent);
        buffer_add_byte(&first, '\0');
        agent = good(first.ptr);
        agent_write(&second, &agent);
        buffer_add_byte(&second, '\0');
        assert_string_equal(first.ptr, second.ptr);
        assert_null(strstr(first.ptr, "\"version\""));
        buffer_release(&first);
        buffer_release(&second);
    }
}

static void the_version_is_shown_when_there_is_one(void **state)
{
    struct buffer text = {0};
    struct agent agent = good("{" MODEL "}");
    (void)state;
    agent.version = 3;
    agent_write(&text, &agent);
    buffer_add_byte(&text, '\0');
    assert_non_null(strstr(text.ptr, "\"id\":\"a\",\"version\":3,"));
    buffer_release(&text);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    refused("[]", "must be an object, not");
    refused("{}", "`id` is missing");
    refused("{\"id\":\"a\",\"modell\":1}", "`modell` is not known; accepted: id, version, name");
    refused("{" MODEL ",\"chat\":{\"max_turns\":1}}", "`chat` is not known; accepted: id, ");
    refused("{" MODEL ",\"turns_max\":1}", "`turns_max` is not known; accepted: id, ");
    refused("{" MODEL ",\"prices\":[{\"input_microcents_per_mtok\":1}]}", "model");
    refused("{" MODEL ",\"caps\":{\"turn_max\":1}}",
            "`caps.turn_max` is not known; accepted: turns_max, tool_rounds_max");
    refused("{" MODEL ",\"permissions\":[{\"tool\":\"x\"}]}", "`permissions[0].then` is missing");
    refused("{" MODEL ",\"permissions\":[{\"then\":\"ask\"},{\"then\":\"never\"}]}",
            "`permissions[1].then` must be one of: allow, ask, deny");
    refused("{" MODEL ",\"fallback_chain\":[{\"provider\":\"openai\"}]}", "`fallback_chain[0].model` is missing");
    refused("{" MODEL ",\"driver\":\"robot\"}", "worker, demo, acp, model, runner");
    refused("{" MODEL ",\"tools\":\"read_file\"}", "`tools` must be a list, not");
    refused("{" MODEL ",\"tools\":[\"two words\"]}", "a name without white space");
    refused("{" MODEL ",\"hosts\":[\"https://a\"]}", "the exact name of a host");
    refused("{" MODEL ",\"hosts\":[\"*.a\"]}", "the exact name of a host");
    refused("{" MODEL ",\"compact_threshold\":1.5}", "above 0 and at most 1");
    refused("{" MODEL ",\"idle_timeout_ms\":\"soon\"}", "1s to 365d (milliseconds, or a number with ms, s, m, h or d)");
    refused("{" MODEL ",\"caps\":{\"turns_max\":\"5\"}}", "`caps.turns_max` must be a whole number of 0 to 1000000");
    refused("{" MODEL ",\"sandbox\":{\"network\":\"yes\"}}", "`sandbox.network` must be true or false");
    refused("{" MODEL ",\"sandbox\":{\"kind\":\"http\"}}", "`sandbox.url` is missing");
    refused("{" MODEL ",\"sandbox\":{\"repository\":\"--upload-pack=x\"}}", "does not begin with \"-\"");
    refused("{" MODEL ",\"environment\":{\"A=B\":\"x\"}}", "without \"=\"");
}

static void ids_are_kebab_case(void **state)
{
    static const char *const bad[] = {"", "-a", "a-", "a--b", "A", "a_b", "a b", "ä"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        refused(arena_format(&test_arena, "{\"id\":\"%s\",\"driver\":\"demo\"}", bad[i]).ptr, "`id` must ");
    }
    good("{\"id\":\"a1-b2\",\"driver\":\"demo\"}");
}

static void drivers_need_their_keys(void **state)
{
    (void)state;
    refused("{\"id\":\"a\",\"model\":\"m\",\"system_prompt\":\"s\"}",
            "`provider` is missing; an agent with driver model");
    refused("{\"id\":\"a\",\"provider\":\"openai\",\"system_prompt\":\"s\"}", "`model` is missing");
    refused("{\"id\":\"a\",\"provider\":\"openai\",\"model\":\"m\"}", "`system_prompt` is missing");
    refused("{\"id\":\"a\",\"driver\":\"acp\"}", "`command` is missing; an agent with driver acp");
    refused("{\"id\":\"a\",\"driver\":\"acp\",\"command\":[]}", "`command` is missing");
    refused("{\"id\":\"a\",\"provider\":\"acme\",\"model\":\"m\",\"system_prompt\":\"s\"}", "anthropic or openai");
    good("{\"id\":\"a\",\"driver\":\"worker\"}");
    good("{\"id\":\"a\",\"driver\":\"runner\"}");
    good("{\"id\":\"a\",\"driver\":\"acp\",\"command\":[\"x\"]}");
}

static void secrets_are_not_for_definitions(void **state)
{
    (void)state;
    refused("{\"id\":\"a\",\"driver\":\"acp\",\"command\":[\"x\"],\"environment\":{\"KEY\":"
            "\"sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}}",
            "looks like a secret");
    assert_null(strstr(failure.detail, "AAAA"));
}

static void files_are_named_with_the_line(void **state)
{
    struct agent agent;
    struct agent_source source = {
        .object = json_of("{\"id\":\"a\",\"nonsense\":1}"), .file = "x.agent.yaml", .line_of = fixed_line};
    (void)state;
    assert_int_equal(agent_read(&test_arena, &source, &agent, &failure), STATUS_INVALID);
    assert_non_null(strstr(failure.detail, "x.agent.yaml:108: `nonsense` is not known"));
}

static void lists_have_a_limit(void **state)
{
    struct buffer text = {0};
    (void)state;
    buffer_add(&text, SLICE("{" MODEL ",\"tools\":["));
    for (int i = 0; i < 257; i++) {
        buffer_format(&text, "%s\"t%d\"", i ? "," : "", i);
    }
    buffer_add(&text, SLICE("]}"));
    buffer_add_byte(&text, '\0');
    refused(text.ptr, "257 entries of at most 256");
    buffer_release(&text);
}

static void what_reaches_the_machine(void **state)
{
    struct agent agent = good("{" MODEL "}");
    (void)state;
    assert_null(agent_reaches_host(&agent));
    agent = good("{" MODEL ",\"sandbox\":{\"kind\":\"none\"}}");
    assert_null(agent_reaches_host(&agent));
    agent = good("{" MODEL ",\"fs_scope\":\"full\"}");
    assert_string_equal(agent_reaches_host(&agent), "fs_scope");
    agent = good("{\"id\":\"a\",\"driver\":\"acp\",\"command\":[\"x\"]}");
    assert_string_equal(agent_reaches_host(&agent), "command");
    agent = good("{" MODEL ",\"pass_environment\":[\"X\"]}");
    assert_string_equal(agent_reaches_host(&agent), "pass_environment");
    agent = good("{" MODEL ",\"sandbox\":{\"kind\":\"http\",\"url\":\"http://x\"}}");
    assert_string_equal(agent_reaches_host(&agent), "sandbox.url");
    agent = good("{" MODEL ",\"sandbox\":{\"kind\":\"local\",\"network\":true}}");
    assert_string_equal(agent_reaches_host(&agent), "sandbox.network");
}

static void hosted_drivers(void **state)
{
    (void)state;
    assert_false(agent_is_hosted(DRIVER_WORKER));
    for (int driver = DRIVER_DEMO; driver < DRIVER_COUNT; driver++) {
        assert_true(agent_is_hosted((enum agent_driver)driver));
    }
    assert_false(agent_is_hosted(DRIVER_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(zero_caps_are_the_default),
        cmocka_unit_test(cached_input_has_its_price),
        cmocka_unit_test(every_key),
        cmocka_unit_test(written_and_read_again_is_the_same),
        cmocka_unit_test(the_version_is_shown_when_there_is_one),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(ids_are_kebab_case),
        cmocka_unit_test(drivers_need_their_keys),
        cmocka_unit_test(secrets_are_not_for_definitions),
        cmocka_unit_test(files_are_named_with_the_line),
        cmocka_unit_test(lists_have_a_limit),
        cmocka_unit_test(what_reaches_the_machine),
        cmocka_unit_test(hosted_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
