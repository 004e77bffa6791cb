#include <assert.h>
#include <stdio.h>

#include "service/gateway/gateway_internal.h"
#include "service/session/media.h"
#include "service/identity/secret.h"
#include "wire/base64.h"

/* Evidence: files of the session (store/blob/blob.h), named by their checksums. */

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
    const struct json *files = json_get(arguments, "files");
    (void)gateway;
    enum status status = media_check_room(call, session, files->count);
    if (status != STATUS_OK) {
        return status;
    }
    for (const struct json *file = files->child; file; file = file->next) {
        if (!content_of(call->arena, file, &content)) {
            return failure_set(&call->failure, STATUS_INVALID, "invalid_evidence",
                               "Every file has either `content` or `content_base64`.");
        }
        if (content.len > call->service->limits.file.bytes_max) {
            return failure_set(&call->failure, STATUS_TOO_LARGE, "file_too_large",
                               "A file has %zu bytes; at most %zu are accepted (option blob-bytes-max).", content.len,
                               call->service->limits.file.bytes_max);
        }
        status = secret_check_text(call, content);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static struct media_list files_of(struct arena *arena, const struct json *arguments)
{
    const struct json *files = json_get(arguments, "files");
    struct media_list list = {.blobs = arena_array(arena, files->count, sizeof *list.blobs)};
    for (const struct json *file = files->child; file; file = file->next) {
        struct blob *blob = &list.blobs[list.count];
        if (content_of(arena, file, &blob->content)) {
            blob->name = json_text_of(file, "name");
            blob->media_type = json_get(file, "content") ? SLICE("text/plain") : SLICE("application/octet-stream");
            blob->sha256 = hash_of(blob->content);
            blob->bytes = (int64_t)blob->content.len;
            list.count++;
        }
    }
    return list;
}

static void write_result(struct json_out *out, const struct json *arguments, const struct media_list *list)
{
    char handle[BLOB_HANDLE_BYTES];
    json_begin_object(out);
    json_maybe_text(out, "summary", json_text_of(arguments, "summary"));
    json_key(out, "files");
    json_begin_array(out);
    for (size_t i = 0; i < list->count; i++) {
        blob_handle(&list->blobs[i].sha256, handle);
        json_begin_object(out);
        json_put_text(out, "name", list->blobs[i].name);
        json_put_i64(out, "bytes", list->blobs[i].bytes);
        json_put_text(out, "sha256", slice_after(slice_of(handle), sizeof "blob:" - 1));
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
}

/* On a reader thread: what takes time. */
static void keep_evidence(struct read_job *read, struct db *db)
{
    struct gateway_job *job = (struct gateway_job *)((char *)read - offsetof(struct gateway_job, read));
    struct call call = {.service = job->gateway->options.service, .db = db, .arena = &job->arena};
    struct session session = {.tenant_key = job->tenant_key, .key = job->session_key};
    struct media_list list = files_of(&job->arena, job->arguments);
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    bool kept = media_write(&call, &session, &list) == STATUS_OK;
    write_result(&out, job->arguments, &list);
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

enum status gateway_verify_end(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                               struct slice result)
{
    assert(call_writes(call));
    struct media_list list = files_of(call->arena, arguments);
    (void)result;
    return media_put(call, &loaded->session, &list);
}
