/* SHA-256, for tokens (kept only hashed) and fingerprints, and comparison in constant time. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/slice.h"

enum { HASH_BYTES = 32 };

struct hash {
    unsigned char bytes[HASH_BYTES];
};

struct hash hash_of(struct slice text);
/* Of several parts, each with its length, so that moving a border changes the hash. */
struct hash hash_of_parts(const struct slice *parts, size_t count);
bool hash_equal(struct slice a, struct slice b);

static inline struct slice hash_slice(const struct hash *hash)
{
    return slice_from(hash->bytes, HASH_BYTES);
}

#endif
