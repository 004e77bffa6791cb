#include "unit.h"

#include "wire/websocket.h"

enum { MESSAGE_MAX = 100000 };

static struct buffer heard; /* "opcode:payload;" for each message, "close:CODE:reason;", "broken:CODE;" */

static int release(void **state)
{
    (void)state;
    buffer_release(&heard);
    return 0;
}

static void hear(const struct websocket_message *message)
{
    if (message->opcode == WEBSOCKET_CLOSE) {
        buffer_format(&heard, "close:%d:%.*s;", message->close_code, SLICE_ARG(message->payload));
    } else {
        buffer_format(&heard, "%d:%.*s;", (int)message->opcode, SLICE_ARG(message->payload));
    }
}

static void decode(struct slice stream, size_t piece, enum websocket_side side)
{
    struct websocket_decoder decoder;
    websocket_decoder_init(&decoder, side, MESSAGE_MAX);
    heard.len = 0;
    while (stream.len > 0) {
        struct slice bytes = slice_from(stream.ptr, stream.len < piece ? stream.len : piece);
        stream = slice_after(stream, piece);
        struct websocket_message message;
        enum websocket_step step;
        while ((step = websocket_decode(&decoder, &bytes, &message)) == WEBSOCKET_MESSAGE) {
            hear(&message);
        }
        assert_true(step == WEBSOCKET_BROKEN || bytes.len == 0);
        if (step == WEBSOCKET_BROKEN) {
            assert_non_null(decoder.problem);
            buffer_format(&heard, "broken:%d;", decoder.close_code);
        }
    }
    websocket_decoder_release(&decoder);
}

static void expect_bytes(struct slice stream, enum websocket_side side, const char *expected)
{
    for (size_t piece = 1; piece < 20; piece++) {
        decode(stream, piece, side);
        assert_slice(buffer_slice(&heard), expected);
    }
    decode(stream, stream.len + 1, side);
    assert_slice(buffer_slice(&heard), expected);
}

#define expect(literal, expected) expect_bytes(SLICE(literal), WEBSOCKET_FROM_SERVER, (expected))
#define expect_client(literal, expected) expect_bytes(SLICE(literal), WEBSOCKET_FROM_CLIENT, (expected))

static void test_messages(void **state)
{
    (void)state;
    expect("\x81\x05Hello", "1:Hello;");
    expect("\x82\x02\xFF\xFE", "2:\xFF\xFE;");
    expect("\x81\x00\x81\x01x", "1:;1:x;");
    expect_client("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "1:Hello;");
    expect_client("\x81\x80"
                  "mask\x89\x80mask",
                  "1:;9:;");
}

static void test_fragments(void **state)
{
    (void)state;
    expect("\x01\x03Hel\x80\x02lo", "1:Hello;");
    expect("\x01\x00\x00\x00\x00\x01x\x80\x00", "1:x;");
    expect("\x01\x01\xC3\x80\x01\xA9", "1:\xC3\xA9;"); /* a character across fragments */
    expect("\x01\x03Hel\x89\x04ping\x00\x01l\x8A\x00\x80\x01o\x81\x01!", "9:ping;10:;1:Hello;1:!;");
}

static void test_close(void **state)
{
    (void)state;
    expect("\x88\x00", "close:1005:;");
    expect("\x88\x02\x03\xE8", "close:1000:;");
    expect("\x88\x05\x03\xE9"
           "bye",
           "close:1001:bye;");
    expect("\x88\x02\x0F\xA0\x81\x01x", "close:4000:;"); /* nothing is heard after it */
    expect("\x01\x01x\x88\x00", "close:1005:;");
    expect("\x88\x01x", "broken:1002;");
    expect("\x88\x02\x03\xE7", "broken:1002;"); /* 999 */
    expect("\x88\x02\x03\xED", "broken:1002;"); /* 1005 */
    expect("\x88\x02\x03\xEE", "broken:1002;"); /* 1006 */
    expect("\x88\x02\x03\xF7", "broken:1002;"); /* 1015 */
    expect("\x88\x02\x07\xD0", "broken:1002;"); /* 2000 */
    expect("\x88\x02\x13\x88", "broken:1002;"); /* 5000 */
    expect("\x88\x03\x03\xE8\xFF", "broken:1007;");
}

static void test_broken(void **state)
{
    (void)state;
    expect("\x81\x81mask", "broken:1002;");     /* a server does not mask */
    expect_client("\x81\x01x", "broken:1002;"); /* a client must */
    expect("\xC1\x00", "broken:1002;");         /* reserved bits */
    expect("\x91\x00", "broken:1002;");
    expect("\x83\x00", "broken:1002;"); /* unknown opcodes */
    expect("\x8B\x00", "broken:1002;");
    expect("\x80\x00", "broken:1002;");               /* continuation of nothing */
    expect("\x01\x01x\x81\x01y", "broken:1002;");     /* a message inside a message */
    expect("\x81\x01x\x80\x01y", "1:x;broken:1002;"); /* continuation after the end */
    expect("\x09\x00", "broken:1002;");               /* fragmented control frame */
    expect("\x89\x7E\x00\x7E", "broken:1002;");       /* control frame of 126 bytes */
    expect("\x81\x7E\x00\x7D", "broken:1002;");       /* not the shortest form */
    expect("\x81\x7F\x00\x00\x00\x00\x00\x00\xFF\xFF", "broken:1002;");
    expect("\x81\x7F\x80\x00\x00\x00\x00\x00\x00\x00", "broken:1002;");
    expect("\x81\x01\xFF", "broken:1007;");
    expect("\x81\x01\xC3", "broken:1007;");          /* a character cut short */
    expect("\x81\x01\xFF\x81\x01x", "broken:1007;"); /* nothing is heard after it */
}

static void test_size_limit(void **state)
{
    (void)state;
    struct websocket_decoder decoder;
    struct websocket_message message;
    const struct {
        struct slice stream;
        enum websocket_step step;
    } rows[] = {
        {SLICE("\x82\x08"
               "12345678"),
         WEBSOCKET_MESSAGE},
        {SLICE("\x82\x09"), WEBSOCKET_BROKEN},
        {SLICE("\x02\x08"
               "12345678\x80\x00"),
         WEBSOCKET_MESSAGE},
        {SLICE("\x02\x08"
               "12345678\x80\x01"),
         WEBSOCKET_BROKEN},
        {SLICE("\x82\x7F\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), WEBSOCKET_BROKEN},
        {SLICE("\x89\x09"
               "123456789"),
         WEBSOCKET_MESSAGE}, /* control frames have a limit of their own */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice bytes = rows[i].stream;
        websocket_decoder_init(&decoder, WEBSOCKET_FROM_SERVER, 8);
        assert_int_equal(websocket_decode(&decoder, &bytes, &message), rows[i].step);
        if (rows[i].step == WEBSOCKET_BROKEN) {
            assert_int_equal(decoder.close_code, WEBSOCKET_CLOSE_TOO_LARGE);
        }
        websocket_decoder_release(&decoder);
    }
}

static void test_promised_memory_is_not_taken(void **state)
{
    (void)state;
    struct websocket_decoder decoder;
    struct websocket_message message;
    struct slice bytes = SLICE("\x82\x7F\x00\x00\x00\x00\x40\x00\x00\x00x");
    websocket_decoder_init(&decoder, WEBSOCKET_FROM_SERVER, (size_t)1 << 31);
    assert_int_equal(websocket_decode(&decoder, &bytes, &message), WEBSOCKET_MORE);
    assert_true(decoder.message.room < 4096);
    websocket_decoder_release(&decoder);
}

static void test_idle_costs_little(void **state)
{
    (void)state;
    struct websocket_decoder decoder;
    struct websocket_message message;
    struct slice bytes = SLICE("\x81\x05Hello\x89\x01x");
    assert_true(sizeof decoder < 200);
    websocket_decoder_init(&decoder, WEBSOCKET_FROM_SERVER, 1000);
    assert_int_equal(websocket_decode(&decoder, &bytes, &message), WEBSOCKET_MESSAGE);
    assert_int_equal(websocket_decode(&decoder, &bytes, &message), WEBSOCKET_MESSAGE);
    assert_int_equal(websocket_decode(&decoder, &bytes, &message), WEBSOCKET_MORE);
    assert_null(decoder.message.ptr);
    websocket_decoder_release(&decoder);
}

/* What either side writes, the other reads, whatever the length. */
static void test_round_trip(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 3, 4, 5, 124, 125, 126, 127, 1000, 65535, 65536, 70001};
    struct id_source ids;
    id_source_init_seeded(&ids, 5);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        char *payload = test_malloc(lengths[i] + 1);
        for (size_t k = 0; k < lengths[i]; k++) {
            payload[k] = (char)('a' + k % 26);
        }
        struct slice sent = slice_from(payload, lengths[i]);
        struct buffer plain = {0}, masked = {0};
        websocket_write(&plain, WEBSOCKET_TEXT, sent);
        websocket_write_masked(&masked, &ids, WEBSOCKET_TEXT, sent);
        for (size_t piece = 1; piece < 100000; piece = piece * 7 + 1) {
            decode(buffer_slice(&plain), piece, WEBSOCKET_FROM_SERVER);
            assert_int_equal(heard.len, lengths[i] + 3);
            assert_memory_equal(heard.ptr + 2, payload, lengths[i]);
            decode(buffer_slice(&masked), piece, WEBSOCKET_FROM_CLIENT);
            assert_int_equal(heard.len, lengths[i] + 3);
            assert_memory_equal(heard.ptr + 2, payload, lengths[i]);
        }
        buffer_release(&plain);
        buffer_release(&masked);
        test_free(payload);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_size_limit),
        cmocka_unit_test(test_promised_memory_is_not_taken),
        cmocka_unit_test(test_idle_costs_little),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
