/* Calls that leave HTTP, against a scripted server on a thread of this program. */
#include "unit.h"

#include "net/http_client.h"
#include "http_peer.h"

#define AGREES "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Marker: m\r\n\r\n"

/* One call and what its handler heard. */
struct talk {
    struct loop *loop;
    struct http_client *client;
    struct http_call *call;
    struct http_call_spec spec;
    char url[128];
    struct buffer body, offer;
    char marker[64];
    int status, heads, ends, rooms;
    char code[48];
    bool cancel_in_head, cancel_in_body;
    size_t stop_at; /* bytes of the body: the loop stops there */
};

static void offer(struct talk *talk)
{
    buffer_consume(&talk->offer, http_call_write(talk->call, buffer_slice(&talk->offer)));
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    struct talk *talk = owner;
    struct slice marker = http_header_find(headers, count, "x-marker");
    talk->status = status;
    talk->heads++;
    snprintf(talk->marker, sizeof talk->marker, "%.*s", SLICE_ARG(marker));
    if (talk->cancel_in_head) {
        http_call_cancel(talk->call);
        uv_stop(loop_uv(talk->loop));
    } else if (talk->offer.len > 0) {
        offer(talk);
    }
}

static void on_body(void *owner, struct slice bytes)
{
    struct talk *talk = owner;
    buffer_add(&talk->body, bytes);
    if (talk->cancel_in_body) {
        http_call_cancel(talk->call);
        uv_stop(loop_uv(talk->loop));
    }
    if (talk->stop_at && talk->body.len >= talk->stop_at) {
        uv_stop(loop_uv(talk->loop));
    }
}

static void on_writable(void *owner)
{
    struct talk *talk = owner;
    talk->rooms++;
    offer(talk);
}

static void on_end(void *owner, const struct failure *failure)
{
    struct talk *talk = owner;
    talk->ends++;
    snprintf(talk->code, sizeof talk->code, "%s", failure ? failure->code : "ok");
    uv_stop(loop_uv(talk->loop));
}

static void talk_start(struct talk *talk, const struct http_peer *peer)
{
    struct http_call_handler handler = {talk, on_head, on_body, on_end};
    snprintf(talk->url, sizeof talk->url, "http://127.0.0.1:%d/live?a=1", peer->port);
    talk->loop = loop_new(0);
    talk->client = http_client_new(talk->loop, NULL);
    talk->spec.url = talk->url;
    talk->spec.allow_http = true;
    talk->spec.upgrade = "websocket";
    talk->spec.on_writable = on_writable;
    assert_status(http_call_start(talk->client, &talk->spec, &handler, &talk->call, NULL), STATUS_OK);
}

static void talk_stop(struct talk *talk)
{
    http_client_free(talk->client);
    loop_free(talk->loop);
    buffer_release(&talk->body);
    buffer_release(&talk->offer);
}

static void what_ends_one(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
        int status;
        const char *body, *code;
    } rows[] = {
        {"it agrees and ends", AGREES "frames", 101, "frames", "ok"},
        {"an earlier head is passed over", "HTTP/1.1 100 Continue\r\n\r\n" AGREES "frames", 101, "frames", "ok"},
        {"another answer has no body", "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", 404, "", "ok"},
        {"a head that is cut", "HTTP/1.1 101 Switch", 0, "", "cut"},
        {"nothing", "", 0, "", "cut"},
        {"no HTTP", "SSH-2.0-OpenSSH\r\n\r\n", 0, "", "protocol"},
        {"silence", "+", 0, "", "silent"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_peer peer = {.says = {rows[i].says}};
        struct talk talk = {.spec.silence_ms = 300};
        peer_start(&peer);
        talk_start(&talk, &peer);
        uv_run(loop_uv(talk.loop), UV_RUN_DEFAULT);
        assert_row(rows[i].name, talk.ends == 1 && strcmp(talk.code, rows[i].code) == 0);
        assert_row(rows[i].name, talk.status == rows[i].status && talk.heads == (rows[i].status != 0));
        assert_row(rows[i].name, slice_is(buffer_slice(&talk.body), rows[i].body));
        talk_stop(&talk);
        peer_stop(&peer);
        peer_release(&peer);
    }
}

static void what_is_asked(void **state)
{
    (void)state;
    struct http_peer peer = {.says = {AGREES}};
    struct http_header headers[] = {{SLICE("Sec-WebSocket-Key"), SLICE("k")}, {SLICE("X-Own"), SLICE("v")}};
    struct talk talk = {.spec.headers = headers, .spec.header_count = 2};
    peer_start(&peer);
    talk_start(&talk, &peer);
    uv_run(loop_uv(talk.loop), UV_RUN_DEFAULT);
    assert_string_equal(talk.marker, "m");
    peer_stop(&peer);
    assert_int_equal(peer.heard_count, 1);
    assert_true(slice_starts(buffer_slice(&peer.heard[0]), SLICE("GET /live?a=1 HTTP/1.1\r\nHost: 127.0.0.1:")));
    assert_non_null(strstr(peer.heard[0].ptr, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
    assert_non_null(strstr(peer.heard[0].ptr, "\r\nSec-WebSocket-Key: k\r\nX-Own: v\r\n\r\n"));
    talk_stop(&talk);
    peer_release(&peer);
}

/* The peer's handler of a held connection ends: whatever was sent to it is read here, byte for byte. */
static void much_is_sent_to_one_who_reads_late(void **state)
{
    (void)state;
    enum { MANY = 8 * 1024 * 1024 };
    struct http_peer peer = {.says = {"+" AGREES "x"}};
    struct talk talk = {.stop_at = 1};
    struct buffer read_back = {0};
    char bytes[65536];
    for (size_t i = 0; i < MANY; i++) {
        buffer_add_byte(&talk.offer, (char)(i * 31 >> 3));
    }
    struct buffer want = {0};
    buffer_add(&want, buffer_slice(&talk.offer));
    peer_start(&peer);
    talk_start(&talk, &peer);
    uv_run(loop_uv(talk.loop), UV_RUN_DEFAULT);
    assert_true(talk.offer.len > 0);
    while (read_back.len < MANY) {
        ssize_t got = recv(peer.held[0], bytes, sizeof bytes, MSG_DONTWAIT);
        if (got > 0) {
            buffer_add(&read_back, slice_from(bytes, (size_t)got));
        }
        uv_run(loop_uv(talk.loop), UV_RUN_NOWAIT);
    }
    assert_true(talk.rooms > 0);
    assert_true(slice_eq(buffer_slice(&read_back), buffer_slice(&want)));
    talk_stop(&talk);
    peer_stop(&peer);
    peer_release(&peer);
    buffer_release(&read_back);
    buffer_release(&want);
}

static void a_cancelled_one_says_nothing(void **state)
{
    (void)state;
    for (int in_head = 0; in_head < 2; in_head++) {
        struct http_peer peer = {.says = {"+" AGREES "frames"}};
        struct talk talk = {.cancel_in_head = in_head == 1, .cancel_in_body = in_head == 0};
        peer_start(&peer);
        talk_start(&talk, &peer);
        uv_run(loop_uv(talk.loop), UV_RUN_DEFAULT);
        uv_run(loop_uv(talk.loop), UV_RUN_NOWAIT);
        assert_int_equal(talk.ends, 0);
        assert_int_equal(talk.body.len, in_head ? 0 : 6);
        talk_stop(&talk);
        peer_stop(&peer);
        peer_release(&peer);
    }
}

/* The client goes while one waits for its head, and while one is open. */
static void a_client_that_goes_takes_them_along(void **state)
{
    (void)state;
    static const char *const says[] = {"+", "+" AGREES "x"};
    for (size_t i = 0; i < COUNT_OF(says); i++) {
        struct http_peer peer = {.says = {says[i]}};
        struct talk talk = {.stop_at = i};
        peer_start(&peer);
        talk_start(&talk, &peer);
        size_t heard = 0;
        while (i == 0 ? heard == 0 : talk.body.len == 0) {
            uv_run(loop_uv(talk.loop), UV_RUN_NOWAIT);
            pthread_mutex_lock(&peer.lock);
            heard = peer.heard_count;
            pthread_mutex_unlock(&peer.lock);
        }
        talk_stop(&talk);
        assert_int_equal(talk.ends, 0);
        peer_stop(&peer);
        peer_release(&peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_one),
        cmocka_unit_test(what_is_asked),
        cmocka_unit_test(much_is_sent_to_one_who_reads_late),
        cmocka_unit_test(a_cancelled_one_says_nothing),
        cmocka_unit_test(a_client_that_goes_takes_them_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
