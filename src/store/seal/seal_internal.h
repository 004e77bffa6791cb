/* What sealing (seal.c) and its keys (seal_key.c) share. Private to them. */
#ifndef STORE_SEAL_INTERNAL_H
#define STORE_SEAL_INTERNAL_H

#include <sodium.h>

#include "base/map.h"
#include "store/seal/seal.h"

enum {
    KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    WRAPPED_BYTES = NONCE_BYTES + KEY_BYTES + TAG_BYTES,
    NAME_BYTES = 48,
};

/* In memory that no core dump holds. */
struct secrets_kept {
    unsigned char master[KEY_BYTES], common[KEY_BYTES];
};

struct seal {
    struct secrets_kept *kept;
    struct map keys;      /* session key → data_key */
    struct arena scratch; /* what was sealed since the last reset */
    struct buffer slots[SEAL_SLOTS];
    struct failure trouble;  /* something could not be opened since it was last looked at */
    struct failure unsealed; /* something could not be sealed since the last reset: nothing may be committed */
};

/* `out` has NONCE_BYTES + len + TAG_BYTES. */
void seal_box_write(unsigned char *out, struct slice plain, struct slice name, const unsigned char *key);
/* `out` has as many bytes as the box less NONCE_BYTES and TAG_BYTES. */
bool seal_box_open(unsigned char *out, struct slice box, struct slice name, const unsigned char *key);
/* "1.42": whose key it is, and what keeps a box from being taken for one of another session. */
struct slice seal_name(char out[NAME_BYTES], int64_t tenant_key, int64_t session_key);

#endif
