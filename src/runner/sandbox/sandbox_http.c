#include "runner/sandbox/sandbox_http.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "runner/process/sandbox_base.h"

enum { SAID_BYTES = 200, URL_BYTES = 1024 };

struct http_provider {
    struct sandboxes_options options;
    struct sandbox_provider provider;
};

struct http_sandbox {
    struct sandbox base; /* first */
    struct arena arena;
    struct slice url; /* of the backend */
    struct slice session_id;
    struct slice tunnels; /* JSON */
};

enum call_kind { CALL_CREATE, CALL_RESTORE, CALL_HIBERNATE, CALL_TERMINATE, CALL_LOOK };

static const struct {
    const char *path;
    bool makes, ends;
} call_kinds[] = {
    [CALL_CREATE] = {"create-session", true, false},       [CALL_RESTORE] = {"restore-session", true, false},
    [CALL_HIBERNATE] = {"hibernate-session", false, true}, [CALL_TERMINATE] = {"terminate-session", false, true},
    [CALL_LOOK] = {"session-status", false, true},
};

/* One POST until its answer was told. Owns the sandbox that it makes until then. */
struct call {
    enum call_kind kind;
    struct http_sandbox *sandbox;
    struct sandbox_callback told;
    struct sandbox_result news;
    struct loop_message message;
    struct arena arena;
};

static enum status refuse_process(struct sandbox *sandbox, const struct process_spec *spec, struct launch *launch,
                                  struct failure *failure)
{
    (void)sandbox;
    (void)spec;
    (void)launch;
    return failure_set(failure, STATUS_UNSUPPORTED, "sandbox_remote",
                       "The sandbox is on another machine: the server starts no processes in it.");
}

static struct http_sandbox *http_sandbox_new(struct loop *loop, const struct sandbox_spec *spec)
{
    struct http_sandbox *sandbox = memory_zeroed(sizeof *sandbox);
    struct slice url = spec->settings->url;
    while (url.len > 0 && url.ptr[url.len - 1] == '/') {
        url.len--;
    }
    sandbox->base = (struct sandbox){.kind = SANDBOX_HTTP, .loop = loop, .prepare = refuse_process};
    sandbox->url = arena_copy(&sandbox->arena, url);
    sandbox->session_id = arena_copy(&sandbox->arena, spec->session_id);
    return sandbox;
}

void http_sandbox_free(struct sandbox *base)
{
    struct http_sandbox *sandbox = (struct http_sandbox *)base;
    arena_release(&sandbox->arena);
    free(sandbox);
}

struct slice http_tunnels(const struct sandbox *base)
{
    return ((const struct http_sandbox *)base)->tunnels;
}

/* --- the answer --- */

static void tell(struct loop_message *message)
{
    struct call *call = (struct call *)((char *)message - offsetof(struct call, message));
    bool is_done = call->news.outcome == SANDBOX_OK;
    bool ends = call->news.outcome == SANDBOX_GONE || (is_done && call->kind != CALL_LOOK);
    bool frees = call_kinds[call->kind].makes ? !is_done : ends;
    call->told.tell(call->told.owner, &call->news);
    if (frees) {
        http_sandbox_free(&call->sandbox->base);
    }
    arena_release(&call->arena);
    free(call);
}

static void fail(struct call *call, const char *what, struct slice detail)
{
    call->news.outcome = SANDBOX_FAILED;
    (void)failure_set(&call->news.failure, STATUS_UNAVAILABLE, "sandbox_backend_failed",
                      "The sandbox backend failed at %s: %s%.*s.", call_kinds[call->kind].path, what,
                      SLICE_ARG(slice_utf8_prefix(detail, SAID_BYTES)));
}

/* Backends write names in either fashion. */
static struct slice text_of(const struct json *object, const char *name, const char *camel_name)
{
    struct slice text = json_text_of(object, name);
    return slice_present(text) ? text : json_text_of(object, camel_name);
}

static void take_made(struct call *call, const struct json *answer)
{
    struct http_sandbox *sandbox = call->sandbox;
    struct slice id = text_of(answer, "sandbox_id", "sandboxId");
    const struct json *tunnels = json_get_value(answer, "tunnel_urls");
    tunnels = tunnels ? tunnels : json_get_value(answer, "tunnelUrls");
    if (id.len == 0) {
        fail(call, "its answer has no sandbox_id", SLICE(""));
        return;
    }
    sandbox->base.id = arena_copy(&sandbox->arena, id);
    if (json_is(tunnels, JSON_OBJECT)) {
        sandbox->tunnels = arena_copy(&sandbox->arena, tunnels->raw);
    }
    call->news.sandbox = &sandbox->base;
    call->news.sandbox_id = sandbox->base.id;
}

static void take_hibernated(struct call *call, const struct json *answer)
{
    struct slice id = text_of(answer, "snapshot_image_id", "snapshotImageId");
    if (id.len == 0) {
        fail(call, "its answer has no snapshot_image_id", SLICE(""));
        return;
    }
    call->news.snapshot = arena_copy(&call->arena, id);
    call->news.snapshot_bytes = json_i64_of(answer, "snapshot_bytes");
}

/* Words for what does not come back, however backends spell them. */
static bool is_over(struct slice status)
{
    static const char *const words[] = {"stopped", "terminated", "exited", "gone", "deleted", "error", "failed"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_eq_nocase(status, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

static void take_look(struct call *call, struct slice body)
{
    const struct json *answer = NULL;
    struct slice status = {0};
    if (json_parse(&call->arena, body, &answer, NULL) == STATUS_OK) {
        status = text_of(answer, "status", "state");
    }
    call->news.outcome = is_over(status) ? SANDBOX_GONE : SANDBOX_OK;
    call->news.status = slice_utf8_prefix(status, SAID_BYTES);
}

static void take_answer(struct call *call, struct slice body)
{
    const struct json *answer;
    struct failure failure;
    if (call->kind == CALL_TERMINATE) {
        return;
    }
    if (call->kind == CALL_LOOK) {
        take_look(call, body);
        return;
    }
    if (json_parse(&call->arena, body, &answer, &failure) != STATUS_OK) {
        fail(call, "its answer is no JSON: ", slice_of(failure.detail));
    } else if (call->kind == CALL_HIBERNATE) {
        take_hibernated(call, answer);
    } else {
        take_made(call, answer);
    }
}

static void explain(struct call *call, int http_status, struct slice body)
{
    char what[64];
    const struct json *answer = NULL;
    struct failure ignored;
    struct slice said = SLICE("");
    if (json_parse(&call->arena, body, &answer, &ignored) == STATUS_OK) {
        said = text_of(answer, "error", "message");
        said = slice_present(said) ? said : text_of(answer, "detail", "title");
    }
    snprintf(what, sizeof what, "HTTP %d%s", http_status, said.len ? ": " : "");
    fail(call, what, said);
}

static bool says_gone(const struct call *call, int http_status)
{
    bool ends = call_kinds[call->kind].ends;
    return ends && (http_status == 409 || http_status == 410 || (call->kind == CALL_TERMINATE && http_status == 404));
}

static void on_reply(void *owner, int http_status, struct slice body, const struct failure *failure)
{
    struct call *call = owner;
    bool unasked = call->kind == CALL_LOOK && (failure || http_status < 200 || http_status > 299);
    if (unasked && http_status != 409 && http_status != 410) {
        call->news.outcome = SANDBOX_OK; /* a backend that does not answer this contradicts nothing */
    } else if (failure) {
        fail(call, "", slice_of(failure->detail));
    } else if (says_gone(call, http_status)) {
        call->news.outcome = SANDBOX_GONE;
    } else if (http_status < 200 || http_status > 299) {
        explain(call, http_status, body);
    } else {
        call->news.outcome = SANDBOX_OK;
        take_answer(call, body);
    }
    tell(&call->message);
}

/* --- the request --- */

static void write_wishes(struct json_out *out, const struct sandbox_spec *spec)
{
    const struct sandbox_settings *settings = spec->settings;
    json_key(out, "spawn_request");
    json_begin_object(out);
    json_put_text(out, "session_id", spec->session_id);
    json_put_bool(out, "network", settings->network);
    json_put_i64(out, "memory_bytes_max", settings->memory_bytes_max);
    json_put_i64(out, "processes_max", settings->processes_max);
    json_put_i64(out, "disk_bytes_max", settings->disk_bytes_max);
    json_put_i64(out, "command_ms_max", settings->command_ms_max);
    json_maybe_text(out, "repository", settings->repository);
    json_maybe_text(out, "branch", settings->branch);
    json_maybe_text(out, "workspace", spec->workspace);
    json_end_object(out);
}

static struct call *call_new(struct http_sandbox *sandbox, enum call_kind kind, struct sandbox_callback told)
{
    struct call *call = memory_zeroed(sizeof *call);
    call->kind = kind;
    call->sandbox = sandbox;
    call->told = told;
    call->message.run = tell;
    return call;
}

static void call_send(struct http_provider *http, struct call *call, const struct sandbox_spec *spec)
{
    struct http_sandbox *sandbox = call->sandbox;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    char url[URL_BYTES];
    json_begin_object(&out);
    json_put_text(&out, "session_id", sandbox->session_id);
    json_maybe_text(&out, "sandbox_id", sandbox->base.id);
    if (spec) {
        write_wishes(&out, spec);
        json_maybe_text(&out, "snapshot_image_id", spec->snapshot);
    }
    json_end_object(&out);
    snprintf(url, sizeof url, "%.*s/%s", SLICE_ARG(sandbox->url), call_kinds[call->kind].path);
    const struct sandbox_post *post = &http->options.post;
    post->post(post->owner, sandbox->base.loop, url, buffer_slice(&body), http->options.limits.backend_ms_max,
               (struct sandbox_reply){call, on_reply});
    buffer_release(&body);
}

static bool is_allowed(const struct http_provider *http, struct slice url)
{
    for (const char *const *backend = http->options.backends; backend && *backend; backend++) {
        struct slice allowed = slice_of(*backend);
        while (allowed.len > 0 && allowed.ptr[allowed.len - 1] == '/') {
            allowed.len--;
        }
        if (slice_eq(url, allowed)) {
            return true;
        }
    }
    return false;
}

static enum status http_check(void *owner, struct failure *failure)
{
    struct http_provider *http = owner;
    if (http->options.post.post && http->options.backends && http->options.backends[0]) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_UNAVAILABLE, "sandbox_unavailable",
                       "No sandbox backend is allowed: the option sandbox-backends names them.");
}

static void http_create(void *owner, struct loop *loop, const struct sandbox_spec *spec, struct sandbox_callback told)
{
    struct http_provider *http = owner;
    struct http_sandbox *sandbox = http_sandbox_new(loop, spec);
    struct call *call = call_new(sandbox, spec->snapshot.len > 0 ? CALL_RESTORE : CALL_CREATE, told);
    enum status status = http_check(http, &call->news.failure);
    if (status == STATUS_OK && !is_allowed(http, sandbox->url)) {
        status = failure_set(&call->news.failure, STATUS_FORBIDDEN, "sandbox_backend_not_allowed",
                             "%.*s is none of the addresses in the option sandbox-backends.", SLICE_ARG(sandbox->url));
    }
    if (status != STATUS_OK) {
        call->news.outcome = SANDBOX_FAILED;
        loop_post(loop, &call->message);
        return;
    }
    call_send(http, call, spec);
}

static void http_hibernate(void *owner, struct sandbox *sandbox, struct sandbox_callback told)
{
    call_send(owner, call_new((struct http_sandbox *)sandbox, CALL_HIBERNATE, told), NULL);
}

static void http_terminate(void *owner, struct sandbox *sandbox, struct sandbox_callback told)
{
    call_send(owner, call_new((struct http_sandbox *)sandbox, CALL_TERMINATE, told), NULL);
}

void http_look(struct http_provider *http, struct sandbox *sandbox, struct sandbox_callback told)
{
    struct call *call = call_new((struct http_sandbox *)sandbox, CALL_LOOK, told);
    call->news.sandbox = sandbox;
    call->news.sandbox_id = sandbox->id;
    call_send(http, call, NULL);
}

struct http_provider *http_provider_new(const struct sandboxes_options *options)
{
    struct http_provider *http = memory_zeroed(sizeof *http);
    http->options = *options;
    http->provider = (struct sandbox_provider){http, http_check, http_create, http_hibernate, http_terminate};
    return http;
}

void http_provider_free(struct http_provider *http)
{
    free(http);
}

const struct sandbox_provider *http_provider_calls(struct http_provider *http)
{
    return &http->provider;
}

struct sandbox *http_adopt(struct http_provider *http, struct loop *loop, const struct sandbox_spec *spec,
                           struct slice sandbox_id)
{
    (void)http;
    struct http_sandbox *sandbox = http_sandbox_new(loop, spec);
    sandbox->base.id = arena_copy(&sandbox->arena, sandbox_id);
    return &sandbox->base;
}
