#include "wire/http.h"

#include <assert.h>
#include <stdio.h>

/* Sums of HTTP_BYTE_...; sixteen bytes a row. Targets are wider than RFC 3986 because browsers send "[", "{" and "|" in
 * queries as they are. */
/* clang-format off */
const uint8_t http_byte_classes[256] = {
     0,  0,  0,  0,  0,  0,  0,  0,  0,  4,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     4, 15,  4,  5, 15, 15, 15, 15, 14, 14, 15, 15, 14, 15, 15,  6,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 14, 14,  4, 14,  4,  6,
     6, 47, 47, 47, 47, 47, 47, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14,  6, 14,  7, 15,
     7, 47, 47, 47, 47, 47, 47, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  6,  7,  6, 15,  0,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
     4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,
};
/* clang-format on */

static const struct http_fault_words fault_words[HTTP_FAULT_COUNT] = {
    [HTTP_FAULT_NONE] = {200, "ok", "Nothing is wrong."},
    [HTTP_FAULT_METHOD] = {400, "bad_request", "The method must be a token of at most 24 characters, then one space."},
    [HTTP_FAULT_TARGET] = {400, "bad_request",
                           "The request target must be a path or an absolute http URI of printable ASCII characters."},
    [HTTP_FAULT_VERSION_TEXT] = {400, "bad_request", "The request line must end with HTTP/1.1 or HTTP/1.0."},
    [HTTP_FAULT_VERSION] = {505, "version_not_supported", "Only HTTP/1.1 and HTTP/1.0 are spoken here."},
    [HTTP_FAULT_STATUS_LINE] = {400, "bad_request", "The status line must hold a version and a three-digit status."},
    [HTTP_FAULT_LINE_END] = {400, "bad_request", "Every line must end with a carriage return and a line feed."},
    [HTTP_FAULT_HEADER_NAME] = {400, "bad_request",
                                "A header name must be a token that is directly followed by a colon."},
    [HTTP_FAULT_HEADER_VALUE] = {400, "bad_request", "A header value must not hold control characters."},
    [HTTP_FAULT_FOLDING] = {400, "bad_request", "A header must not be continued on the next line."},
    [HTTP_FAULT_HOST_MISSING] = {400, "bad_request", "A request must carry one Host header."},
    [HTTP_FAULT_HOST] = {400, "bad_request", "There must be only one Host header, and it must be a host and a port."},
    [HTTP_FAULT_LENGTH] = {400, "bad_request", "Content-Length must be a decimal number."},
    [HTTP_FAULT_LENGTH_REPEATED] = {400, "bad_request", "Content-Length must not be given more than once."},
    [HTTP_FAULT_LENGTH_AND_CODING] = {400, "bad_request",
                                      "Content-Length and Transfer-Encoding must not be given together."},
    [HTTP_FAULT_CODING] = {400, "bad_request", "The only transfer coding accepted is chunked, once, in HTTP/1.1."},
    [HTTP_FAULT_EXPECT] = {417, "expectation_failed", "The only expectation accepted is 100-continue."},
    [HTTP_FAULT_CHUNK] = {400, "bad_request", "The chunked body is malformed."},
    [HTTP_FAULT_TRAILER] = {400, "bad_request", "The trailer of the chunked body is malformed or too long."},
    [HTTP_FAULT_URI_SIZE] = {414, "uri_too_long", "The request target is longer than this server accepts."},
    [HTTP_FAULT_HEADER_SIZE] = {431, "headers_too_large", "The headers are larger than this server accepts."},
    [HTTP_FAULT_HEADER_COUNT] = {431, "headers_too_large", "There are more headers than this server accepts."},
    [HTTP_FAULT_BODY_SIZE] = {413, "body_too_large", "The body is larger than this server accepts."},
};

const struct http_fault_words *http_fault_words(enum http_fault fault)
{
    return &fault_words[fault];
}

bool http_method_is_safe(enum http_method method)
{
    return method == HTTP_GET || method == HTTP_HEAD || method == HTTP_OPTIONS;
}

bool http_list_has(struct slice list, const char *token)
{
    bool more = slice_present(list);
    while (more) {
        struct slice item, rest;
        more = slice_cut(list, ',', &item, &rest);
        if (slice_eq_nocase(slice_trim(item), slice_of(token))) {
            return true;
        }
        list = rest;
    }
    return false;
}

bool http_bytes_are(struct slice text, uint8_t class)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!http_byte_is(text.ptr[i], class)) {
            return false;
        }
    }
    return true;
}

bool http_header_make(struct slice name, struct slice value, struct http_header *out)
{
    *out = (struct http_header){name, value};
    return name.len > 0 && http_bytes_are(name, HTTP_BYTE_TOKEN) && http_bytes_are(value, HTTP_BYTE_VALUE);
}

bool http_header_of_line(struct slice line, struct http_header *out)
{
    struct slice name, value;
    return slice_cut(line, ':', &name, &value) && http_header_make(name, slice_trim(value), out);
}

struct http_header http_header_own(const char *name, struct slice value)
{
    struct http_header header = {slice_of(name), value};
    assert(http_bytes_are(header.name, HTTP_BYTE_TOKEN));
    return header;
}

struct slice http_header_find(const struct http_header *headers, size_t count, const char *name)
{
    struct slice wanted = slice_of(name);
    for (size_t i = 0; i < count; i++) {
        if (headers[i].name.len == wanted.len && slice_eq_nocase(headers[i].name, wanted)) {
            return headers[i].value;
        }
    }
    return (struct slice){0};
}

struct slice http_request_header(const struct http_request *request, const char *name)
{
    return http_header_find(request->headers, request->header_count, name);
}

struct slice http_response_header(const struct http_response *response, const char *name)
{
    return http_header_find(response->headers, response->header_count, name);
}
