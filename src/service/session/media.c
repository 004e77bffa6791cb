#include "service/session/media.h"

#include "service/identity/secret.h"
#include "service/core/transaction.h"
#include "wire/base64.h"

/* Base64 that says nothing about itself is taken out above this. */
enum { INLINE_CHARS_MAX = 8192 };

/* --- is there any? --- */

/* All that is understood has a member or a value that begins so. */
static bool begins_medium(const char *at)
{
    static const char *const beginnings[] = {"data", "blob", "base", "imag"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (memcmp(at, beginnings[i], 4) == 0) {
            return true;
        }
    }
    return false;
}

bool media_is_likely(struct slice json)
{
    const char *end = json.ptr + json.len;
    for (const char *at = json.ptr; at && end - at > 5; at++) {
        at = memchr(at, '"', (size_t)(end - at) - 5);
        if (!at) {
            return false;
        }
        if (begins_medium(at + 1)) {
            return true;
        }
    }
    return false;
}

/* --- what a medium looks like --- */

struct medium {
    const struct json *member; /* that holds it */
    struct slice media_type, name, content;
};

static struct slice first_of(const struct json *object, const char *const *names)
{
    struct slice text = {0};
    for (; *names && text.len == 0; names++) {
        text = json_text_of(object, *names);
    }
    return text;
}

static struct slice media_type_of(const struct json *object)
{
    static const char *const names[] = {"media_type", "mediaType", "mimeType", "mime_type", NULL};
    return first_of(object, names);
}

/* What clients say that it is, when they name no media type. */
static struct slice sniff(struct slice content)
{
    static const struct {
        struct slice begins;
        struct slice media_type;
    } known[] = {
        {SLICE("\x89PNG\r\n\x1a\n"), SLICE("image/png")},
        {SLICE("\xff\xd8\xff"), SLICE("image/jpeg")},
        {SLICE("GIF8"), SLICE("image/gif")},
        {SLICE("%PDF-"), SLICE("application/pdf")},
        {SLICE("OggS"), SLICE("audio/ogg")},
        {SLICE("ID3"), SLICE("audio/mpeg")},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (slice_starts(content, known[i].begins)) {
            return known[i].media_type;
        }
    }
    bool riff = slice_starts(content, SLICE("RIFF")) && content.len >= 12;
    if (riff && memcmp(content.ptr + 8, "WEBP", 4) == 0) {
        return SLICE("image/webp");
    }
    return riff && memcmp(content.ptr + 8, "WAVE", 4) == 0 ? SLICE("audio/wav") : SLICE("application/octet-stream");
}

/* Short texts may look like base64; what these are is never text. */
static bool is_binary(const struct json *object)
{
    static const char *const types[] = {"image", "picture", "audio", "video"};
    static const struct slice media[] = {SLICE("image/"),           SLICE("audio/"),
                                         SLICE("video/"),           SLICE("application/pdf"),
                                         SLICE("application/zip"),  SLICE("application/octet-stream"),
                                         SLICE("application/gzip"), SLICE("font/")};
    struct slice media_type = media_type_of(object);
    for (size_t i = 0; i < sizeof media / sizeof *media; i++) {
        if (slice_starts(media_type, media[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof types / sizeof *types && media_type.len == 0; i++) {
        if (slice_is(json_text_of(object, "type"), types[i])) {
            return true;
        }
    }
    return false;
}

/* data:image/png;base64,AAAA */
static bool read_data_url(struct arena *arena, struct slice url, struct medium *out)
{
    struct slice head, data, word;
    bool encoded = false;
    if (!slice_starts(url, SLICE("data:")) || !slice_cut(slice_after(url, 5), ',', &head, &data)) {
        return false;
    }
    slice_cut(head, ';', &out->media_type, &head);
    while (head.len > 0) {
        slice_cut(head, ';', &word, &head);
        encoded = slice_is(word, "base64");
    }
    return encoded && base64_decode(arena, data, BASE64_STANDARD, &out->content);
}

static bool is_one_of(struct slice text, const char *const *words)
{
    for (; *words; words++) {
        if (slice_is(text, *words)) {
            return true;
        }
    }
    return false;
}

static bool read_member(struct arena *arena, const struct json *object, const struct json *member, struct medium *out)
{
    static const char *const raw_names[] = {"data", "blob", "base64", "image", NULL};
    static const char *const url_names[] = {"url", "uri", "src", "href", "image_url", "audio_url", "file_data", NULL};
    bool raw = json_is(member, JSON_STRING) && is_one_of(member->key, raw_names);
    bool url = json_is(member, JSON_STRING) && (raw || is_one_of(member->key, url_names));
    if (url && read_data_url(arena, member->text, out)) {
        return true;
    }
    bool taken = raw && member->text.len > 0 && (is_binary(object) || member->text.len > INLINE_CHARS_MAX);
    return taken && base64_decode(arena, member->text, BASE64_STANDARD, &out->content);
}

static bool find_medium(struct arena *arena, const struct json *object, struct medium *out)
{
    static const char *const name_names[] = {"name", "filename", "file_name", "title", NULL};
    *out = (struct medium){0};
    if (json_get(object, "handle")) {
        return false;
    }
    for (const struct json *member = object->child; member && !out->member; member = member->next) {
        out->member = read_member(arena, object, member, out) ? member : NULL;
    }
    if (!out->member) {
        return false;
    }
    struct slice told = media_type_of(object);
    out->media_type = out->media_type.len ? out->media_type : told.len ? told : sniff(out->content);
    out->name = first_of(object, name_names);
    return true;
}

/* --- taking out --- */

struct taking {
    const struct service *service;
    struct arena *arena;
    struct slice session_id;
    struct media_list *list;
    struct failure *failure;
    enum status status;
    size_t taken;
    bool blanks; /* the server's secrets in what is taken out */
};

static void list_add(struct media_list *list, struct arena *arena, const struct blob *blob)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 4;
        struct blob *blobs = arena_array(arena, room, sizeof *blobs);
        if (list->count) {
            memcpy(blobs, list->blobs, list->count * sizeof *blobs);
        }
        list->blobs = blobs;
        list->room = room;
    }
    list->blobs[list->count++] = *blob;
}

struct slice media_url(struct arena *arena, struct slice session_id, const struct hash *sha256)
{
    char handle[BLOB_HANDLE_BYTES];
    blob_handle(sha256, handle);
    return arena_format(arena, "/api/sessions/%.*s/files/%s", SLICE_ARG(session_id), handle);
}

static void write_medium(struct taking *taking, struct json_out *out, const struct json *object,
                         const struct medium *medium)
{
    char handle[BLOB_HANDLE_BYTES];
    struct blob blob = {.sha256 = hash_of(medium->content),
                        .name = medium->name.len ? medium->name : (struct slice){0},
                        .media_type = medium->media_type,
                        .bytes = (int64_t)medium->content.len,
                        .content = medium->content};
    blob_handle(&blob.sha256, handle);
    list_add(taking->list, taking->arena, &blob);
    taking->taken++;
    json_begin_object(out);
    for (const struct json *member = object->child; member; member = member->next) {
        bool replaced = member == medium->member || slice_is(member->key, "url") || slice_is(member->key, "bytes");
        bool was_base64 = slice_is(member->key, "type") && slice_is(member->text, "base64");
        if (was_base64) {
            json_put_text(out, "type", SLICE("blob"));
        } else if (!replaced) {
            json_key_slice(out, member->key);
            json_raw(out, member->raw);
        }
    }
    if (media_type_of(object).len == 0 && !json_get(object, "media_type")) {
        json_put_text(out, "media_type", medium->media_type);
    }
    json_put_text(out, "handle", slice_of(handle));
    json_put_i64(out, "bytes", blob.bytes);
    json_put_text(out, "url", media_url(taking->arena, taking->session_id, &blob.sha256));
    json_end_object(out);
}

static enum status too_large(struct taking *taking, size_t bytes)
{
    return failure_set(taking->failure, STATUS_TOO_LARGE, "file_too_large",
                       "A file has %zu bytes; at most %zu are accepted (option blob-bytes-max).", bytes,
                       taking->service->limits.file.bytes_max);
}

static void write_value(struct taking *taking, struct json_out *out, const struct json *value)
{
    struct medium medium;
    if (value->kind == JSON_OBJECT && find_medium(taking->arena, value, &medium)) {
        if (medium.content.len > taking->service->limits.file.bytes_max) {
            taking->status = too_large(taking, medium.content.len);
        }
        if (taking->blanks) {
            secrets_blank(taking->service->secrets, taking->arena, &medium.content);
        }
        write_medium(taking, out, value, &medium);
    } else if (value->kind == JSON_OBJECT) {
        json_begin_object(out);
        for (const struct json *member = value->child; member; member = member->next) {
            json_key_slice(out, member->key);
            write_value(taking, out, member);
        }
        json_end_object(out);
    } else if (value->kind == JSON_ARRAY) {
        json_begin_array(out);
        for (const struct json *element = value->child; element; element = element->next) {
            write_value(taking, out, element);
        }
        json_end_array(out);
    } else {
        json_raw(out, value->raw);
    }
}

static enum status take_out(struct taking *taking, struct slice *json)
{
    const struct json *value = NULL;
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    if (!slice_present(*json) || !media_is_likely(*json) ||
        json_parse(taking->arena, *json, &value, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    write_value(taking, &out, value);
    if (taking->taken > 0 && taking->status == STATUS_OK) {
        *json = arena_copy(taking->arena, buffer_slice(&text));
    }
    buffer_release(&text);
    return taking->status;
}

enum status media_extract(const struct service *service, struct arena *arena, struct slice session_id,
                          struct slice *json, struct media_list *list, struct failure *failure)
{
    struct taking taking = {service, arena, session_id, list, failure, STATUS_OK, 0, false};
    return take_out(&taking, json);
}

/* --- keeping --- */

enum status media_check_secrets(struct call *call, const struct media_list *list)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++) {
        status = secret_check_text(call, list->blobs[i].content);
    }
    return status;
}

enum status media_write(struct call *call, const struct session *session, const struct media_list *list)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++) {
        status = blob_keep(call->db, &call->service->blobs, session->tenant_key, session->key, &list->blobs[i],
                           &call->failure);
    }
    return status;
}

enum status media_put(struct call *call, const struct session *session, const struct media_list *list)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++) {
        struct blob blob = list->blobs[i];
        blob.actor = call->who->name;
        status = store_blob_put(call->db, &call->service->blobs, session->tenant_key, session->key, &blob, call->now_ms,
                                NULL, &call->failure);
    }
    return status;
}

enum status media_check_room(struct call *call, const struct session *session, size_t count)
{
    int64_t has = 0, max = call->service->limits.file.per_session_max;
    enum status status = store_blob_count(call->db, session->tenant_key, session->key, &has, &call->failure);
    if (status == STATUS_OK && has + (int64_t)count > max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_files",
                           "The session has %lld files; the limit is %lld (option files-per-session-max).",
                           (long long)has, (long long)max);
    }
    return status;
}

enum status media_attach(struct call *call, const struct session *session, const struct media_list *list)
{
    if (!list || list->count == 0) {
        return STATUS_OK;
    }
    enum status status = media_check_room(call, session, list->count);
    return status == STATUS_OK ? media_put(call, session, list) : status;
}

enum status media_extract_and_attach(struct call *call, const struct session *session, struct slice *json)
{
    struct media_list list = {0};
    struct taking taking = {call->service, call->arena, session->id, &list, &call->failure, STATUS_OK, 0, true};
    enum status status = take_out(&taking, json);
    return status == STATUS_OK ? media_put(call, session, &list) : status;
}

/* --- handles --- */

static void each_handle(const struct json *value, void (*each)(void *owner, struct slice handle), void *owner)
{
    struct hash ignored;
    if (value->kind == JSON_OBJECT || value->kind == JSON_ARRAY) {
        for (const struct json *inner = value->child; inner; inner = inner->next) {
            each_handle(inner, each, owner);
        }
    } else if (slice_is(value->key, "handle") && value->kind == JSON_STRING &&
               blob_handle_parse(value->text, &ignored)) {
        each(owner, value->text);
    }
}

void media_each_handle(struct arena *arena, struct slice json, void (*each)(void *owner, struct slice handle),
                       void *owner)
{
    const struct json *value = NULL;
    if (json.len > 0 && memmem(json.ptr, json.len, "\"blob:", 6) &&
        json_parse(arena, json, &value, NULL) == STATUS_OK) {
        each_handle(value, each, owner);
    }
}
