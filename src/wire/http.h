/* HTTP/1.1 messages without I/O. Reading is strict: whatever two readers could understand differently is refused.
 *
 * A message head is read in two passes. http_scan looks at every byte once, in whatever pieces they arrive, and finds
 * the end of the head or a fault; it keeps offsets only, so the bytes may move between calls. http_request_read and
 * http_response_read then cut the scanned head into slices. */
#ifndef WIRE_HTTP_H
#define WIRE_HTTP_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_METHOD_OTHER /* well-formed, but none of the above */
};

/* Made by the functions below and by readers of heads only, so that the name is a token and neither part can end the
 * line: whoever has one may write it. */
struct http_header {
    struct slice name, value;
};

/* Slices point into the head that was read. */
struct http_request {
    enum http_method method;
    struct slice method_text;
    struct slice target; /* as sent */
    struct slice path;   /* still percent-encoded, starts with '/', or is "*" */
    struct slice query;  /* without '?', still percent-encoded; absent when there is no '?' */
    const struct http_header *headers;
    size_t header_count;
    struct slice body;      /* set by whoever received it */
    struct slice upgrade;   /* of the Upgrade header when Connection names it, else absent */
    int64_t content_length; /* -1 = none was given */
    int version_minor;
    bool chunked;
    bool keep_alive;
    bool expect_continue;
};

struct http_response {
    int status;
    struct slice reason;
    const struct http_header *headers;
    size_t header_count;
    int64_t content_length; /* -1 = none: chunked, or the body ends with the connection */
    int version_minor;
    bool chunked;
    bool keep_alive;
};

struct http_limits {
    size_t uri_bytes_max;
    size_t header_bytes_max; /* all header lines together */
    size_t header_count_max;
};

/* Why a message was refused. */
enum http_fault {
    HTTP_FAULT_NONE,
    HTTP_FAULT_METHOD,
    HTTP_FAULT_TARGET,
    HTTP_FAULT_VERSION_TEXT,
    HTTP_FAULT_VERSION,
    HTTP_FAULT_STATUS_LINE,
    HTTP_FAULT_LINE_END,
    HTTP_FAULT_HEADER_NAME,
    HTTP_FAULT_HEADER_VALUE,
    HTTP_FAULT_FOLDING,
    HTTP_FAULT_HOST_MISSING,
    HTTP_FAULT_HOST,
    HTTP_FAULT_LENGTH,
    HTTP_FAULT_LENGTH_REPEATED,
    HTTP_FAULT_LENGTH_AND_CODING,
    HTTP_FAULT_CODING,
    HTTP_FAULT_EXPECT,
    HTTP_FAULT_CHUNK,
    HTTP_FAULT_TRAILER,
    HTTP_FAULT_URI_SIZE,
    HTTP_FAULT_HEADER_SIZE,
    HTTP_FAULT_HEADER_COUNT,
    HTTP_FAULT_BODY_SIZE,
    HTTP_FAULT_COUNT
};

struct http_fault_words {
    int status;
    const char *code;
    const char *detail; /* one sentence */
};

const struct http_fault_words *http_fault_words(enum http_fault fault);

enum http_progress { HTTP_MORE, HTTP_DONE, HTTP_REFUSED };
enum http_kind { HTTP_REQUEST, HTTP_RESPONSE };

/* All private, except what http_scan promises. */
struct http_scan {
    size_t at;       /* bytes looked at; the length of the head when HTTP_DONE */
    size_t begin_at; /* where the first line begins: one empty line may stand before it */
    size_t mark_at;  /* where the current element begins */
    size_t header_count;
    uint8_t kind;
    uint8_t state;
    uint8_t fault; /* an http_fault, when HTTP_REFUSED */
};

void http_scan_init(struct http_scan *scan, enum http_kind kind);
/* `bytes` are all bytes of the message so far, from its first one. What is refused and why does not depend on the
 * pieces in which they came. */
enum http_progress http_scan(struct http_scan *scan, const struct http_limits *limits, struct slice bytes);

/* `head` are the first scan->at bytes of the message; they and the header array in `arena` must outlive the result. */
MUST_CHECK enum http_fault http_request_read(const struct http_scan *scan, struct slice head, struct arena *arena,
                                             struct http_request *out);
MUST_CHECK enum http_fault http_response_read(const struct http_scan *scan, struct slice head, struct arena *arena,
                                              struct http_response *out);
/* False for what is no header (RFC 9110, 5): the name must be a token, the value must hold no control characters. The
 * slices are borrowed. */
MUST_CHECK bool http_header_make(struct slice name, struct slice value, struct http_header *out);
/* The same of a line without its end; what continues the line before is no header. */
MUST_CHECK bool http_header_of_line(struct slice line, struct http_header *out);
/* A header of the server's own, with a value that may need cleaning: see http_write_header. */
struct http_header http_header_own(const char *name, struct slice value);
/* The first value of that name, in any case; absent when there is none. */
struct slice http_header_find(const struct http_header *headers, size_t count, const char *name);
struct slice http_request_header(const struct http_request *request, const char *name);
struct slice http_response_header(const struct http_response *response, const char *name);
/* GET, HEAD and OPTIONS change nothing. */
bool http_method_is_safe(enum http_method method);
/* Whether the comma-separated `list` holds `token`, in any case. */
bool http_list_has(struct slice list, const char *token);
/* The lines of a scanned head behind the first one, as headers in `out` (room for scan->header_count). */
void http_head_split(const struct http_scan *scan, struct slice head, struct http_header *out);

/* The body of a chunked message. A decoder of zeroes is ready. */
struct http_chunks {
    uint64_t left; /* of the current chunk */
    uint32_t line_bytes;
    uint32_t trailer_bytes;
    uint8_t state;
    uint8_t fault;
};

/* Takes framing and at most one run of data: *out_used bytes of `bytes` are done with, *out_data is the data among
 * them (maybe empty). HTTP_MORE: call again with the rest, or when more has come. */
enum http_progress http_chunks_take(struct http_chunks *chunks, struct slice bytes, size_t *out_used,
                                    struct slice *out_data);

/* Writing. A head is http_write_status, any number of headers, http_write_end. */
const char *http_reason(int status);
void http_write_status(struct buffer *out, int status);
/* A header of the server's own. Bytes of the value that could end the line are replaced by spaces. */
void http_write_header(struct buffer *out, const char *name, struct slice value);
void http_write_header_i64(struct buffer *out, const char *name, int64_t value);
/* A header that came from elsewhere. */
void http_write_header_as_is(struct buffer *out, const struct http_header *header);
void http_write_end(struct buffer *out);
/* "Sun, 06 Nov 1994 08:49:37 GMT" */
enum { HTTP_DATE_BYTES = 30 };
void http_date(int64_t wall_ms, char out[HTTP_DATE_BYTES]);

/* Classes of bytes. */
enum {
    HTTP_BYTE_TOKEN = 1,
    HTTP_BYTE_TARGET = 2,
    HTTP_BYTE_VALUE = 4,
    HTTP_BYTE_HOST = 8,
    HTTP_BYTE_DIGIT = 16,
    HTTP_BYTE_HEX = 32,
};
extern const uint8_t http_byte_classes[256];

static inline bool http_byte_is(char byte, uint8_t class)
{
    return (http_byte_classes[(unsigned char)byte] & class) != 0;
}

/* Every one of them; no bytes at all are. */
bool http_bytes_are(struct slice bytes, uint8_t class);

#endif
