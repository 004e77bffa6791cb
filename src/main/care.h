/* Care for what is kept: commands that open the store themselves, while a server runs or not. */
#ifndef MAIN_CARE_H
#define MAIN_CARE_H

#include "cli/command.h"

/* --config, --data, --database: the same values, from the same places, as the server's. */
extern const struct option *const care_tables[];

int command_backup(const struct invocation *invocation);
int command_verify(const struct invocation *invocation);

#endif
