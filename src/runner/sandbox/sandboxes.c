#include "runner/sandbox/sandboxes.h"

#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner/sandbox/sandbox_http.h"
#include "runner/sandbox/sandbox_local.h"
#include "runner/sandbox/sandbox_port.h"
#include "runner/sandbox/snapshot.h"

struct sandboxes {
    struct local_provider *local;
    struct http_provider *http;
};

struct sandboxes *sandboxes_new(const struct sandboxes_options *options)
{
    struct sandboxes *sandboxes = memory_zeroed(sizeof *sandboxes);
    sandboxes->local = local_provider_new(options);
    sandboxes->http = http_provider_new(options);
    return sandboxes;
}

void sandboxes_free(struct sandboxes *sandboxes)
{
    if (sandboxes) {
        local_provider_free(sandboxes->local);
        http_provider_free(sandboxes->http);
        free(sandboxes);
    }
}

const struct sandbox_provider *sandboxes_provider(struct sandboxes *sandboxes, enum sandbox_kind kind)
{
    switch (kind) {
    case SANDBOX_LOCAL:
        return &sandboxes->local->provider;
    case SANDBOX_HTTP:
        return http_provider_calls(sandboxes->http);
    case SANDBOX_NONE:
    case SANDBOX_KIND_COUNT:
        break;
    }
    return NULL;
}

struct slice sandbox_root(const struct sandbox *sandbox)
{
    return sandbox->root;
}

struct slice sandbox_mount(const struct sandbox *sandbox)
{
    return slice_present(sandbox->mount) ? sandbox->mount : sandbox->root;
}

struct slice sandbox_id(const struct sandbox *sandbox)
{
    return sandbox->id;
}

struct slice sandbox_tunnels(const struct sandbox *sandbox)
{
    return sandbox->kind == SANDBOX_HTTP ? http_tunnels(sandbox) : (struct slice){NULL, 0};
}

void sandboxes_look(struct sandboxes *sandboxes, struct sandbox *sandbox, struct sandbox_callback told)
{
    http_look(sandboxes->http, sandbox, told);
}

bool sandboxes_listens(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key, int64_t port)
{
    char dir[LOCAL_PATH_BYTES], tree[LOCAL_PATH_BYTES + 16];
    local_session_dir(sandboxes->local, tenant_key, session_key, dir);
    snprintf(tree, sizeof tree, "%s/workspace", dir);
    return sandboxes->local->etc && sandbox_listens(&(struct sandbox_place){tree, bubble_workspace}, port);
}

struct sandbox *sandboxes_adopt(struct sandboxes *sandboxes, struct loop *loop, const struct sandbox_spec *spec,
                                struct slice sandbox_id)
{
    return http_adopt(sandboxes->http, loop, spec, sandbox_id);
}

struct unsupported {
    struct loop_message message;
    struct sandbox_callback told;
};

static void tell_unsupported(struct loop_message *message)
{
    struct unsupported *unsupported = (struct unsupported *)message;
    struct sandbox_result news = {.outcome = SANDBOX_FAILED};
    (void)failure_set(&news.failure, STATUS_UNSUPPORTED, "sandbox_remote",
                      "A remote sandbox is packed only when it hibernates.");
    unsupported->told.tell(unsupported->told.owner, &news);
    free(unsupported);
}

void sandboxes_snapshot(struct sandboxes *sandboxes, struct sandbox *sandbox, struct sandbox_callback told)
{
    if (sandbox->kind == SANDBOX_LOCAL) {
        local_snapshot(sandboxes->local, sandbox, told);
        return;
    }
    struct unsupported *unsupported = memory_zeroed(sizeof *unsupported);
    unsupported->message.run = tell_unsupported;
    unsupported->told = told;
    loop_post(sandbox->loop, &unsupported->message);
}

void sandboxes_save(struct sandboxes *sandboxes, struct sandbox *sandbox, struct sandbox_callback told)
{
    if (sandbox->kind == SANDBOX_LOCAL) {
        local_save(sandboxes->local, sandbox, told);
    } else {
        const struct sandbox_provider *provider = sandboxes_provider(sandboxes, sandbox->kind);
        provider->hibernate(provider->owner, sandbox, told);
    }
}

void sandbox_give_up(struct sandbox *sandbox)
{
    if (sandbox && sandbox->kind == SANDBOX_LOCAL) {
        local_give_up((struct local_sandbox *)sandbox);
    } else if (sandbox) {
        http_sandbox_free(sandbox);
    }
}

static void remove_files(const char *dir, int64_t tenant_key, int64_t session_key)
{
    char path[LOCAL_PATH_BYTES];
    char *paths[] = {path, NULL};
    snprintf(path, sizeof path, "%s/%" PRId64 "/%" PRId64, dir, tenant_key, session_key);
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    for (FTSENT *entry = walk ? fts_read(walk) : NULL; entry; entry = fts_read(walk)) {
        if (entry->fts_info != FTS_D) { /* directories when they are empty */
            (void)remove(entry->fts_accpath);
        }
    }
    if (walk) {
        fts_close(walk);
    }
}

bool sandboxes_has_snapshot(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key, struct slice id)
{
    return snapshot_exists(sandboxes->local->snapshots, tenant_key, session_key, id);
}

bool sandboxes_share_snapshots(const struct sandboxes *sandboxes)
{
    return sandboxes->local->options.snapshots != NULL;
}

void sandboxes_forget_tree(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key)
{
    char dir[LOCAL_PATH_BYTES];
    local_session_dir(sandboxes->local, tenant_key, session_key, dir);
    (void)local_discard(sandboxes->local, dir);
}

void sandboxes_forget(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key)
{
    sandboxes_forget_tree(sandboxes, tenant_key, session_key);
    snapshot_collect(sandboxes->local->snapshots, tenant_key, session_key, 0);
    remove_files(sandboxes->local->files, tenant_key, session_key);
}
