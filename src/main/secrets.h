/* The stored secrets of a data directory: commands that open its file themselves, while a server runs or not. */
#ifndef MAIN_SECRETS_H
#define MAIN_SECRETS_H

#include "cli/command.h"

/* --config, --data */
extern const struct option *const secrets_tables[];

int command_secrets_set(const struct invocation *invocation);
int command_secrets_list(const struct invocation *invocation);
int command_secrets_remove(const struct invocation *invocation);

#endif
