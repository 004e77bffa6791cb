#include "net_fixture.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static char directory[] = "/tmp/tls_test_XXXXXX";
static char cert_path[64], key_path[64];

static void write_key(EVP_PKEY *key)
{
    FILE *file = fopen(key_path, "w");
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
}

static void write_certificate(EVP_PKEY *key)
{
    X509 *cert = X509_new();
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_NAME *name = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(cert, name);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    FILE *file = fopen(cert_path, "w");
    assert_int_equal(PEM_write_X509(file, cert), 1);
    fclose(file);
    X509_free(cert);
}

static int make_certificate(void **state)
{
    (void)state;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (!key || !mkdtemp(directory)) {
        return -1;
    }
    snprintf(cert_path, sizeof cert_path, "%s/cert.pem", directory);
    snprintf(key_path, sizeof key_path, "%s/key.pem", directory);
    write_key(key);
    write_certificate(key);
    EVP_PKEY_free(key);
    return 0;
}

static int remove_certificate(void **state)
{
    (void)state;
    unlink(cert_path);
    unlink(key_path);
    return rmdir(directory);
}

static struct server_options tls_options(void)
{
    struct server_options options = fixture_options();
    options.tls_cert_path = cert_path;
    options.tls_key_path = key_path;
    return options;
}

struct tls_client {
    SSL_CTX *context;
    SSL *ssl;
    int fd;
};

static void client_connect(struct tls_client *client, const struct fixture *fixture, struct slice alpn)
{
    client->fd = client_open(fixture);
    client->context = SSL_CTX_new(TLS_client_method());
    assert_int_equal(SSL_CTX_load_verify_locations(client->context, cert_path, NULL), 1);
    SSL_CTX_set_verify(client->context, SSL_VERIFY_PEER, NULL);
    client->ssl = SSL_new(client->context);
    if (alpn.len > 0) {
        SSL_set_alpn_protos(client->ssl, (const unsigned char *)alpn.ptr, (unsigned)alpn.len);
    }
    SSL_set_fd(client->ssl, client->fd);
}

static void client_release(struct tls_client *client)
{
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    close(client->fd);
}

static void tls_send(struct tls_client *client, struct slice bytes)
{
    while (bytes.len > 0) {
        int sent = SSL_write(client->ssl, bytes.ptr, (int)bytes.len);
        assert_true(sent > 0);
        bytes = slice_after(bytes, (size_t)sent);
    }
}

/* Until `needle` was received, or until the end when it is NULL. */
static void tls_read_until(struct tls_client *client, struct buffer *out, const char *needle)
{
    char bytes[4096];
    int got = 1;
    while (!needle || !out->ptr || !memmem(out->ptr, out->len, needle, strlen(needle))) {
        got = SSL_read(client->ssl, bytes, sizeof bytes);
        if (got <= 0) {
            break;
        }
        buffer_add(out, slice_from(bytes, (size_t)got));
    }
    assert_int_equal(got > 0, needle != NULL);
}

static void test_requests(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(tls_options(), 2, "127.0.0.1:0");
    struct tls_client client;
    struct buffer out = {0};
    assert_int_equal(strncmp(fixture->address, "https://127.0.0.1:", 18), 0);
    client_connect(&client, fixture, SLICE("\x02h2\x08http/1.1"));
    assert_int_equal(SSL_connect(client.ssl), 1);
    const unsigned char *protocol;
    unsigned len;
    SSL_get0_alpn_selected(client.ssl, &protocol, &len);
    assert_slice(slice_from(protocol, len), "http/1.1");
    for (int i = 0; i < 3; i++) {
        out.len = 0;
        tls_send(&client, SLICE("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"));
        tls_read_until(&client, &out, "\r\n\r\nhello");
    }
    out.len = 0;
    tls_send(&client,
             SLICE("GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nend"
                   "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    tls_read_until(&client, &out, NULL);
    assert_int_equal(SSL_get_shutdown(client.ssl) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
    assert_non_null(memmem(out.ptr, out.len, "\r\n\r\nend", 7));
    buffer_release(&out);
    client_release(&client);
    fixture_wait_connections(fixture, 0);
    fixture_stop(fixture);
}

static void test_big_bodies(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(tls_options(), 1, "127.0.0.1:0");
    struct tls_client client;
    struct buffer out = {0}, body = {0};
    client_connect(&client, fixture, SLICE(""));
    assert_int_equal(SSL_connect(client.ssl), 1);
    buffer_add(&body, SLICE("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"));
    for (int i = 0; i < 250000; i++) {
        buffer_format(&body, "%04d", i % 10000);
    }
    tls_send(&client, buffer_slice(&body));
    tls_send(&client, SLICE("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    tls_read_until(&client, &out, NULL);
    assert_non_null(memmem(out.ptr, out.len, body.ptr + body.len - 1000000, 1000000));
    const char *second = memmem(out.ptr + 1000000, out.len - 1000000, "Content-Length: 4194304\r\n", 25);
    assert_non_null(second);
    const char *big = strstr(second, "\r\n\r\n") + 4;
    assert_int_equal(out.ptr + out.len - big, 4194304);
    for (int i = 0; i < 1 << 20; i++) {
        char expected[8];
        snprintf(expected, sizeof expected, "%04d", i % 10000);
        assert_memory_equal(big + 4 * i, expected, 4);
    }
    buffer_release(&out);
    buffer_release(&body);
    client_release(&client);
    fixture_stop(fixture);
}

/* Each byte of the handshake and of the request in a packet of its own. */
static void test_bytewise(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(tls_options(), 1, "127.0.0.1:0");
    struct tls_client client;
    client_connect(&client, fixture, SLICE(""));
    BIO *from_server = BIO_new(BIO_s_mem()), *to_server = BIO_new(BIO_s_mem());
    SSL_set_bio(client.ssl, from_server, to_server);
    SSL_set_connect_state(client.ssl);
    struct slice request = SLICE("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    struct buffer out = {0};
    bool sent = false;
    while (!out.ptr || !memmem(out.ptr, out.len, "hello", 5)) {
        char bytes[4096];
        if (!sent) {
            sent = SSL_write(client.ssl, request.ptr, (int)request.len) > 0;
        }
        int got = sent ? SSL_read(client.ssl, bytes, sizeof bytes) : 0;
        if (got > 0) {
            buffer_add(&out, slice_from(bytes, (size_t)got));
            continue;
        }
        char byte;
        while (BIO_read(to_server, &byte, 1) == 1) {
            client_send(client.fd, slice_from(&byte, 1));
        }
        ssize_t received = recv(client.fd, bytes, sizeof bytes, 0);
        assert_true(received > 0);
        BIO_write(from_server, bytes, (int)received);
    }
    buffer_release(&out);
    client_release(&client);
    fixture_stop(fixture);
}

static void test_refused_handshakes(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(tls_options(), 1, "127.0.0.1:0");
    struct tls_client client;
    client_connect(&client, fixture, SLICE("\x02h2"));
    assert_int_not_equal(SSL_connect(client.ssl), 1);
    client_release(&client);

    client_connect(&client, fixture, SLICE(""));
    SSL_set_max_proto_version(client.ssl, TLS1_1_VERSION);
    assert_int_not_equal(SSL_connect(client.ssl), 1);
    client_release(&client);

    struct buffer out = {0};
    int plain = client_open(fixture);
    CLIENT_SEND(plain, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    char byte;
    while (recv(plain, &byte, 1, 0) > 0) {
        buffer_add_byte(&out, byte);
    }
    assert_null(out.ptr ? memmem(out.ptr, out.len, "HTTP/1.1", 8) : NULL);
    close(plain);
    buffer_release(&out);
    assert_int_equal(fixture->handled, 0);
    fixture_wait_connections(fixture, 0);
    fixture_stop(fixture);
}

static void test_silent_handshake_times_out(void **state)
{
    (void)state;
    struct server_options options = tls_options();
    options.limits.header_timeout_ms = 60;
    struct fixture *fixture = fixture_start(options, 1, "127.0.0.1:0");
    int fd = client_open(fixture);
    CLIENT_SEND(fd, "\x16\x03\x01");
    assert_true(client_sees_end(fd));
    close(fd);
    fixture_stop(fixture);
}

static void test_unusable_files(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 1, "127.0.0.1:0");
    const char *const rows[][2] = {
        {"/nowhere", key_path}, {cert_path, "/nowhere"}, {cert_path, cert_path}, {cert_path, NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct server_options options = fixture_options();
        struct failure failure = {0};
        char out[100];
        options.clock = &fixture->clock;
        options.tls_cert_path = rows[i][0];
        options.tls_key_path = rows[i][1];
        struct loop *loop = loop_new(0);
        struct server *server = server_new(&options, &loop, 1);
        assert_status(server_listen(server, SLICE("127.0.0.1:0"), out, sizeof out, &failure), STATUS_INVALID);
        assert_string_equal(failure.code, "tls_unusable");
        server_drain(server, 0, NULL, NULL);
        loop_stop(loop);
        loop_start(loop);
        loop_join(loop);
        server_free(server);
        loop_free(loop);
    }
    fixture_stop(fixture);
}

/* A stream whose reader starts late: the bytes of a refused write are offered again, perhaps cut differently. */
static struct {
    struct fixture *fixture;
    struct stream *stream;
    struct buffer bytes;
    size_t offered;
    bool blocked_once, closed;
} slow;

static void slow_offer(void)
{
    while (slow.offered < slow.bytes.len) {
        size_t left = slow.bytes.len - slow.offered;
        size_t offer = left < 50000 ? left : 50000 - slow.offered % 1000;
        size_t taken = stream_write(slow.stream, slice_from(slow.bytes.ptr + slow.offered, offer));
        slow.offered += taken;
        if (taken < offer) {
            slow.blocked_once = true;
            return;
        }
    }
    stream_end(slow.stream, 0);
}

static void slow_writable(void *owner)
{
    (void)owner;
    pthread_mutex_lock(&slow.fixture->lock);
    slow_offer();
    fixture_signal(slow.fixture);
}

static void slow_closed(void *owner)
{
    (void)owner;
    pthread_mutex_lock(&slow.fixture->lock);
    slow.closed = true;
    fixture_signal(slow.fixture);
}

static const struct stream_handler slow_handler = {slow_writable, NULL, slow_closed};

static void slow_accept(struct exchange *exchange)
{
    slow.stream = stream_accept(exchange, STREAM_SSE, &slow_handler, NULL);
    slow_writable(NULL);
}

static void test_slow_stream_reader(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(tls_options(), 1, "127.0.0.1:0");
    struct tls_client client;
    struct buffer out = {0};
    slow.fixture = fixture;
    fixture->take_over = slow_accept;
    for (int i = 0; i < 2000000; i++) {
        buffer_format(&slow.bytes, "%08d", i);
    }
    client_connect(&client, fixture, SLICE(""));
    assert_int_equal(SSL_connect(client.ssl), 1);
    tls_send(&client, SLICE("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
    FIXTURE_WAIT(fixture, slow.blocked_once);
    tls_read_until(&client, &out, NULL);
    const char *body = memmem(out.ptr, out.len, "\r\n\r\n", 4);
    assert_non_null(body);
    assert_int_equal(out.ptr + out.len - body - 4, slow.bytes.len);
    assert_memory_equal(body + 4, slow.bytes.ptr, slow.bytes.len);
    FIXTURE_WAIT(fixture, slow.closed);
    buffer_release(&out);
    buffer_release(&slow.bytes);
    client_release(&client);
    fixture_stop(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_big_bodies),
        cmocka_unit_test(test_bytewise),
        cmocka_unit_test(test_refused_handshakes),
        cmocka_unit_test(test_silent_handshake_times_out),
        cmocka_unit_test(test_unusable_files),
        cmocka_unit_test(test_slow_stream_reader),
    };
    return cmocka_run_group_tests(tests, make_certificate, remove_certificate);
}
