/* Whose memory a request and its answer are: of a caller and its tenant once the caller is known, before of all guests
 * together. Any thread. */
#ifndef API_ACCOUNTS_H
#define API_ACCOUNTS_H

#include "base/byte_hold.h"
#include "base/id.h"
#include "domain/principal.h"

struct accounts;

struct accounts_options {
    int64_t guest_bytes_max;  /* all together */
    int64_t caller_bytes_max; /* each */
    int64_t tenant_bytes_max; /* each */
    struct id_source *ids;
};

struct accounts *accounts_new(const struct accounts_options *options);
/* What is held by all together. */
int64_t accounts_held(const struct accounts *accounts);
/* After the last hold was given back. Accepts NULL. */
void accounts_free(struct accounts *accounts);
/* What is held from now on is of guests, or of `who`. */
void accounts_enter_guest(struct accounts *accounts, struct byte_hold *hold);
void accounts_enter_caller(struct accounts *accounts, const struct principal *who, struct byte_hold *hold);

#endif
