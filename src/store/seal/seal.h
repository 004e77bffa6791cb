/* Content at rest: encrypted (XChaCha20-Poly1305) with a data key per session, which is kept wrapped by the master key.
 * Deleting a session deletes its data key. What belongs to no session is encrypted with a key common to the store.
 *
 * This is the one place where content is encoded and decoded: the functions of store.h take and give plain text. A
 * sealed text names the session of its key: "\x01TENANT.SESSION:" and base64 of nonce and box. Sessions from before
 * there was a master key have no data key and stay plain until store_reseal. Without a master key everything here gives
 * back what it got.
 */
#ifndef STORE_SEAL_H
#define STORE_SEAL_H

#include "base/hash.h"
#include "store/db.h"

/* At the end of db_open: UNAVAILABLE `master_key_missing` or `master_key_wrong` when what is stored cannot be read. */
MUST_CHECK enum status seal_open(struct db *db, const struct db_options *options, struct failure *failure);
void seal_close(struct db *db);
/* Between transactions: gives back the memory of what was sealed. */
void seal_reset(struct db *db);
/* After a rollback: keys of sessions that were not made after all. */
void seal_forget(struct db *db);

/* A new session gets its data key; nothing when nothing is sealed. */
MUST_CHECK enum status seal_session(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure);
/* The text as it is stored, good until seal_reset. Absent stays absent. Session 0 = the common key. */
struct slice seal_text(struct db *db, int64_t tenant_key, int64_t session_key, struct slice text);
bool seal_is_sealed(const struct db *db, struct slice text);
/* The text as it was, in the arena or the given slice itself. What cannot be opened is absent. */
struct slice seal_text_open(struct db *db, struct slice text, struct arena *arena);
/* The same for one row at a time: good until the next call with this slot. */
enum { SEAL_SLOTS = 2 };
struct slice seal_slot_open(struct db *db, struct slice text, int slot);

/* What could not be opened since the last time. */
MUST_CHECK enum status seal_check(struct db *db, struct failure *failure);
/* Before a commit: what could not be sealed since the last reset. */
MUST_CHECK enum status seal_check_commit(struct db *db, struct failure *failure);

/* Files: where the content is kept, and what is kept. */
MUST_CHECK enum status seal_address(struct db *db, int64_t tenant_key, int64_t session_key, const struct hash *sha256,
                                    struct hash *out, struct failure *failure);
struct slice seal_bytes(struct db *db, int64_t tenant_key, int64_t session_key, struct slice bytes,
                        struct arena *arena);
MUST_CHECK bool seal_bytes_open(struct db *db, int64_t tenant_key, int64_t session_key, struct slice bytes,
                                struct arena *arena, struct slice *out);

#endif
