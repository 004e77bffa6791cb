#include "store/seal/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "sojourn-secrets-1\n"
enum {
    MAGIC_BYTES = sizeof MAGIC - 1,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    HEAD_BYTES = MAGIC_BYTES + NONCE_BYTES,
    LENGTHS_BYTES = 2 * (int)sizeof(uint32_t),
    PATH_BYTES = 4096,
};

/* --- records --- */

static unsigned char *secret_memory(size_t size)
{
    unsigned char *bytes = sodium_malloc(size ? size : 1);
    if (!bytes) {
        abort(); /* out of memory */
    }
    return bytes;
}

void secret_records_release(struct secret_records *records)
{
    sodium_free(records->bytes);
    *records = (struct secret_records){0};
}

bool secret_records_next(const struct secret_records *records, size_t *at, struct slice *out_name,
                         struct slice *out_value)
{
    uint32_t lengths[2];
    if (records->len - *at < LENGTHS_BYTES) {
        return false;
    }
    memcpy(lengths, records->bytes + *at, sizeof lengths);
    if (records->len - *at - LENGTHS_BYTES < (size_t)lengths[0] + lengths[1]) {
        return false;
    }
    *out_name = slice_from(records->bytes + *at + LENGTHS_BYTES, lengths[0]);
    *out_value = slice_from(out_name->ptr + out_name->len, lengths[1]);
    *at += LENGTHS_BYTES + out_name->len + out_value->len;
    return true;
}

struct slice secret_records_get(const struct secret_records *records, struct slice name)
{
    struct slice one, value;
    for (size_t at = 0; secret_records_next(records, &at, &one, &value);) {
        if (slice_eq(one, name)) {
            return value;
        }
    }
    return (struct slice){0};
}

static void add_record(struct secret_records *to, struct slice name, struct slice value)
{
    uint32_t lengths[2] = {(uint32_t)name.len, (uint32_t)value.len};
    memcpy(to->bytes + to->len, lengths, sizeof lengths);
    memcpy(to->bytes + to->len + LENGTHS_BYTES, name.ptr, name.len);
    memcpy(to->bytes + to->len + LENGTHS_BYTES + name.len, value.ptr, value.len);
    to->len += LENGTHS_BYTES + name.len + value.len;
}

/* The records with one set, or left out. */
static struct secret_records changed(const struct secret_records *from, struct slice name, struct slice value)
{
    struct secret_records to = {.bytes = secret_memory(from->len + LENGTHS_BYTES + name.len + value.len)};
    struct slice one, kept;
    for (size_t at = 0; secret_records_next(from, &at, &one, &kept);) {
        if (!slice_eq(one, name)) {
            add_record(&to, one, kept);
        }
    }
    if (slice_present(value)) {
        add_record(&to, name, value);
    }
    return to;
}

bool secret_name_is_good(struct slice name)
{
    bool good = name.len > 0 && name.len <= SECRET_NAME_MAX && !(name.ptr[0] >= '0' && name.ptr[0] <= '9');
    for (size_t i = 0; i < name.len && good; i++) {
        char c = name.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return good;
}

/* --- files --- */

static enum status bad(struct failure *failure, const char *path, const char *why)
{
    return failure_set(failure, STATUS_INVALID, "bad_secrets", "%s %s.", path, why);
}

/* The whole file into secret memory; *out_len is 0 when there is none. */
static enum status read_private(const char *path, unsigned char **out, size_t *out_len, struct failure *failure)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    *out = NULL;
    *out_len = 0;
    if (fd < 0) {
        return errno == ENOENT ? STATUS_OK : bad(failure, path, "can't be read");
    }
    bool known = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= SECRET_FILE_BYTES_MAX;
    size_t size = known ? (size_t)info.st_size : 0;
    unsigned char *bytes = secret_memory(size);
    bool whole = known && read(fd, bytes, size) == (ssize_t)size;
    close(fd);
    if (!whole || (info.st_mode & 077) != 0) {
        sodium_free(bytes);
        return bad(failure, path, whole ? "can be read by others; make it private with chmod 600" : "can't be read");
    }
    *out = bytes;
    *out_len = size;
    return STATUS_OK;
}

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *from = bytes;
    while (len > 0) {
        ssize_t count = write(fd, from, len);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        from += count > 0 ? count : 0;
        len -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* What root writes on the command line belongs to the account of the server, whose directory it is. */
static bool give_to_owner(int fd, const char *directory)
{
    struct stat info;
    return geteuid() != 0 || (stat(directory, &info) == 0 && fchown(fd, info.st_uid, info.st_gid) == 0);
}

/* A crash leaves the old file or the new one. */
static enum status write_private(const char *directory, const char *name, const void *bytes, size_t len,
                                 struct failure *failure)
{
    char path[PATH_BYTES], fresh[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(fresh, sizeof fresh, "%s/%s.new", directory, name);
    (void)unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && give_to_owner(fd, directory) && write_all(fd, bytes, len) && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    ok = ok && rename(fresh, path) == 0;
    int folder = ok ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    ok = folder >= 0 && fsync(folder) == 0;
    if (folder >= 0) {
        close(folder);
    }
    return ok ? STATUS_OK : bad(failure, path, "can't be written");
}

/* --- the key --- */

static enum status decode_key(const char *text, size_t len, const char *what, unsigned char *key,
                              struct failure *failure)
{
    size_t got = 0;
    bool ok = sodium_hex2bin(key, KEY_BYTES, text, len, "\n", &got, NULL) == 0 && got == KEY_BYTES;
    return ok ? STATUS_OK : bad(failure, what, "must be 64 hexadecimal digits");
}

static enum status make_key(const char *directory, unsigned char *key, struct failure *failure)
{
    char *text = (char *)secret_memory(2 * KEY_BYTES + 1);
    randombytes_buf(key, KEY_BYTES);
    sodium_bin2hex(text, 2 * KEY_BYTES + 1, key, KEY_BYTES);
    enum status status = write_private(directory, "secret.key", text, 2 * KEY_BYTES, failure);
    sodium_free(text);
    return status;
}

static enum status find_key(const struct secret_place *place, bool make, unsigned char *key, struct failure *failure)
{
    char path[PATH_BYTES];
    unsigned char *text;
    size_t len;
    if (place->key) {
        return decode_key(place->key, strlen(place->key), "SOJOURN_SECRET_KEY", key, failure);
    }
    snprintf(path, sizeof path, "%s/secret.key", place->directory);
    enum status status = read_private(path, &text, &len, failure);
    if (status == STATUS_OK && !text) {
        return make ? make_key(place->directory, key, failure)
                    : bad(failure, path, "is missing, and so the secrets can't be read; set SOJOURN_SECRET_KEY");
    }
    if (status == STATUS_OK) {
        status = decode_key((const char *)text, len, path, key, failure);
    }
    sodium_free(text);
    return status;
}

/* --- reading and writing --- */

static enum status open_box(const struct secret_place *place, const char *path, const unsigned char *box, size_t len,
                            struct secret_records *out, struct failure *failure)
{
    if (len < HEAD_BYTES + TAG_BYTES || memcmp(box, MAGIC, MAGIC_BYTES) != 0) {
        return bad(failure, path, "is no file of secrets");
    }
    unsigned char *key = secret_memory(KEY_BYTES);
    struct secret_records records = {.bytes = secret_memory(len - HEAD_BYTES - TAG_BYTES)};
    unsigned long long opened = 0;
    enum status status = find_key(place, false, key, failure);
    if (status == STATUS_OK &&
        crypto_aead_xchacha20poly1305_ietf_decrypt(records.bytes, &opened, NULL, box + HEAD_BYTES, len - HEAD_BYTES,
                                                   box, MAGIC_BYTES, box + MAGIC_BYTES, key) != 0) {
        status = bad(failure, path, "can't be opened: it is damaged, or the key is another");
    }
    sodium_free(key);
    records.len = (size_t)opened;
    if (status == STATUS_OK) {
        *out = records;
    } else {
        secret_records_release(&records);
    }
    return status;
}

enum status secret_file_read(const struct secret_place *place, struct secret_records *out, struct failure *failure)
{
    char path[PATH_BYTES];
    unsigned char *box;
    size_t len;
    *out = (struct secret_records){0};
    snprintf(path, sizeof path, "%s/secrets", place->directory);
    enum status status = read_private(path, &box, &len, failure);
    if (status == STATUS_OK && box) {
        status = open_box(place, path, box, len, out, failure);
    }
    sodium_free(box);
    return status;
}

static enum status write_box(const struct secret_place *place, const struct secret_records *records,
                             struct failure *failure)
{
    size_t len = HEAD_BYTES + records->len + TAG_BYTES;
    unsigned char *key = secret_memory(KEY_BYTES), *box = secret_memory(len);
    enum status status = len > SECRET_FILE_BYTES_MAX
                             ? failure_set(failure, STATUS_TOO_LARGE, "too_many_secrets",
                                           "All secrets together have at most %d bytes.", SECRET_FILE_BYTES_MAX)
                             : find_key(place, true, key, failure);
    if (status == STATUS_OK) {
        memcpy(box, MAGIC, MAGIC_BYTES);
        randombytes_buf(box + MAGIC_BYTES, NONCE_BYTES);
        (void)crypto_aead_xchacha20poly1305_ietf_encrypt(box + HEAD_BYTES, NULL, records->bytes, records->len, box,
                                                         MAGIC_BYTES, NULL, box + MAGIC_BYTES, key);
        status = write_private(place->directory, "secrets", box, len, failure);
    }
    sodium_free(key);
    sodium_free(box);
    return status;
}

static enum status put(const struct secret_place *place, struct slice name, struct slice value, struct failure *failure)
{
    struct secret_records before, after = {0};
    enum status status = secret_file_read(place, &before, failure);
    if (status == STATUS_OK && !slice_present(value) && !slice_present(secret_records_get(&before, name))) {
        status = failure_set(failure, STATUS_NOT_FOUND, "no_such_secret", "There is no secret %.*s.", SLICE_ARG(name));
    }
    if (status == STATUS_OK) {
        after = changed(&before, name, value);
        status = write_box(place, &after, failure);
    }
    secret_records_release(&before);
    secret_records_release(&after);
    return status;
}

enum status secret_file_put(const struct secret_place *place, struct slice name, struct slice value,
                            struct failure *failure)
{
    int folder = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX) != 0) {
        if (folder >= 0) {
            close(folder);
        }
        return bad(failure, place->directory, "is no directory that can be used");
    }
    enum status status = put(place, name, value, failure);
    close(folder);
    return status;
}
