/* Care for what is kept: commands that open the store themselves, while a server runs or not. */
#ifndef MAIN_MAINTENANCE_H
#define MAIN_MAINTENANCE_H

#include "cli/command.h"
#include "main/options.h"

/* --config, --data, --database, --master-key-file: the same values, from the same places, as the server's. */
extern const struct option *const maintenance_tables[];

/* The options of the server, as its own command line would give them. */
MUST_CHECK enum status maintenance_load(const struct invocation *invocation, struct options *out,
                                        struct failure *failure);

int command_backup(const struct invocation *invocation);
int command_compact(const struct invocation *invocation);
int command_verify(const struct invocation *invocation);
int command_rekey(const struct invocation *invocation);
int command_seal(const struct invocation *invocation);

#endif
