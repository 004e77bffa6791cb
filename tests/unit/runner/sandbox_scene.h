/* A loop that the test itself turns, a data directory of its own, and commands whose output is collected. */
#ifndef RUNNER_SANDBOX_SCENE_H
#define RUNNER_SANDBOX_SCENE_H

#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "loop/loop.h"
#include "runner/process/process.h"
#include "runner/sandbox/sandboxes.h"

enum { SCENE_PATIENCE_MS = 60000 };

struct scene {
    char data[64];
    struct loop *loop;
    struct sandboxes *sandboxes;
    struct sandboxes_options options;
};

static inline void scene_data(struct scene *scene)
{
    signal(SIGPIPE, SIG_IGN);
    snprintf(scene->data, sizeof scene->data, "/tmp/sojourn-sandbox-XXXXXX");
    assert_non_null(mkdtemp(scene->data));
    scene->loop = loop_new(0);
    scene->options = (struct sandboxes_options){
        .data = scene->data,
        .limits.memory_bytes_max = 256 << 20,
        .limits.processes_max = 64,
        .limits.disk_bytes_max = 64 << 20,
        .limits.prepare_ms_max = 60000,
        .limits.snapshot_bytes_max = 64 << 20,
        .limits.snapshots_kept = 2,
        .limits.grace_ms = 2000,
        .limits.stdin_bytes_max = 1 << 20,
        .limits.backend_ms_max = 1000,
    };
}

static inline void scene_begin(struct scene *scene)
{
    scene_data(scene);
    scene->sandboxes = sandboxes_new(&scene->options);
}

/* Turns the loop until `*done`; fails instead of hanging. */
static inline void scene_wait(struct scene *scene, const bool *done)
{
    uint64_t until = uv_hrtime() / 1000000 + SCENE_PATIENCE_MS;
    while (!*done) {
        if (uv_hrtime() / 1000000 > until) {
            fail_msg("nothing happened for a minute");
        }
        uv_run(loop_uv(scene->loop), UV_RUN_ONCE);
    }
}

static inline void scene_end(struct scene *scene)
{
    char command[256];
    sandboxes_free(scene->sandboxes);
    loop_free(scene->loop); /* waits for the handles, and asserts that none is left */
    snprintf(command, sizeof command, "chmod -R u+rwX %s; rm -rf %s", scene->data, scene->data);
    assert_int_equal(system(command), 0);
}

/* --- commands --- */

struct ran {
    struct buffer out, err;
    struct process_end end;
    int ends;
    bool done;
};

static inline void ran_stdout(void *owner, struct slice bytes)
{
    buffer_add(&((struct ran *)owner)->out, bytes);
}

static inline void ran_stderr(void *owner, struct slice bytes)
{
    buffer_add(&((struct ran *)owner)->err, bytes);
}

static inline void ran_end(void *owner, const struct process_end *end)
{
    struct ran *ran = owner;
    ran->end = *end;
    ran->ends++;
    ran->done = true;
}

static inline struct process_handler ran_handler(struct ran *ran)
{
    return (struct process_handler){ran, ran_stdout, ran_stderr, ran_end};
}

static inline struct process *scene_start(struct scene *scene, struct sandbox *sandbox, struct process_spec spec,
                                          struct ran *ran)
{
    struct process *process = NULL;
    struct failure failure = {0};
    struct process_handler handler = ran_handler(ran);
    *ran = (struct ran){0};
    enum status status = process_start(scene->loop, sandbox, &spec, &handler, &process, &failure);
    if (status != STATUS_OK) {
        fail_msg("%s", failure.detail);
    }
    return process;
}

/* Runs a shell script; what it wrote is in `ran` until the next one. */
static inline void scene_sh(struct scene *scene, struct sandbox *sandbox, const char *script, struct ran *ran)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    static const char *const path[] = {"PATH=/usr/bin:/bin", NULL};
    (void)scene_start(scene, sandbox, (struct process_spec){.argv = argv, .environment = sandbox ? NULL : path}, ran);
    scene_wait(scene, &ran->done);
    if (ran->end.exit_code != 0) {
        print_message("%s: exit code %d: %.*s\n", script, ran->end.exit_code, (int)ran->err.len,
                      ran->err.ptr ? ran->err.ptr : "");
    }
}

static inline void ran_release(struct ran *ran)
{
    buffer_release(&ran->out);
    buffer_release(&ran->err);
}

#define assert_has(buffer_, text)                                                                                      \
    do {                                                                                                               \
        if (!memmem((buffer_).ptr ? (buffer_).ptr : "", (buffer_).len, (text), strlen(text))) {                        \
            fail_msg("\"%.*s\" does not hold \"%s\"", (int)(buffer_).len, (buffer_).ptr ? (buffer_).ptr : "", (text)); \
        }                                                                                                              \
    } while (0)
#define assert_lacks(buffer_, text)                                                                                    \
    do {                                                                                                               \
        if ((buffer_).len && memmem((buffer_).ptr, (buffer_).len, (text), strlen(text))) {                             \
            fail_msg("\"%.*s\" holds \"%s\"", (int)(buffer_).len, (buffer_).ptr, (text));                              \
        }                                                                                                              \
    } while (0)

/* --- sandboxes --- */

struct heard {
    struct sandbox_result news;
    char snapshot[80];
    int times;
    bool done;
};

static inline void hear(void *owner, const struct sandbox_result *news)
{
    struct heard *heard = owner;
    heard->news = *news;
    snprintf(heard->snapshot, sizeof heard->snapshot, "%.*s", SLICE_ARG(news->snapshot));
    heard->times++;
    heard->done = true;
}

static inline struct sandbox *scene_create(struct scene *scene, struct sandbox_spec spec, struct heard *heard)
{
    const struct sandbox_provider *local = sandboxes_provider(scene->sandboxes, SANDBOX_LOCAL);
    *heard = (struct heard){0};
    spec.session_id = SLICE("s");
    local->create(local->owner, scene->loop, &spec, (struct sandbox_callback){heard, hear});
    scene_wait(scene, &heard->done);
    return heard->news.sandbox;
}

/* An empty sandbox with these settings. */
static inline struct sandbox *scene_sandbox(struct scene *scene, const struct sandbox_settings *settings)
{
    struct heard heard;
    struct sandbox_spec spec = {.tenant_key = 1, .session_key = 7, .settings = settings};
    struct sandbox *sandbox = scene_create(scene, spec, &heard);
    if (!sandbox) {
        fail_msg("%s", heard.news.failure.detail);
    }
    return sandbox;
}

static inline void scene_finish(struct scene *scene, struct sandbox *sandbox, bool hibernates, struct heard *heard)
{
    const struct sandbox_provider *local = sandboxes_provider(scene->sandboxes, SANDBOX_LOCAL);
    *heard = (struct heard){0};
    (hibernates ? local->hibernate : local->terminate)(local->owner, sandbox, (struct sandbox_callback){heard, hear});
    scene_wait(scene, &heard->done);
}

#endif
