#include <sodium.h>

#include "service/identity/identity.h"

enum { PASSWORD_BYTES_MAX = 512 };

enum status password_hash(struct call *call, struct slice password, struct slice *out_hash)
{
    if (password.len < call->service->limits.identity.password_chars_min || password.len > PASSWORD_BYTES_MAX) {
        return failure_set(&call->failure, STATUS_INVALID, "weak_password", "A password has %zu to %d characters.",
                           call->service->limits.identity.password_chars_min, PASSWORD_BYTES_MAX);
    }
    char text[crypto_pwhash_STRBYTES];
    if (crypto_pwhash_str(text, password.ptr, password.len, crypto_pwhash_OPSLIMIT_INTERACTIVE,
                          crypto_pwhash_MEMLIMIT_INTERACTIVE) != 0) {
        return failure_set(&call->failure, STATUS_UNAVAILABLE, "no_memory",
                           "Not enough memory to hash a password now.");
    }
    *out_hash = arena_copy(call->arena, slice_of(text));
    return STATUS_OK;
}

/* Costs the same whether or not there is a user, so that timing tells nobody who exists. */
bool password_matches(struct slice hash, struct slice password)
{
    static const char nobody[] = "$argon2id$v=19$m=65536,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
                                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    char text[crypto_pwhash_STRBYTES] = {0};
    struct slice known = hash.len > 0 && hash.len < sizeof text ? hash : slice_of(nobody);
    memcpy(text, known.ptr, known.len);
    const char *given = slice_present(password) ? password.ptr : ""; /* none was sent */
    bool matches = crypto_pwhash_str_verify(text, given, password.len) == 0;
    return matches && hash.len > 0;
}
