/* Secrets on disk: DATA/secrets, encrypted and authenticated as a whole (XChaCha20-Poly1305) under a key that is given,
 * or stands in DATA/secret.key. Names are hidden like values. In memory they live in locked pages that no core dump
 * holds (sodium_malloc). Used by one thread at a time. */
#ifndef STORE_SECRET_FILE_H
#define STORE_SECRET_FILE_H

#include "base/slice.h"
#include "base/status.h"

enum { SECRET_NAME_MAX = 100, SECRET_BYTES_MAX = 16 * 1024, SECRET_FILE_BYTES_MAX = 1024 * 1024 };

/* Records one behind the other: lengths, name, value. Owned by whoever read it; zeroes are none. */
struct secret_records {
    unsigned char *bytes;
    size_t len;
};

struct secret_place {
    const char *directory;
    const char *key; /* 64 hexadecimal digits; NULL = in the directory */
};

void secret_records_release(struct secret_records *records);
/* Iterates: *at begins as 0. False behind the last. The slices point into the records. */
bool secret_records_next(const struct secret_records *records, size_t *at, struct slice *out_name,
                         struct slice *out_value);
/* Absent when there is none of that name. */
struct slice secret_records_get(const struct secret_records *records, struct slice name);

/* No file is no secrets. INVALID `bad_secrets` for a wrong key, a damaged file, or one that others can read. */
MUST_CHECK enum status secret_file_read(const struct secret_place *place, struct secret_records *out,
                                        struct failure *failure);
/* Sets the secret, or removes it when `value` is absent (NOT_FOUND `no_such_secret`); the key is made when there is
 * none. On disk when it returns; a crash leaves the file before or after. */
MUST_CHECK enum status secret_file_put(const struct secret_place *place, struct slice name, struct slice value,
                                       struct failure *failure);
/* Letters, digits and underscores, no digit first: as a variable of the environment. */
bool secret_name_is_good(struct slice name);

#endif
