#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/gateway_parts.h"
#include "wire/base64.h"

/* Evidence: files are kept below the session's directory under their own checksum, so that writing one twice is
 * writing it once. */

enum { CHECKSUM_CHARS = 2 * HASH_BYTES, DIRECTORY_MODE = 0700, FILE_MODE = 0600 };

static struct slice checksum_of(struct arena *arena, struct slice content)
{
    struct hash hash = hash_of(content);
    char *text = arena_bytes(arena, CHECKSUM_CHARS + 1);
    for (size_t i = 0; i < HASH_BYTES; i++) {
        snprintf(text + 2 * i, 3, "%02x", hash.bytes[i]);
    }
    return slice_from(text, CHECKSUM_CHARS);
}

static struct slice directory_of(const struct gateway *gateway, struct arena *arena, int64_t tenant_key,
                                 int64_t session_key)
{
    return arena_format(arena, "%s/%lld/%lld", gateway->options.files_dir, (long long)tenant_key,
                        (long long)session_key);
}

enum status gateway_file_path(const struct gateway *gateway, struct arena *arena, const struct session *session,
                              struct slice checksum, struct slice *out, struct failure *failure)
{
    bool usable = checksum.len == CHECKSUM_CHARS;
    for (size_t i = 0; i < checksum.len && usable; i++) {
        char c = checksum.ptr[i];
        usable = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    }
    if (!usable) {
        return failure_set(failure, STATUS_NOT_FOUND, "not_found", "No such file.");
    }
    struct slice directory = directory_of(gateway, arena, session->tenant_key, session->key);
    *out = arena_format(arena, "%.*s/evidence-%.*s", SLICE_ARG(directory), SLICE_ARG(checksum));
    return STATUS_OK;
}

/* --- before --- */

static bool content_of(struct arena *arena, const struct json *file, struct slice *out)
{
    const struct json *plain = json_get(file, "content"), *encoded = json_get(file, "content_base64");
    if (!plain == !encoded) {
        return false;
    }
    if (plain) {
        *out = plain->text;
        return true;
    }
    return base64_decode(arena, encoded->text, BASE64_STANDARD, out);
}

enum status gateway_verify_check(const struct gateway *gateway, struct call *call, const struct session *session,
                                 const struct json *arguments)
{
    struct slice content;
    (void)session;
    if (!gateway->options.files_dir[0]) {
        return failure_set(&call->failure, STATUS_UNAVAILABLE, "no_files", "The server can keep no files.");
    }
    for (const struct json *file = json_get(arguments, "files")->child; file; file = file->next) {
        if (!content_of(call->arena, file, &content)) {
            return failure_set(&call->failure, STATUS_INVALID, "invalid_evidence",
                               "Every file has either `content` or `content_base64`.");
        }
    }
    return STATUS_OK;
}

/* --- on a reader thread --- */

static bool write_all(int fd, struct slice content)
{
    while (content.len > 0) {
        ssize_t wrote = write(fd, content.ptr, content.len);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        content = slice_after(content, wrote > 0 ? (size_t)wrote : 0);
    }
    return true;
}

/* Written under a name of this call, so that two calls with the same file do not meet. */
static bool write_file(struct gateway_job *job, struct slice directory, struct slice checksum, struct slice content)
{
    struct arena *arena = &job->arena;
    struct slice path = arena_format(arena, "%.*s/evidence-%.*s", SLICE_ARG(directory), SLICE_ARG(checksum));
    struct slice half = arena_format(arena, "%.*s.%.*s", SLICE_ARG(path), SLICE_ARG(checksum_of(arena, job->key)));
    if (access(path.ptr, F_OK) == 0) {
        return true;
    }
    int fd = open(half.ptr, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd < 0) {
        return false;
    }
    bool written = write_all(fd, content) && fsync(fd) == 0;
    written = close(fd) == 0 && written;
    return written && rename(half.ptr, path.ptr) == 0;
}

static bool make_directories(const struct gateway_job *job, struct arena *arena, struct slice *out)
{
    const char *root = job->gateway->options.files_dir;
    struct slice tenant = arena_format(arena, "%s/%lld", root, (long long)job->tenant_key);
    *out = directory_of(job->gateway, arena, job->tenant_key, job->session_key);
    mkdir(root, DIRECTORY_MODE);
    mkdir(tenant.ptr, DIRECTORY_MODE);
    return mkdir(out->ptr, DIRECTORY_MODE) == 0 || errno == EEXIST;
}

static bool keep_file(struct gateway_job *job, struct slice directory, const struct json *file, struct json_out *out)
{
    struct slice content;
    bool readable = content_of(&job->arena, file, &content);
    struct slice checksum = readable ? checksum_of(&job->arena, content) : SLICE("");
    if (!readable || !write_file(job, directory, checksum, content)) {
        return false;
    }
    json_begin_object(out);
    json_put_text(out, "name", json_text_of(file, "name"));
    json_put_i64(out, "bytes", (int64_t)content.len);
    json_put_text(out, "sha256", checksum);
    json_end_object(out);
    return true;
}

static void keep_evidence(struct read_job *read, struct db *db)
{
    struct gateway_job *job = (struct gateway_job *)((char *)read - offsetof(struct gateway_job, read));
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    struct slice directory;
    (void)db;
    bool kept = make_directories(job, &job->arena, &directory);
    json_begin_object(&out);
    json_maybe_text(&out, "summary", json_text_of(job->arguments, "summary"));
    json_key(&out, "files");
    json_begin_array(&out);
    for (const struct json *file = json_get(job->arguments, "files")->child; file && kept; file = file->next) {
        kept = keep_file(job, directory, file, &out);
    }
    json_end_array(&out);
    json_end_object(&out);
    struct slice result = arena_copy(&job->arena, buffer_slice(&text));
    buffer_release(&text);
    gateway_job_done(job, kept ? result : (struct slice){0},
                     kept ? (struct slice){0} : SLICE("The evidence could not be written."));
}

void gateway_verify_begin(struct gateway_job *job)
{
    const struct gateway_options *options = &job->gateway->options;
    job->read.run = keep_evidence;
    if (!options->submit_read(options->read_owner, &job->read)) {
        gateway_job_done(job, (struct slice){0}, SLICE("Too many queries wait; nothing was written."));
    }
}
