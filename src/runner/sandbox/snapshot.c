#include "runner/sandbox/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "runner/sandbox/bubble.h"
#include "runner/process/subprocess.h"

enum { PATH_BYTES = 1024, READ_BYTES = 256 * 1024 };

/* Packing: archive ─→ (tar has ended) ─→ hash, fsync, rename beside the loop ─→ told.
 * Unpacking: tar and the hash run at the same time; the later of the two tells. */
struct errand {
    struct loop *loop;
    struct snapshot_callback told;
    struct snapshot_result news;
    uv_work_t work;
    struct loop_message message;
    char dir[PATH_BYTES];     /* of the session */
    char archive[PATH_BYTES]; /* while packing: its name until it is whole */
    char wanted[SNAPSHOT_ID_BYTES];
    int64_t bytes_max;
    int waits_for;
};

static void session_dir(char *out, const char *dir, int64_t tenant_key, int64_t session_key)
{
    snprintf(out, PATH_BYTES, "%s/%" PRId64 "/%" PRId64, dir, tenant_key, session_key);
}

static bool is_id(struct slice id)
{
    size_t good = 0;
    while (good < id.len && strchr("0123456789abcdef", id.ptr[good]) && id.ptr[good]) {
        good++;
    }
    return good == SNAPSHOT_ID_BYTES - 1 && id.len == good;
}

bool snapshot_exists(const char *dir, int64_t tenant_key, int64_t session_key, struct slice id)
{
    char path[PATH_BYTES], whole[PATH_BYTES + 100];
    session_dir(path, dir, tenant_key, session_key);
    snprintf(whole, sizeof whole, "%s/%.*s.tar.zst", path, SLICE_ARG(id));
    return is_id(id) && access(whole, R_OK) == 0;
}

static void fail(struct errand *errand, enum status status, const char *code, const char *sentence, const char *detail)
{
    if (errand->news.status == STATUS_OK) {
        errand->news.status =
            failure_set(&errand->news.failure, status, code, "%s%s%s.", sentence, detail[0] ? ": " : "", detail);
    }
}

static void finish(struct errand *errand)
{
    if (--errand->waits_for > 0) {
        return;
    }
    errand->told.tell(errand->told.owner, &errand->news);
    free(errand);
}

static void on_refused(struct loop_message *message)
{
    finish((struct errand *)((char *)message - offsetof(struct errand, message)));
}

static struct errand *errand_new(struct loop *loop, const struct snapshot_request *order, struct snapshot_callback told)
{
    struct errand *errand = memory_zeroed(sizeof *errand);
    errand->loop = loop;
    errand->told = told;
    errand->message.run = on_refused;
    errand->work.data = errand;
    errand->bytes_max = order->bytes_max;
    session_dir(errand->dir, order->dir, order->tenant_key, order->session_key);
    return errand;
}

/* --- the checksum, beside the loop --- */

/* By OpenSSL, which uses the processor's instructions for it: this runs beside tar and zstd. */
static bool hash_file(int fd, char out[SNAPSHOT_ID_BYTES])
{
    unsigned char *room = memory_alloc(READ_BYTES);
    unsigned char sum[HASH_BYTES];
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    ssize_t count = -1;
    bool good = state && EVP_DigestInit_ex(state, EVP_sha256(), NULL) == 1;
    while (good && (count = read(fd, room, READ_BYTES)) > 0) {
        good = EVP_DigestUpdate(state, room, (size_t)count) == 1;
    }
    good = good && count == 0 && EVP_DigestFinal_ex(state, sum, NULL) == 1;
    EVP_MD_CTX_free(state);
    free(room);
    if (good) {
        sodium_bin2hex(out, SNAPSHOT_ID_BYTES, sum, sizeof sum);
    }
    return good;
}

static void on_work_done(uv_work_t *work, int status)
{
    (void)status;
    finish(work->data);
}

/* --- packing --- */

static bool make_dirs(const char *path)
{
    char part[PATH_BYTES];
    for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            return false;
        }
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return done;
}

static void settle(uv_work_t *work)
{
    struct errand *errand = work->data;
    struct stat about;
    char whole[PATH_BYTES + 100];
    int fd = open(errand->archive, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0 || !hash_file(fd, errand->news.id) || fsync(fd) != 0) {
        fail(errand, STATUS_UNAVAILABLE, "snapshot_failed", "The snapshot could not be kept", strerror(errno));
    } else {
        errand->news.bytes = about.st_size;
        snprintf(whole, sizeof whole, "%s/%s.tar.zst", errand->dir, errand->news.id);
        if (rename(errand->archive, whole) != 0 || !sync_dir(errand->dir)) {
            fail(errand, STATUS_UNAVAILABLE, "snapshot_failed", "The snapshot could not be kept", strerror(errno));
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void explain_packing(struct errand *errand, const struct subprocess_end *end)
{
    struct stat about;
    char said[400];
    snprintf(said, sizeof said, "%.*s", SLICE_ARG(end->said));
    if (errand->bytes_max > 0 && stat(errand->archive, &about) == 0 && about.st_size >= errand->bytes_max) {
        snprintf(said, sizeof said, "the option snapshot-bytes-max allows %" PRId64 " bytes", errand->bytes_max);
        fail(errand, STATUS_TOO_LARGE, "snapshot_too_large", "The snapshot is too large", said);
    } else if (end->timed_out) {
        fail(errand, STATUS_TIMEOUT, "snapshot_failed", "The snapshot took too long", "");
    } else {
        fail(errand, STATUS_UNAVAILABLE, "snapshot_failed", "The snapshot could not be written", said);
    }
    unlink(errand->archive);
}

static void on_packed(void *owner, const struct subprocess_end *end)
{
    struct errand *errand = owner;
    bool changed_meanwhile = end->exit_code == 1 && !end->timed_out && access(errand->archive, R_OK) == 0;
    if (!end->done && !changed_meanwhile) {
        explain_packing(errand, end);
        finish(errand);
        return;
    }
    uv_queue_work(loop_uv(errand->loop), &errand->work, settle, on_work_done);
}

/* What is packed or unpacked, and where tar sees it: behind bubblewrap under names of its own. */
struct sight {
    const char *tree, *archive_dir;
};

static struct sight sight_of(const struct snapshot_request *order, const struct errand *errand)
{
    return order->etc ? (struct sight){"/tree", "/snapshots"} : (struct sight){order->tree, errand->dir};
}

static enum status tar_start(struct errand *errand, const struct snapshot_request *order, const char *const *argv,
                             bool is_packing, void (*tell)(void *owner, const struct subprocess_end *end))
{
    struct failure *failure = &errand->news.failure;
    struct process_spec spec = {.argv = argv, .directory = "/"};
    struct bubble_bind binds[] = {
        {order->tree, "/tree", !is_packing}, {errand->dir, "/snapshots", is_packing}, {NULL, NULL, false}};
    struct bubble bubble = {
        .binds = binds, .etc = order->etc, .is_keeper = true, .limits.file_bytes_max = order->bytes_max};
    struct launch launch;
    launch_init(&launch);
    if (!order->etc) {
        bubble_launch_bare(&bubble, &spec, "/nonexistent", "/", &launch);
    } else if (bubble_launch(&bubble, &spec, &launch, failure) != STATUS_OK) {
        launch_release(&launch);
        return failure->status;
    }
    return subprocess_start(errand->loop, &launch, order->time_ms_max, (struct subprocess_callback){errand, tell},
                            failure);
}

void snapshot_save(struct loop *loop, const struct snapshot_request *order, struct snapshot_callback told)
{
    static atomic_uint made;
    struct errand *errand = errand_new(loop, order, told);
    struct sight sight = sight_of(order, errand);
    char name[64], seen[PATH_BYTES + 70];
    errand->waits_for = 1;
    snprintf(name, sizeof name, ".writing-%d-%u", (int)getpid(), atomic_fetch_add(&made, 1));
    snprintf(seen, sizeof seen, "%s/%s", sight.archive_dir, name);
    int len = snprintf(errand->archive, sizeof errand->archive, "%s/%s", errand->dir, name);
    const char *argv[] = {"/bin/tar",
                          "--create",
                          "--sparse",
                          "--numeric-owner",
                          "--owner=0",
                          "--group=0",
                          "--use-compress-program=zstd -q -T0 -3",
                          "--file",
                          seen,
                          "--directory",
                          sight.tree,
                          "--",
                          "workspace",
                          "home",
                          NULL};
    if (len >= (int)sizeof errand->archive || !make_dirs(errand->dir)) {
        fail(errand, STATUS_UNAVAILABLE, "snapshot_failed", "The snapshot could not be written", strerror(errno));
    } else {
        errand->news.status = tar_start(errand, order, argv, true, on_packed);
    }
    if (errand->news.status != STATUS_OK) {
        loop_post(loop, &errand->message);
    }
}

/* --- unpacking --- */

static void verify(uv_work_t *work)
{
    struct errand *errand = work->data;
    struct stat about;
    int fd = open(errand->archive, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &about) == 0 && hash_file(fd, errand->news.id)) {
        errand->news.bytes = about.st_size;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void on_verified(uv_work_t *work, int status)
{
    struct errand *errand = work->data;
    (void)status;
    if (strcmp(errand->news.id, errand->wanted) != 0) {
        errand->news.status = STATUS_OK; /* this says more than whatever tar made of it */
        fail(errand, STATUS_UNAVAILABLE, "snapshot_corrupt",
             "The snapshot is damaged: its checksum is not the one it was kept under", "");
    }
    finish(errand);
}

static void on_unpacked(void *owner, const struct subprocess_end *end)
{
    struct errand *errand = owner;
    char said[400];
    if (!end->done) {
        snprintf(said, sizeof said, "%.*s", SLICE_ARG(end->said));
        fail(errand, STATUS_UNAVAILABLE, "snapshot_failed", "The snapshot could not be unpacked", said);
    }
    finish(errand);
}

void snapshot_restore(struct loop *loop, const struct snapshot_request *order, struct slice id,
                      struct snapshot_callback told)
{
    struct errand *errand = errand_new(loop, order, told);
    struct sight sight = sight_of(order, errand);
    char seen[PATH_BYTES + 100];
    errand->waits_for = 1;
    if (!snapshot_exists(order->dir, order->tenant_key, order->session_key, id)) {
        fail(errand, STATUS_NOT_FOUND, "snapshot_missing", "The snapshot of this session is not there", "");
        loop_post(loop, &errand->message);
        return;
    }
    snprintf(errand->wanted, sizeof errand->wanted, "%.*s", SLICE_ARG(id));
    snprintf(seen, sizeof seen, "%s/%s.tar.zst", sight.archive_dir, errand->wanted);
    if (snprintf(errand->archive, sizeof errand->archive, "%s/%s.tar.zst", errand->dir, errand->wanted) >= PATH_BYTES) {
        errand->archive[0] = '\0';
    }
    const char *argv[] = {"/bin/tar",
                          "--extract",
                          "--blocking-factor=512", /* 10 KiB at a time from zstd cost a tenth of the time */
                          "--preserve-permissions",
                          "--no-same-owner",
                          "--use-compress-program=zstd -q",
                          "--file",
                          seen,
                          "--directory",
                          sight.tree,
                          NULL};
    errand->news.status = tar_start(errand, order, argv, false, on_unpacked);
    if (errand->news.status != STATUS_OK) {
        loop_post(loop, &errand->message);
        return;
    }
    errand->waits_for = 2;
    uv_queue_work(loop_uv(loop), &errand->work, verify, on_verified);
}
