#include "domain/file_change.h"

static const char *const status_names[FILE_STATUS_COUNT] = {
    [FILE_ADDED] = "added",
    [FILE_MODIFIED] = "modified",
    [FILE_DELETED] = "deleted",
    [FILE_RENAMED] = "renamed",
};
const struct enum_names file_status_enum = {status_names, FILE_STATUS_COUNT};

bool file_change_is_told_by(enum event_kind kind)
{
    return kind == EVENT_AGENT_FILES_CHANGED || kind == EVENT_EXTERNAL_FILES_CHANGED;
}

static bool is_path(struct slice path)
{
    return path.len > 0 && path.len <= FILE_PATH_BYTES_MAX && !memchr(path.ptr, '\0', path.len);
}

static bool read_count(const struct json *file, const char *name, int64_t *out)
{
    const struct json *value = json_get_value(file, name);
    *out = 0;
    return !value || (json_as_i64(value, out) && *out >= 0);
}

static bool read_object(const struct json *file, struct file_change *out)
{
    struct slice word = json_text_of(file, "status");
    int status = slice_present(word) ? enum_names_find(file_status_enum, word) : FILE_MODIFIED;
    bool counted = read_count(file, "additions", &out->additions) && read_count(file, "deletions", &out->deletions);
    out->path = json_text_of(file, "path");
    out->previous_path = json_text_of(file, "previous_path");
    out->status = status >= 0 ? (enum file_status)status : FILE_MODIFIED;
    return status >= 0 && counted && is_path(out->path) &&
           (!slice_present(out->previous_path) || is_path(out->previous_path));
}

enum status file_change_read(const struct json *file, struct file_change *out, struct failure *failure)
{
    struct slice path;
    *out = (struct file_change){.status = FILE_MODIFIED};
    if (json_as_text(file, &path) && is_path(path)) {
        out->path = path;
        return STATUS_OK;
    }
    if (json_is(file, JSON_OBJECT) && read_object(file, out)) {
        return STATUS_OK;
    }
    return failure_set(
        failure, STATUS_INVALID, "invalid_payload",
        "Each of `metadata.files` is a path of 1 to %d bytes, or an object with `path` and perhaps `status` "
        "(added, modified, deleted or renamed), `additions`, `deletions` and `previous_path`.",
        FILE_PATH_BYTES_MAX);
}

enum status payload_check_files_changed(const struct json *content, const struct json *metadata,
                                        struct failure *failure)
{
    const struct json *files = json_get_value(metadata, "files");
    struct file_change change;
    (void)content;
    if (!json_is(files, JSON_ARRAY) || files->count > FILES_PER_EVENT_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_payload",
                           "`metadata.files` must be a list of at most %d files.", FILES_PER_EVENT_MAX);
    }
    for (const struct json *file = files->child; file; file = file->next) {
        enum status status = file_change_read(file, &change, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}
