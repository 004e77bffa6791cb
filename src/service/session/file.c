#include "service/session/file.h"

#include "service/session/media.h"
#include "service/identity/secret.h"

enum status file_prepare(struct call *call, struct slice session_id, struct blob *file)
{
    struct session session;
    struct media_list list = {file, 1, 1};
    size_t bytes_max = call->service->limits.file.bytes_max;
    enum status status = session_authorize_read(call, session_id, ACTION_APPEND, &session, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    if (file->content.len > bytes_max) {
        return failure_set(&call->failure, STATUS_TOO_LARGE, "file_too_large",
                           "The file has %zu bytes; at most %zu are accepted (option blob-bytes-max).",
                           file->content.len, bytes_max);
    }
    if ((status = secret_check_text(call, file->content)) != STATUS_OK) {
        return status;
    }
    file->sha256 = hash_of(file->content);
    file->bytes = (int64_t)file->content.len;
    return media_write(call, &session, &list);
}

static enum status tell(struct call *call, struct loaded_session *loaded, const struct blob *file)
{
    char handle[BLOB_HANDLE_BYTES];
    struct buffer metadata = {0};
    struct json_out out = json_out_to(&metadata);
    blob_handle(&file->sha256, handle);
    json_begin_object(&out);
    json_put_text(&out, "handle", slice_of(handle));
    json_maybe_text(&out, "name", file->name);
    json_put_text(&out, "media_type", file->media_type);
    json_put_i64(&out, "bytes", file->bytes);
    json_end_object(&out);
    struct event event = {.kind = EVENT_SESSION_FILE_ADDED,
                          .role = ROLE_SYSTEM,
                          .metadata = arena_copy(call->arena, buffer_slice(&metadata))};
    buffer_release(&metadata);
    return session_append_events(call, loaded, &event, 1);
}

enum status file_add(struct call *call, struct slice session_id, struct blob *file, bool *out_new)
{
    struct session_access entry;
    struct media_list list = {file, 1, 1};
    enum status status = session_authorize(call, session_id, ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *session = &entry.loaded->session;
    struct blob known;
    status =
        store_blob_get(call->db, session->tenant_key, session->key, &file->sha256, call->arena, &known, &call->failure);
    *out_new = status == STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        *file = known;
    }
    if (!*out_new) {
        return status;
    }
    file->actor = call->who->name;
    file->created_at_ms = call->now_ms;
    status = media_attach(call, session, &list);
    return status == STATUS_OK ? tell(call, entry.loaded, file) : status;
}

enum status file_list(struct call *call, struct slice session_id, int64_t limit, struct blob **out, size_t *out_count)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    return status == STATUS_OK ? store_blob_list(call->db, session.tenant_key, session.key, limit, call->arena, out,
                                                 out_count, &call->failure)
                               : status;
}

enum status file_read(struct call *call, struct slice session_id, struct slice handle, struct blob *out)
{
    struct session session;
    struct hash sha256;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    if (status == STATUS_OK && !blob_handle_parse(handle, &sha256)) {
        status = failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "The session has no such file.");
    }
    return status == STATUS_OK ? store_blob_read(call->db, &call->service->blobs, session.tenant_key, session.key,
                                                 &sha256, call->arena, out, &call->failure)
                               : status;
}

struct slice file_handle(const struct blob *file, struct arena *arena)
{
    char handle[BLOB_HANDLE_BYTES];
    blob_handle(&file->sha256, handle);
    return arena_copy(arena, slice_of(handle));
}

enum status file_change_list(struct call *call, struct slice session_id, struct slice after, int64_t limit,
                             struct changed_file **out, size_t *out_count)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    return status == STATUS_OK ? store_file_change_list(call->db, session.tenant_key, session.key, after, limit,
                                                        call->arena, out, out_count, &call->failure)
                               : status;
}
