/* Calls against a scripted server on a thread of this program. */
#include "unit.h"

#include "loop/timer.h"
#include "net/http_client.h"
#include "http_peer.h"

/* One call and what its handler heard. */
struct talk {
    struct loop *loop;
    struct http_client *client;
    struct http_call *call;
    struct http_call_spec spec;
    char url[128];
    struct buffer body;
    char marker[64];
    int status, heads, ends;
    char code[48];
    bool cancel_in_body, pause_in_body;
    struct loop_timer *timer;
};

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    struct talk *talk = owner;
    struct slice marker = http_header_find(headers, count, "x-marker");
    talk->status = status;
    talk->heads++;
    snprintf(talk->marker, sizeof talk->marker, "%.*s", SLICE_ARG(marker));
}

static void on_resume(void *owner)
{
    struct talk *talk = owner;
    assert_int_equal(talk->ends, 0);
    http_call_pause(talk->call, false);
}

static void on_body(void *owner, struct slice bytes)
{
    struct talk *talk = owner;
    buffer_add(&talk->body, bytes);
    if (talk->cancel_in_body) {
        http_call_cancel(talk->call);
        talk->cancel_in_body = false;
    }
    if (talk->pause_in_body) {
        talk->pause_in_body = false;
        http_call_pause(talk->call, true);
        loop_timer_set(talk->timer, 20);
    }
}

static void on_end(void *owner, const struct failure *failure)
{
    struct talk *talk = owner;
    talk->ends++;
    snprintf(talk->code, sizeof talk->code, "%s", failure ? failure->code : "ok");
    uv_stop(loop_uv(talk->loop));
    http_call_cancel(talk->call); /* too late, and harmless */
}

static void talk_start(struct talk *talk, const struct http_peer *peer)
{
    static const struct http_call_handler handler = {NULL, on_head, on_body, on_end};
    struct http_call_handler mine = handler;
    mine.owner = talk;
    snprintf(talk->url, sizeof talk->url, "http://127.0.0.1:%d/v1", peer->port);
    talk->loop = loop_new(0);
    talk->client = http_client_new(talk->loop, NULL);
    talk->timer = loop_timer_new(talk->loop, on_resume, talk);
    talk->spec.url = talk->url;
    talk->spec.allow_http = true;
    assert_status(http_call_start(talk->client, &talk->spec, &mine, &talk->call, NULL), STATUS_OK);
}

/* The wake-up handle keeps the loop running until on_end stops it. */
static void talk_run(struct talk *talk)
{
    uv_run(loop_uv(talk->loop), UV_RUN_DEFAULT);
    assert_int_equal(talk->ends, 1);
}

static void talk_stop(struct talk *talk)
{
    http_client_free(talk->client);
    loop_timer_free(talk->timer);
    loop_free(talk->loop);
    buffer_release(&talk->body);
}

static void answer_is_streamed(void **state)
{
    (void)state;
    struct http_peer peer = {
        .says = {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Slow\r\nX-Marker: seven\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX-Marker: late\r\n\r\n"}};
    struct talk talk = {0};
    struct http_header headers[] = {{SLICE("Authorization"), SLICE("Bearer s3cret")}};
    peer_start(&peer);
    talk.spec.body = SLICE("{\"a\":1}");
    talk.spec.headers = headers;
    talk.spec.header_count = 1;
    talk_start(&talk, &peer);
    talk_run(&talk);
    assert_string_equal(talk.code, "ok");
    assert_int_equal(talk.status, 429);
    assert_int_equal(talk.heads, 1);
    assert_string_equal(talk.marker, "seven");
    assert_bytes(buffer_slice(&talk.body), "hello world");
    peer_stop(&peer);
    assert_int_equal(peer.heard_count, 1);
    assert_non_null(strstr(peer.heard[0].ptr, "POST /v1 HTTP/1.1"));
    assert_non_null(strstr(peer.heard[0].ptr, "Authorization: Bearer s3cret"));
    assert_non_null(strstr(peer.heard[0].ptr, "{\"a\":1}"));
    talk_stop(&talk);
    peer_release(&peer);
}

static void what_ends_a_call(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
        int64_t silence_ms, total_ms;
        size_t body_bytes_max;
        const char *code;
    } rows[] = {
        {"cut in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 0, 0, 0, "cut"},
        {"no answer at all", "", 0, 0, 0, "cut"},
        {"silence before the head", "+", 60, 0, 0, "silent"},
        {"silence in the body", "+HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 60, 0, 0, "silent"},
        {"too long in all", "+HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 0, 60, 0, "timeout"},
        {"too large", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabcdefghi", 0, 0, 4, "too_large"},
        {"not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", 0, 0, 0, "protocol"},
        {"a redirect is an answer", "HTTP/1.1 302 F\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", 0, 0, 0, "ok"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_peer peer = {.says = {rows[i].says}};
        struct talk talk = {0};
        peer_start(&peer);
        talk.spec.silence_ms = rows[i].silence_ms;
        talk.spec.total_ms = rows[i].total_ms;
        talk.spec.body_bytes_max = rows[i].body_bytes_max;
        talk_start(&talk, &peer);
        talk_run(&talk);
        if (strcmp(talk.code, rows[i].code) != 0) {
            print_error("got %s\n", talk.code);
        }
        assert_row(rows[i].name, strcmp(talk.code, rows[i].code) == 0);
        assert_row(rows[i].name, talk.ends == 1);
        talk_stop(&talk);
        peer_stop(&peer);
        peer_release(&peer);
    }
}

static void nobody_listens(void **state)
{
    (void)state;
    struct http_peer peer = {.port = 1};
    struct talk talk = {0};
    talk_start(&talk, &peer);
    talk_run(&talk);
    assert_string_equal(talk.code, "connect");
    talk_stop(&talk);
}

static bool refuse_loopback(void *owner, const struct sockaddr *address)
{
    (void)owner;
    return address->sa_family != AF_INET ||
           (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24) != 127;
}

static void an_address_is_refused(void **state)
{
    (void)state;
    struct http_peer peer = {.says = {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}};
    struct talk talk = {0};
    peer_start(&peer);
    talk.spec.allow_address = refuse_loopback;
    talk_start(&talk, &peer);
    talk_run(&talk);
    assert_string_equal(talk.code, "address_refused");
    assert_int_equal(peer.heard_count, 0);
    talk_stop(&talk);
    peer_stop(&peer);
    peer_release(&peer);
}

static void cancelled_calls_say_nothing(void **state)
{
    (void)state;
    struct http_peer peer = {.says = {"+HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}};
    struct talk talk = {.cancel_in_body = true}, other = {0};
    peer_start(&peer);
    talk_start(&talk, &peer);
    while (talk.cancel_in_body) {
        uv_run(loop_uv(talk.loop), UV_RUN_ONCE);
    }
    uv_run(loop_uv(talk.loop), UV_RUN_NOWAIT);
    assert_int_equal(talk.ends, 0);
    talk_stop(&talk);
    talk_start(&other, &peer); /* outside any handler, before curl did anything */
    http_call_cancel(other.call);
    uv_run(loop_uv(other.loop), UV_RUN_NOWAIT);
    assert_int_equal(other.ends, 0);
    talk_stop(&other);
    peer_stop(&peer);
    peer_release(&peer);
}

static void paused_calls_go_on(void **state)
{
    (void)state;
    struct http_peer peer = {.says = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                      "3\r\nabc\r\n3\r\ndef\r\n3\r\nghi\r\n0\r\n\r\n"}};
    struct talk talk = {.pause_in_body = true};
    peer_start(&peer);
    talk.spec.silence_ms = 10; /* shorter than the pause */
    talk_start(&talk, &peer);
    talk_run(&talk);
    assert_string_equal(talk.code, "ok");
    assert_bytes(buffer_slice(&talk.body), "abcdefghi");
    talk_stop(&talk);
    peer_stop(&peer);
    peer_release(&peer);
}

static void wrong_calls_do_not_start(void **state)
{
    (void)state;
    static const struct http_header broken[] = {{SLICE("a"), SLICE("b\r\nc: d")}};
    struct loop *loop = loop_new(0);
    struct http_client *client = http_client_new(loop, NULL);
    struct talk talk = {0};
    struct http_call_handler handler = {.owner = &talk, .on_end = on_end};
    struct http_call *call;
    struct http_call_spec spec = {.url = "http://127.0.0.1/"};
    assert_status(http_call_start(client, &spec, &handler, &call, NULL), STATUS_INVALID);
    spec = (struct http_call_spec){.url = "file:///etc/passwd", .allow_http = true};
    assert_status(http_call_start(client, &spec, &handler, &call, NULL), STATUS_INVALID);
    spec = (struct http_call_spec){.url = "https://127.0.0.1/", .headers = broken, .header_count = 1};
    assert_status(http_call_start(client, &spec, &handler, &call, NULL), STATUS_INVALID);
    http_client_free(client);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answer_is_streamed),
        cmocka_unit_test(what_ends_a_call),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(an_address_is_refused),
        cmocka_unit_test(cancelled_calls_say_nothing),
        cmocka_unit_test(paused_calls_go_on),
        cmocka_unit_test(wrong_calls_do_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
