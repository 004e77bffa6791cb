#include "main/master_key.h"

#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "main/read_file.h"
#include "service/identity/secret.h"

enum { FILE_BYTES_MAX = 256 };

static enum status decode(struct slice text, const char *where, struct master_key *out, struct failure *failure)
{
    size_t len = 0;
    if (sodium_init() < 0) {
        abort();
    }
    secrets_guard_process();
    struct slice trimmed = slice_trim(text);
    bool good = sodium_base642bin(out->bytes, sizeof out->bytes, trimmed.ptr, trimmed.len, NULL, &len, NULL,
                                  sodium_base64_VARIANT_ORIGINAL) == 0 &&
                len == MASTER_KEY_BYTES;
    out->given = good;
    return good ? STATUS_OK
                : failure_set(failure, STATUS_INVALID, "bad_master_key", "%s must be %d bytes in base64.", where,
                              MASTER_KEY_BYTES);
}

enum status master_key_read(const char *path, struct master_key *out, struct failure *failure)
{
    struct buffer text = {0};
    struct stat info;
    *out = (struct master_key){0};
    if (stat(path, &info) == 0 && (info.st_mode & 077) != 0) {
        return failure_set(failure, STATUS_INVALID, "bad_master_key",
                           "%s can be read by others; make it private with chmod 600.", path);
    }
    enum status status = read_file(path, FILE_BYTES_MAX, &text, failure);
    if (status == STATUS_OK) {
        status = decode(buffer_slice(&text), path, out, failure);
        sodium_memzero(text.ptr, text.room);
    }
    buffer_release(&text);
    return status;
}

enum status master_key_load(const struct options *options, struct master_key *out, struct failure *failure)
{
    *out = (struct master_key){0};
    if (options->master_key && options->master_key_file) {
        return failure_set(failure, STATUS_INVALID, "bad_master_key",
                           "Give either --master-key or --master-key-file, not both.");
    }
    if (options->master_key) {
        return decode(slice_of(options->master_key), "SOJOURN_MASTER_KEY", out, failure);
    }
    return options->master_key_file ? master_key_read(options->master_key_file, out, failure) : STATUS_OK;
}

void master_key_forget(struct master_key *key)
{
    sodium_memzero(key, sizeof *key);
}
