#include "unit.h"

#include <stdio.h>

#include "wire/sse.h"

static struct buffer buffer;

static int release(void **state)
{
    (void)state;
    buffer_release(&buffer);
    return 0;
}

static void expect_frame(struct slice id, struct slice event, struct slice data, const char *expected)
{
    buffer.len = 0;
    sse_write(&buffer, &(struct sse_event){id, event, data});
    assert_slice(buffer_slice(&buffer), expected);
}

static void test_write(void **state)
{
    (void)state;
    const struct slice none = {NULL, 0};
    expect_frame(SLICE("12.3"), SLICE("text"), SLICE("{\"a\":1}"), "id: 12.3\nevent: text\ndata: {\"a\":1}\n\n");
    expect_frame(none, none, SLICE("x"), "data: x\n\n");
    expect_frame(SLICE("7"), none, none, "id: 7\n\n");
    expect_frame(none, none, SLICE(""), "data: \n\n");
    expect_frame(none, none, SLICE("a\nb\r\nc\rd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
    expect_frame(none, none, SLICE("a\n"), "data: a\ndata: \n\n");
    expect_frame(none, none, SLICE("\r\n\r\n"), "data: \ndata: \ndata: \n\n");
    expect_frame(SLICE("1\ndata: evil"), SLICE("a\r\0b"), SLICE("x"), "id: 1 data: evil\nevent: a  b\ndata: x\n\n");
}

static void test_write_comment_and_retry(void **state)
{
    (void)state;
    buffer.len = 0;
    sse_write_comment(&buffer, SLICE("still here"));
    sse_write_comment(&buffer, SLICE("two\nlines"));
    assert_slice(buffer_slice(&buffer), ": still here\n\n: two\n: lines\n\n");
}

/* Decodes `stream` in pieces of `piece` bytes and writes what came out as "id|event|data;". */
static enum sse_step decode(struct slice stream, size_t piece, size_t event_bytes_max, int64_t *out_retry_ms)
{
    struct sse_decoder decoder;
    enum sse_step step = SSE_MORE;
    sse_decoder_init(&decoder, event_bytes_max);
    buffer.len = 0;
    while (stream.len > 0 && step != SSE_TOO_LARGE) {
        struct slice bytes = slice_from(stream.ptr, stream.len < piece ? stream.len : piece);
        stream = slice_after(stream, piece);
        struct sse_event event;
        while ((step = sse_decode(&decoder, &bytes, &event)) == SSE_EVENT) {
            buffer_format(&buffer, "%.*s|%.*s|%.*s;", SLICE_ARG(event.id), SLICE_ARG(event.event),
                          SLICE_ARG(event.data));
        }
    }
    *out_retry_ms = decoder.retry_ms;
    sse_decoder_release(&decoder);
    return step;
}

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        const char *stream;
        const char *events;
        int64_t retry_ms;
    } rows[] = {
        {"data: a\n\n", "||a;", -1},
        {"data:a\n\n", "||a;", -1},
        {"data:  a\n\n", "|| a;", -1},
        {"data\n\n", "||;", -1},
        {"data\ndata\n\n", "||\n;", -1},
        {"data: a\ndata: b\n\n", "||a\nb;", -1},
        {"data: a\r\n\r\ndata: b\r\rdata: c\n\n", "||a;||b;||c;", -1},
        {"data: a\r\ndata: b\r\n\r\n", "||a\nb;", -1},
        {"data: a\rdata: b\r\r", "||a\nb;", -1},
        {"data: a\r\n\ndata: b\n\r\n", "||a;||b;", -1},
        {"id: 1\nevent: x\ndata: a\n\ndata: b\n\n", "1|x|a;1||b;", -1},
        {"id: 1\ndata: a\n\nid\ndata: b\n\n", "1||a;||b;", -1},
        {"event: x\n\ndata: b\n\n", "||b;", -1},
        {"id: 5\n\ndata: b\n\n", "5||b;", -1},
        {": comment\n\n:\ndata: a\n:x\n\n", "||a;", -1},
        {"retry: 3000\n\ndata: a\n\n", "||a;", 3000},
        {"retry: 3x\nretry: -1\nretry:\nretry: 99999999999999999999\ndata: a\n\n", "||a;", -1},
        {"Data: a\ndatum: b\n data: c\nunknown\n\n", "", -1},
        {"data: never finished\n", "", -1},
        {"\xEF\xBB\xBF"
         "data: a\n\n",
         "||a;", -1},
        {"\xEF\xBB\xBF\xEF\xBB\xBF"
         "data: a\n\n",
         "", -1},
        {"\xEF\xBB"
         "data: a\n\n",
         "", -1},
        {"data: a:b: c\n\n", "||a:b: c;", -1},
        {"\n\n\n\ndata: a\n\n\n\n", "||a;", -1},
        {"data: \xE2\x82\xAC\n\n", "||\xE2\x82\xAC;", -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t piece = 1; piece < 12; piece++) {
            int64_t retry_ms;
            assert_row(rows[i].stream, decode(slice_of(rows[i].stream), piece, 1000, &retry_ms) == SSE_MORE);
            assert_slice(buffer_slice(&buffer), rows[i].events);
            assert_row(rows[i].stream, retry_ms == rows[i].retry_ms);
        }
    }
}

static void test_decode_ignores_id_with_zero_byte(void **state)
{
    (void)state;
    int64_t retry_ms;
    assert_int_equal(decode(SLICE("id: 1\nid: a\0b\ndata: x\n\n"), 100, 1000, &retry_ms), SSE_MORE);
    assert_slice(buffer_slice(&buffer), "1||x;");
}

static void test_decode_limits(void **state)
{
    (void)state;
    int64_t retry_ms;
    for (size_t piece = 1; piece < 40; piece++) {
        assert_int_equal(decode(SLICE("data: 12345678901234\n\n"), piece, 20, &retry_ms), SSE_MORE);
        assert_slice(buffer_slice(&buffer), "||12345678901234;");
        assert_int_equal(decode(SLICE("data: 123456789012345\n\n"), piece, 20, &retry_ms), SSE_TOO_LARGE);
        assert_int_equal(decode(SLICE("data: 1234567\ndata: 1234567\n\n"), piece, 20, &retry_ms), SSE_TOO_LARGE);
        assert_int_equal(decode(SLICE("a line that never ends is refused early"), piece, 20, &retry_ms), SSE_TOO_LARGE);
    }
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "x", "a\nb", "\n", " leading", "colon: inside", "{\"n\":1}"};
    struct buffer stream = {0};
    struct buffer expected = {0};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char id[8];
        snprintf(id, sizeof id, "%zu", i);
        sse_write(&stream, &(struct sse_event){slice_of(id), SLICE("e"), slice_of(texts[i])});
        sse_write_comment(&stream, SLICE(""));
        buffer_format(&expected, "%s|e|%s;", id, texts[i]);
    }
    for (size_t piece = 1; piece < 60; piece++) {
        int64_t retry_ms;
        assert_int_equal(decode(buffer_slice(&stream), piece, 1000, &retry_ms), SSE_MORE);
        assert_true(slice_eq(buffer_slice(&buffer), buffer_slice(&expected)));
    }
    buffer_release(&stream);
    buffer_release(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),         cmocka_unit_test(test_write_comment_and_retry),
        cmocka_unit_test(test_decode),        cmocka_unit_test(test_decode_ignores_id_with_zero_byte),
        cmocka_unit_test(test_decode_limits), cmocka_unit_test(test_what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
