#include "base/id.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/hex.h"

static void system_fill(struct id_source *source, void *bytes, size_t count)
{
    (void)source;
    char *at = bytes;
    while (count > 0) {
        ssize_t got = getrandom(at, count, 0);
        if (got < 0) {
            abort(); /* without randomness no token may be made */
        }
        at += got;
        count -= (size_t)got;
    }
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void seeded_fill(struct id_source *source, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) {
        at[i] = (unsigned char)splitmix(&source->seed);
    }
}

void id_source_init_system(struct id_source *source)
{
    *source = (struct id_source){.fill = system_fill};
}

void id_source_init_seeded(struct id_source *source, uint64_t seed)
{
    *source = (struct id_source){.fill = seeded_fill, .seed = seed};
}

void id_uuid7(struct id_source *source, int64_t wall_ms, char out[UUID_TEXT_BYTES])
{
    static const int dashes_before[] = {4, 6, 8, 10, 16};
    unsigned char bytes[16];
    source->fill(source, bytes + 6, 10);
    for (int i = 0; i < 6; i++) {
        bytes[i] = (unsigned char)(wall_ms >> (40 - 8 * i));
    }
    bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0F));
    bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3F));
    char *at = out;
    for (int i = 0, group = 0; i < 16; i = dashes_before[group++]) {
        at = hex_write(bytes + i, (size_t)(dashes_before[group] - i), at);
        *at++ = '-';
    }
    at[-1] = '\0';
}

void id_token(struct id_source *source, const char *prefix, char out[TOKEN_TEXT_BYTES])
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[33] = {0};
    source->fill(source, bytes, 32);
    char *at = out + snprintf(out, TOKEN_TEXT_BYTES, "%.4s", prefix);
    for (int i = 0; i < 33; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        for (int k = 0; k < 4; k++) {
            *at++ = alphabet[group >> (18 - 6 * k) & 63];
        }
    }
    at[-1] = '\0'; /* the 44th character holds no random bit */
}
