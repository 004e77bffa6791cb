/* Lines are the same however the stream is cut; a message that is read can be written and reads the same. The first
 * byte of the input sets the size of the pieces. */
#include "wire/json_rpc.h"
#include "fuzz.h"

enum { LINE_BYTES_MAX = 96 };

static enum rpc_step cut(struct slice stream, size_t piece, struct buffer *heard)
{
    struct rpc_lines lines;
    struct slice line;
    enum rpc_step step = RPC_MORE;
    rpc_lines_init(&lines, LINE_BYTES_MAX);
    while (stream.len > 0 && step != RPC_TOO_LONG) {
        struct slice bytes = slice_from(stream.ptr, stream.len < piece ? stream.len : piece);
        stream = slice_after(stream, piece);
        while ((step = rpc_lines_next(&lines, &bytes, &line)) == RPC_LINE) {
            CHECK(line.len > 0 && line.len <= LINE_BYTES_MAX && !memchr(line.ptr, '\n', line.len));
            buffer_format(heard, "%zu ", line.len);
            buffer_add(heard, line);
        }
        CHECK(step == RPC_TOO_LONG || bytes.len == 0);
        CHECK(lines.begun.len <= LINE_BYTES_MAX);
    }
    rpc_lines_release(&lines);
    return step;
}

static void write_again(struct buffer *to, const struct rpc_message *message)
{
    if (message->kind == RPC_RESULT) {
        rpc_write_result(to, message->id, message->result->raw);
    } else if (message->kind == RPC_ERROR) {
        rpc_write_error(to, message->id, (enum rpc_code)message->error_code, message->error_message);
    }
}

static void read_and_write(struct slice line)
{
    struct arena arena = {0};
    struct rpc_message message, again;
    struct buffer written = {0};
    if (rpc_read(&arena, line, &message, NULL) == STATUS_OK) {
        write_again(&written, &message);
        if (written.len > 0) {
            CHECK(rpc_read(&arena, slice_trim(buffer_slice(&written)), &again, NULL) == STATUS_OK);
            CHECK(again.kind == message.kind && slice_eq(again.id, message.id));
        } else {
            CHECK(message.method.len > 0);
        }
    }
    buffer_release(&written);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct buffer whole = {0}, single = {0}, pieces = {0};
    struct slice stream = slice_from(data + 1, size - 1);
    enum rpc_step step = cut(stream, size, &whole);
    CHECK(cut(stream, 1, &single) == step && cut(stream, (size_t)data[0] + 1, &pieces) == step);
    CHECK(slice_eq(buffer_slice(&whole), buffer_slice(&single)));
    CHECK(slice_eq(buffer_slice(&whole), buffer_slice(&pieces)));
    read_and_write(stream);
    buffer_release(&whole);
    buffer_release(&single);
    buffer_release(&pieces);
    return 0;
}
