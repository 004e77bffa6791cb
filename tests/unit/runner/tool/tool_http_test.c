/* http_request against a small server on a thread of this program. The operator opened it by name and port; every other
 * way to this machine must be refused, whatever the address looks like and however a call gets there. */
#include "runner/tool_scene.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "net/http_client.h"

struct peer {
    int fd, port;
    pthread_t thread;
    atomic_int accepted;
    pthread_mutex_t guard; /* of all below */
    char heard[4000];
    char answer[40000];
    char answer_to_next[400]; /* for requests of /next; empty = the same */
    bool hangs;
    int held;
};

struct world {
    struct scene scene;
    struct peer peer;
    char open_host[40], other_host[40];
    const char *open_hosts[2];
};

static void answer_one(struct peer *peer, int fd)
{
    ssize_t got = read(fd, peer->heard, sizeof peer->heard - 1);
    peer->heard[got > 0 ? got : 0] = 0;
    peer->accepted++;
    if (peer->hangs) {
        peer->held = fd;
        return;
    }
    const char *says = strstr(peer->heard, " /next") && peer->answer_to_next[0] ? peer->answer_to_next : peer->answer;
    ssize_t done = write(fd, says, strlen(says));
    (void)done;
    close(fd);
}

static void *serve(void *owner)
{
    struct peer *peer = owner;
    int fd;
    while ((fd = accept(peer->fd, NULL, NULL)) >= 0) {
        pthread_mutex_lock(&peer->guard);
        answer_one(peer, fd);
        pthread_mutex_unlock(&peer->guard);
    }
    return NULL;
}

static const struct slice hosts[] = {SLICE("localhost"),
                                     SLICE("127.0.0.1"),
                                     SLICE("127.1"),
                                     SLICE("2130706433"),
                                     SLICE("0x7f000001"),
                                     SLICE("0177.0.0.1"),
                                     SLICE("::1"),
                                     SLICE("0.0.0.0"),
                                     SLICE("::ffff:127.0.0.1"),
                                     SLICE("::"),
                                     SLICE("169.254.169.254"),
                                     SLICE("10.0.0.1"),
                                     SLICE("::ffff:7f00:1"),
                                     SLICE("fe80::1"),
                                     SLICE("a.localhost"),
                                     SLICE("64:ff9b::7f00:1"),
                                     SLICE("fd00::1"),
                                     SLICE("0")};

static void peer_start(struct peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    peer->held = -1;
    pthread_mutex_init(&peer->guard, NULL);
    assert_int_equal(bind(peer->fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(peer->fd, 16), 0);
    assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&address, &len), 0);
    peer->port = ntohs(address.sin_port);
    pthread_create(&peer->thread, NULL, serve, peer);
}

static void peer_stop(struct peer *peer)
{
    shutdown(peer->fd, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->fd);
    pthread_mutex_destroy(&peer->guard);
    if (peer->held >= 0) {
        close(peer->held);
    }
}

static int set_up(void **state)
{
    struct world *world = memory_zeroed(sizeof *world);
    struct peer *peer = &world->peer;
    *state = world;
    scene_init(&world->scene);
    peer_start(peer);
    snprintf(world->open_host, sizeof world->open_host, "localhost:%d", peer->port);
    snprintf(world->other_host, sizeof world->other_host, "127.0.0.1:%d", peer->port);
    world->open_hosts[0] = world->open_host;
    world->open_hosts[1] = world->other_host;
    world->scene.settings.open_hosts = world->open_hosts;
    world->scene.settings.open_host_count = 1;
    world->scene.agent.hosts = hosts;
    world->scene.agent.host_count = COUNT_OF(hosts);
    world->scene.place.http = http_client_new(world->scene.place.loop, NULL);
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    peer_stop(&world->peer);
    http_client_free(world->scene.place.http);
    scene_release(&world->scene);
    free(world);
    return 0;
}

/* `%d` in the arguments is the port. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static struct scene *ask(struct world *world, const char *arguments)
{
    char text[600];
    snprintf(text, sizeof text, arguments, world->peer.port, world->peer.port);
    scene_call(&world->scene, "http_request", text);
    return &world->scene;
}

static void says(struct world *world, const char *answer)
{
    pthread_mutex_lock(&world->peer.guard);
    snprintf(world->peer.answer, sizeof world->peer.answer, answer, world->peer.port);
    pthread_mutex_unlock(&world->peer.guard);
}

static void says_to_next(struct world *world, const char *answer)
{
    pthread_mutex_lock(&world->peer.guard);
    snprintf(world->peer.answer_to_next, sizeof world->peer.answer_to_next, "%s", answer);
    pthread_mutex_unlock(&world->peer.guard);
}

static void hangs(struct world *world)
{
    pthread_mutex_lock(&world->peer.guard);
    world->peer.hangs = true;
    pthread_mutex_unlock(&world->peer.guard);
}

/* Whether this stood in the last request. */
static bool heard(struct world *world, const char *text)
{
    pthread_mutex_lock(&world->peer.guard);
    bool found = strstr(world->peer.heard, text) != NULL;
    pthread_mutex_unlock(&world->peer.guard);
    return found;
}

static void calls_and_answers(void **state)
{
    struct world *world = *state;
    says(world, "HTTP/1.1 404 No\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nnope\n");
    struct scene *scene = ask(world, "{\"url\":\"http://localhost:%d/a?b=c\",\"method\":\"POST\",\"body\":\"{}\","
                                     "\"headers\":{\"X-One\":\"1\"}}");
    assert_good(scene);
    assert_slice(scene->text, "HTTP 404\ncontent-type: text/plain\n\nnope\n");
    assert_true(heard(world, "POST /a?b=c HTTP/1.1"));
    assert_true(heard(world, "X-One: 1"));
    says(world, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xFF\xFE\xFD");
    scene = ask(world, "{\"url\":\"http://localhost:%d/\"}");
    assert_holds(scene, "[3 bytes that are not text]");
}

static void only_named_hosts_over_https(void **state)
{
    static const struct row {
        const char *arguments, *says;
    } rows[] = {
        {"{\"url\":\"http://localhost:1/\"}", "Only https"},
        {"{\"url\":\"http://127.0.0.1:%d/\"}", "Only https"},
        {"{\"url\":\"ws://localhost:%d/\"}", "Only https"},
        {"{\"url\":\"unix:/tmp/x\"}", "Only https"},
        {"{\"url\":\"file:///etc/passwd\"}", "must begin with"},
        {"{\"url\":\"https://example.com/\"}", "not one this agent may call"},
        {"{\"url\":\"https://localhost.example.com/\"}", "not one this agent may call"},
        {"{\"url\":\"https://localhost./\"}", "not one this agent may call"},
        {"{\"url\":\"https://localhost@example.com/\"}", "user or password"},
        {"{\"url\":\"https://example.com@localhost/\"}", "user or password"},
        {"{\"url\":\"https://localhost\\\\@example.com/\"}", "user or password"},
        {"{\"url\":\"https://localhost/a b\"}", "not valid"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"Host\":\"x\"}}", "header \"Host\" is refused"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"a\":\"b\\r\\nHost: x\"}}", "is not a header"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"Host:evil\":\"x\"}}", "is not a header"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"Host \":\"x\"}}", "is not a header"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\" Host\":\"x\"}}", "is not a header"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"a\\r\\nHost\":\"x\"}}", "is not a header"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"Host;\":\"\"}}", "is not a header"},
        {"{\"url\":\"https://localhost/\",\"headers\":{\"\":\"x\"}}", "is not a header"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene *scene = ask(world, rows[i].arguments);
        assert_row(rows[i].arguments, scene->is_error && strstr(scene->text.ptr, rows[i].says));
        assert_row(rows[i].arguments, scene->error == TURN_TOOL_DENIED || scene->error == TURN_VALIDATION);
    }
    assert_int_equal(world->peer.accepted, 0);
}

/* Names and numbers that lead to this machine or its neighbours: refused when they are connected to. */
static void private_addresses_in_every_dress(void **state)
{
    static const char *const urls[] = {"https://localhost:1/",
                                       "https://127.0.0.1:%d/",
                                       "https://127.1:%d/",
                                       "https://2130706433:%d/",
                                       "https://0x7f000001:%d/",
                                       "https://0177.0.0.1:%d/",
                                       "https://0:%d/",
                                       "https://0.0.0.0:%d/",
                                       "https://a.localhost:%d/",
                                       "https://169.254.169.254/latest/meta-data",
                                       "https://10.0.0.1/",
                                       "https://[::1]:%d/",
                                       "https://[::]:%d/",
                                       "https://[::ffff:127.0.0.1]:%d/",
                                       "https://[::ffff:7f00:1]:%d/",
                                       "https://[64:ff9b::7f00:1]:%d/",
                                       "https://[fe80::1]:%d/",
                                       "https://[fd00::1]:%d/"};
    struct world *world = *state;
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "{\"url\":\"%s\"}", urls[i]);
        struct scene *scene = ask(world, arguments);
        if (!scene->is_error || scene->error != TURN_TOOL_DENIED || !strstr(scene->text.ptr, "not public")) {
            fail_msg("%s: %.*s", urls[i], SLICE_ARG(scene->text));
        }
    }
    assert_int_equal(world->peer.accepted, 0);
}

static void redirects_are_checked_like_calls(void **state)
{
    static const struct row {
        const char *location, *says;
    } rows[] = {
        {"https://127.0.0.1:%d/", "not public"},   {"https://[::1]:%d/", "not public"},
        {"https://a.localhost:%d/", "not public"}, {"http://127.0.0.1:%d/", "Only https"},
        {"http://localhost:1/", "Only https"},     {"https://example.com/", "not one this agent may call"},
        {"//example.com/", "Only https"},          {"https://user@localhost/", "user or password"},
        {"file:///etc/passwd", "must begin with"}, {"gopher://127.0.0.1/", "must begin with"},
        {"javascript:alert", "must begin with"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char answer[300];
        snprintf(answer, sizeof answer, "HTTP/1.1 302 Go\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
                 rows[i].location);
        says(world, answer);
        int before = world->peer.accepted;
        struct scene *scene = ask(world, "{\"url\":\"http://localhost:%d/\"}");
        if (!scene->is_error || !strstr(scene->text.ptr, rows[i].says)) {
            fail_msg("%s: %.*s", rows[i].location, SLICE_ARG(scene->text));
        }
        assert_int_equal(world->peer.accepted, before + 1);
    }
}

static void redirects_are_followed(void **state)
{
    static const char *const locations[] = {"/next", "next", "http://localhost:%d/next#part",
                                            "//localhost:%d/next?a=://"};
    struct world *world = *state;
    says_to_next(world, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
    for (size_t i = 0; i < COUNT_OF(locations); i++) {
        char answer[300];
        snprintf(answer, sizeof answer, "HTTP/1.1 303 Go\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", locations[i]);
        says(world, answer);
        struct scene *scene = ask(
            world, "{\"url\":\"http://localhost:%d/\",\"method\":\"POST\",\"body\":\"x\",\"headers\":{\"k\":\"v\"}}");
        assert_good(scene);
        assert_holds(scene, "after 1 redirect");
        assert_holds(scene, "\n\nhere");
        assert_true(heard(world, "GET /next"));
        assert_true(heard(world, "k: v"));
    }
    says_to_next(world, "");
    assert_refused(ask(world, "{\"url\":\"http://localhost:%d/\"}"), TURN_TOOL_DENIED, "more than 5 redirects");
}

/* A key for one host is no key for the next. */
static void headers_stay_with_their_host(void **state)
{
    struct world *world = *state;
    world->scene.settings.open_host_count = 2;
    says_to_next(world, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
    says(world, "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:%d/next\r\nContent-Length: 0\r\n\r\n");
    assert_good(ask(world, "{\"url\":\"http://localhost:%d/\",\"headers\":{\"Authorization\":\"Bearer k\"}}"));
    assert_true(heard(world, "GET /next"));
    assert_false(heard(world, "Bearer k"));
}

/* Nor is one for a service of a host a key for the service beside it. */
static void headers_stay_with_their_port(void **state)
{
    struct world *world = *state;
    struct peer beside = {.answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere"};
    char answer[200];
    peer_start(&beside);
    snprintf(world->other_host, sizeof world->other_host, "localhost:%d", beside.port);
    world->scene.settings.open_host_count = 2;
    snprintf(answer, sizeof answer, "HTTP/1.1 302 Go\r\nLocation: http://localhost:%d/\r\nContent-Length: 0\r\n\r\n",
             beside.port);
    says(world, answer);
    assert_good(ask(world, "{\"url\":\"http://localhost:%d/\",\"headers\":{\"Authorization\":\"Bearer k\"}}"));
    assert_true(heard(world, "Bearer k"));
    peer_stop(&beside);
    assert_non_null(strstr(beside.heard, "GET /"));
    assert_null(strstr(beside.heard, "Bearer k"));
}

static void limits(void **state)
{
    struct world *world = *state;
    struct scene *scene = &world->scene;
    says(world, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901");
    scene->settings.http_bytes_max = 10;
    ask(world, "{\"url\":\"http://localhost:%d/\"}");
    assert_true(scene->is_error);
    assert_int_equal(scene->error, TURN_TOOL_FAILED);
    hangs(world);
    scene->settings.http_ms_max = 100;
    ask(world, "{\"url\":\"http://localhost:%d/\"}");
    assert_true(scene->is_error);
    assert_int_equal(scene->error, TURN_TIMEOUT);
    scene->settings.http_ms_max = 10000;
    char arguments[100];
    snprintf(arguments, sizeof arguments, "{\"url\":\"http://localhost:%d/\"}", world->peer.port);
    scene_start(scene, "http_request", arguments);
    tool_find(SLICE("http_request"))->cancel(scene->running);
    uv_run(loop_uv(scene->place.loop), UV_RUN_NOWAIT);
    assert_int_equal(scene->done_count, 0);
    struct http_client *client = scene->place.http;
    scene->place.http = NULL;
    ask(world, "{\"url\":\"http://localhost:%d/\"}");
    assert_refused(scene, TURN_TOOL_UNAVAILABLE, "not possible");
    scene->place.http = client;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_and_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_named_hosts_over_https, set_up, tear_down),
        cmocka_unit_test_setup_teardown(private_addresses_in_every_dress, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redirects_are_checked_like_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers_stay_with_their_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers_stay_with_their_port, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redirects_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
