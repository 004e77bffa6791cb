/* A message is understood or refused in the same way however it is cut, what is accepted holds nothing that a second
 * reader could cut elsewhere, and a request written again from its parts is the same request. The first byte of the
 * input chooses request or response and sets the size of the pieces. */
#include "wire/http.h"
#include "fuzz.h"

static const struct http_limits limits = {.uri_bytes_max = 64, .header_bytes_max = 256, .header_count_max = 8};

static enum http_progress scan_pieces(struct http_scan *scan, enum http_kind kind, struct slice text, size_t piece)
{
    enum http_progress progress = HTTP_MORE;
    http_scan_init(scan, kind);
    for (size_t len = 0; progress == HTTP_MORE && len < text.len;) {
        len = text.len - len < piece ? text.len : len + piece;
        progress = http_scan(scan, &limits, slice_from(text.ptr, len));
        CHECK(scan->at <= len);
    }
    return progress;
}

static enum http_progress scan_all_ways(struct http_scan *scan, enum http_kind kind, struct slice text, size_t piece)
{
    struct http_scan single, pieces;
    enum http_progress progress = scan_pieces(scan, kind, text, text.len ? text.len : 1);
    CHECK(scan_pieces(&single, kind, text, 1) == progress);
    CHECK(scan_pieces(&pieces, kind, text, piece) == progress);
    CHECK(single.fault == scan->fault && single.at == scan->at && single.header_count == scan->header_count);
    CHECK(pieces.fault == scan->fault && pieces.at == scan->at && pieces.header_count == scan->header_count);
    CHECK((progress == HTTP_REFUSED) == (scan->fault != HTTP_FAULT_NONE));
    return progress;
}

static void check_class(struct slice s, uint8_t class, bool may_be_empty)
{
    CHECK(s.len > 0 || may_be_empty);
    for (size_t i = 0; i < s.len; i++) {
        CHECK(http_byte_is(s.ptr[i], class));
    }
}

static void check_headers(const struct http_header *headers, size_t count)
{
    CHECK(count <= limits.header_count_max);
    for (size_t i = 0; i < count; i++) {
        check_class(headers[i].name, HTTP_BYTE_TOKEN, false);
        check_class(headers[i].value, HTTP_BYTE_VALUE, true);
        CHECK(headers[i].value.len == slice_trim(headers[i].value).len);
    }
}

static enum http_progress decode_chunks(struct slice text, size_t piece, struct buffer *out, size_t *out_used)
{
    struct http_chunks chunks = {0};
    enum http_progress progress = HTTP_MORE;
    *out_used = 0;
    while (progress == HTTP_MORE && *out_used < text.len) {
        struct slice rest = slice_after(text, *out_used);
        size_t used;
        struct slice data;
        rest.len = rest.len < piece ? rest.len : piece;
        progress = http_chunks_take(&chunks, rest, &used, &data);
        CHECK(used > 0 && used <= rest.len && data.len <= used);
        buffer_add(out, data);
        *out_used += used;
    }
    CHECK((progress == HTTP_REFUSED) == (chunks.fault != HTTP_FAULT_NONE));
    return progress;
}

static void check_chunks(struct slice text, size_t piece)
{
    struct buffer whole = {0}, single = {0}, pieces = {0};
    size_t used, single_used, pieces_used;
    enum http_progress progress = decode_chunks(text, text.len ? text.len : 1, &whole, &used);
    CHECK(decode_chunks(text, 1, &single, &single_used) == progress);
    CHECK(decode_chunks(text, piece, &pieces, &pieces_used) == progress);
    CHECK(used == single_used && used == pieces_used);
    CHECK(slice_eq(buffer_slice(&whole), buffer_slice(&single)));
    CHECK(slice_eq(buffer_slice(&whole), buffer_slice(&pieces)));
    buffer_release(&whole);
    buffer_release(&single);
    buffer_release(&pieces);
}

static void write_request(struct buffer *out, const struct http_request *request)
{
    buffer_add(out, request->method_text);
    buffer_add_byte(out, ' ');
    buffer_add(out, request->target);
    buffer_format(out, " HTTP/1.%d\r\n", request->version_minor);
    for (size_t i = 0; i < request->header_count; i++) {
        http_write_header_as_is(out, &request->headers[i]);
    }
    http_write_end(out);
}

static void check_same_again(const struct http_request *request, struct arena *arena)
{
    static const struct http_limits wider = {.uri_bytes_max = 64, .header_bytes_max = 512, .header_count_max = 8};
    struct buffer text = {0};
    struct http_scan scan;
    struct http_request again;
    write_request(&text, request);
    http_scan_init(&scan, HTTP_REQUEST);
    CHECK(http_scan(&scan, &wider, buffer_slice(&text)) == HTTP_DONE && scan.at == text.len);
    CHECK(http_request_read(&scan, buffer_slice(&text), arena, &again) == HTTP_FAULT_NONE);
    CHECK(again.method == request->method && again.version_minor == request->version_minor);
    CHECK(slice_eq(again.path, request->path) && slice_eq(again.query, request->query));
    CHECK(again.content_length == request->content_length && again.chunked == request->chunked);
    CHECK(again.keep_alive == request->keep_alive && again.expect_continue == request->expect_continue);
    CHECK(slice_eq(again.upgrade, request->upgrade) && again.header_count == request->header_count);
    for (size_t i = 0; i < again.header_count; i++) {
        CHECK(slice_eq(again.headers[i].name, request->headers[i].name));
        CHECK(slice_eq(again.headers[i].value, request->headers[i].value));
    }
    buffer_release(&text);
}

static void check_request(struct slice text, size_t piece)
{
    struct http_scan scan;
    struct arena arena = {0};
    struct http_request request;
    if (scan_all_ways(&scan, HTTP_REQUEST, text, piece) == HTTP_DONE &&
        http_request_read(&scan, slice_from(text.ptr, scan.at), &arena, &request) == HTTP_FAULT_NONE) {
        check_class(request.method_text, HTTP_BYTE_TOKEN, false);
        check_class(request.target, HTTP_BYTE_TARGET, false);
        check_headers(request.headers, request.header_count);
        CHECK(slice_is(request.path, "*") || request.path.ptr[0] == '/');
        CHECK(!request.chunked || request.content_length == -1);
        CHECK(request.version_minor == 1 || !request.keep_alive);
        check_same_again(&request, &arena);
        if (request.chunked) {
            check_chunks(slice_after(text, scan.at), piece);
        }
    }
    arena_release(&arena);
}

static void check_response(struct slice text, size_t piece)
{
    struct http_scan scan;
    struct arena arena = {0};
    struct http_response response;
    if (scan_all_ways(&scan, HTTP_RESPONSE, text, piece) == HTTP_DONE &&
        http_response_read(&scan, slice_from(text.ptr, scan.at), &arena, &response) == HTTP_FAULT_NONE) {
        CHECK(response.status >= 100 && response.status <= 599);
        check_class(response.reason, HTTP_BYTE_VALUE, true);
        check_headers(response.headers, response.header_count);
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct slice text = slice_from(data + 1, size - 1);
    size_t piece = (size_t)(data[0] >> 1) + 1;
    if (data[0] & 1) {
        check_response(text, piece);
    } else {
        check_request(text, piece);
    }
    return 0;
}
