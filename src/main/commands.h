/* The table of all commands. */
#ifndef MAIN_COMMANDS_H
#define MAIN_COMMANDS_H

#include "cli/command.h"

extern const struct cli_command commands[];

#endif
