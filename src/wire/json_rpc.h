/* JSON-RPC 2.0 as agents speak it on a pipe: one message per line, no batches. */
#ifndef WIRE_JSON_RPC_H
#define WIRE_JSON_RPC_H

#include "base/json.h"

enum rpc_kind {
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESULT,
    RPC_ERROR,
};

enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_NOT_FOUND = -32002,
};

/* Slices of the line that was read, or of the arena. */
struct rpc_message {
    enum rpc_kind kind;
    struct slice id;           /* JSON: a number, a string, or null; absent for a notification */
    struct slice method;       /* request, notification */
    const struct json *params; /* request, notification: object, array or NULL */
    const struct json *result; /* result: never NULL */
    int64_t error_code;        /* error */
    struct slice error_message;
    const struct json *error_data; /* error: or NULL */
};

/* Strict: "jsonrpc" must be "2.0"; a message is one of the four kinds and nothing in between. Members that nobody
 * knows are ignored, as the protocols above it grow by them. */
MUST_CHECK enum status rpc_read(struct arena *arena, struct slice line, struct rpc_message *out,
                                struct failure *failure);

/* Each appends one line. `params`, `result` and `id` are JSON, whose line breaks become spaces; an absent `params` is
 * left out. */
void rpc_write_request(struct buffer *to, int64_t id, const char *method, struct slice params);
void rpc_write_notification(struct buffer *to, const char *method, struct slice params);
void rpc_write_result(struct buffer *to, struct slice id, struct slice result);
void rpc_write_error(struct buffer *to, struct slice id, enum rpc_code code, struct slice message);

/* --- lines --- */

/* Owned by the caller. No line grows beyond `bytes_max`. */
struct rpc_lines {
    struct buffer begun; /* a line whose end has not arrived */
    size_t bytes_max;
    bool delivered;
};

enum rpc_step {
    RPC_MORE,     /* all bytes are taken */
    RPC_LINE,     /* *out is filled; call again with the rest */
    RPC_TOO_LONG, /* the stream cannot be read on */
};

void rpc_lines_init(struct rpc_lines *lines, size_t bytes_max);
void rpc_lines_release(struct rpc_lines *lines);
/* Takes bytes off *bytes; lines of white space are skipped. *out is good until the next call. */
MUST_CHECK enum rpc_step rpc_lines_next(struct rpc_lines *lines, struct slice *bytes, struct slice *out);

#endif
