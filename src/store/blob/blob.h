/* Files of sessions by their content: what people attach, media that came inside messages, evidence. A session refers
 * to a blob by its SHA-256; the bytes are kept once for all sessions of a tenant that refer to them, and go some time
 * after the last of them went (store_blob_collect).
 *
 *     blob_keep (reader or writer: bytes are on disk) → store_blob_put (writer: the session refers to them) → commit
 *
 * Bytes are on disk before the row that needs them commits. Bytes that nothing refers to are collected when nobody put
 * them for a while, so that a put under way never loses its own. */
#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include "base/hash.h"
#include "store/db.h"

enum { BLOB_HANDLE_BYTES = 5 + HASH_TEXT_BYTES };

/* Where new bytes are kept; set once. Those that were kept elsewhere before are still found. */
struct blob_place {
    bool in_database;
    const char *directory; /* else here; it is made when it is needed */
};

struct blob {
    struct hash sha256;
    struct slice name;       /* absent = none */
    struct slice media_type; /* "image/png" */
    struct slice actor;
    int64_t bytes;
    int64_t created_at_ms;
    struct slice content; /* to be put; absent in what is read */
};

/* "blob:" and 64 hexadecimal digits. */
void blob_handle(const struct hash *sha256, char out[BLOB_HANDLE_BYTES]);
/* The digits alone are accepted too. */
bool blob_handle_parse(struct slice text, struct hash *out);

/* Any thread with a connection. Files: the content is on disk when it returns. In the database: nothing happens. */
MUST_CHECK enum status blob_keep(struct db *db, const struct blob_place *place, int64_t tenant_key, int64_t session_key,
                                 const struct blob *blob, struct failure *failure);
/* Writer: the session refers to the blob; nothing when it does already (*out_new, may be NULL, tells). */
MUST_CHECK enum status store_blob_put(struct db *db, const struct blob_place *place, int64_t tenant_key,
                                      int64_t session_key, const struct blob *blob, int64_t now_ms, bool *out_new,
                                      struct failure *failure);
/* NOT_FOUND when the session does not refer to it, whoever else does. */
MUST_CHECK enum status store_blob_get(struct db *db, int64_t tenant_key, int64_t session_key, const struct hash *sha256,
                                      struct arena *arena, struct blob *out, struct failure *failure);
/* The same with its content, which is what its checksum says: else UNAVAILABLE `damaged_file`. */
MUST_CHECK enum status store_blob_read(struct db *db, const struct blob_place *place, int64_t tenant_key,
                                       int64_t session_key, const struct hash *sha256, struct arena *arena,
                                       struct blob *out, struct failure *failure);
/* Oldest first. */
MUST_CHECK enum status store_blob_list(struct db *db, int64_t tenant_key, int64_t session_key, int64_t limit,
                                       struct arena *arena, struct blob **out, size_t *out_count,
                                       struct failure *failure);
MUST_CHECK enum status store_blob_count(struct db *db, int64_t tenant_key, int64_t session_key, int64_t *out,
                                        struct failure *failure);

/* --- collecting --- */
/* A file that nothing referred to when it was looked for. */
struct blob_orphan {
    int64_t tenant_key;
    struct hash address;
};
/* Any thread: files that nobody put since `before_ms` and nothing refers to. `max` at most. */
MUST_CHECK enum status blob_find_orphans(struct db *db, const struct blob_place *place, int64_t before_ms, size_t max,
                                         struct arena *arena, struct blob_orphan **out, size_t *out_count,
                                         struct failure *failure);
/* Writer: deletes those of them that still are orphans, and all that are in the database. */
MUST_CHECK enum status store_blob_collect(struct db *db, const struct blob_place *place, int64_t before_ms,
                                          const struct blob_orphan *orphans, size_t count, struct failure *failure);
/* A blob of a session that has just got its data key: kept anew, sealed, and referred to there. */
MUST_CHECK enum status store_blob_seal(struct db *db, const struct blob_place *place, int64_t tenant_key,
                                       int64_t session_key, const struct blob *blob, struct failure *failure);
/* Copies every file to another directory, where it is on disk when it returns. */
MUST_CHECK enum status blob_copy_all(const struct blob_place *place, const char *to_directory, struct failure *failure);
/* At the start, with the data directory locked: what puts that were cut left half written. */
void blob_forget_halves(const struct blob_place *place);

#endif
