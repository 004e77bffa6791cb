#include "runner/tool/tool_call.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner/tool/pattern.h"

enum { DEPTH_MAX = 64, LINE_BYTES_MAX = 64 * 1024, SHOWN_BYTES_MAX = 500, BINARY_LOOK_BYTES = 8000 };

/* Where everything ends early, and why. */
struct search {
    struct tool_job *job;
    struct slice text;       /* to be found; absent with a pattern */
    struct pattern *pattern; /* or NULL */
    bool ignores_case;
    struct slice top; /* where it began, as shown and as it really is */
    struct slice top_real;
    bool is_machine;   /* it began outside of tree and workspace */
    const char *files; /* names to look into, with * and ?; NULL = all */
    size_t matches, matches_max, files_seen, skipped;
    int64_t end_ms;
    const char *stopped; /* NULL = it saw all */
};

static int64_t now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

static bool is_over(struct search *s)
{
    const struct tool_settings *settings = s->job->place.settings;
    if (!s->stopped) {
        s->stopped = s->matches >= s->matches_max                  ? "the limit of matches is reached"
                     : s->files_seen >= settings->search_files_max ? "the limit of files is reached"
                     : now_ms() > s->end_ms                        ? "the time is up"
                     : s->job->is_cancelled                        ? "it was cancelled"
                                                                   : NULL;
    }
    return s->stopped;
}

/* --- one file --- */

static bool has_text(const struct search *s, struct slice line)
{
    if (!s->ignores_case) {
        return line.len && memmem(line.ptr, line.len, s->text.ptr, s->text.len);
    }
    for (size_t i = 0; i + s->text.len <= line.len; i++) {
        if (slice_eq_nocase(slice_from(line.ptr + i, s->text.len), s->text)) {
            return true;
        }
    }
    return false;
}

static void search_lines(struct search *s, struct slice path, struct slice text)
{
    int64_t number = 0;
    while (text.len > 0 && !is_over(s)) {
        struct slice line;
        slice_cut(text, '\n', &line, &text);
        number++;
        line.len = line.len && line.ptr[line.len - 1] == '\r' ? line.len - 1 : line.len;
        struct slice looked_at = slice_from(line.ptr, line.len > LINE_BYTES_MAX ? LINE_BYTES_MAX : line.len);
        if (s->pattern ? !pattern_matches(s->pattern, looked_at) : !has_text(s, looked_at)) {
            continue;
        }
        s->matches++;
        tool_text_add(&s->job->text, path);
        buffer_format(&s->job->text, ":%" PRId64 ":", number);
        tool_text_add(&s->job->text, slice_utf8_prefix(line, SHOWN_BYTES_MAX));
        buffer_add(&s->job->text, line.len > SHOWN_BYTES_MAX ? SLICE(" …\n") : SLICE("\n"));
    }
}

static bool is_binary(struct slice text)
{
    size_t look = text.len < BINARY_LOOK_BYTES ? text.len : BINARY_LOOK_BYTES;
    return look > 0 && memchr(text.ptr, 0, look);
}

static bool read_file(int fd, size_t bytes_max, struct buffer *out)
{
    enum { CHUNK = 64 * 1024 };
    ssize_t got = 1;
    while (got > 0 && out->len <= bytes_max) {
        buffer_reserve(out, CHUNK);
        got = read(fd, out->ptr + out->len, CHUNK);
        out->len += got > 0 ? (size_t)got : 0;
    }
    return got == 0;
}

/* A rule may guard files further down than the place the call named. */
static bool is_guarded(const struct search *s, struct slice path)
{
    struct arena scratch = {0};
    const struct path_scope *scope = &s->job->scope;
    struct slice inner = slice_after(path, s->top.len);
    const char *between = inner.len && inner.ptr[0] != '/' ? "/" : "";
    struct slice real = arena_format(&scratch, "%.*s%s%.*s", SLICE_ARG(s->top_real), between, SLICE_ARG(inner));
    bool guarded = (scope->allow && !scope->allow(scope->owner, s->top_real, real)) ||
                   (s->is_machine && path_is_hidden(&scratch, scope, real));
    arena_release(&scratch);
    return guarded;
}

static void search_file(struct search *s, int dir, const char *name, struct slice path)
{
    size_t bytes_max = s->job->place.settings->read_bytes_max;
    struct buffer content = {0};
    struct stat stat;
    int fd = is_guarded(s, path) ? -1 : path_open_entry(dir, name, &stat);
    s->files_seen++;
    if (fd < 0 || (size_t)stat.st_size > bytes_max || !read_file(fd, bytes_max, &content) ||
        is_binary(buffer_slice(&content))) {
        s->skipped++;
    } else {
        search_lines(s, path, buffer_slice(&content));
    }
    if (fd >= 0) {
        close(fd);
    }
    buffer_release(&content);
}

/* --- the tree --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void search_directory(struct search *s, int fd, struct slice path, int depth);

static void search_entry(struct search *s, int dir, const char *name, struct slice path, int depth)
{
    struct arena scratch = {0};
    struct stat stat;
    struct slice inner = path.len == 0 ? slice_of(name) : arena_format(&scratch, "%.*s/%s", SLICE_ARG(path), name);
    if (path_is_protected(slice_of(name), PATH_WRITE) || fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW) != 0) {
        arena_release(&scratch);
        return;
    }
    if (S_ISDIR(stat.st_mode) && depth < DEPTH_MAX) {
        int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0) {
            search_directory(s, fd, inner, depth + 1);
        }
    } else if (S_ISREG(stat.st_mode) && (!s->files || fnmatch(s->files, name, 0) == 0)) {
        search_file(s, dir, name, inner);
    }
    arena_release(&scratch);
}

/* Takes the descriptor over. */
static void search_directory(struct search *s, int fd, struct slice path, int depth)
{
    struct arena scratch = {0};
    struct dirent *entry;
    const char **names = NULL;
    size_t count = 0, room = 0;
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return;
    }
    while ((entry = readdir(stream)) && count < s->job->place.settings->search_files_max) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (count == room) {
            room = room ? 2 * room : 64;
            names = memory_resize(names, room * sizeof *names);
        }
        names[count++] = arena_copy(&scratch, slice_of(entry->d_name)).ptr;
    }
    if (count > 0) {
        qsort(names, count, sizeof *names, by_name);
    }
    for (size_t i = 0; i < count && !is_over(s); i++) {
        search_entry(s, fd, names[i], path, depth);
    }
    closedir(stream);
    free(names);
    arena_release(&scratch);
}

static enum status read_arguments(struct search *s, struct failure *failure)
{
    const struct json *arguments = s->job->arguments;
    const struct tool_settings *settings = s->job->place.settings;
    bool is_regex = false;
    int64_t limit = json_i64_of(arguments, "limit");
    json_as_bool(json_get_value(arguments, "regex"), &is_regex);
    json_as_bool(json_get_value(arguments, "ignore_case"), &s->ignores_case);
    s->text = json_text_of(arguments, "pattern");
    s->files = arena_copy(&s->job->arena, json_text_of(arguments, "files")).ptr;
    s->matches_max =
        limit > 0 && (size_t)limit < settings->search_matches_max ? (size_t)limit : settings->search_matches_max;
    s->end_ms = now_ms() + settings->search_ms_max;
    if (s->text.len == 0) {
        return failure_set(failure, STATUS_INVALID, "empty_pattern", "The pattern must not be empty.");
    }
    return is_regex ? pattern_read(&s->job->arena, s->text, s->ignores_case, &s->pattern, failure) : STATUS_OK;
}

static enum status search_spot(struct search *s, const struct resolved_path *spot, struct failure *failure)
{
    struct stat stat;
    int fd;
    struct slice shown = slice_is(spot->shown, ".") ? SLICE("") : spot->shown;
    s->top = shown;
    s->top_real = spot->real;
    s->is_machine = spot->is_machine;
    if (fstatat(spot->dir, spot->name.ptr, &stat, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(stat.st_mode)) {
        search_file(s, spot->dir, spot->name.ptr, shown);
        return STATUS_OK;
    }
    enum status status = path_open_directory(spot, &fd, failure);
    if (status == STATUS_OK) {
        search_directory(s, fd, shown, 0);
    }
    return status;
}

static enum status search_files(struct tool_job *job, struct failure *failure)
{
    struct search s = {.job = job};
    struct resolved_path spot;
    struct slice path = json_text_of(job->arguments, "path");
    enum status status = read_arguments(&s, failure);
    if (status == STATUS_OK) {
        status =
            path_find(&job->arena, &job->scope, slice_present(path) ? path : SLICE("."), PATH_READ, &spot, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = search_spot(&s, &spot, failure);
    resolved_path_close(&spot);
    if (status == STATUS_OK) {
        buffer_format(&job->text, "[%zu matching %s in %zu files%s%s", s.matches, s.matches == 1 ? "line" : "lines",
                      s.files_seen, s.stopped ? "; " : "", s.stopped ? s.stopped : "");
        if (s.skipped > 0) {
            buffer_format(&job->text, "; %zu not searched: binary, too large or not allowed", s.skipped);
        }
        buffer_add(&job->text, SLICE("]\n"));
    }
    return status;
}

TOOL_RUN(search_files_run)
{
    return tool_job_start(place, call, then, search_files);
}
