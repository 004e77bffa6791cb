/* Puts a session with a project of the machine to sleep, or wakes one, and tells how long that took.
 *     wake pack DATA PROJECT        prints the id of the snapshot
 *     wake restore DATA ID          prints the milliseconds until its processes could start */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/loop.h"
#include "runner/sandbox/sandboxes.h"

struct heard {
    struct sandbox *sandbox;
    char snapshot[80];
    bool done;
};

static void hear(void *owner, const struct sandbox_result *news)
{
    struct heard *heard = owner;
    if (news->outcome != SANDBOX_OK) {
        fprintf(stderr, "wake: %s\n", news->failure.detail);
        exit(1);
    }
    heard->sandbox = news->sandbox;
    snprintf(heard->snapshot, sizeof heard->snapshot, "%.*s", SLICE_ARG(news->snapshot));
    heard->done = true;
}

static void wait_for(struct loop *loop, struct heard *heard)
{
    while (!heard->done) {
        uv_run(loop_uv(loop), UV_RUN_ONCE);
    }
    heard->done = false;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "wake pack DATA PROJECT | wake restore DATA ID\n");
        return 2;
    }
    bool packs = strcmp(argv[1], "pack") == 0;
    const char *const projects[] = {argv[3], NULL};
    const int64_t much = (int64_t)8 << 30;
    struct sandboxes_options options = {.data = argv[2],
                                        .projects = projects,
                                        .limits.memory_bytes_max = much,
                                        .limits.processes_max = 100,
                                        .limits.disk_bytes_max = much,
                                        .limits.snapshot_bytes_max = much,
                                        .limits.snapshots_kept = 1,
                                        .limits.grace_ms = 1000};
    struct sandbox_settings settings = {.kind = SANDBOX_LOCAL};
    struct sandbox_spec spec = {.session_id = SLICE("bench"), .tenant_key = 1, .session_key = 1, .settings = &settings};
    struct heard heard = {0};
    struct loop *loop = loop_new(0);
    struct sandboxes *sandboxes = sandboxes_new(&options);
    const struct sandbox_provider *local = sandboxes_provider(sandboxes, SANDBOX_LOCAL);
    struct sandbox_callback told = {&heard, hear};
    *(packs ? &spec.workspace : &spec.snapshot) = slice_of(argv[3]);
    uint64_t began_ns = uv_hrtime();
    local->create(local->owner, loop, &spec, told);
    wait_for(loop, &heard);
    if (packs) {
        local->hibernate(local->owner, heard.sandbox, told);
        wait_for(loop, &heard);
        printf("%s\n", heard.snapshot);
    } else {
        printf("%.1f\n", (double)(uv_hrtime() - began_ns) / 1e6);
        fflush(stdout);
        _exit(0); /* as a server that is killed: the tree stays, removing it would disturb the next measurement */
    }
    loop_free(loop);
    sandboxes_free(sandboxes);
    return 0;
}
