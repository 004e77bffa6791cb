/* Both formats: what the events of an answer mean, and what a request looks like. */
#include "unit.h"

#include "wire/anthropic.h"
#include "wire/openai.h"

/* Each part as a word, for comparing. */
static void write_part(void *owner, const struct model_part *part)
{
    static const char *const names[] = {"text",  "reasoning", "signature", "sealed", "begin",
                                        "input", "usage",     "stop",      "error"};
    struct buffer *to = owner;
    buffer_format(to, "%s", names[part->kind]);
    if (part->kind == PART_TOOL_BEGIN || part->kind == PART_TOOL_INPUT) {
        buffer_format(to, "(%lld)", (long long)part->index);
    }
    if (part->kind == PART_USAGE) {
        buffer_format(to, " %lld+%lld cached %lld", (long long)part->usage.input_tokens,
                      (long long)part->usage.output_tokens, (long long)part->usage.cache_read_tokens);
    }
    if (part->kind == PART_STOP) {
        buffer_format(to, " %d", (int)part->stop);
    }
    buffer_format(to, "%s%.*s%s%.*s%s%.*s;", part->call_id.len ? " " : "", SLICE_ARG(part->call_id),
                  part->name.len ? " " : "", SLICE_ARG(part->name), part->text.len ? " " : "", SLICE_ARG(part->text));
}

static const struct {
    const struct model_wire *wire;
    const char *name, *event, *told;
} rows[] = {
    {&anthropic_wire, "input and cached input are one",
     "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":4,"
     "\"cache_creation_input_tokens\":5,\"output_tokens\":1}}}",
     "usage 12+1 cached 4;"},
    {&anthropic_wire, "text", "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}",
     "text a;"},
    {&anthropic_wire, "sealed reasoning",
     "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"xyz\"}}",
     "sealed xyz;"},
    {&anthropic_wire, "a refusal", "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}", "stop 3;"},
    {&anthropic_wire, "an unknown reason", "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"new\"}}",
     "stop 0;"},
    {&anthropic_wire, "an unknown event", "{\"type\":\"later\"}", ""},
    {&anthropic_wire, "an unknown delta", "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"citations_delta\"}}",
     ""},
    {&anthropic_wire, "an error", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}",
     "error overloaded_error busy;"},
    {&anthropic_wire, "no type", "{}", NULL},
    {&anthropic_wire, "a call without a name",
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\"}}", NULL},
    {&anthropic_wire, "input without a call",
     "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}",
     NULL},
    {&openai_wire, "everything at once",
     "{\"choices\":[{\"delta\":{\"reasoning_content\":\"r\",\"content\":\"c\",\"tool_calls\":[{\"index\":2,\"id\":"
     "\"i\","
     "\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
     "reasoning r;text c;begin(2) i n;input(2) {};stop 2;"},
    {&openai_wire, "calls without index and id",
     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\"}},{\"function\":{\"name\":\"b\"}}]}}]}",
     "begin(0) call_0 a;begin(1) call_1 b;"},
    {&openai_wire, "reasoning under another name", "{\"choices\":[{\"delta\":{\"reasoning\":\"r\"}}]}", "reasoning r;"},
    {&openai_wire, "nothing", "{\"choices\":[{\"delta\":{\"content\":null},\"finish_reason\":null}],\"usage\":null}",
     ""},
    {&openai_wire, "usage",
     "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"prompt_tokens_details\":"
     "{\"cached_tokens\":5}}}",
     "usage 7+2 cached 5;"},
    {&openai_wire, "an error", "{\"error\":{\"type\":\"server_error\",\"message\":\"oh\"}}", "error server_error oh;"},
    {&openai_wire, "a wrong index",
     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":64,\"function\":{\"name\":\"a\"}}]}}]}", NULL},
    {&openai_wire, "a call without a name",
     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}", NULL},
    {&openai_wire, "choices that are none", "{\"choices\":{}}", NULL},
};

static void what_events_mean(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct model_stream stream;
        struct buffer told = {0}, bytes = {0};
        struct failure failure = {0};
        model_stream_init(&stream, rows[i].wire, 10000);
        buffer_format(&bytes, "data: %s\n\n", rows[i].event);
        enum status status =
            model_stream_feed(&stream, buffer_slice(&bytes), (struct model_sink){&told, write_part}, &failure);
        assert_row(rows[i].name, (status == STATUS_OK) == (rows[i].told != NULL));
        if (rows[i].told && !slice_is(buffer_slice(&told), rows[i].told)) {
            print_error("%s: got %.*s\n", rows[i].name, SLICE_ARG(buffer_slice(&told)));
            fail();
        }
        assert_row(rows[i].name, rows[i].told || strcmp(failure.code, "malformed") == 0);
        model_stream_release(&stream);
        buffer_release(&told);
        buffer_release(&bytes);
    }
}

static void nothing_is_heard_after_the_end(void **state)
{
    (void)state;
    struct model_stream stream;
    struct buffer told = {0};
    model_stream_init(&stream, &openai_wire, 10000);
    assert_status(model_stream_feed(&stream, SLICE("data: [DONE]\n\ndata: {oops\n\n"),
                                    (struct model_sink){&told, write_part}, NULL),
                  STATUS_OK);
    assert_true(stream.is_finished);
    assert_int_equal(told.len, 0);
    model_stream_release(&stream);
}

static void events_are_bounded(void **state)
{
    (void)state;
    struct model_stream stream;
    struct buffer told = {0};
    model_stream_init(&stream, &openai_wire, 10);
    assert_status(
        model_stream_feed(&stream, SLICE("data: {\"choices\":[]}\n\n"), (struct model_sink){&told, write_part}, NULL),
        STATUS_TOO_LARGE);
    model_stream_release(&stream);
}

static const struct model_block user_blocks[] = {
    {.kind = BLOCK_TEXT, .text = SLICE("see")},
    {.kind = BLOCK_IMAGE, .media_type = SLICE("image/png"), .data = SLICE("QQ==")}};
static const struct model_block agent_blocks[] = {
    {.kind = BLOCK_REASONING, .text = SLICE("unsigned")},
    {.kind = BLOCK_TEXT, .text = SLICE("ok")},
    {.kind = BLOCK_TOOL_USE, .call_id = SLICE("c"), .name = SLICE("t"), .arguments = SLICE("{\"a\":1}")}};
static const struct model_block tool_blocks[] = {
    {.kind = BLOCK_TOOL_RESULT, .call_id = SLICE("c"), .text = SLICE("r"), .is_error = true}};
static const struct model_message messages[] = {
    {MODEL_USER, user_blocks, 2}, {MODEL_ASSISTANT, agent_blocks, 3}, {MODEL_TOOL, tool_blocks, 1}};
static const struct model_tool tool = {SLICE("t"), SLICE("d"), SLICE("{\"type\":\"object\"}")};
static const struct model_request request = {.model = SLICE("m"),
                                             .system = SLICE("s"),
                                             .messages = messages,
                                             .message_count = 3,
                                             .tools = &tool,
                                             .tool_count = 1,
                                             .reasoning_effort = SLICE("low"),
                                             .output_tokens_max = 100};

static void anthropic_request(void **state)
{
    (void)state;
    struct buffer text = {0};
    anthropic_write(&text, &request);
    assert_slice(
        buffer_slice(&text),
        "{\"model\":\"m\",\"max_tokens\":2148,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048},\"stream\":"
        "true,"
        "\"system\":[{\"type\":\"text\",\"text\":\"s\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"messages\":["
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image\",\"source\":{\"type\":"
        "\"base64\",\"media_type\":\"image/png\",\"data\":\"QQ==\"}}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"tool_use\",\"id\":\"c\","
        "\"name\":\"t\",\"input\":{\"a\":1}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"r\",\"is_"
        "error\":"
        "true,\"cache_control\":{\"type\":\"ephemeral\"}}]}],"
        "\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}]}");
    buffer_release(&text);
}

static void openai_request(void **state)
{
    (void)state;
    struct buffer text = {0};
    openai_write(&text, &request);
    assert_slice(
        buffer_slice(&text),
        "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_completion_tokens\":100,"
        "\"reasoning_effort\":\"low\",\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\",\"image_url\":"
        "{\"url\":\"data:image/png;base64,QQ==\"}}]},"
        "{\"role\":\"assistant\",\"content\":\"ok\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":"
        "{\"name\":\"t\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}],"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"t\",\"description\":\"d\",\"parameters\":{\"type\":"
        "\"object\"}}}]}");
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_events_mean),   cmocka_unit_test(nothing_is_heard_after_the_end),
        cmocka_unit_test(events_are_bounded), cmocka_unit_test(anthropic_request),
        cmocka_unit_test(openai_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
