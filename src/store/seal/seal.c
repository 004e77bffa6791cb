#include "store/seal/seal.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/seal/seal_internal.h"
#include "store/statement.h"
#include "store/store.h"

enum {
    KEYS_KEPT_MAX = 4096,
    BASE64 = sodium_base64_VARIANT_ORIGINAL,
    SEALED_MARK = '\x01',
    SCRATCH_KEPT_BYTES = 1024 * 1024,
};

/* A session's key, or that it has none. */
struct data_key {
    int64_t session_key;
    bool present;
    unsigned char bytes[KEY_BYTES];
};

/* --- boxes --- */

void seal_box_write(unsigned char *out, struct slice plain, struct slice name, const unsigned char *key)
{
    randombytes_buf(out, NONCE_BYTES);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(out + NONCE_BYTES, NULL, (const unsigned char *)plain.ptr,
                                                     plain.len, (const unsigned char *)name.ptr, name.len, NULL, out,
                                                     key);
}

bool seal_box_open(unsigned char *out, struct slice box, struct slice name, const unsigned char *key)
{
    const unsigned char *bytes = (const unsigned char *)box.ptr;
    return box.len >= NONCE_BYTES + TAG_BYTES &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, bytes + NONCE_BYTES, box.len - NONCE_BYTES,
                                                      (const unsigned char *)name.ptr, name.len, bytes, key) == 0;
}

struct slice seal_name(char out[NAME_BYTES], int64_t tenant_key, int64_t session_key)
{
    int len = snprintf(out, NAME_BYTES, "%lld.%lld", (long long)tenant_key, (long long)session_key);
    return slice_from(out, (size_t)len);
}

/* --- data keys --- */

static void drop_keys(struct seal *seal)
{
    size_t cursor = 0;
    for (struct data_key *key = map_next(&seal->keys, &cursor); key; key = map_next(&seal->keys, &cursor)) {
        sodium_memzero(key, sizeof *key);
        free(key);
    }
    map_release(&seal->keys);
}

static struct data_key *remember(struct seal *seal, int64_t session_key)
{
    if (seal->keys.count >= KEYS_KEPT_MAX) {
        drop_keys(seal);
    }
    struct data_key *key = memory_zeroed(sizeof *key);
    key->session_key = session_key;
    free(map_put(&seal->keys, slice_from(&key->session_key, sizeof key->session_key), key));
    return key;
}

static enum status unreadable(struct seal *seal, const char *what)
{
    return failure_set(&seal->trouble, STATUS_UNAVAILABLE, "sealed_unreadable", "Encrypted content cannot be read: %s.",
                       what);
}

static enum status load_key(struct db *db, int64_t tenant_key, int64_t session_key, struct data_key *out)
{
    struct query query;
    struct seal *seal = db->seal;
    char name[NAME_BYTES];
    bool row = false;
    query_start(&query, db, sql_session_key_get(.tenant_key = tenant_key, .session_key = session_key));
    enum status status = query_step(&query, &row, &seal->trouble);
    if (status == STATUS_OK && row) {
        struct slice wrapped = query_text(&query, SESSION_KEY_GET_COLUMN_WRAPPED);
        out->present = wrapped.len == WRAPPED_BYTES &&
                       seal_box_open(out->bytes, wrapped, seal_name(name, tenant_key, session_key), seal->kept->master);
        status = out->present ? STATUS_OK : unreadable(seal, "the key of its session is damaged");
    }
    query_end(&query);
    return status;
}

/* NULL when the session has none, or there was trouble. */
static const unsigned char *key_of(struct db *db, int64_t tenant_key, int64_t session_key)
{
    struct seal *seal = db->seal;
    if (session_key == 0) {
        return seal->kept->common;
    }
    struct data_key *known = map_get(&seal->keys, slice_from(&session_key, sizeof session_key)), found = {0};
    if (!known) {
        if (load_key(db, tenant_key, session_key, &found)) {
            return NULL;
        }
        known = remember(seal, session_key);
        known->present = found.present;
        memcpy(known->bytes, found.bytes, KEY_BYTES);
        sodium_memzero(&found, sizeof found);
    }
    return known->present ? known->bytes : NULL;
}

enum status seal_session(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure)
{
    unsigned char wrapped[WRAPPED_BYTES];
    char name[NAME_BYTES];
    if (!db->seal) {
        return STATUS_OK;
    }
    struct data_key *key = remember(db->seal, session_key);
    key->present = true;
    randombytes_buf(key->bytes, KEY_BYTES);
    seal_box_write(wrapped, slice_from(key->bytes, KEY_BYTES), seal_name(name, tenant_key, session_key),
                   db->seal->kept->master);
    return statement_run(db,
                         sql_session_key_put(.tenant_key = tenant_key, .session_key = session_key,
                                             .wrapped = slice_from(wrapped, sizeof wrapped)),
                         NULL, failure);
}

/* --- texts --- */

struct slice seal_text(struct db *db, int64_t tenant_key, int64_t session_key, struct slice text)
{
    char name_room[NAME_BYTES];
    if (!db->seal || !slice_present(text)) {
        return text;
    }
    const unsigned char *key = key_of(db, tenant_key, session_key);
    if (!key) {
        db->seal->unsealed = db->seal->trouble.status != STATUS_OK ? db->seal->trouble : db->seal->unsealed;
        return text;
    }
    struct arena *arena = &db->seal->scratch;
    struct slice name = seal_name(name_room, session_key ? tenant_key : 0, session_key);
    size_t box_bytes = NONCE_BYTES + text.len + TAG_BYTES;
    size_t room = sodium_base64_ENCODED_LEN(box_bytes, BASE64);
    unsigned char *box = (unsigned char *)arena_bytes(arena, box_bytes);
    char *out = arena_bytes(arena, name.len + 2 + room);
    seal_box_write(box, text, name, key);
    out[0] = SEALED_MARK;
    memcpy(out + 1, name.ptr, name.len);
    out[name.len + 1] = ':';
    sodium_bin2base64(out + name.len + 2, room, box, box_bytes, BASE64);
    return slice_from(out, name.len + 1 + room); /* less the zero byte */
}

/* Whose key, and the box in base64. */
static bool read_sealed(struct slice text, int64_t *out_tenant, int64_t *out_session, struct slice *out_name,
                        struct slice *out_box)
{
    struct slice tenant, session;
    return slice_cut(slice_after(text, 1), ':', out_name, out_box) && slice_cut(*out_name, '.', &tenant, &session) &&
           slice_to_i64(tenant, out_tenant) && slice_to_i64(session, out_session);
}

bool seal_is_sealed(const struct db *db, struct slice text)
{
    return db->seal && text.len > 1 && text.ptr[0] == SEALED_MARK;
}

/* out has as many bytes as the text. */
static bool open_to(struct db *db, struct slice text, unsigned char *out, size_t *out_len)
{
    int64_t tenant_key, session_key;
    struct slice name, box;
    size_t len = 0;
    if (!read_sealed(text, &tenant_key, &session_key, &name, &box) ||
        sodium_base642bin(out, text.len, box.ptr, box.len, NULL, &len, NULL, BASE64) != 0 ||
        len < NONCE_BYTES + TAG_BYTES) {
        return false;
    }
    const unsigned char *key = key_of(db, tenant_key, session_key);
    *out_len = len - NONCE_BYTES - TAG_BYTES;
    /* in place: the box stands at the beginning, its text takes the place of what follows the nonce */
    bool opened = key && crypto_aead_xchacha20poly1305_ietf_decrypt(out + NONCE_BYTES, NULL, NULL, out + NONCE_BYTES,
                                                                    len - NONCE_BYTES, (const unsigned char *)name.ptr,
                                                                    name.len, out, key) == 0;
    if (opened) {
        memmove(out, out + NONCE_BYTES, *out_len);
    }
    return opened;
}

struct slice seal_text_open(struct db *db, struct slice text, struct arena *arena)
{
    size_t len = 0;
    if (!seal_is_sealed(db, text)) {
        return arena_copy(arena, text);
    }
    char *out = arena_bytes(arena, text.len + 1);
    if (!open_to(db, text, (unsigned char *)out, &len)) {
        (void)unreadable(db->seal, "it is damaged, or its key is gone");
        return (struct slice){0};
    }
    out[len] = '\0';
    return slice_from(out, len);
}

struct slice seal_slot_open(struct db *db, struct slice text, int slot)
{
    size_t len = 0;
    if (!seal_is_sealed(db, text)) {
        return text;
    }
    struct buffer *room = &db->seal->slots[slot];
    room->len = 0;
    buffer_reserve(room, text.len);
    if (!open_to(db, text, (unsigned char *)room->ptr, &len)) {
        (void)unreadable(db->seal, "it is damaged, or its key is gone");
        return (struct slice){0};
    }
    return slice_from(room->ptr, len);
}

enum status seal_check(struct db *db, struct failure *failure)
{
    if (!db->seal || db->seal->trouble.status == STATUS_OK) {
        return STATUS_OK;
    }
    if (failure) {
        *failure = db->seal->trouble;
    }
    enum status status = db->seal->trouble.status;
    db->seal->trouble = (struct failure){0};
    return status;
}

enum status seal_check_commit(struct db *db, struct failure *failure)
{
    if (!db->seal || db->seal->unsealed.status == STATUS_OK) {
        return STATUS_OK;
    }
    if (failure) {
        *failure = db->seal->unsealed;
    }
    return db->seal->unsealed.status;
}

/* --- files --- */

enum status seal_address(struct db *db, int64_t tenant_key, int64_t session_key, const struct hash *sha256,
                         struct hash *out, struct failure *failure)
{
    const unsigned char *key = db->seal ? key_of(db, tenant_key, session_key) : NULL;
    *out = *sha256;
    if (key) {
        crypto_generichash(out->bytes, sizeof out->bytes, sha256->bytes, sizeof sha256->bytes, key, KEY_BYTES);
    }
    return seal_check(db, failure);
}

struct slice seal_bytes(struct db *db, int64_t tenant_key, int64_t session_key, struct slice content,
                        struct arena *arena)
{
    char name[NAME_BYTES];
    const unsigned char *key = db->seal ? key_of(db, tenant_key, session_key) : NULL;
    if (!key) {
        return content;
    }
    size_t len = NONCE_BYTES + content.len + TAG_BYTES;
    char *box = arena_bytes(arena, len);
    seal_box_write((unsigned char *)box, content, seal_name(name, tenant_key, session_key), key);
    return slice_from(box, len);
}

bool seal_bytes_open(struct db *db, int64_t tenant_key, int64_t session_key, struct slice content, struct arena *arena,
                     struct slice *out)
{
    char name[NAME_BYTES];
    const unsigned char *key = db->seal ? key_of(db, tenant_key, session_key) : NULL;
    *out = content;
    if (!key) {
        return true;
    }
    char *plain = arena_bytes(arena, content.len + 1);
    *out = slice_from(plain, content.len >= NONCE_BYTES + TAG_BYTES ? content.len - NONCE_BYTES - TAG_BYTES : 0);
    return seal_box_open((unsigned char *)plain, content, seal_name(name, tenant_key, session_key), key);
}

/* --- its life --- */

void seal_close(struct db *db)
{
    struct seal *seal = db->seal;
    if (!seal) {
        return;
    }
    drop_keys(seal);
    sodium_free(seal->kept);
    arena_release(&seal->scratch);
    for (int i = 0; i < SEAL_SLOTS; i++) {
        buffer_release(&seal->slots[i]);
    }
    free(seal);
    db->seal = NULL;
}

void seal_reset(struct db *db)
{
    if (!db->seal) {
        return;
    }
    db->seal->trouble = db->seal->unsealed = (struct failure){0};
    if (db->seal->scratch.used_bytes > SCRATCH_KEPT_BYTES) {
        arena_release(&db->seal->scratch);
    } else {
        arena_reset(&db->seal->scratch);
    }
}

void seal_forget(struct db *db)
{
    if (db->seal) {
        drop_keys(db->seal);
    }
}
