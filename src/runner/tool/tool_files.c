#include "runner/tool/tool_call.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static enum status find_argument(struct tool_job *job, const char *preset, enum path_use use, struct resolved_path *out,
                                 struct failure *failure)
{
    struct slice path = json_text_of(job->arguments, "path");
    return path_find(&job->arena, &job->scope, slice_present(path) ? path : slice_of(preset), use, out, failure);
}

static int64_t number_or(const struct tool_job *job, const char *key, int64_t preset)
{
    const struct json *value = json_get_value(job->arguments, key);
    return value ? json_i64_of(job->arguments, key) : preset;
}

/* --- read_file --- */

static size_t count_lines(struct slice text)
{
    size_t lines = text.len > 0 && text.ptr[text.len - 1] != '\n';
    for (size_t i = 0; i < text.len; i++) {
        lines += text.ptr[i] == '\n';
    }
    return lines;
}

/* Skips so many lines and gives what follows. */
static struct slice after_lines(struct slice text, int64_t count)
{
    while (count-- > 0 && text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        text = end ? slice_after(text, (size_t)(end + 1 - text.ptr)) : slice_after(text, text.len);
    }
    return text;
}

static enum status give_lines(struct tool_job *job, struct slice text, struct failure *failure)
{
    int64_t from = number_or(job, "offset", 1), lines = (int64_t)count_lines(text);
    int64_t most = number_or(job, "limit", (int64_t)job->place.settings->result_lines_max - 1);
    if (from > 1 && from > lines) {
        return failure_set(failure, STATUS_INVALID, "offset_past_end",
                           "The file has %" PRId64 " lines; offset %" PRId64 " is behind its end.", lines, from);
    }
    struct slice rest = after_lines(text, from - 1), end = after_lines(rest, most);
    buffer_add(&job->text, slice_from(rest.ptr, rest.len - end.len));
    if (end.len > 0) {
        buffer_format(&job->text, "%s[lines %" PRId64 " to %" PRId64 " of %" PRId64 "; go on with offset %" PRId64 "]",
                      job->text.len && job->text.ptr[job->text.len - 1] == '\n' ? "" : "\n", from, from + most - 1,
                      lines, from + most);
    }
    return STATUS_OK;
}

/* "result:NAME" is the whole of a result that was too long to be shown. */
static bool find_result(struct tool_job *job, struct resolved_path *out)
{
    struct slice path = json_text_of(job->arguments, "path"), name = slice_after(path, strlen("result:"));
    enum { NAME_CHARS = 68 };
    if (!slice_starts(path, SLICE("result:")) || name.len != NAME_CHARS || !slice_present(job->place.files_dir)) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        if (!strchr("0123456789abcdef.tx", name.ptr[i])) {
            return false;
        }
    }
    *out = (struct resolved_path){.dir = open(job->place.files_dir.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC),
                                  .name = arena_copy(&job->arena, name),
                                  .shown = path};
    return out->dir >= 0;
}

static enum status read_file(struct tool_job *job, struct failure *failure)
{
    struct resolved_path spot;
    struct buffer content = {0};
    struct stat stat;
    bool is_result = find_result(job, &spot);
    enum status status = is_result ? STATUS_OK : find_argument(job, ".", PATH_READ, &spot, failure);
    if (status != STATUS_OK) {
        return status;
    }
    size_t bytes_max = is_result ? SIZE_MAX / 2 : job->place.settings->read_bytes_max;
    status = path_read_text(&spot, bytes_max, &content, &stat, failure);
    if (status == STATUS_OK) {
        status = give_lines(job, buffer_slice(&content), failure);
    }
    buffer_release(&content);
    resolved_path_close(&spot);
    return status;
}

/* --- write_file, edit_file --- */

static enum status check_size(const struct tool_job *job, size_t bytes, struct failure *failure)
{
    return bytes <= job->place.settings->write_bytes_max
               ? STATUS_OK
               : failure_set(failure, STATUS_TOO_LARGE, "file_too_large",
                             "The file would have %zu bytes; the limit is %zu.", bytes,
                             job->place.settings->write_bytes_max);
}

static enum status write_file(struct tool_job *job, struct failure *failure)
{
    struct slice content = json_text_of(job->arguments, "content");
    struct resolved_path spot;
    enum status status = check_size(job, content.len, failure);
    if (status == STATUS_OK) {
        status = find_argument(job, ".", PATH_WRITE, &spot, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = path_write(&spot, content, NULL, failure);
    if (status == STATUS_OK) {
        job->result.changed = (struct file_change){.path = spot.shown,
                                                   .status = spot.exists ? FILE_MODIFIED : FILE_ADDED,
                                                   .additions = (int64_t)count_lines(content)};
        buffer_format(&job->text, "%s %.*s: %zu bytes, %zu lines.", spot.exists ? "Replaced" : "Wrote",
                      SLICE_ARG(spot.shown), content.len, count_lines(content));
    }
    resolved_path_close(&spot);
    return status;
}

static size_t replace_each(struct buffer *to, struct slice text, struct slice old, struct slice new)
{
    size_t count = 0;
    const char *at;
    while (text.len && (at = memmem(text.ptr, text.len, old.ptr, old.len))) {
        size_t before = (size_t)(at - text.ptr);
        buffer_add(to, slice_from(text.ptr, before));
        buffer_add(to, new);
        text = slice_after(text, before + old.len);
        count++;
    }
    buffer_add(to, text);
    return count;
}

static enum status check_count(const struct tool_job *job, const struct resolved_path *spot, size_t count,
                               struct failure *failure)
{
    bool all = false;
    json_as_bool(json_get_value(job->arguments, "replace_all"), &all);
    if (count == 0) {
        return failure_set(failure, STATUS_INVALID, "text_not_found",
                           "The old text does not occur in \"%.*s\"; it must match to the byte.",
                           SLICE_ARG(spot->shown));
    }
    if (count > 1 && !all) {
        return failure_set(failure, STATUS_INVALID, "text_not_unique",
                           "The old text occurs %zu times in \"%.*s\"; give more of its surroundings, or replace_all.",
                           count, SLICE_ARG(spot->shown));
    }
    return STATUS_OK;
}

static enum status edit(struct tool_job *job, const struct resolved_path *spot, struct failure *failure)
{
    struct buffer before = {0}, after = {0};
    struct stat stat;
    size_t count = 0;
    enum status status = path_read_text(spot, job->place.settings->read_bytes_max, &before, &stat, failure);
    if (status == STATUS_OK) {
        count = replace_each(&after, buffer_slice(&before), json_text_of(job->arguments, "old"),
                             json_text_of(job->arguments, "new"));
        status = check_count(job, spot, count, failure);
    }
    if (status == STATUS_OK) {
        status = check_size(job, after.len, failure);
    }
    if (status == STATUS_OK) {
        status = path_write(spot, buffer_slice(&after), &stat, failure);
    }
    if (status == STATUS_OK) {
        job->result.changed = (struct file_change){
            .path = spot->shown,
            .status = FILE_MODIFIED,
            .additions = (int64_t)(count * count_lines(json_text_of(job->arguments, "new"))),
            .deletions = (int64_t)(count * count_lines(json_text_of(job->arguments, "old"))),
        };
        buffer_format(&job->text, "Replaced %zu %s in %.*s.", count, count == 1 ? "place" : "places",
                      SLICE_ARG(spot->shown));
    }
    buffer_release(&before);
    buffer_release(&after);
    return status;
}

static enum status edit_file(struct tool_job *job, struct failure *failure)
{
    struct slice old = json_text_of(job->arguments, "old");
    struct resolved_path spot;
    if (old.len == 0 || slice_eq(old, json_text_of(job->arguments, "new"))) {
        return failure_set(failure, STATUS_INVALID, "nothing_to_replace",
                           "The old text must not be empty, and the new one must differ from it.");
    }
    /* Found for reading first: an edit makes no directories. */
    enum status status = find_argument(job, ".", PATH_READ, &spot, failure);
    if (status != STATUS_OK) {
        return status;
    }
    resolved_path_close(&spot);
    status = find_argument(job, ".", PATH_WRITE, &spot, failure);
    if (status == STATUS_OK) {
        status = edit(job, &spot, failure);
        resolved_path_close(&spot);
    }
    return status;
}

/* --- list_directory --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_entry(struct buffer *to, int dir, const char *name)
{
    struct stat stat;
    tool_text_add(to, slice_of(name));
    if (fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW) != 0) {
        buffer_add(to, SLICE(" (gone)\n"));
    } else if (S_ISDIR(stat.st_mode)) {
        buffer_add(to, SLICE("/\n"));
    } else if (S_ISLNK(stat.st_mode)) {
        char target[256];
        ssize_t len = readlinkat(dir, name, target, sizeof target);
        buffer_add(to, SLICE(" -> "));
        tool_text_add(to, slice_from(target, len > 0 ? (size_t)len : 0));
        buffer_add_byte(to, '\n');
    } else if (S_ISREG(stat.st_mode)) {
        buffer_format(to, " %lld bytes\n", (long long)stat.st_size);
    } else {
        buffer_add(to, SLICE(" (no file)\n"));
    }
}

/* Names of a directory, at most `max` of them, sorted; `out_more` when there are others. */
static const char **read_names(struct arena *arena, DIR *stream, size_t max, size_t *out_count, bool *out_more)
{
    const char **names = arena_array(arena, max, sizeof *names);
    struct dirent *entry;
    *out_count = 0;
    *out_more = false;
    while ((entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (*out_count == max) {
            *out_more = true;
            break;
        }
        names[(*out_count)++] = arena_copy(arena, slice_of(entry->d_name)).ptr;
    }
    qsort(names, *out_count, sizeof *names, by_name);
    return names;
}

static enum status list_names(struct tool_job *job, int fd, struct failure *failure)
{
    size_t count, max = job->place.settings->list_entries_max;
    bool more;
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return failure_set(failure, STATUS_UNAVAILABLE, "read_failed", "The directory cannot be read.");
    }
    const char **names = read_names(&job->arena, stream, max, &count, &more);
    for (size_t i = 0; i < count; i++) {
        add_entry(&job->text, fd, names[i]);
    }
    if (count == 0) {
        buffer_add(&job->text, SLICE("(empty)\n"));
    }
    if (more) {
        buffer_format(&job->text, "[there are more than the limit of %zu entries]\n", max);
    }
    closedir(stream);
    return STATUS_OK;
}

static enum status list_directory(struct tool_job *job, struct failure *failure)
{
    struct resolved_path spot;
    int fd;
    enum status status = find_argument(job, ".", PATH_READ, &spot, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = path_open_directory(&spot, &fd, failure);
    resolved_path_close(&spot);
    return status == STATUS_OK ? list_names(job, fd, failure) : status;
}

TOOL_RUN(read_file_run)
{
    return tool_job_start(place, call, then, read_file);
}

TOOL_RUN(write_file_run)
{
    return tool_job_start(place, call, then, write_file);
}

TOOL_RUN(edit_file_run)
{
    return tool_job_start(place, call, then, edit_file);
}

TOOL_RUN(list_directory_run)
{
    return tool_job_start(place, call, then, list_directory);
}
