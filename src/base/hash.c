#include "base/hash.h"

#include <sodium.h>

#include "base/hex.h"

struct hash hash_of(struct slice text)
{
    struct hash hash;
    crypto_hash_sha256(hash.bytes, (const unsigned char *)text.ptr, text.len);
    return hash;
}

struct hash hash_of_parts(const struct slice *parts, size_t count)
{
    struct hash hash;
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < count; i++) {
        uint64_t len = parts[i].len;
        crypto_hash_sha256_update(&state, (const unsigned char *)&len, sizeof len);
        crypto_hash_sha256_update(&state, (const unsigned char *)parts[i].ptr, parts[i].len);
    }
    crypto_hash_sha256_final(&state, hash.bytes);
    return hash;
}

bool hash_equal(struct slice a, struct slice b)
{
    return a.len == HASH_BYTES && b.len == HASH_BYTES && sodium_memcmp(a.ptr, b.ptr, HASH_BYTES) == 0;
}

void hash_text(const struct hash *hash, char out[HASH_TEXT_BYTES])
{
    *hex_write(hash->bytes, HASH_BYTES, out) = '\0';
}

bool hash_parse(struct slice text, struct hash *out)
{
    return hex_read(text, out->bytes, HASH_BYTES);
}
