/* What the fuzzers of the models' formats share: the same parts are told however the stream is cut, and every promise
 * of a part holds. The first byte of the input sets the size of the pieces. */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "base/buffer.h"
#include "fuzz.h"
#include "wire/model_stream.h"

enum { FUZZ_EVENT_BYTES = 4096 };

struct told {
    struct buffer text;
    uint64_t begun;
};

static inline void take_part(void *owner, const struct model_part *part)
{
    struct told *told = owner;
    CHECK(part->kind <= PART_ERROR);
    if (part->kind == PART_TOOL_BEGIN) {
        CHECK(part->index >= 0 && part->index < MODEL_TOOLS_MAX && part->call_id.len && part->name.len);
        CHECK(!(told->begun >> part->index & 1));
        told->begun |= (uint64_t)1 << part->index;
    }
    if (part->kind == PART_TOOL_INPUT) {
        CHECK(part->index >= 0 && part->index < MODEL_TOOLS_MAX && (told->begun >> part->index & 1));
    }
    CHECK(slice_is_utf8(part->text));
    buffer_format(&told->text, "%d %lld %lld %.*s|%.*s|%.*s\n", (int)part->kind, (long long)part->index,
                  (long long)part->usage.output_tokens, SLICE_ARG(part->call_id), SLICE_ARG(part->name),
                  SLICE_ARG(part->text));
}

static inline enum status feed(const struct model_wire *wire, struct slice bytes, size_t piece, struct told *told)
{
    struct model_stream stream;
    enum status status = STATUS_OK;
    model_stream_init(&stream, wire, FUZZ_EVENT_BYTES);
    while (bytes.len > 0 && status == STATUS_OK) {
        struct slice next = slice_from(bytes.ptr, bytes.len < piece ? bytes.len : piece);
        bytes = slice_after(bytes, piece);
        status = model_stream_feed(&stream, next, (struct model_sink){told, take_part}, NULL);
    }
    model_stream_release(&stream);
    return status;
}

/* What a model said can be said to it again: the request is JSON whatever stands in it. */
static inline void check_request(const struct model_wire *wire, struct slice said)
{
    struct arena arena = {0};
    struct buffer text = {0};
    const struct json *value = NULL;
    bool has_zero =
        said.len > 0 && memchr(said.ptr, 0, said.len); /* no text of ours holds one: the reader refuses it */
    struct slice words = slice_is_utf8(said) && !has_zero ? said : SLICE("-");
    struct model_block blocks[] = {
        {.kind = BLOCK_TEXT, .text = words},
        {.kind = BLOCK_REASONING, .text = words, .signature = words},
        {.kind = BLOCK_TOOL_USE, .call_id = words, .name = words, .arguments = SLICE("{}")},
        {.kind = BLOCK_TOOL_RESULT, .call_id = words, .text = words, .is_error = true},
        {.kind = BLOCK_IMAGE, .media_type = words, .data = words},
        {.kind = BLOCK_IMAGE, .url = words},
    };
    struct model_message messages[] = {{MODEL_USER, blocks, 6}, {MODEL_ASSISTANT, blocks, 3}, {MODEL_TOOL, blocks, 4}};
    struct model_tool tool = {words, words, SLICE("{}")};
    struct model_request request = {.model = words,
                                    .system = words,
                                    .messages = messages,
                                    .message_count = 3,
                                    .tools = &tool,
                                    .tool_count = 1,
                                    .reasoning_effort = words};
    wire->write(&text, &request);
    CHECK(json_parse(&arena, buffer_slice(&text), &value, NULL) == STATUS_OK);
    buffer_release(&text);
    arena_release(&arena);
}

static inline int fuzz_wire(const struct model_wire *wire, const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct told whole = {0}, single = {0}, pieces = {0};
    struct slice bytes = slice_from(data + 1, size - 1);
    enum status status = feed(wire, bytes, size, &whole);
    CHECK(feed(wire, bytes, 1, &single) == status);
    CHECK(feed(wire, bytes, (size_t)data[0] + 1, &pieces) == status);
    CHECK(slice_eq(buffer_slice(&whole.text), buffer_slice(&single.text)));
    CHECK(slice_eq(buffer_slice(&whole.text), buffer_slice(&pieces.text)));
    check_request(wire, bytes);
    buffer_release(&whole.text);
    buffer_release(&single.text);
    buffer_release(&pieces.text);
    return 0;
}

#endif
