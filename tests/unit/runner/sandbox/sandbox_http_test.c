/* The contract with a remote backend, against one that answers from a table. */
#include "runner/sandbox_scene.h"

struct backend {
    char url[200], body[1000];
    int64_t time_ms_max;
    int calls, http_status;
    const char *answer; /* NULL = no answer */
    struct sandbox_reply reply;
    struct loop_message message;
};

static void answer(struct loop_message *message)
{
    struct backend *backend = (struct backend *)((char *)message - offsetof(struct backend, message));
    struct failure failure;
    if (!backend->answer) {
        (void)failure_set(&failure, STATUS_TIMEOUT, "timeout", "nothing came in 1000 ms");
        backend->reply.done(backend->reply.owner, 0, SLICE(""), &failure);
    } else {
        backend->reply.done(backend->reply.owner, backend->http_status, slice_of(backend->answer), NULL);
    }
}

static void post(void *owner, struct loop *loop, const char *url, struct slice json, int64_t time_ms_max,
                 struct sandbox_reply reply)
{
    struct backend *backend = owner;
    snprintf(backend->url, sizeof backend->url, "%s", url);
    snprintf(backend->body, sizeof backend->body, "%.*s", SLICE_ARG(json));
    backend->time_ms_max = time_ms_max;
    backend->calls++;
    backend->reply = reply;
    backend->message.run = answer;
    loop_post(loop, &backend->message);
}

static const char *const backends[] = {"https://boxes.example/v1/", NULL};
static const struct sandbox_settings settings = {.kind = SANDBOX_HTTP,
                                                 .url = {"https://boxes.example/v1", 24},
                                                 .network = true,
                                                 .repository = {"https://git.example/r", 21}};

static void begin(struct scene *scene, struct backend *backend)
{
    *backend = (struct backend){.http_status = 200};
    scene_data(scene);
    scene->options.backends = backends;
    scene->options.post = (struct sandbox_post){backend, post};
    scene->sandboxes = sandboxes_new(&scene->options);
}

static struct sandbox *create(struct scene *scene, const struct sandbox_settings *wanted, const char *snapshot,
                              struct heard *heard)
{
    const struct sandbox_provider *http = sandboxes_provider(scene->sandboxes, SANDBOX_HTTP);
    struct sandbox_spec spec = {.session_id = SLICE("abc"),
                                .tenant_key = 1,
                                .session_key = 2,
                                .settings = wanted,
                                .snapshot = slice_of(snapshot)};
    *heard = (struct heard){0};
    http->create(http->owner, scene->loop, &spec, (struct sandbox_callback){heard, hear});
    scene_wait(scene, &heard->done);
    return heard->news.sandbox;
}

static void finish(struct scene *scene, struct sandbox *sandbox, bool hibernates, struct heard *heard)
{
    const struct sandbox_provider *http = sandboxes_provider(scene->sandboxes, SANDBOX_HTTP);
    *heard = (struct heard){0};
    (hibernates ? http->hibernate : http->terminate)(http->owner, sandbox, (struct sandbox_callback){heard, hear});
    scene_wait(scene, &heard->done);
}

static void test_life_of_a_remote_sandbox(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct backend backend;
    struct heard heard;
    struct failure failure;
    struct ran ran = {0};
    struct process *process;
    begin(&scene, &backend);
    assert_status(sandboxes_provider(scene.sandboxes, SANDBOX_HTTP)
                      ->check(sandboxes_provider(scene.sandboxes, SANDBOX_HTTP)->owner, &failure),
                  STATUS_OK);
    backend.answer = "{\"sandbox_id\":\"box-1\",\"tunnel_urls\":{\"web\":\"https://t.example\"}}";
    struct sandbox *sandbox = create(&scene, &settings, NULL, &heard);
    assert_non_null(sandbox);
    assert_string_equal(backend.url, "https://boxes.example/v1/create-session");
    assert_string_equal(backend.body,
                        "{\"session_id\":\"abc\",\"spawn_request\":{\"session_id\":\"abc\",\"network\":true,"
                        "\"memory_bytes_max\":0,\"processes_max\":0,\"disk_bytes_max\":0,\"command_ms_max\":0,"
                        "\"repository\":\"https://git.example/r\"}}");
    assert_int_equal(backend.time_ms_max, 1000);
    assert_slice(sandbox_id(sandbox), "box-1");
    assert_slice(sandbox_tunnels(sandbox), "{\"web\":\"https://t.example\"}");
    assert_absent(sandbox_root(sandbox));
    const char *argv[] = {"/bin/true", NULL};
    struct process_handler handler = ran_handler(&ran);
    assert_status(
        process_start(scene.loop, sandbox, &(struct process_spec){.argv = argv}, &handler, &process, &failure),
        STATUS_UNSUPPORTED);

    backend.answer = "{\"snapshotImageId\":\"im-7\"}";
    finish(&scene, sandbox, true, &heard);
    assert_int_equal(heard.news.outcome, SANDBOX_OK);
    assert_string_equal(heard.snapshot, "im-7");
    assert_string_equal(backend.url, "https://boxes.example/v1/hibernate-session");
    assert_string_equal(backend.body, "{\"session_id\":\"abc\",\"sandbox_id\":\"box-1\"}");

    backend.answer = "{\"sandboxId\":\"box-2\"}";
    sandbox = create(&scene, &settings, "im-7", &heard);
    assert_non_null(sandbox);
    assert_string_equal(backend.url, "https://boxes.example/v1/restore-session");
    assert_non_null(strstr(backend.body, "},\"snapshot_image_id\":\"im-7\"}"));
    assert_slice(sandbox_id(sandbox), "box-2");

    backend.answer = "";
    finish(&scene, sandbox, false, &heard);
    assert_int_equal(heard.news.outcome, SANDBOX_OK);
    assert_string_equal(backend.url, "https://boxes.example/v1/terminate-session");
    scene_end(&scene);
}

static void test_already_gone(void **state)
{
    (void)state;
    static const struct {
        bool hibernates;
        int http_status;
        enum sandbox_outcome outcome;
    } rows[] = {
        {true, 409, SANDBOX_GONE},   {true, 410, SANDBOX_GONE},    {true, 404, SANDBOX_FAILED},
        {false, 409, SANDBOX_GONE},  {false, 404, SANDBOX_GONE},   {true, 500, SANDBOX_FAILED},
        {true, 200, SANDBOX_FAILED}, {false, 503, SANDBOX_FAILED},
    };
    struct scene scene = {0};
    struct backend backend;
    struct heard heard;
    begin(&scene, &backend);
    struct sandbox_spec spec = {.session_id = SLICE("abc"), .settings = &settings};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sandbox *sandbox = sandboxes_adopt(scene.sandboxes, scene.loop, &spec, SLICE("box-9"));
        backend.http_status = rows[i].http_status;
        backend.answer = "{\"error\":\"why not\"}";
        finish(&scene, sandbox, rows[i].hibernates, &heard);
        assert_int_equal(heard.news.outcome, rows[i].outcome);
        if (heard.news.outcome == SANDBOX_FAILED) {
            assert_string_equal(heard.news.failure.code, "sandbox_backend_failed");
            sandbox_give_up(sandbox); /* it lives on */
        }
    }
    scene_end(&scene);
}

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        int http_status;
        const char *answer, *detail;
    } rows[] = {
        {500, "{\"error\":\"no capacity\"}", "HTTP 500: no capacity"},
        {409, "{}", "HTTP 409"}, /* there is nothing that could be gone */
        {200, "<html>", "no JSON"},
        {200, "{\"tunnel_urls\":{}}", "no sandbox_id"},
        {200, NULL, "nothing came in 1000 ms"},
    };
    struct scene scene = {0};
    struct backend backend;
    struct heard heard;
    begin(&scene, &backend);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        backend.http_status = rows[i].http_status;
        backend.answer = rows[i].answer;
        assert_null(create(&scene, &settings, NULL, &heard));
        assert_row(rows[i].detail, strstr(heard.news.failure.detail, rows[i].detail) != NULL);
    }
    struct sandbox_settings elsewhere = {.kind = SANDBOX_HTTP, .url = SLICE("http://169.254.169.254")};
    backend.calls = 0;
    assert_null(create(&scene, &elsewhere, NULL, &heard));
    assert_string_equal(heard.news.failure.code, "sandbox_backend_not_allowed");
    assert_int_equal(backend.calls, 0);
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life_of_a_remote_sandbox),
        cmocka_unit_test(test_already_gone),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
