/* SHA-256, for tokens (kept only hashed) and fingerprints, and comparison in constant time. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/slice.h"

enum { HASH_BYTES = 32, HASH_TEXT_BYTES = 2 * HASH_BYTES + 1 };

struct hash {
    unsigned char bytes[HASH_BYTES];
};

struct hash hash_of(struct slice text);
/* Of several parts, each with its length, so that moving a border changes the hash. */
struct hash hash_of_parts(const struct slice *parts, size_t count);
bool hash_equal(struct slice a, struct slice b);
/* As 64 hexadecimal digits in lower case and a zero byte; and back, false with *out untouched for anything else. */
void hash_text(const struct hash *hash, char out[HASH_TEXT_BYTES]);
bool hash_parse(struct slice text, struct hash *out);

static inline struct slice hash_slice(const struct hash *hash)
{
    return slice_from(hash->bytes, HASH_BYTES);
}

#endif
