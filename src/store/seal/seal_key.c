#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/seal/seal_internal.h"
#include "store/statement.h"
#include "store/store.h"

enum { WRAPPED_TEXT_BYTES = 2 * WRAPPED_BYTES + 1, REWRAPPED_PER_PAGE = 500 };
static_assert((int)MASTER_KEY_BYTES == (int)KEY_BYTES, "master keys are keys");

/* --- the store's own key --- */

static const struct slice common_name = SLICE("0.0");

static enum status make_common(struct db *db, const unsigned char *master, struct failure *failure)
{
    unsigned char common[KEY_BYTES], wrapped[WRAPPED_BYTES];
    char text[WRAPPED_TEXT_BYTES];
    randombytes_buf(common, sizeof common);
    seal_box_write(wrapped, slice_from(common, sizeof common), common_name, master);
    sodium_bin2hex(text, sizeof text, wrapped, sizeof wrapped);
    sodium_memzero(common, sizeof common);
    enum status status = db_begin(db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = statement_run(db, sql_common_key_put(.value = slice_of(text)), NULL, failure);
    if (status == STATUS_OK) {
        return db_commit(db, failure);
    }
    db_rollback(db);
    return status;
}

/* Absent when there is none. */
static enum status read_common(struct db *db, char out[WRAPPED_TEXT_BYTES], bool *out_present, struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, sql_common_key_get());
    enum status status = query_step(&query, &row, failure);
    *out_present = status == STATUS_OK && row;
    if (*out_present) {
        snprintf(out, WRAPPED_TEXT_BYTES, "%.*s", SLICE_ARG(query_text(&query, COMMON_KEY_GET_COLUMN_VALUE)));
    }
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
           seal_box_open(out, slice_from(wrapped, sizeof wrapped), common_name, master);
}

static enum status take_keys(struct db *db, const char *wrapped, const unsigned char *master, struct failure *failure)
{
    struct secrets_kept *kept = sodium_malloc(sizeof *kept);
    if (!kept) {
        abort(); /* out of memory */
    }
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
    if (options->content_unread) {
        return STATUS_OK;
    }
    enum status status = read_common(db, wrapped, &present, failure);
    if (status == STATUS_OK && !options->master_key) {
        return present ? missing_key(failure) : STATUS_OK;
    }
    if (status == STATUS_OK && !present && !options->read_only) {
        status = make_common(db, options->master_key, failure);
        if (status == STATUS_OK) {
            status = read_common(db, wrapped, &present, failure); /* another node may have been first */
        }
    }
    return status == STATUS_OK && present ? take_keys(db, wrapped, options->master_key, failure) : status;
}

/* --- another master key --- */

struct wrapped_row {
    int64_t tenant_key, session_key;
    struct slice wrapped;
};

static void read_wrapped(struct query *query, struct arena *arena, void *item)
{
    struct wrapped_row *row = item;
    *row = (struct wrapped_row){query_i64(query, SESSION_KEY_PAGE_COLUMN_TENANT_KEY),
                                query_i64(query, SESSION_KEY_PAGE_COLUMN_SESSION_KEY),
                                column_copy(query, SESSION_KEY_PAGE_COLUMN_WRAPPED, arena)};
}

static enum status rewrap(struct db *db, const struct wrapped_row *row, const unsigned char *master,
                          struct failure *failure)
{
    unsigned char key[KEY_BYTES], wrapped[WRAPPED_BYTES];
    char room[NAME_BYTES];
    struct slice name = seal_name(room, row->tenant_key, row->session_key);
    if (row->wrapped.len != WRAPPED_BYTES || !seal_box_open(key, row->wrapped, name, db->seal->kept->master)) {
        return failure_set(failure, STATUS_UNAVAILABLE, "sealed_unreadable", "The key of session %lld is damaged.",
                           (long long)row->session_key);
    }
    seal_box_write(wrapped, slice_from(key, sizeof key), name, master);
    sodium_memzero(key, sizeof key);
    return statement_run(db,
                         sql_session_key_rewrap(.tenant_key = row->tenant_key, .session_key = row->session_key,
                                                .wrapped = slice_from(wrapped, sizeof wrapped)),
                         NULL, failure);
}

static enum status rewrap_common(struct db *db, const unsigned char *master, struct failure *failure)
{
    unsigned char wrapped[WRAPPED_BYTES];
    char text[WRAPPED_TEXT_BYTES];
    seal_box_write(wrapped, slice_from(db->seal->kept->common, KEY_BYTES), common_name, master);
    sodium_bin2hex(text, sizeof text, wrapped, sizeof wrapped);
    return statement_run(db, sql_common_key_replace(.value = slice_of(text)), NULL, failure);
}

static enum status rewrap_all(struct db *db, const unsigned char *master, int64_t *out_count, struct failure *failure)
{
    int64_t after = 0;
    size_t count = 1;
    enum status status = rewrap_common(db, master, failure);
    for (*out_count = 0; status == STATUS_OK && count;) {
        struct arena arena = {0};
        struct wrapped_row *rows = NULL;
        status = statement_rows(db, sql_session_key_page(.after_session_key = after, .limit = REWRAPPED_PER_PAGE),
                                sizeof *rows, read_wrapped, &arena, &rows, &count, failure);
        for (size_t i = 0; status == STATUS_OK && i < count; i++, ++*out_count) {
            status = rewrap(db, &rows[i], master, failure);
            after = rows[i].session_key;
        }
        arena_release(&arena);
    }
    return status;
}

enum status store_rekey(struct db *db, const unsigned char *master, int64_t *out_count, struct failure *failure)
{
    if (!db->seal) {
        return failure_set(failure, STATUS_CONFLICT, "not_encrypted",
                           "Nothing is encrypted: there is no key to change.");
    }
    enum status status = db_begin(db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = rewrap_all(db, master, out_count, failure);
    if (status == STATUS_OK) {
        return db_commit(db, failure);
    }
    db_rollback(db);
    return status;
}
