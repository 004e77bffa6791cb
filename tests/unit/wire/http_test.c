#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire/http.h"

static const struct http_limits limits = {.uri_bytes_max = 64, .header_bytes_max = 256, .header_count_max = 8};

/* Scans the text as two pieces; the first is copied elsewhere before the second is added, as a server does. */
static enum http_progress scan_split(struct http_scan *scan, enum http_kind kind, struct slice text, size_t at)
{
    char *first = malloc(at + 1), *whole = malloc(text.len + 1);
    memcpy(first, text.ptr, at);
    memcpy(whole, text.ptr, text.len);
    http_scan_init(scan, kind);
    enum http_progress progress = http_scan(scan, &limits, slice_from(first, at));
    free(first);
    if (progress == HTTP_MORE) {
        progress = http_scan(scan, &limits, slice_from(whole, text.len));
    }
    free(whole);
    return progress;
}

static enum http_progress scan_bytewise(struct http_scan *scan, enum http_kind kind, struct slice text)
{
    enum http_progress progress = HTTP_MORE;
    http_scan_init(scan, kind);
    for (size_t len = 1; len <= text.len && progress == HTTP_MORE; len++) {
        progress = http_scan(scan, &limits, slice_from(text.ptr, len));
    }
    return progress;
}

/* The fault of a request, after checking that it is the same however the bytes arrive. */
static enum http_fault request_fault(struct slice text, struct arena *arena, struct http_request *out)
{
    struct http_scan whole, other;
    enum http_progress progress = scan_split(&whole, HTTP_REQUEST, text, text.len);
    for (size_t at = 0; at <= text.len; at++) {
        assert_int_equal(scan_split(&other, HTTP_REQUEST, text, at), progress);
        assert_int_equal(other.fault, whole.fault);
        assert_int_equal(other.at, whole.at);
        assert_int_equal(other.header_count, whole.header_count);
    }
    assert_int_equal(scan_bytewise(&other, HTTP_REQUEST, text), progress);
    assert_int_equal(other.fault, whole.fault);
    if (progress == HTTP_REFUSED) {
        return (enum http_fault)whole.fault;
    }
    assert_int_equal(progress, HTTP_DONE);
    return http_request_read(&whole, slice_from(text.ptr, whole.at), arena, out);
}

#define HOST "Host: a\r\n"

static const struct refused_row {
    const char *name, *text;
    enum http_fault fault;
    int status;
} refused_rows[] = {
    {"lower-case method is a token but unknown rubbish is not", "G@T / HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_METHOD,
     400},
    {"no method", " / HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_METHOD, 400},
    {"long method", "ABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_METHOD, 400},
    {"tab after method", "GET\t/ HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_METHOD, 400},
    {"TLS on a plain port", "\x16\x03\x01\x02\x00\x01\x00", HTTP_FAULT_METHOD, 400},
    {"two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_METHOD, 400},
    {"bare LF first", "\nGET / HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_METHOD, 400},
    {"no target", "GET  HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"two spaces", "GET  / HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"fragment", "GET /a#b HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"control byte in target", "GET /a\x01 HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"DEL in target", "GET /a\x7f HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"raw UTF-8 in target", "GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"quote in target", "GET /\" HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"relative target", "GET a HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"star for GET", "GET * HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"authority form", "CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"other scheme", "GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"absolute form without host", "GET http:///x HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"user in absolute form", "GET http://u@a/ HTTP/1.1\r\n" HOST "\r\n", HTTP_FAULT_TARGET, 400},
    {"HTTP/0.9", "GET /\r\n", HTTP_FAULT_TARGET, 400},
    {"lower-case version", "GET / http/1.1\r\n" HOST "\r\n", HTTP_FAULT_VERSION_TEXT, 400},
    {"space behind version", "GET / HTTP/1.1 \r\n" HOST "\r\n", HTTP_FAULT_VERSION_TEXT, 400},
    {"letters in version", "GET / HTTP/1.x\r\n" HOST "\r\n", HTTP_FAULT_VERSION_TEXT, 400},
    {"long version", "GET / HTTP/1.10\r\n" HOST "\r\n", HTTP_FAULT_VERSION_TEXT, 400},
    {"HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP_FAULT_VERSION, 505},
    {"HTTP/1.2", "GET / HTTP/1.2\r\n" HOST "\r\n", HTTP_FAULT_VERSION, 505},
    {"bare LF after request line", "GET / HTTP/1.1\n" HOST "\r\n", HTTP_FAULT_LINE_END, 400},
    {"bare CR after request line", "GET / HTTP/1.1\rHost: a\r\n\r\n", HTTP_FAULT_LINE_END, 400},
    {"bare LF after header", "GET / HTTP/1.1\r\nHost: a\n\r\n", HTTP_FAULT_LINE_END, 400},
    {"bare CR in header", "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", HTTP_FAULT_LINE_END, 400},
    {"bare LF at the end", "GET / HTTP/1.1\r\n" HOST "\n", HTTP_FAULT_LINE_END, 400},
    {"bare CR at the end", "GET / HTTP/1.1\r\n" HOST "\rX", HTTP_FAULT_LINE_END, 400},
    {"space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", HTTP_FAULT_HEADER_NAME, 400},
    {"tab before colon", "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", HTTP_FAULT_HEADER_NAME, 400},
    {"no colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", HTTP_FAULT_HEADER_NAME, 400},
    {"empty name", "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n", HTTP_FAULT_HEADER_NAME, 400},
    {"control byte in name", "GET / HTTP/1.1\r\nH\x01st: a\r\n\r\n", HTTP_FAULT_HEADER_NAME, 400},
    {"control byte in value", "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", HTTP_FAULT_HEADER_VALUE, 400},
    {"DEL in value", "GET / HTTP/1.1\r\n" HOST "X: \x7f\r\n\r\n", HTTP_FAULT_HEADER_VALUE, 400},
    {"folding", "GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", HTTP_FAULT_FOLDING, 400},
    {"folding with tab", "GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n", HTTP_FAULT_FOLDING, 400},
    {"white space before first header", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", HTTP_FAULT_FOLDING, 400},
    {"no Host", "GET / HTTP/1.1\r\n\r\n", HTTP_FAULT_HOST_MISSING, 400},
    {"two Hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", HTTP_FAULT_HOST, 400},
    {"two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\n" HOST HOST "\r\n", HTTP_FAULT_HOST, 400},
    {"empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", HTTP_FAULT_HOST, 400},
    {"user in Host", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", HTTP_FAULT_HOST, 400},
    {"path in Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", HTTP_FAULT_HOST, 400},
    {"space in Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", HTTP_FAULT_HOST, 400},
    {"length with sign", "POST / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\n", HTTP_FAULT_LENGTH, 400},
    {"negative length", "POST / HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\n", HTTP_FAULT_LENGTH, 400},
    {"hexadecimal length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n\r\n", HTTP_FAULT_LENGTH, 400},
    {"empty length", "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", HTTP_FAULT_LENGTH, 400},
    {"list of lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n\r\n", HTTP_FAULT_LENGTH, 400},
    {"huge length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", HTTP_FAULT_BODY_SIZE,
     413},
    {"same length twice", "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\ncontent-length: 5\r\n\r\n",
     HTTP_FAULT_LENGTH_REPEATED, 400},
    {"conflicting lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
     HTTP_FAULT_LENGTH_REPEATED, 400},
    {"length and coding", "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
     HTTP_FAULT_LENGTH_AND_CODING, 400},
    {"coding and length", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
     HTTP_FAULT_LENGTH_AND_CODING, 400},
    {"unknown coding", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", HTTP_FAULT_CODING, 400},
    {"two codings", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", HTTP_FAULT_CODING, 400},
    {"chunked twice", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
     HTTP_FAULT_CODING, 400},
    {"identity", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n", HTTP_FAULT_CODING, 400},
    {"quoted chunked", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \"chunked\"\r\n\r\n", HTTP_FAULT_CODING, 400},
    {"vertical tab before chunked",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \x0b"
     "chunked\r\n\r\n",
     HTTP_FAULT_HEADER_VALUE, 400},
    {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", HTTP_FAULT_CODING, 400},
    {"other expectation", "POST / HTTP/1.1\r\n" HOST "Expect: a-pony\r\n\r\n", HTTP_FAULT_EXPECT, 417},
    {"long target", "GET /xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx HTTP/1.1\r\n" HOST "\r\n",
     HTTP_FAULT_URI_SIZE, 414},
    {"long target that is also wrong",
     "GET /xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\x01 HTTP/1.1\r\n" HOST "\r\n",
     HTTP_FAULT_URI_SIZE, 414},
    {"nine headers", "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\nF: 1\r\nG: 1\r\nH: 1\r\n\r\n",
     HTTP_FAULT_HEADER_COUNT, 431},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused_rows); i++) {
        const struct refused_row *row = &refused_rows[i];
        struct arena arena = {0};
        struct http_request request;
        enum http_fault fault = request_fault(slice_of(row->text), &arena, &request);
        assert_row(row->name, fault == row->fault);
        assert_row(row->name, http_fault_words(fault)->status == row->status);
        arena_release(&arena);
    }
}

static void test_zero_byte_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"G~T / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /~ HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "GET / HTTP/1.1\r\nH~st: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: ~\r\n\r\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", texts[i]);
        size_t len = strlen(text);
        *strchr(text, '~') = '\0';
        struct arena arena = {0};
        struct http_request request;
        enum http_fault fault = request_fault(slice_from(text, len), &arena, &request);
        assert_row(texts[i], http_fault_words(fault)->status == 400);
        arena_release(&arena);
    }
}

static const struct accepted_row {
    const char *text;
    enum http_method method;
    const char *path, *query; /* query NULL: none */
    int64_t content_length;
    bool chunked, keep_alive, expect_continue;
    const char *upgrade;
} accepted_rows[] = {
    {"GET / HTTP/1.1\r\n" HOST "\r\n", HTTP_GET, "/", NULL, -1, false, true, false, NULL},
    {"\r\nGET / HTTP/1.1\r\n" HOST "\r\n", HTTP_GET, "/", NULL, -1, false, true, false, NULL},
    {"HEAD /a?b=c HTTP/1.1\r\nhost:a\r\n\r\n", HTTP_HEAD, "/a", "b=c", -1, false, true, false, NULL},
    {"GET /a? HTTP/1.1\r\n" HOST "\r\n", HTTP_GET, "/a", "", -1, false, true, false, NULL},
    {"GET /?a?b[]={|} HTTP/1.1\r\n" HOST "\r\n", HTTP_GET, "/", "a?b[]={|}", -1, false, true, false, NULL},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", HTTP_OPTIONS, "*", NULL, -1, false, true, false, NULL},
    {"GET http://a.b:80/c?d HTTP/1.1\r\n" HOST "\r\n", HTTP_GET, "/c", "d", -1, false, true, false, NULL},
    {"GET HTTPS://a HTTP/1.1\r\n" HOST "\r\n", HTTP_GET, "/", NULL, -1, false, true, false, NULL},
    {"GET http://[::1]:8?x HTTP/1.1\r\nHost: [::1]:8\r\n\r\n", HTTP_GET, "/", "x", -1, false, true, false, NULL},
    {"POST /p HTTP/1.1\r\n" HOST "Content-Length: \t 0012 \t\r\n\r\n", HTTP_POST, "/p", NULL, 12, false, true, false,
     NULL},
    {"PUT / HTTP/1.1\r\n" HOST "TRANSFER-ENCODING: Chunked\r\n\r\n", HTTP_PUT, "/", NULL, -1, true, true, false, NULL},
    {"PATCH / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", HTTP_PATCH, "/", NULL, -1, false, false, false, NULL},
    {"DELETE / HTTP/1.1\r\n" HOST "Connection: a, Close\r\n\r\n", HTTP_DELETE, "/", NULL, -1, false, false, false,
     NULL},
    {"get / HTTP/1.1\r\n" HOST "\r\n", HTTP_METHOD_OTHER, "/", NULL, -1, false, true, false, NULL},
    {"GET / HTTP/1.0\r\n\r\n", HTTP_GET, "/", NULL, -1, false, false, false, NULL},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", HTTP_GET, "/", NULL, -1, false, false, false, NULL},
    {"POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n", HTTP_POST, "/", NULL, 1, false,
     true, true, NULL},
    {"POST / HTTP/1.0\r\n" HOST "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n", HTTP_POST, "/", NULL, 1, false,
     false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n\r\n", HTTP_GET,
     "/", NULL, -1, false, true, false, "websocket"},
    {"GET / HTTP/1.1\r\n" HOST "Upgrade: h2c\r\n\r\n", HTTP_GET, "/", NULL, -1, false, true, false, NULL},
    {"GET /xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx HTTP/1.1\r\n" HOST "\r\n", HTTP_GET,
     "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", NULL, -1, false, true, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: \xff\r\nC:\r\nD: 1\r\nE: 1\r\nF: 1\r\nG: 1\r\n\r\n", HTTP_GET, "/", NULL, -1,
     false, true, false, NULL},
};

static void check_accepted(const struct accepted_row *row)
{
    struct arena arena = {0};
    struct http_request request;
    assert_row(row->text, request_fault(slice_of(row->text), &arena, &request) == HTTP_FAULT_NONE);
    assert_row(row->text, request.method == row->method);
    assert_slice(request.path, row->path);
    assert_row(row->text, slice_present(request.query) == (row->query != NULL));
    assert_row(row->text, !row->query || slice_is(request.query, row->query));
    assert_row(row->text, request.content_length == row->content_length);
    assert_row(row->text, request.chunked == row->chunked);
    assert_row(row->text, request.keep_alive == row->keep_alive);
    assert_row(row->text, request.expect_continue == row->expect_continue);
    assert_row(row->text, slice_present(request.upgrade) == (row->upgrade != NULL));
    assert_row(row->text, !row->upgrade || slice_is(request.upgrade, row->upgrade));
    arena_release(&arena);
}

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(accepted_rows); i++) {
        check_accepted(&accepted_rows[i]);
    }
}

static void test_headers(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct http_request request;
    struct slice text =
        SLICE("GET / HTTP/1.1\r\nHost: a\r\nTraceParent: 00-1\r\nX:  a b \t\r\nx: second\r\nY:\r\n\r\nrest");
    assert_int_equal(request_fault(text, &arena, &request), HTTP_FAULT_NONE);
    assert_int_equal(request.header_count, 5);
    assert_slice(http_request_header(&request, "traceparent"), "00-1");
    assert_slice(http_request_header(&request, "x"), "a b");
    assert_slice(http_request_header(&request, "y"), "");
    assert_absent(http_request_header(&request, "z"));
    arena_release(&arena);
}

/* A head of exactly the limit passes, one byte more does not, however it is cut. */
static void test_header_bytes_limit(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct buffer text = {0};
        struct arena arena = {0};
        struct http_request request;
        buffer_add(&text, SLICE("GET / HTTP/1.1\r\nHost: a\r\nX: "));
        size_t fill = limits.header_bytes_max - strlen("Host: a\r\nX: \r\n") + more;
        for (size_t i = 0; i < fill; i++) {
            buffer_add_byte(&text, 'v');
        }
        buffer_add(&text, SLICE("\r\n\r\n"));
        assert_int_equal(request_fault(buffer_slice(&text), &arena, &request),
                         more ? HTTP_FAULT_HEADER_SIZE : HTTP_FAULT_NONE);
        arena_release(&arena);
        buffer_release(&text);
    }
}

/* Decodes the text cut at `at`; the decoded bytes in `out`. */
static enum http_progress decode_chunks(struct slice text, size_t at, struct buffer *out, size_t *out_used,
                                        enum http_fault *out_fault)
{
    struct http_chunks chunks = {0};
    struct slice pieces[2] = {slice_from(text.ptr, at), slice_after(text, at)};
    enum http_progress progress = HTTP_MORE;
    *out_used = 0;
    for (int i = 0; i < 2; i++) {
        while (pieces[i].len > 0 && progress == HTTP_MORE) {
            size_t used;
            struct slice data;
            progress = http_chunks_take(&chunks, pieces[i], &used, &data);
            assert_true(used > 0);
            buffer_add(out, data);
            *out_used += used;
            pieces[i] = slice_after(pieces[i], used);
        }
    }
    *out_fault = (enum http_fault)chunks.fault;
    return progress;
}

static const struct chunk_row {
    const char *text, *body; /* body NULL: refused */
    enum http_fault fault;
    size_t rest; /* bytes behind the end */
} chunk_rows[] = {
    {"0\r\n\r\n", "", 0, 0},
    {"5\r\nhello\r\n0\r\n\r\n", "hello", 0, 0},
    {"5\r\nhello\r\n6\r\n world\r\n000\r\n\r\nGET /", "hello world", 0, 5},
    {"a;x=\"y z\";q\r\n0123456789\r\n0;last\r\n\r\n", "0123456789", 0, 0},
    {"A\r\n0123456789\r\n0\r\nX-Sum: 12\r\nY:\r\n\r\n", "0123456789", 0, 0},
    {"4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n", 0, 0},
    {"\r\nhello", NULL, HTTP_FAULT_CHUNK, 0},
    {"5\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"5 \r\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {" 5\r\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"0x5\r\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"-5\r\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"5\r\nhelloo\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"5\r\nhello\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"5\r\nhello\rx", NULL, HTTP_FAULT_CHUNK, 0},
    {"5;a\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"5;\x01\r\nhello\r\n0\r\n\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"ffffffffffffffff\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"10000000000000000\r\n", NULL, HTTP_FAULT_CHUNK, 0},
    {"0\r\nX : 1\r\n\r\n", NULL, HTTP_FAULT_TRAILER, 0},
    {"0\r\n X: 1\r\n\r\n", NULL, HTTP_FAULT_TRAILER, 0},
    {"0\r\nX: 1\n\r\n", NULL, HTTP_FAULT_TRAILER, 0},
    {"0\r\n\rx", NULL, HTTP_FAULT_TRAILER, 0},
};

static void test_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(chunk_rows); i++) {
        const struct chunk_row *row = &chunk_rows[i];
        struct slice text = slice_of(row->text);
        for (size_t at = 0; at <= text.len; at++) {
            struct buffer out = {0};
            size_t used;
            enum http_fault fault;
            enum http_progress progress = decode_chunks(text, at, &out, &used, &fault);
            assert_row(row->text, fault == row->fault);
            assert_row(row->text, progress == (row->body ? HTTP_DONE : HTTP_REFUSED));
            assert_row(row->text, !row->body || slice_is(buffer_slice(&out), row->body));
            assert_row(row->text, !row->body || used == text.len - row->rest);
            buffer_release(&out);
        }
    }
}

static void test_response(void **state)
{
    (void)state;
    struct slice text = SLICE("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nX-Request-Id: 7\r\n\r\nabc");
    for (size_t at = 0; at <= text.len; at++) {
        struct http_scan scan;
        struct arena arena = {0};
        struct http_response response;
        assert_int_equal(scan_split(&scan, HTTP_RESPONSE, text, at), HTTP_DONE);
        assert_int_equal(http_response_read(&scan, slice_from(text.ptr, scan.at), &arena, &response), HTTP_FAULT_NONE);
        assert_int_equal(response.status, 404);
        assert_slice(response.reason, "Not Found");
        assert_int_equal(response.content_length, 3);
        assert_true(response.keep_alive);
        assert_slice(http_response_header(&response, "x-request-id"), "7");
        assert_slice(slice_after(text, scan.at), "abc");
        arena_release(&arena);
    }
}

static void test_response_without_body(void **state)
{
    (void)state;
    struct slice text = SLICE("HTTP/1.0 204\r\n\r\n");
    struct http_scan scan;
    struct arena arena = {0};
    struct http_response response;
    assert_int_equal(scan_split(&scan, HTTP_RESPONSE, text, 3), HTTP_DONE);
    assert_int_equal(http_response_read(&scan, text, &arena, &response), HTTP_FAULT_NONE);
    assert_slice(response.reason, "");
    assert_int_equal(response.content_length, 0);
    assert_false(response.keep_alive);
    arena_release(&arena);
}

static void test_bad_responses(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",  "HTTP/1.1 200 OK\n\r\n",    "HTTP/1.1 999 Hm\r\n\r\n", "hello\r\n\r\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct http_scan scan;
        assert_row(texts[i], scan_split(&scan, HTTP_RESPONSE, slice_of(texts[i]), 4) == HTTP_REFUSED);
    }
}

static void test_write(void **state)
{
    (void)state;
    struct buffer out = {0};
    http_write_status(&out, 201);
    http_write_header(&out, "X", SLICE("a\r\nEvil: 1\0b"));
    http_write_header_i64(&out, "Content-Length", 0);
    http_write_end(&out);
    assert_slice(buffer_slice(&out), "HTTP/1.1 201 Created\r\nX: a  Evil: 1 b\r\nContent-Length: 0\r\n\r\n");
    buffer_release(&out);
}

/* Every byte at every place of a name and a value: what is made can't be read as anything else. */
static void test_only_headers_are_made(void **state)
{
    (void)state;
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct http_header header;
    for (int byte = 0; byte < 256; byte++) {
        bool in_name = byte != 0 && strchr(token, byte);
        bool in_value = byte == '\t' || (byte >= ' ' && byte != 0x7F);
        for (size_t at = 0; at < 3; at++) {
            char name[] = "aaa", value[] = "aaa";
            name[at] = value[at] = (char)byte;
            assert_int_equal(http_header_make(slice_from(name, 3), SLICE("v"), &header), in_name);
            assert_int_equal(http_header_make(SLICE("n"), slice_from(value, 3), &header), in_value);
        }
    }
    assert_false(http_header_make(SLICE(""), SLICE("v"), &header));
    assert_true(http_header_make(SLICE("n"), SLICE(""), &header));
    static const char *const lines[] = {"",      "n",      ": v",     " n: v",   "\tn: v",
                                        "n : v", "n\t: v", "a\rb: v", "n: a\rb", "a b: c"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        assert_row(lines[i], !http_header_of_line(slice_of(lines[i]), &header));
    }
    assert_true(http_header_of_line(SLICE("Host:  a b "), &header));
    assert_slice(header.value, "a b");
}

static void test_date(void **state)
{
    (void)state;
    char text[HTTP_DATE_BYTES];
    http_date(784111777999, text);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
}

static void test_list_has(void **state)
{
    (void)state;
    assert_true(http_list_has(SLICE("a, Close ,b"), "close"));
    assert_true(http_list_has(SLICE("close"), "close"));
    assert_false(http_list_has(SLICE("closed, xclose"), "close"));
    assert_false(http_list_has((struct slice){0}, "close"));
}

static void test_every_fault_has_words(void **state)
{
    (void)state;
    for (int fault = 1; fault < HTTP_FAULT_COUNT; fault++) {
        const struct http_fault_words *words = http_fault_words((enum http_fault)fault);
        assert_true(words->status >= 400);
        assert_string_not_equal(http_reason(words->status), "Unknown");
        assert_non_null(words->code);
        assert_int_equal(words->detail[strlen(words->detail) - 1], '.');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_zero_byte_is_refused),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_header_bytes_limit),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_response),
        cmocka_unit_test(test_response_without_body),
        cmocka_unit_test(test_bad_responses),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_only_headers_are_made),
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_list_has),
        cmocka_unit_test(test_every_fault_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
