#include "store/seal.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "store/engine.h"
#include "store/statement.h"
#include "store/store.h"

enum {
    KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    WRAPPED_BYTES = NONCE_BYTES + KEY_BYTES + TAG_BYTES,
    WRAPPED_TEXT_BYTES = 2 * WRAPPED_BYTES + 1,
    NAME_BYTES = 48,
    KEYS_KEPT_MAX = 4096,
    BASE64 = sodium_base64_VARIANT_ORIGINAL,
    SEALED_MARK = '\x01',
    SCRATCH_KEPT_BYTES = 1024 * 1024,
    REWRAPPED_PER_PAGE = 500,
};
static_assert((int)MASTER_KEY_BYTES == (int)KEY_BYTES, "master keys are keys");

/* In memory that no core dump holds. */
struct secrets_kept {
    unsigned char master[KEY_BYTES], common[KEY_BYTES];
};

/* A session's key, or that it has none. */
struct data_key {
    int64_t session_key;
    bool present;
    unsigned char bytes[KEY_BYTES];
};

struct seal {
    struct secrets_kept *kept;
    struct map keys;      /* session key → data_key */
    struct arena scratch; /* what was sealed since the last reset */
    struct buffer slots[SEAL_SLOTS];
    struct failure trouble;  /* something could not be opened since it was last looked at */
    struct failure unsealed; /* something could not be sealed since the last reset: nothing may be committed */
};

/* --- boxes --- */

/* out has NONCE_BYTES + len + TAG_BYTES. */
static void box_write(unsigned char *out, struct slice plain, struct slice name, const unsigned char *key)
{
    randombytes_buf(out, NONCE_BYTES);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(out + NONCE_BYTES, NULL, (const unsigned char *)plain.ptr,
                                                     plain.len, (const unsigned char *)name.ptr, name.len, NULL, out,
                                                     key);
}

/* out has as many bytes as the box less NONCE_BYTES and TAG_BYTES. */
static bool box_open(unsigned char *out, struct slice box, struct slice name, const unsigned char *key)
{
    const unsigned char *bytes = (const unsigned char *)box.ptr;
    return box.len >= NONCE_BYTES + TAG_BYTES &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, bytes + NONCE_BYTES, box.len - NONCE_BYTES,
                                                      (const unsigned char *)name.ptr, name.len, bytes, key) == 0;
}

/* "1.42": whose key it is, and what keeps a box from being taken for one of another session. */
static struct slice name_of(char out[NAME_BYTES], int64_t tenant_key, int64_t session_key)
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
    if (seal->keys.count >= KEYS_KEPT_MAX)
        drop_keys(seal);
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
    statement_start(&query, db, SQL_SESSION_KEY_GET, VALUES(number(tenant_key), number(session_key)));
    enum status status = query_step(&query, &row, &seal->trouble);
    if (!status && row) {
        struct slice wrapped = query_text(&query, 0);
        out->present = wrapped.len == WRAPPED_BYTES &&
                       box_open(out->bytes, wrapped, name_of(name, tenant_key, session_key), seal->kept->master);
        status = out->present ? STATUS_OK : unreadable(seal, "the key of its session is damaged");
    }
    query_end(&query);
    return status;
}

/* NULL when the session has none, or there was trouble. */
static const unsigned char *key_of(struct db *db, int64_t tenant_key, int64_t session_key)
{
    struct seal *seal = db->seal;
    if (session_key == 0)
        return seal->kept->common;
    struct data_key *known = map_get(&seal->keys, slice_from(&session_key, sizeof session_key)), found = {0};
    if (!known) {
        if (load_key(db, tenant_key, session_key, &found))
            return NULL;
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
    if (!db->seal)
        return STATUS_OK;
    struct data_key *key = remember(db->seal, session_key);
    key->present = true;
    randombytes_buf(key->bytes, KEY_BYTES);
    box_write(wrapped, slice_from(key->bytes, KEY_BYTES), name_of(name, tenant_key, session_key),
              db->seal->kept->master);
    return statement_run(db, SQL_SESSION_KEY_PUT,
                         VALUES(number(tenant_key), number(session_key), bytes(slice_from(wrapped, sizeof wrapped))),
                         NULL, failure);
}

/* --- texts --- */

struct slice seal_text(struct db *db, int64_t tenant_key, int64_t session_key, struct slice text)
{
    char name_room[NAME_BYTES];
    if (!db->seal || !slice_present(text))
        return text;
    const unsigned char *key = key_of(db, tenant_key, session_key);
    if (!key) {
        db->seal->unsealed = db->seal->trouble.status ? db->seal->trouble : db->seal->unsealed;
        return text;
    }
    struct arena *arena = &db->seal->scratch;
    struct slice name = name_of(name_room, session_key ? tenant_key : 0, session_key);
    size_t box_bytes = NONCE_BYTES + text.len + TAG_BYTES;
    size_t room = sodium_base64_ENCODED_LEN(box_bytes, BASE64);
    unsigned char *box = (unsigned char *)arena_bytes(arena, box_bytes);
    char *out = arena_bytes(arena, name.len + 2 + room);
    box_write(box, text, name, key);
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
        len < NONCE_BYTES + TAG_BYTES)
        return false;
    const unsigned char *key = key_of(db, tenant_key, session_key);
    *out_len = len - NONCE_BYTES - TAG_BYTES;
    /* in place: the box stands at the beginning, its text takes the place of what follows the nonce */
    bool opened = key && crypto_aead_xchacha20poly1305_ietf_decrypt(out + NONCE_BYTES, NULL, NULL, out + NONCE_BYTES,
                                                                    len - NONCE_BYTES, (const unsigned char *)name.ptr,
                                                                    name.len, out, key) == 0;
    if (opened)
        memmove(out, out + NONCE_BYTES, *out_len);
    return opened;
}

struct slice seal_text_open(struct db *db, struct slice text, struct arena *arena)
{
    size_t len = 0;
    if (!seal_is_sealed(db, text))
        return arena_copy(arena, text);
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
    if (!seal_is_sealed(db, text))
        return text;
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
    if (!db->seal || db->seal->trouble.status == STATUS_OK)
        return STATUS_OK;
    if (failure)
        *failure = db->seal->trouble;
    enum status status = db->seal->trouble.status;
    db->seal->trouble = (struct failure){0};
    return status;
}

enum status seal_check_commit(struct db *db, struct failure *failure)
{
    if (!db->seal || db->seal->unsealed.status == STATUS_OK)
        return STATUS_OK;
    if (failure)
        *failure = db->seal->unsealed;
    return db->seal->unsealed.status;
}

/* --- files --- */

enum status seal_address(struct db *db, int64_t tenant_key, int64_t session_key, const struct hash *sha256,
                         struct hash *out, struct failure *failure)
{
    const unsigned char *key = db->seal ? key_of(db, tenant_key, session_key) : NULL;
    *out = *sha256;
    if (key)
        crypto_generichash(out->bytes, sizeof out->bytes, sha256->bytes, sizeof sha256->bytes, key, KEY_BYTES);
    return seal_check(db, failure);
}

struct slice seal_bytes(struct db *db, int64_t tenant_key, int64_t session_key, struct slice content,
                        struct arena *arena)
{
    char name[NAME_BYTES];
    const unsigned char *key = db->seal ? key_of(db, tenant_key, session_key) : NULL;
    if (!key)
        return content;
    size_t len = NONCE_BYTES + content.len + TAG_BYTES;
    char *box = arena_bytes(arena, len);
    box_write((unsigned char *)box, content, name_of(name, tenant_key, session_key), key);
    return slice_from(box, len);
}

bool seal_bytes_open(struct db *db, int64_t tenant_key, int64_t session_key, struct slice content, struct arena *arena,
                     struct slice *out)
{
    char name[NAME_BYTES];
    const unsigned char *key = db->seal ? key_of(db, tenant_key, session_key) : NULL;
    *out = content;
    if (!key)
        return true;
    char *plain = arena_bytes(arena, content.len + 1);
    *out = slice_from(plain, content.len >= NONCE_BYTES + TAG_BYTES ? content.len - NONCE_BYTES - TAG_BYTES : 0);
    return box_open((unsigned char *)plain, content, name_of(name, tenant_key, session_key), key);
}

/* --- the store's own key --- */

static const struct slice common_name = SLICE("0.0");

static enum status make_common(struct db *db, const unsigned char *master, struct failure *failure)
{
    unsigned char common[KEY_BYTES], wrapped[WRAPPED_BYTES];
    char text[WRAPPED_TEXT_BYTES];
    randombytes_buf(common, sizeof common);
    box_write(wrapped, slice_from(common, sizeof common), common_name, master);
    sodium_bin2hex(text, sizeof text, wrapped, sizeof wrapped);
    sodium_memzero(common, sizeof common);
    enum status status = db_begin(db, failure);
    if (status)
        return status;
    status =
        statement_run(db, SQL_COMMON_KEY_PUT, VALUES((struct value){VALUE_TEXT, 0, slice_of(text)}), NULL, failure);
    if (!status)
        return db_commit(db, failure);
    db_rollback(db);
    return status;
}

/* Absent when there is none. */
static enum status read_common(struct db *db, char out[WRAPPED_TEXT_BYTES], bool *out_present, struct failure *failure)
{
    struct query query;
    bool row = false;
    statement_start(&query, db, SQL_COMMON_KEY_GET, NULL);
    enum status status = query_step(&query, &row, failure);
    *out_present = !status && row;
    if (*out_present)
        snprintf(out, WRAPPED_TEXT_BYTES, "%.*s", SLICE_ARG(query_text(&query, 0)));
    query_end(&query);
    return status;
}

static enum status missing_key(struct failure *failure)
{
    return failure_set(failure, STATUS_UNAVAILABLE, "master_key_missing",
                       "The content of this store is encrypted: give its master key with --master-key-file or "
                       "SOJOURN_MASTER_KEY.");
}

static bool unwrap_common(const char *text, const unsigned char *master, unsigned char *out)
{
    unsigned char wrapped[WRAPPED_BYTES];
    size_t len = 0;
    return sodium_hex2bin(wrapped, sizeof wrapped, text, strlen(text), NULL, &len, NULL) == 0 && len == WRAPPED_BYTES &&
           box_open(out, slice_from(wrapped, sizeof wrapped), common_name, master);
}

static enum status take_keys(struct db *db, const char *wrapped, const unsigned char *master, struct failure *failure)
{
    struct secrets_kept *kept = sodium_malloc(sizeof *kept);
    if (!kept)
        abort(); /* out of memory */
    memcpy(kept->master, master, KEY_BYTES);
    if (!unwrap_common(wrapped, master, kept->common)) {
        sodium_free(kept);
        return failure_set(failure, STATUS_UNAVAILABLE, "master_key_wrong",
                           "The master key is not the one with which the content of this store is encrypted.");
    }
    db->seal = memory_zeroed(sizeof *db->seal);
    db->seal->kept = kept;
    return STATUS_OK;
}

enum status seal_open(struct db *db, const struct db_options *options, struct failure *failure)
{
    char wrapped[WRAPPED_TEXT_BYTES] = "";
    bool present;
    if (options->content_unread)
        return STATUS_OK;
    enum status status = read_common(db, wrapped, &present, failure);
    if (!status && !options->master_key)
        return present ? missing_key(failure) : STATUS_OK;
    if (!status && !present && !options->read_only) {
        status = make_common(db, options->master_key, failure);
        if (!status)
            status = read_common(db, wrapped, &present, failure); /* another node may have been first */
    }
    return !status && present ? take_keys(db, wrapped, options->master_key, failure) : status;
}

void seal_close(struct db *db)
{
    struct seal *seal = db->seal;
    if (!seal)
        return;
    drop_keys(seal);
    sodium_free(seal->kept);
    arena_release(&seal->scratch);
    for (int i = 0; i < SEAL_SLOTS; i++)
        buffer_release(&seal->slots[i]);
    free(seal);
    db->seal = NULL;
}

void seal_reset(struct db *db)
{
    if (!db->seal)
        return;
    db->seal->trouble = db->seal->unsealed = (struct failure){0};
    if (db->seal->scratch.used_bytes > SCRATCH_KEPT_BYTES)
        arena_release(&db->seal->scratch);
    else
        arena_reset(&db->seal->scratch);
}

void seal_forget(struct db *db)
{
    if (db->seal)
        drop_keys(db->seal);
}

/* --- another master key --- */

struct wrapped_row {
    int64_t tenant_key, session_key;
    struct slice wrapped;
};

static void read_wrapped(struct query *query, struct arena *arena, void *item)
{
    struct wrapped_row *row = item;
    *row = (struct wrapped_row){query_i64(query, 0), query_i64(query, 1), column_copy(query, 2, arena)};
}

static enum status rewrap(struct db *db, const struct wrapped_row *row, const unsigned char *master,
                          struct failure *failure)
{
    unsigned char key[KEY_BYTES], wrapped[WRAPPED_BYTES];
    char room[NAME_BYTES];
    struct slice name = name_of(room, row->tenant_key, row->session_key);
    if (row->wrapped.len != WRAPPED_BYTES || !box_open(key, row->wrapped, name, db->seal->kept->master))
        return failure_set(failure, STATUS_UNAVAILABLE, "sealed_unreadable", "The key of session %lld is damaged.",
                           (long long)row->session_key);
    box_write(wrapped, slice_from(key, sizeof key), name, master);
    sodium_memzero(key, sizeof key);
    return statement_run(
        db, SQL_SESSION_KEY_REWRAP,
        VALUES(number(row->tenant_key), number(row->session_key), bytes(slice_from(wrapped, sizeof wrapped))), NULL,
        failure);
}

static enum status rewrap_common(struct db *db, const unsigned char *master, struct failure *failure)
{
    unsigned char wrapped[WRAPPED_BYTES];
    char text[WRAPPED_TEXT_BYTES];
    box_write(wrapped, slice_from(db->seal->kept->common, KEY_BYTES), common_name, master);
    sodium_bin2hex(text, sizeof text, wrapped, sizeof wrapped);
    return statement_run(db, SQL_COMMON_KEY_REPLACE, VALUES((struct value){VALUE_TEXT, 0, slice_of(text)}), NULL,
                         failure);
}

static enum status rewrap_all(struct db *db, const unsigned char *master, int64_t *out_count, struct failure *failure)
{
    int64_t after = 0;
    size_t count = 1;
    enum status status = rewrap_common(db, master, failure);
    for (*out_count = 0; !status && count;) {
        struct arena arena = {0};
        struct wrapped_row *rows = NULL;
        status = statement_rows(db, SQL_SESSION_KEY_PAGE, VALUES(number(after), number(REWRAPPED_PER_PAGE)),
                                sizeof *rows, read_wrapped, &arena, &rows, &count, failure);
        for (size_t i = 0; !status && i < count; i++, ++*out_count) {
            status = rewrap(db, &rows[i], master, failure);
            after = rows[i].session_key;
        }
        arena_release(&arena);
    }
    return status;
}

enum status store_rekey(struct db *db, const unsigned char *master, int64_t *out_count, struct failure *failure)
{
    if (!db->seal)
        return failure_set(failure, STATUS_CONFLICT, "not_encrypted",
                           "Nothing is encrypted: there is no key to change.");
    enum status status = db_begin(db, failure);
    if (status)
        return status;
    status = rewrap_all(db, master, out_count, failure);
    if (!status)
        return db_commit(db, failure);
    db_rollback(db);
    return status;
}
