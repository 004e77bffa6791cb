#include "store/blob/blob.h"

#include "base/json.h"
#include "store/blob/blob_file.h"
#include "store/seal/seal.h"
#include "store/statement.h"

enum { CHUNK_BYTES = 1024 * 1024 };

static const struct slice handle_prefix = SLICE("blob:");

void blob_handle(const struct hash *sha256, char out[BLOB_HANDLE_BYTES])
{
    memcpy(out, handle_prefix.ptr, handle_prefix.len);
    hash_text(sha256, out + handle_prefix.len);
}

bool blob_handle_parse(struct slice text, struct hash *out)
{
    return hash_parse(slice_starts(text, handle_prefix) ? slice_after(text, handle_prefix.len) : text, out);
}

/* --- about --- */

static void about_write(struct buffer *to, const struct blob *blob)
{
    char text[HASH_TEXT_BYTES];
    struct json_out out = json_out_to(to);
    hash_text(&blob->sha256, text);
    json_begin_object(&out);
    json_put_text(&out, "sha256", slice_of(text));
    json_maybe_text(&out, "name", blob->name);
    json_put_text(&out, "media_type", blob->media_type);
    json_end_object(&out);
}

static void about_read(struct slice text, struct arena *arena, struct blob *out)
{
    const struct json *about = NULL;
    if (json_parse(arena, text, &about, NULL) == STATUS_OK && hash_parse(json_text_of(about, "sha256"), &out->sha256)) {
        out->name = json_text_of(about, "name");
        out->media_type = json_text_of(about, "media_type");
    }
}

static void read_row(struct query *query, struct arena *arena, void *item)
{
    struct blob *out = item;
    *out = (struct blob){.bytes = query_i64(query, BLOB_COLUMN_BYTES),
                         .created_at_ms = query_i64(query, BLOB_COLUMN_CREATED_AT_MS),
                         .actor = column_copy(query, BLOB_COLUMN_ACTOR, arena)};
    about_read(column_open(query, BLOB_COLUMN_ABOUT, arena), arena, out);
}

/* --- where bytes are --- */

enum status blob_keep(struct db *db, const struct blob_place *place, int64_t tenant_key, int64_t session_key,
                      const struct blob *blob, struct failure *failure)
{
    struct hash address;
    if (place->in_database) {
        return STATUS_OK;
    }
    enum status status = seal_address(db, tenant_key, session_key, &blob->sha256, &address, failure);
    if (status != STATUS_OK) {
        return status;
    }
    struct arena scratch = {0};
    struct slice content = seal_bytes(db, tenant_key, session_key, blob->content, &scratch);
    status = blob_file_write(place->directory, tenant_key, &address, content, failure);
    arena_release(&scratch);
    return status;
}

static enum status put_chunks(struct db *db, int64_t tenant_key, const struct hash *address, struct slice content,
                              int64_t now_ms, struct failure *failure)
{
    int64_t known = 0;
    enum status status = statement_run(
        db, sql_blob_chunk_touch(.tenant_key = tenant_key, .address = hash_slice(address), .now_ms = now_ms), &known,
        failure);
    if (status != STATUS_OK || known) {
        return status;
    }
    int64_t chunk = 0;
    do { /* an empty file has one empty row */
        size_t len = content.len < CHUNK_BYTES ? content.len : CHUNK_BYTES;
        status =
            statement_run(db,
                          sql_blob_chunk_put(.tenant_key = tenant_key, .address = hash_slice(address), .chunk = chunk++,
                                             .touched_at_ms = now_ms, .body = slice_from(content.ptr, len)),
                          NULL, failure);
        content = slice_after(content, len);
    } while (status == STATUS_OK && content.len);
    return status;
}

static enum status put_bytes(struct db *db, const struct blob_place *place, int64_t tenant_key, int64_t session_key,
                             const struct hash *address, struct slice content, int64_t now_ms, struct failure *failure)
{
    if (!place->in_database && blob_file_touch(place->directory, tenant_key, address)) {
        return STATUS_OK;
    }
    struct arena scratch = {0};
    struct slice kept = seal_bytes(db, tenant_key, session_key, content, &scratch);
    /* The file was collected since it was kept, or kept by nobody. */
    enum status status = place->in_database ? put_chunks(db, tenant_key, address, kept, now_ms, failure)
                                            : blob_file_write(place->directory, tenant_key, address, kept, failure);
    arena_release(&scratch);
    return status;
}

enum status store_blob_put(struct db *db, const struct blob_place *place, int64_t tenant_key, int64_t session_key,
                           const struct blob *blob, int64_t now_ms, bool *out_new, struct failure *failure)
{
    struct hash address;
    struct buffer about = {0};
    int64_t added = 0;
    enum status status = seal_address(db, tenant_key, session_key, &blob->sha256, &address, failure);
    if (status == STATUS_OK) {
        status = put_bytes(db, place, tenant_key, session_key, &address, blob->content, now_ms, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    about_write(&about, blob);
    status = statement_run(
        db,
        sql_blob_use_put(.tenant_key = tenant_key, .session_key = session_key, .address = hash_slice(&address),
                         .about = seal_text(db, tenant_key, session_key, buffer_slice(&about)),
                         .bytes = (int64_t)blob->content.len, .created_at_ms = now_ms, .actor = blob->actor),
        out_new ? &added : NULL, failure);
    buffer_release(&about);
    if (out_new) {
        *out_new = added != 0;
    }
    return status;
}

/* --- reading --- */

static enum status get(struct db *db, int64_t tenant_key, int64_t session_key, const struct hash *address,
                       struct arena *arena, struct blob *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(
        &query, db,
        sql_blob_use_get(.tenant_key = tenant_key, .session_key = session_key, .address = hash_slice(address)),
        failure);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(failure, STATUS_NOT_FOUND, "not_found", "The session has no such file.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    read_row(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_blob_get(struct db *db, int64_t tenant_key, int64_t session_key, const struct hash *sha256,
                           struct arena *arena, struct blob *out, struct failure *failure)
{
    struct hash address;
    enum status status = seal_address(db, tenant_key, session_key, sha256, &address, failure);
    return status != STATUS_OK ? status : get(db, tenant_key, session_key, &address, arena, out, failure);
}

/* *out is untouched when there are none. */
static enum status read_chunks(struct db *db, int64_t tenant_key, const struct hash *address, struct arena *arena,
                               struct slice *out, struct failure *failure)
{
    struct query query;
    struct buffer whole = {0};
    bool row = false, any = false;
    query_start(&query, db, sql_blob_chunk_read(.tenant_key = tenant_key, .address = hash_slice(address)));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        any = true;
        buffer_add(&whole, query_text(&query, BLOB_CHUNK_READ_COLUMN_BODY));
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    if (status == STATUS_OK && any) {
        *out = arena_copy(arena, buffer_slice(&whole));
    }
    buffer_release(&whole);
    return status;
}

/* What was kept when the option said something else is found all the same. */
static enum status read_bytes(struct db *db, const struct blob_place *place, int64_t tenant_key,
                              const struct hash *address, struct arena *arena, struct slice *out,
                              struct failure *failure)
{
    *out = (struct slice){0};
    enum status status = STATUS_OK;
    if (place->in_database) {
        status = read_chunks(db, tenant_key, address, arena, out, failure);
    }
    if (status != STATUS_OK || slice_present(*out)) {
        return status;
    }
    status = blob_file_read(place->directory, tenant_key, address, arena, out, failure);
    if (status != STATUS_OK && !place->in_database) {
        status = read_chunks(db, tenant_key, address, arena, out, failure);
    }
    if (status == STATUS_OK && !slice_present(*out)) {
        status = failure_set(failure, STATUS_UNAVAILABLE, "damaged_file", "The file is missing or cannot be read.");
    }
    return status;
}

static enum status check_content(const struct blob *blob, const struct hash *sha256, struct failure *failure)
{
    struct hash found = hash_of(blob->content);
    if (slice_present(blob->content) && hash_equal(hash_slice(&found), hash_slice(sha256))) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_UNAVAILABLE, "damaged_file",
                       "The file is not what its checksum says; restore it from a backup.");
}

enum status store_blob_read(struct db *db, const struct blob_place *place, int64_t tenant_key, int64_t session_key,
                            const struct hash *sha256, struct arena *arena, struct blob *out, struct failure *failure)
{
    struct hash address;
    enum status status = seal_address(db, tenant_key, session_key, sha256, &address, failure);
    if (status == STATUS_OK) {
        status = get(db, tenant_key, session_key, &address, arena, out, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = read_bytes(db, place, tenant_key, &address, arena, &out->content, failure);
    if (status == STATUS_OK && !seal_bytes_open(db, tenant_key, session_key, out->content, arena, &out->content)) {
        out->content = (struct slice){0};
    }
    return status != STATUS_OK ? status : check_content(out, sha256, failure);
}

enum status store_blob_list(struct db *db, int64_t tenant_key, int64_t session_key, int64_t limit, struct arena *arena,
                            struct blob **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_blob_use_list(.tenant_key = tenant_key, .session_key = session_key, .limit = limit),
                          sizeof **out, read_row, arena, out, out_count, failure);
}

enum status store_blob_count(struct db *db, int64_t tenant_key, int64_t session_key, int64_t *out,
                             struct failure *failure)
{
    return statement_number(db, sql_blob_use_count(.tenant_key = tenant_key, .session_key = session_key), 0, out,
                            failure);
}

/* --- sealing what was kept in the clear --- */

enum status store_blob_seal(struct db *db, const struct blob_place *place, int64_t tenant_key, int64_t session_key,
                            const struct blob *blob, struct failure *failure)
{
    struct arena arena = {0};
    struct blob whole = *blob;
    enum status status = read_bytes(db, place, tenant_key, &blob->sha256, &arena, &whole.content, failure);
    if (status == STATUS_OK) {
        status = check_content(&whole, &blob->sha256, failure);
    }
    if (status == STATUS_OK) {
        status = store_blob_put(db, place, tenant_key, session_key, &whole, blob->created_at_ms, NULL, failure);
    }
    if (status == STATUS_OK) {
        status = statement_run(db,
                               sql_reseal_blob_use_delete(.tenant_key = tenant_key, .session_key = session_key,
                                                          .address = hash_slice(&blob->sha256)),
                               NULL, failure);
    }
    arena_release(&arena);
    return status;
}

/* --- collecting --- */

static enum status is_used(struct db *db, int64_t tenant_key, const struct hash *address, bool *out,
                           struct failure *failure)
{
    int64_t used = 0;
    enum status status = statement_number(
        db, sql_blob_is_used(.tenant_key = tenant_key, .address = hash_slice(address)), 0, &used, failure);
    *out = used != 0;
    return status;
}

struct search {
    struct db *db;
    struct blob_orphan *found;
    size_t count, max;
    enum status status;
    struct failure *failure;
};

static bool look_at(void *owner, int64_t tenant_key, const struct hash *address)
{
    struct search *search = owner;
    bool used;
    search->status = is_used(search->db, tenant_key, address, &used, search->failure);
    if (!search->status && !used) {
        search->found[search->count++] = (struct blob_orphan){tenant_key, *address};
    }
    return !search->status && search->count < search->max;
}

enum status blob_find_orphans(struct db *db, const struct blob_place *place, int64_t before_ms, size_t max,
                              struct arena *arena, struct blob_orphan **out, size_t *out_count, struct failure *failure)
{
    struct search search = {.db = db, .max = max, .failure = failure};
    search.found = arena_array(arena, max, sizeof *search.found);
    blob_file_each(place->directory, before_ms, look_at, &search);
    *out = search.found;
    *out_count = search.count;
    return search.status;
}

enum status store_blob_collect(struct db *db, const struct blob_place *place, int64_t before_ms,
                               const struct blob_orphan *orphans, size_t count, struct failure *failure)
{
    enum status status = statement_run(db, sql_blob_chunk_collect(.before_ms = before_ms), NULL, failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        bool used;
        status = is_used(db, orphans[i].tenant_key, &orphans[i].address, &used, failure);
        if (status == STATUS_OK && !used) {
            blob_file_delete(place->directory, orphans[i].tenant_key, &orphans[i].address, before_ms);
        }
    }
    return status;
}

struct copying {
    const char *from, *to;
    enum status status;
    struct failure *failure;
};

static bool copy_one(void *owner, int64_t tenant_key, const struct hash *address)
{
    struct copying *copying = owner;
    struct arena arena = {0};
    struct slice content;
    copying->status = blob_file_read(copying->from, tenant_key, address, &arena, &content, copying->failure);
    if (!copying->status) {
        copying->status = blob_file_write(copying->to, tenant_key, address, content, copying->failure);
    } else if (!blob_file_touch(copying->from, tenant_key, address)) {
        copying->status = STATUS_OK; /* nobody referred to it: collected meanwhile */
    }
    arena_release(&arena);
    return !copying->status;
}

enum status blob_copy_all(const struct blob_place *place, const char *to_directory, struct failure *failure)
{
    struct copying copying = {place->directory, to_directory, STATUS_OK, failure};
    blob_file_each(place->directory, INT64_MAX, copy_one, &copying);
    return copying.status;
}

void blob_forget_halves(const struct blob_place *place)
{
    blob_file_forget_halves(place->directory);
}
