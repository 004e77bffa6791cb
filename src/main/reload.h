/* Files read again while the server runs. */
#ifndef MAIN_RELOAD_H
#define MAIN_RELOAD_H

#include "main/options.h"
#include "service/core/writer.h"

/* The agents of all tenants as their files say now, in a command of their own; logs what came of it. When a file is
 * wrong, all stay as they were. Options and writer outlive the command. */
void reload_agents(const struct options *options, struct writer *writer);

/* The stored secrets again; those known stay when the file can't be read. */
void reload_secrets(struct secrets *secrets);

#endif
