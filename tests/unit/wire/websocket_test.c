#include "unit.h"

#include "wire/websocket.h"

static const struct websocket_offer good_offer = {
    .upgrade = {"websocket", 9},
    .connection = {"keep-alive, Upgrade", 19},
    .version = {"13", 2},
    .key = {"dGhlIHNhbXBsZSBub25jZQ==", 24},
};

/* The example of RFC 6455 §1.3. */
static void test_handshake(void **state)
{
    (void)state;
    struct websocket_answer answer;
    assert_status(websocket_handshake(&good_offer, NULL, &answer, NULL), STATUS_OK);
    assert_string_equal(answer.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_null(answer.protocol);
}

static void test_handshake_refuses(void **state)
{
    (void)state;
    struct websocket_answer answer;
    struct failure failure;
    struct websocket_offer offer = good_offer;
    offer.upgrade = SLICE("h2c");
    assert_status(websocket_handshake(&offer, NULL, &answer, &failure), STATUS_INVALID);
    assert_string_equal(failure.code, "websocket_expected");
    offer = good_offer;
    offer.connection = (struct slice){NULL, 0};
    assert_status(websocket_handshake(&offer, NULL, &answer, &failure), STATUS_INVALID);
    assert_string_equal(failure.code, "websocket_expected");
    offer = good_offer;
    offer.version = SLICE("8");
    assert_status(websocket_handshake(&offer, NULL, &answer, &failure), STATUS_INVALID);
    assert_string_equal(failure.code, "websocket_version");
    static const char *const keys[] = {"", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=!", "AAAA",
                                       "dGhlIHNhbXBsZSBub25jZTEy"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        offer = good_offer;
        offer.key = slice_of(keys[i]);
        assert_status(websocket_handshake(&offer, NULL, &answer, &failure), STATUS_INVALID);
        assert_string_equal(failure.code, "websocket_key");
    }
}

static void test_protocol(void **state)
{
    (void)state;
    static const char *const ours[] = {"sojourn.v2", "sojourn.v1", NULL};
    static const struct {
        const char *offered; /* NULL = absent */
        const char *chosen;
    } rows[] = {
        {"sojourn.v1", "sojourn.v1"},
        {"x, sojourn.v1 , sojourn.v2", "sojourn.v2"},
        {"Sojourn.v1", NULL},
        {"sojourn", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct websocket_offer offer = good_offer;
        struct websocket_answer answer;
        offer.protocols = slice_of(rows[i].offered);
        assert_status(websocket_handshake(&offer, ours, &answer, NULL), STATUS_OK);
        assert_row(rows[i].offered,
                   rows[i].chosen ? answer.protocol && !strcmp(answer.protocol, rows[i].chosen) : !answer.protocol);
    }
}

static void expect_header(size_t payload_len, const char *header, size_t header_len)
{
    struct buffer buffer = {0};
    char *payload = test_calloc(1, payload_len + 1);
    websocket_write(&buffer, WEBSOCKET_TEXT, slice_from(payload, payload_len));
    assert_int_equal(buffer.len, header_len + payload_len);
    assert_memory_equal(buffer.ptr, header, header_len);
    test_free(payload);
    buffer_release(&buffer);
}

static void test_write_lengths(void **state)
{
    (void)state;
    expect_header(0, "\x81\x00", 2);
    expect_header(125, "\x81\x7D", 2);
    expect_header(126, "\x81\x7E\x00\x7E", 4);
    expect_header(65535, "\x81\x7E\xFF\xFF", 4);
    expect_header(65536, "\x81\x7F\x00\x00\x00\x00\x00\x01\x00\x00", 10);
}

static void test_write_close(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    websocket_write_close(&buffer, WEBSOCKET_CLOSE_GOING_AWAY, SLICE("bye"));
    assert_bytes(buffer_slice(&buffer), "\x88\x05\x03\xE9"
                                        "bye");
    buffer.len = 0;
    websocket_write_close(&buffer, WEBSOCKET_CLOSE_NORMAL, (struct slice){NULL, 0});
    assert_bytes(buffer_slice(&buffer), "\x88\x02\x03\xE8");
    buffer.len = 0;
    char reason[200];
    memset(reason, 'x', sizeof reason);
    memcpy(reason + 121, "\xE2\x82\xAC", 3);
    websocket_write_close(&buffer, WEBSOCKET_CLOSE_NORMAL, slice_from(reason, sizeof reason));
    assert_int_equal(buffer.ptr[1], 123); /* the sign that would be split is left out */
    assert_int_equal(buffer.len, 125);
    buffer_release(&buffer);
}

/* The example of RFC 6455 §5.7. */
static void fill_example_mask(struct id_source *ids, void *bytes, size_t count)
{
    (void)ids;
    assert_int_equal(count, 4);
    memcpy(bytes, "\x37\xfa\x21\x3d", 4);
}

static void test_write_masked(void **state)
{
    (void)state;
    struct id_source ids = {.fill = fill_example_mask};
    struct buffer buffer = {0};
    websocket_write_masked(&buffer, &ids, WEBSOCKET_TEXT, SLICE("Hello"));
    assert_bytes(buffer_slice(&buffer), "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    buffer.len = 0;
    websocket_write_masked_close(&buffer, &ids, 1000, SLICE(""));
    assert_bytes(buffer_slice(&buffer), "\x88\x82\x37\xfa\x21\x3d\x34\x12");
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handshake),   cmocka_unit_test(test_handshake_refuses),
        cmocka_unit_test(test_protocol),    cmocka_unit_test(test_write_lengths),
        cmocka_unit_test(test_write_close), cmocka_unit_test(test_write_masked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
