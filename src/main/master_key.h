/* The master key of content at rest, from the options --master-key and --master-key-file. */
#ifndef MAIN_MASTER_KEY_H
#define MAIN_MASTER_KEY_H

#include "main/options.h"
#include "store/db.h"

struct master_key {
    bool given;
    unsigned char bytes[MASTER_KEY_BYTES];
};

/* INVALID `bad_master_key` says what is wrong with it. */
MUST_CHECK enum status master_key_load(const struct options *options, struct master_key *out, struct failure *failure);
MUST_CHECK enum status master_key_read(const char *path, struct master_key *out, struct failure *failure);
void master_key_forget(struct master_key *key);

#endif
