/* Generated names. The random source is a parameter so that a seeded run repeats itself. */
#ifndef BASE_ID_H
#define BASE_ID_H

#include "base/slice.h"

struct id_source {
    void (*fill)(struct id_source *source, void *bytes, size_t count);
    uint64_t seed; /* only of the seeded source */
};

enum { UUID_TEXT_BYTES = 37, TOKEN_TEXT_BYTES = 48 };

void id_source_init_system(struct id_source *source);
/* Repeatable and predictable: for tests only. */
void id_source_init_seeded(struct id_source *source, uint64_t seed);

/* Time-ordered UUID, version 7. */
void id_uuid7(struct id_source *source, int64_t wall_ms, char out[UUID_TEXT_BYTES]);
/* 256 random bits as 43 base64url characters behind a short prefix ("sj_"); zero-terminated. */
void id_token(struct id_source *source, const char *prefix, char out[TOKEN_TEXT_BYTES]);

#endif
