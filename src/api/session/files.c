#include <stdio.h>

#include "api/core/handlers.h"
#include "domain/input.h"
#include "service/session/file.h"

enum { NAME_CHARS_MAX = 255, MEDIA_TYPE_BYTES_MAX = 100, FILES_LISTED_MAX = 10000 };

static const struct field file_upload_query[] = {
    {"name", FIELD_STRING, false, "The file's name.", NULL, 1, NAME_CHARS_MAX},
    {"media_type", FIELD_STRING, false, "Its media type. Default: the Content-Type of the request.", NULL, 1,
     MEDIA_TYPE_BYTES_MAX},
    {0},
};

/* --- media in messages and events --- */

/* The body is read anew with handles in it. Nothing is kept for, or told to, those who may not write. */
enum status media_prepare(struct request *request)
{
    struct session session;
    struct failure *failure = &request->call.failure;
    struct slice body = request->exchange->request.body;
    request->media = (struct media_list){0};
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_APPEND, &session, NULL);
    if (status == STATUS_OK) {
        status =
            media_extract(request->api->service, request_arena(request), session.id, &body, &request->media, failure);
    }
    if (status != STATUS_OK || request->media.count == 0) {
        return status;
    }
    status = media_check_secrets(&request->call, &request->media);
    if (status == STATUS_OK) {
        status = media_write(&request->call, &session, &request->media);
    }
    return status == STATUS_OK ? json_parse(request_arena(request), body, &request->body, failure) : status;
}

/* --- uploads --- */

static void write_file(struct json_out *out, struct arena *arena, struct slice session_id, const struct blob *file)
{
    json_begin_object(out);
    json_put_text(out, "handle", file_handle(file, arena));
    json_put_text(out, "name", file->name);
    json_put_text(out, "media_type", file->media_type);
    json_put_i64(out, "bytes", file->bytes);
    json_put_text(out, "url", media_url(arena, session_id, &file->sha256));
    json_put_text(out, "added_by", file->actor);
    json_put_time(out, "created_at", file->created_at_ms);
    json_end_object(out);
}

static bool is_token(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !(c && strchr("!#$&-^_.+", c))) {
            return false;
        }
    }
    return text.len > 0;
}

/* "image/png"; parameters are left out. */
static bool read_media_type(struct slice text, struct slice *out)
{
    struct slice kind, sub, rest;
    slice_cut(text, ';', &text, &rest);
    *out = slice_trim(text);
    return out->len <= MEDIA_TYPE_BYTES_MAX && slice_cut(*out, '/', &kind, &sub) && is_token(kind) && is_token(sub);
}

static enum status read_upload(struct request *request, struct blob *out)
{
    struct failure *failure = &request->call.failure;
    struct slice told = request_param(request, "media_type");
    told = slice_present(told) ? told : request_header(request, "content-type");
    *out = (struct blob){.content = request->exchange->request.body, .name = request_param(request, "name")};
    if (!slice_present(told)) {
        told = SLICE("application/octet-stream");
    }
    if (!read_media_type(told, &out->media_type)) {
        return failure_set(failure, STATUS_INVALID, "invalid_media_type",
                           "The media type must be written like image/png, with at most %d characters.",
                           MEDIA_TYPE_BYTES_MAX);
    }
    return input_check_chars(slice_present(out->name) ? out->name : SLICE("-"), "name", 1, NAME_CHARS_MAX, failure);
}

static enum status files_prepare(struct request *request)
{
    struct blob *file = arena_alloc(request_arena(request), sizeof *file);
    enum status status = read_upload(request, file);
    request->state = file;
    return status == STATUS_OK ? file_prepare(&request->call, request->params[0], file) : status;
}

static enum status files_upload(struct request *request)
{
    bool is_new = false;
    struct blob file = *(struct blob *)request->state;
    enum status status = file_add(&request->call, request->params[0], &file, &is_new);
    if (status == STATUS_OK) {
        request->exchange->status = is_new ? 201 : 200;
        write_file(&request->out, request_arena(request), request->params[0], &file);
    }
    return status;
}

/* --- reading --- */

static enum status files_list(struct request *request)
{
    struct blob *files;
    size_t count = 0;
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    enum status status = file_list(call, request->params[0], FILES_LISTED_MAX, &files, &count);
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_key(out, "files");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_file(out, call->arena, request->params[0], &files[i]);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

/* Only what can do no harm in a browser keeps its type. */
static const char *served_type(const struct blob *file)
{
    static const char *const harmless[] = {
        "image/png", "image/jpeg", "image/gif",  "image/webp", "image/avif",       "audio/mpeg", "audio/ogg",
        "audio/wav", "video/mp4",  "video/webm", "text/plain", "application/json", "text/csv",   "application/pdf"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (slice_is(file->media_type, harmless[i])) {
            return harmless[i];
        }
    }
    return "application/octet-stream";
}

/* attachment; filename*=UTF-8''a%20b.png */
static struct slice disposition(struct arena *arena, struct slice name)
{
    struct buffer text = {0};
    buffer_add(&text, SLICE("attachment"));
    if (name.len > 0) {
        buffer_add(&text, SLICE("; filename*=UTF-8''"));
    }
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '.' || c == '_';
        if (plain) {
            buffer_add_byte(&text, (char)c);
        } else {
            buffer_format(&text, "%%%02X", c);
        }
    }
    struct slice copy = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

struct range {
    size_t first, end; /* behind the last */
};

/* One range of bytes; false when there is none that is understood: the whole is the answer. */
static bool read_range(struct slice header, size_t bytes, struct range *out)
{
    struct slice from, to;
    int64_t first = 0, last = 0;
    if (!slice_starts(header, SLICE("bytes=")) || !slice_cut(slice_after(header, 6), '-', &from, &to)) {
        return false;
    }
    bool has_first = slice_to_i64(from, &first) && first >= 0, has_last = slice_to_i64(to, &last) && last >= 0;
    if ((from.len && !has_first) || (to.len && !has_last) || (!has_first && !has_last)) {
        return false;
    }
    if (!has_first) { /* the last so many */
        first = (uint64_t)last < bytes ? (int64_t)bytes - last : 0;
        last = (int64_t)bytes - 1;
    }
    last = !to.len || (uint64_t)last >= bytes ? (int64_t)bytes - 1 : last;
    *out = (struct range){(size_t)first, (size_t)(last + 1)};
    return true;
}

static enum status answer_part(struct request *request, const struct blob *file, const struct range *range)
{
    struct exchange *exchange = request->exchange;
    if (range->first >= range->end) {
        exchange_header(exchange, "Content-Range",
                        arena_format(request_arena(request), "bytes */%zu", file->content.len));
        exchange->status = 416;
        exchange->content_type = "text/plain";
        return STATUS_OK;
    }
    exchange->status = 206;
    exchange_header(
        exchange, "Content-Range",
        arena_format(request_arena(request), "bytes %zu-%zu/%zu", range->first, range->end - 1, file->content.len));
    buffer_add(&exchange->body, slice_from(file->content.ptr + range->first, range->end - range->first));
    return STATUS_OK;
}

static enum status answer_content(struct request *request, const struct blob *file)
{
    struct exchange *exchange = request->exchange;
    struct range range;
    struct slice handle = file_handle(file, request_arena(request));
    struct slice tag = arena_format(request_arena(request), "\"%.*s\"", SLICE_ARG(handle));
    exchange->content_type = served_type(file);
    exchange_header(exchange, "Content-Disposition", disposition(request_arena(request), file->name));
    exchange_header(exchange, "Content-Security-Policy", SLICE("sandbox; default-src 'none'"));
    exchange_header(exchange, "Cache-Control", SLICE("private, max-age=31536000, immutable"));
    exchange_header(exchange, "ETag", tag);
    if (slice_eq(request_header(request, "if-none-match"), tag)) {
        exchange->status = 304;
        return STATUS_OK;
    }
    if (read_range(request_header(request, "range"), file->content.len, &range)) {
        return answer_part(request, file, &range);
    }
    exchange_header(exchange, "Accept-Ranges", SLICE("bytes"));
    buffer_add(&exchange->body, file->content);
    return STATUS_OK;
}

static enum status files_get(struct request *request)
{
    struct blob file;
    enum status status = file_read(&request->call, request->params[0], request->params[1], &file);
    return status == STATUS_OK ? answer_content(request, &file) : status;
}

const struct route file_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/files", files_upload, .idempotent = true, .query = file_upload_query,
     .body = any_body, .prepare = files_prepare, .success = 201, .answer = "File",
     .summary = "Upload a file; the body is its content. 200 if the session already has it."},
    {HTTP_GET, "/api/sessions/{id}/files", files_list, .answer = "FileList",
     .summary = "The session's files, oldest first."},
    {HTTP_GET, "/api/sessions/{id}/files/{handle}", files_get,
     .summary = "The content of a file, or with Range a part of it."},
    {HTTP_GET, "/api/sessions/{id}/evidence/{sha256}", files_get,
     .summary = "A file saved by the verify tool, by its checksum."},
    {0},
};
