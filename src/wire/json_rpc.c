#include "wire/json_rpc.h"

/* --- reading --- */

static enum status wrong(struct failure *failure, const char *what)
{
    return failure_set(failure, STATUS_INVALID, "invalid_json_rpc", "The message is no JSON-RPC 2.0: %s.", what);
}

static enum status read_id(const struct json *object, struct slice *out, struct failure *failure)
{
    const struct json *id = json_get(object, "id");
    if (id && id->kind != JSON_NUMBER && id->kind != JSON_STRING && id->kind != JSON_NULL) {
        return wrong(failure, "`id` must be a number, a string or null");
    }
    *out = id ? id->raw : (struct slice){0};
    return STATUS_OK;
}

static enum status read_call(const struct json *object, struct rpc_message *out, struct failure *failure)
{
    if (!json_as_text(json_get(object, "method"), &out->method) || out->method.len == 0) {
        return wrong(failure, "`method` must be a string");
    }
    out->params = json_get_value(object, "params");
    if (out->params && out->params->kind != JSON_OBJECT && out->params->kind != JSON_ARRAY) {
        return wrong(failure, "`params` must be an object or an array");
    }
    if (json_get(object, "result") || json_get(object, "error")) {
        return wrong(failure, "a call has no `result` and no `error`");
    }
    out->kind = slice_present(out->id) ? RPC_REQUEST : RPC_NOTIFICATION;
    return STATUS_OK;
}

static enum status read_error(const struct json *error, struct rpc_message *out, struct failure *failure)
{
    if (!json_as_i64(json_get(error, "code"), &out->error_code) ||
        !json_as_text(json_get(error, "message"), &out->error_message)) {
        return wrong(failure, "`error` must be an object with a whole `code` and a `message`");
    }
    out->error_data = json_get_value(error, "data");
    out->kind = RPC_ERROR;
    return STATUS_OK;
}

static enum status read_answer(const struct json *object, struct rpc_message *out, struct failure *failure)
{
    const struct json *error = json_get_value(object, "error");
    out->result = json_get(object, "result");
    if (!slice_present(out->id)) {
        return wrong(failure, "an answer needs an `id`");
    }
    if (error) {
        if (json_get_value(object, "result")) {
            return wrong(failure, "an answer has a `result` or an `error`, not both");
        }
        out->result = NULL;
        return read_error(error, out, failure);
    }
    if (!out->result) {
        return wrong(failure, "it has no `method`, no `result` and no `error`");
    }
    out->kind = RPC_RESULT;
    return STATUS_OK;
}

enum status rpc_read(struct arena *arena, struct slice line, struct rpc_message *out, struct failure *failure)
{
    const struct json *object;
    struct slice version;
    struct rpc_message message = {0};
    enum status status = json_parse(arena, line, &object, failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (!json_is(object, JSON_OBJECT)) {
        return wrong(failure, "it must be an object");
    }
    if (!json_as_text(json_get(object, "jsonrpc"), &version) || !slice_is(version, "2.0")) {
        return wrong(failure, "`jsonrpc` must be \"2.0\"");
    }
    status = read_id(object, &message.id, failure);
    if (status == STATUS_OK) {
        status =
            json_get(object, "method") ? read_call(object, &message, failure) : read_answer(object, &message, failure);
    }
    if (status == STATUS_OK) {
        *out = message;
    }
    return status;
}

/* --- writing --- */

static struct json_out begin(struct buffer *to)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    json_put_text(&out, "jsonrpc", SLICE("2.0"));
    return out;
}

/* Line breaks in JSON that is valid stand between its values, where a space means the same. */
static void end(struct json_out *out, size_t start)
{
    json_end_object(out);
    for (size_t i = start; i < out->buffer->len; i++) {
        char *c = &out->buffer->ptr[i];
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    }
    buffer_add_byte(out->buffer, '\n');
}

void rpc_write_request(struct buffer *to, int64_t id, const char *method, struct slice params)
{
    size_t start = to->len;
    struct json_out out = begin(to);
    json_put_i64(&out, "id", id);
    json_put_text(&out, "method", slice_of(method));
    json_maybe_raw(&out, "params", params);
    end(&out, start);
}

void rpc_write_notification(struct buffer *to, const char *method, struct slice params)
{
    size_t start = to->len;
    struct json_out out = begin(to);
    json_put_text(&out, "method", slice_of(method));
    json_maybe_raw(&out, "params", params);
    end(&out, start);
}

void rpc_write_result(struct buffer *to, struct slice id, struct slice result)
{
    size_t start = to->len;
    struct json_out out = begin(to);
    json_put_raw(&out, "id", id);
    json_put_raw(&out, "result", result);
    end(&out, start);
}

void rpc_write_error(struct buffer *to, struct slice id, enum rpc_code code, struct slice message)
{
    size_t start = to->len;
    struct json_out out = begin(to);
    json_put_raw(&out, "id", id);
    json_key(&out, "error");
    json_begin_object(&out);
    json_put_i64(&out, "code", code);
    json_put_text(&out, "message", message);
    json_end_object(&out);
    end(&out, start);
}

/* --- lines --- */

void rpc_lines_init(struct rpc_lines *lines, size_t bytes_max)
{
    *lines = (struct rpc_lines){.bytes_max = bytes_max};
}

void rpc_lines_release(struct rpc_lines *lines)
{
    buffer_release(&lines->begun);
}

/* The next line, finished or not, in *out; whether it is finished. */
static bool take_line(struct rpc_lines *lines, struct slice *bytes, struct slice *out)
{
    const char *mark = memchr(bytes->ptr, '\n', bytes->len);
    size_t len = mark ? (size_t)(mark - bytes->ptr) : bytes->len;
    *out = slice_from(bytes->ptr, len);
    if ((!mark || lines->begun.len > 0) && lines->begun.len + len <= lines->bytes_max) {
        buffer_add(&lines->begun, *out);
        *out = buffer_slice(&lines->begun);
    } else {
        out->len += lines->begun.len; /* too long in any case when something was begun */
    }
    *bytes = slice_after(*bytes, len + (mark ? 1 : 0));
    return mark != NULL;
}

enum rpc_step rpc_lines_next(struct rpc_lines *lines, struct slice *bytes, struct slice *out)
{
    if (lines->delivered) {
        lines->begun.len = 0;
        lines->delivered = false;
    }
    while (bytes->len > 0) {
        struct slice line;
        bool finished = take_line(lines, bytes, &line);
        if (line.len > lines->bytes_max) {
            return RPC_TOO_LONG;
        }
        if (finished && slice_trim(line).len > 0) {
            lines->delivered = true;
            *out = line;
            return RPC_LINE;
        }
        if (finished) {
            lines->begun.len = 0;
        }
    }
    return RPC_MORE;
}
